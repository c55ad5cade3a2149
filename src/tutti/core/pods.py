"""PodClass: what pods with one scheduling signature ask for, compiled once.

Pods that ask for the same share one class, and are placed together. Nothing here names Kubernetes
objects: `engine.encode` translates them.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from tutti.core import columns
from tutti.core.columns import Amounts, Rows
from tutti.core.relations import NOBODY, NONE, Identity, Pull, Relations
from tutti.core.resources import SCORED_CPU, SCORED_MEMORY, Port
from tutti.core.volumes import NO_MOUNTS, Mounts


@dataclass(frozen=True, slots=True)
class Requirement:
    """One rule about a node's label, or about its name."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Term:
    """Rules that a node must all meet. A term without rules is met by no node."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class Preference:
    """A term that is worth something where it is met."""

    weight: int
    term: Term


@dataclass(frozen=True, slots=True)
class Taint:
    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Toleration:
    """An empty key or effect stands for any."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


@dataclass(frozen=True, slots=True)
class Asks:
    """What a class asks for, as a value: two pods are of one class when theirs are equal.

    `required` is None where a pod has no required node affinity, and holds the alternatives where
    it has: one of them must be met. `amounts` are what the pod holds on its node, `scored` what
    NodeResourcesFit counts for it while it waits (containers only, with defaults for cpu and
    memory); both by row of the cluster's table, zeros left out.
    """

    amounts: tuple[tuple[int, int], ...]
    scored: tuple[tuple[int, int], ...] = ()
    ports: tuple[tuple[Port, int], ...] = ()
    selector: tuple[Requirement, ...] = ()
    required: tuple[Term, ...] | None = None
    preferred: tuple[Preference, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    features: tuple[str, ...] = ()
    """What the kubelet must be able to do."""
    images: tuple[str, ...] = ()
    """One for each container, under its full name."""
    identity: Identity = NOBODY
    relations: Relations = NONE
    mounts: Mounts = NO_MOUNTS


@dataclass(slots=True, eq=False)
class PodClass:
    """Asks with a number, and what the columns need of them at hand. Compare with `is`.

    What the class holds, and whose terms it must heed, grows as selectors become known; only the
    owner of the table adds to it.
    """

    id: int
    asks: Asks
    shape: int
    """The same for classes that differ only in who they are to others, and what they ask of them."""
    held: dict[int, int] = field(init=False)
    """What one pod adds to its node's column."""
    held_rows: Rows = field(init=False)
    held_amounts: Amounts = field(init=False)
    limit_rows: Rows = field(init=False)
    """The rows in which a pod can be refused, and what it takes of each."""
    limit_amounts: Amounts = field(init=False)
    repelled_by: list[Pull] = field(default_factory=list)
    """Required anti-affinity of others that speaks of this class."""
    pulled_by: list[Pull] = field(default_factory=list)
    """Affinity of others that speaks of this class; what a required one is worth, scores say."""

    notes: dict[Hashable, object] = field(default_factory=dict)
    """What rules worked out about the class, under keys of their own."""
    _held_of: dict[tuple[int, ...], Amounts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        limits = dict(self.limits())
        self.limit_rows = columns.rows(limits)
        self.limit_amounts = columns.amounts_of(limits.values())
        self.held = dict(self.asks.amounts)
        for _, row in (*self.asks.ports, *self.asks.relations.carries):
            self.held[row] = self.held.get(row, 0) + 1
        self.held |= self.asks.mounts.held()
        self._line_up()

    def limits(self) -> Iterator[tuple[int, int]]:
        """The resources in which a pod can be refused, with what it takes of each."""
        return ((row, n) for row, n in self.asks.amounts if row not in (SCORED_CPU, SCORED_MEMORY))

    def held_of(self, rows: Rows) -> Amounts:
        """What one pod holds of some resources, `[resource, 1, 1]`."""
        key = tuple(rows.tolist())
        if key not in self._held_of:
            amounts = columns.amounts_of(self.held.get(row, 0) for row in key)
            self._held_of[key] = amounts.reshape(-1, 1, 1)
        return self._held_of[key]

    def counts_in(self, row: int) -> None:
        """Its pods are among those that a row counts."""
        self.held[row] = 1
        self._line_up()

    @property
    def heeds_others(self) -> bool:
        """Whether where other pods are bears on where a pod of this class may or would rather go."""
        asked = self.asks.relations
        return bool(
            asked.spread
            or asked.attraction
            or asked.repulsion
            or asked.preferences
            or self.asks.mounts.heeds_others
            or self.repelled_by
            or self.pulled_by
        )

    def _line_up(self) -> None:
        self.held_rows = columns.rows(self.held)
        self.held_amounts = columns.amounts_of(self.held.values())
