"""From the forest's groups to the values that the core decides, and to their shapes."""

from __future__ import annotations

from typing import TypeAlias

from tutti.core.groups import Batch, Leaf
from tutti.core.pods import PodClass
from tutti.engine.forest import ASSUMED, Group, Member

Shape: TypeAlias = tuple[bool, int, int, frozenset[tuple[PodClass, int]]]
"""Gang, quorum, counted, and how many of each class wait: equal shapes get equal answers."""


def leaf_of(group: Group) -> Leaf:
    """What of the group is to be placed. Names decide every order, never arrival."""
    by_first = sorted(
        group.pending.items(),
        key=lambda item: min(member.ref.name for member in item[1].values()),
    )
    batches = tuple(Batch(cls, _uids(members)) for cls, members in by_first)
    return Leaf(
        key=group.key,
        batches=batches,
        quorum=group.quorum,
        counted=group.counted + group.counts[ASSUMED],
        gang=group.gang,
    )


def shape_of(group: Group) -> Shape:
    waiting = frozenset((cls, len(members)) for cls, members in group.pending.items())
    return group.gang, group.quorum, group.counted + group.counts[ASSUMED], waiting


def _uids(members: dict[str, Member]) -> tuple[str, ...]:
    if len(members) == 1:
        return tuple(members)
    return tuple(sorted(members, key=lambda uid: members[uid].ref.name))
