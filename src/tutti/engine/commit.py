"""A plan's bindings as a small state machine, with its way back.

                 intent written         all answered, quorum stands
    INTENDED ───────────────▶ BINDING ───────────────────────────────▶ DONE
       │ refused, or          │   ▲ places found for those missing      ▲
       │ no longer possible   │   │                                     │ nothing is left to undo
       ▼                      ▼   │                deadline             │
     (cancelled)            MENDING ──────────────────────────────▶ UNDOING

A commit that establishes no gang's quorum (lone pods, extras, basic groups) has no unit: it starts
in BINDING, and ends when all is answered. One with a unit binds nothing before its unit stands on
the Lease, and leaves the Lease only when its quorum is bound, or all it bound is being deleted. A
unit found on the Lease by another scheduler starts in MENDING, with the pods that carry its mark.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import msgspec

from tutti.api.core_v1 import Pod
from tutti.engine.groups import Group
from tutti.engine.members import ASSUMED, BOUND, Member
from tutti.engine.messages import Unit

MARK = "tutti.dev/commit"
DEEPEST = 8
"""Levels looked at: groups that form a ring have no end, and stand for nothing."""


class Stage(Enum):
    INTENDED = "intended"
    BINDING = "binding"
    MENDING = "mending"
    UNDOING = "undoing"
    DONE = "done"


class Commit:
    """`open` are bindings without an answer yet, `bound` the pods that this commit did bind."""

    __slots__ = (
        "bound",
        "deadline",
        "failures",
        "id",
        "number",
        "open",
        "recovered",
        "retry_at",
        "root",
        "stage",
        "tries",
        "undoing",
        "unit",
    )

    def __init__(self, id: str, root: str, unit: Unit | None) -> None:
        self.id = id
        self.root = root
        self.unit = unit
        self.stage = Stage.BINDING if unit is None else Stage.INTENDED
        self.number = 0
        self.open: dict[str, str] = {}
        self.bound: dict[str, None] = {}
        self.undoing: dict[str, bool] = {}
        """What is to be deleted, and whether that was asked for."""
        self.tries: dict[str, int] = {}
        self.failures: list[str] = []
        self.recovered = False
        self.deadline: float | None = None
        self.retry_at = 0.0

    @property
    def top(self) -> str | None:
        unit = self.unit
        return None if unit is None else f"{unit.kind}/{unit.namespace}/{unit.name}"

    @property
    def next_wake(self) -> float | None:
        """When it has something to do by itself; None while it only waits for answers."""
        if self.stage is Stage.MENDING and not self.open and self.deadline is not None:
            return min(self.retry_at, self.deadline)
        if self.stage is Stage.UNDOING and not all(self.undoing.values()):
            return self.retry_at
        return None


def mark_of(pod: Pod) -> str:
    """The commit that bound the pod, if one of ours did."""
    return pod.metadata.annotations.get(MARK, "")


def as_bound(member: Member) -> Pod:
    """The member's pod; where only an answer has told so far, with the node that it is bound to."""
    pod = member.pod
    if member.state is not BOUND or pod.spec.node_name:
        return pod
    meta = msgspec.structs.replace(
        pod.metadata, annotations={**pod.metadata.annotations, MARK: member.commit}
    )
    spec = msgspec.structs.replace(pod.spec, node_name=member.node)
    return msgspec.structs.replace(pod, metadata=meta, spec=spec)


def top_of(leaf: Group) -> Group | None:
    """The highest gang, from this leaf upwards, whose quorum doesn't stand yet."""
    top: Group | None = None
    at: Group | None = leaf
    while at is not None:
        if at.is_atomic() and not at.tally.standing:
            top = at
        at = at.parent
    return top


def would_stand(group: Group, depth: int = 0) -> bool:
    """Whether its quorum holds once everything that is assumed is bound."""
    if group.kind != "CompositePodGroup":
        return group.is_there and group.counted + group.counts[ASSUMED] >= group.quorum
    if depth > DEEPEST:
        return False
    standing = sum(would_stand(child, depth + 1) for child in group.children.values())
    return group.is_there and standing >= group.quorum


def halves(group: Group, depth: int = 0) -> Iterator[Group]:
    """The leaves, at and below this group, that must not keep what a commit bound there."""
    if not group.tally.standing or depth > DEEPEST:
        yield from group.leaves()
    else:
        for child in group.ordered_children():
            yield from halves(child, depth + 1)


def is_whole(group: Group, commit: Commit) -> bool:
    """Whether nothing that the commit bound is half of anything."""
    return not any(uid in leaf.members for leaf in halves(group) for uid in commit.bound)
