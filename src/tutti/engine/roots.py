"""From the forest's groups to the values that the core decides, and to their shapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from tutti.core.groups import Batch, Leaf, Root, Tree
from tutti.core.pods import PodClass
from tutti.engine.commit import would_stand
from tutti.engine.groups import Group
from tutti.engine.members import ASSUMED, Member


class LeafShape(NamedTuple):
    gang: bool
    quorum: int
    counted: int
    waiting: frozenset[tuple[PodClass, int]]


class TreeShape(NamedTuple):
    quorum: int
    counted: int
    children: frozenset[tuple[Shape, int]]


Shape: TypeAlias = LeafShape | TreeShape
"""What a root needs, without names: equal shapes get equal answers."""


def value_of(group: Group) -> Root:
    """What of the group is to be placed. Names and ages decide every order, never arrival."""
    if group.kind != "CompositePodGroup":
        return _leaf_of(group)
    children = [child for child in group.ordered_children() if child.tally.workable]
    return Tree(
        key=group.key,
        children=tuple(value_of(child) for child in children),
        quorum=group.quorum,
        counted=_settled(group),
    )


def shape_of(group: Group) -> Shape:
    if group.kind != "CompositePodGroup":
        waiting = frozenset((cls, len(members)) for cls, members in group.pending.items())
        return LeafShape(group.gang, group.quorum, group.counted + group.counts[ASSUMED], waiting)
    shapes = Counter(shape_of(child) for child in group.children.values() if child.tally.workable)
    return TreeShape(group.quorum, _settled(group), frozenset(shapes.items()))


def leaf_shapes(shape: Shape) -> Iterator[LeafShape]:
    if isinstance(shape, LeafShape):
        yield shape
    else:
        for child, _ in shape.children:
            yield from leaf_shapes(child)


def _leaf_of(group: Group) -> Leaf:
    by_first = sorted(
        group.pending.items(),
        key=lambda item: min(member.ref.name for member in item[1].values()),
    )
    return Leaf(
        key=group.key,
        batches=tuple(Batch(cls, _uids(members)) for cls, members in by_first),
        quorum=group.quorum,
        counted=group.counted + group.counts[ASSUMED],
        gang=group.gang,
    )


def _settled(group: Group) -> int:
    """Children that stand, or will when all that is assumed is bound, with nothing to place."""
    return sum(not child.tally.workable and would_stand(child) for child in group.children.values())


def _uids(members: dict[str, Member]) -> tuple[str, ...]:
    if len(members) == 1:
        return tuple(members)
    return tuple(sorted(members, key=lambda uid: members[uid].ref.name))
