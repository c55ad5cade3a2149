"""What pods ask about other pods: affinity, anti-affinity, spread.

Every question comes down to counts by node, and every count is a row of the `[resource, node]`
table: of the pods that a selector speaks of (`Counted`), and of the pods that carry a term which
others must heed (`Carried`). So a pod that is taken or given back moves these counts as it moves
its cpus, and they are undone as exactly.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

NAME_LABEL = "kubernetes.io/metadata.name"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule about a pod's label: In, NotIn, Exists or DoesNotExist."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case _:
                return False


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a pod is to others: as much of its labels as any selector in the cluster looks at."""

    namespace: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    leaving: bool = False


@dataclass(frozen=True, slots=True)
class Audience:
    """The pods that a term speaks of. `namespaces` None stands for all, `rules` None for no pod.

    `namespace_rules` are about the name, which every namespace carries as a label; None for none.
    """

    namespaces: tuple[str, ...] | None
    rules: tuple[Rule, ...] | None
    namespace_rules: tuple[Rule, ...] | None = None

    def includes(self, pod: Identity) -> bool:
        if self.rules is None:
            return False
        labels = dict(pod.labels)
        return self._reaches(pod.namespace) and all(rule.holds(labels) for rule in self.rules)

    def _reaches(self, namespace: str) -> bool:
        if self.namespaces is None or namespace in self.namespaces:
            return True
        if self.namespace_rules is None:
            return False
        return all(rule.holds({NAME_LABEL: namespace}) for rule in self.namespace_rules)


@dataclass(frozen=True, slots=True)
class Counted:
    """A row: how many pods of each node are in all of these audiences.

    Spread doesn't count pods that are leaving, nor any where its selector is empty.
    """

    audiences: tuple[Audience, ...]
    for_spread: bool = False

    def includes(self, pod: Identity) -> bool:
        if self.for_spread and (pod.leaving or self.audiences[0].rules == ()):
            return False
        return all(audience.includes(pod) for audience in self.audiences)


class Role(Enum):
    REPELS = "required anti-affinity"
    REQUIRES = "required affinity"
    PREFERS = "preferred affinity, or anti-affinity with a negative weight"


@dataclass(frozen=True, slots=True)
class Carried:
    """A row: how many pods of each node carry this term."""

    role: Role
    key: str
    audience: Audience
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Spread:
    """One constraint of topology spread; `row` is of the pods that it counts."""

    key: str
    row: int
    max_skew: int
    counts_itself: bool
    required: bool = True
    min_domains: int = 1
    honors_affinity: bool = True
    honors_taints: bool = False


@dataclass(frozen=True, slots=True)
class Attraction:
    """Required affinity: pods that are in the audience of every term, in the domains of all keys.

    `includes_itself`: the first pod of such a group may go anywhere, for it finds no other yet.
    """

    keys: tuple[str, ...]
    row: int
    includes_itself: bool


@dataclass(frozen=True, slots=True)
class Pull:
    """Counts of a row, by domains of a key, worth so much each; negative ones push away.

    A weight of 0 stands for required affinity of others, which a score has a weight for.
    """

    key: str
    row: int
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Relations:
    """All that one class asks about other pods."""

    spread: tuple[Spread, ...] = ()
    attraction: Attraction | None = None
    repulsion: tuple[Pull, ...] = ()
    preferences: tuple[Pull, ...] = ()
    carries: tuple[tuple[Carried, int], ...] = field(default=())
    """Its own terms, with their rows: what it holds for others to heed."""


NOBODY = Identity()
NONE = Relations()
