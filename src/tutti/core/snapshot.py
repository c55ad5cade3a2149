"""The cluster as columns: read-only views with a version.

A node is a position. Positions of nodes that left stay empty until they are used again, so a
position says nothing about age or name, and no rule may depend on it.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts, Codes, Hashes, Mask, Rows
from tutti.core.pods import Taint
from tutti.core.relations import Spread
from tutti.core.resources import Table


@dataclass(frozen=True, slots=True)
class Label:
    """One label key over all nodes: a code per node, ABSENT where it isn't carried."""

    codes: Codes
    values: Sequence[str]
    code_of: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Nodes:
    """What the nodes are and have. `hashes` are of the names; they break ties."""

    names: Sequence[str]
    row_of: Mapping[str, int]
    present: Mask
    unschedulable: Mask
    hashes: Hashes
    allocatable: Amounts
    labels: Mapping[str, Label]
    taints: Codes
    taint_sets: Sequence[tuple[Taint, ...]]
    features: Codes
    feature_sets: Sequence[tuple[str, ...]]
    images: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    """By name, the nodes that have the image and its size there."""

    def __len__(self) -> int:
        return len(self.present)

    def __post_init__(self) -> None:
        length = len(self.present)
        for name in ("unschedulable", "hashes", "taints", "features", "allocatable"):
            column = getattr(self, name)
            if column.shape[-1] != length:
                raise ValueError(f"{name} has {column.shape[-1]} nodes, present has {length}")


@dataclass(frozen=True, slots=True)
class Domains:
    """The domains of one label key: the nodes that carry the same value.

    Place 0 stands for the nodes that don't carry the key.
    """

    place: Rows
    names: Sequence[str]

    @property
    def count(self) -> int:
        return len(self.names) + 1

    @property
    def carried(self) -> Mask:
        return self.place > 0

    def sums(self, amounts: Amounts) -> Amounts:
        """What the nodes of each domain have together; nothing where the key isn't carried."""
        sums = columns.sums(self.place, amounts, self.count)
        sums[0] = 0
        return sums

    def among(self, nodes: Mask) -> Mask:
        """The domains to which some of these nodes belong."""
        found = np.bincount(self.place[nodes], minlength=self.count) > 0
        found[0] = False
        return found


@dataclass(frozen=True, slots=True)
class Memo:
    """What was worked out from the nodes alone; emptied when they change.

    Orders by seed; masks by profile and class; worths by rule and class; domains by key; what
    spread looks at by constraint and class.
    """

    orders: dict[int, Amounts] = field(default_factory=dict)
    allowed: dict[tuple[Hashable, int], Mask] = field(default_factory=dict)
    worth: dict[tuple[Hashable, int], Amounts | None] = field(default_factory=dict)
    domains: dict[str, Domains] = field(default_factory=dict)
    eligible: dict[tuple[Spread, int], Mask] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`version` moves with every change, `nodes_version` with those that bear on static rules."""

    version: int
    nodes_version: int
    table: Table
    nodes: Nodes
    used: Amounts
    memo: Memo = field(default_factory=Memo, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.used.shape[-1] != len(self.nodes) or len(self.used) < len(self.nodes.allocatable):
            raise ValueError(
                f"used is {self.used.shape}, allocatable {self.nodes.allocatable.shape}"
            )

    @property
    def node_count(self) -> int:
        return int(np.count_nonzero(self.nodes.present))

    def with_more_rows(self, count: int) -> "Snapshot":
        """The same cluster, with rows for resources that it has none of."""
        missing = len(self.used) + count - len(self.nodes.allocatable)
        allocatable = columns.with_more_rows(self.nodes.allocatable, missing)
        return replace(
            self,
            nodes=replace(self.nodes, allocatable=columns.read_only(allocatable)),
            used=columns.read_only(columns.with_more_rows(self.used, count)),
        )

    def domains(self, key: str) -> Domains:
        known = self.memo.domains
        if key not in known:
            known[key] = _domains(self.nodes, key)
        return known[key]

    def tie_order(self, seed: int) -> Amounts:
        """A number per node, from 0 up: of nodes that are worth the same, the highest is taken.

        It depends on the seed and on the names, and on nothing else.
        """
        orders = self.memo.orders
        if seed not in orders:
            orders[seed] = _tie_order(self.nodes, seed)
        return orders[seed]


def _domains(nodes: Nodes, key: str) -> Domains:
    label = nodes.labels.get(key)
    if label is None:
        return Domains(columns.places(columns.codes(len(nodes))), ())
    return Domains(columns.places(label.codes), label.values)


def _tie_order(nodes: Nodes, seed: int) -> Amounts:
    mixed = _mixed(nodes.hashes ^ columns.hash_of(seed * 0x9E37_79B9_7F4A_7C15))
    mixed[~nodes.present] = 0
    ranking: Rows = np.argsort(mixed, kind="stable")
    in_order = mixed[ranking]
    if np.any((in_order[1:] == in_order[:-1]) & (in_order[1:] != 0)):
        by_name = sorted(range(len(nodes)), key=lambda row: (int(mixed[row]), nodes.names[row]))
        ranking = columns.rows(by_name)
    order = columns.amounts(len(nodes))
    order[ranking] = np.arange(len(nodes))
    return columns.read_only(order)


def _mixed(values: Hashes) -> Hashes:
    """The finisher of SplitMix64: one to one, and every bit depends on every other."""
    values = (values ^ (values >> columns.hash_of(30))) * columns.hash_of(0xBF58_476D_1CE4_E5B9)
    values = (values ^ (values >> columns.hash_of(27))) * columns.hash_of(0x94D0_49BB_1331_11EB)
    return values ^ (values >> columns.hash_of(31))
