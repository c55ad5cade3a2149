"""What `tutti why` shows of a root: its phase, its groups a line each, and its members."""

from __future__ import annotations

import msgspec

from tutti.core.plan import Refusal
from tutti.engine.groups import Group
from tutti.engine.members import ALIVE, ASSUMED, BOUND, FINISHED, GATED, PENDING, Member
from tutti.engine.outlook import outlook
from tutti.engine.queue import Entry


class MemberLine(msgspec.Struct, frozen=True):
    namespace: str
    name: str
    state: str
    node: str
    reason: str
    message: str


class GroupLine(msgspec.Struct, frozen=True):
    """`needs`, `has` and `bound` are members of a PodGroup, children of a composite group."""

    kind: str
    namespace: str
    name: str
    depth: int
    policy: str
    needs: int
    has: int
    bound: int
    missing: int
    reason: str
    message: str
    members: tuple[MemberLine, ...] = ()


class RootReport(msgspec.Struct, frozen=True):
    """`fits` is how many of the members that were missing had a place at the last try."""

    key: str
    phase: str
    since: float
    attempts: int
    fits: int | None
    proved: bool | None
    message: str
    groups: tuple[GroupLine, ...]


def report(root: Group, entry: Entry | None) -> RootReport:
    refusal = entry.refusal if entry is not None else None
    return RootReport(
        key=root.key,
        phase=entry.phase.value if entry is not None else "settled",
        since=entry.since if entry is not None else 0.0,
        attempts=entry.refusals + entry.errors if entry is not None else 0,
        fits=refusal.fits if refusal is not None else None,
        proved=refusal.proved if refusal is not None else None,
        message=refusal.message if refusal is not None else "",
        groups=tuple(_lines(root, root, refusal, 0)),
    )


def _lines(group: Group, root: Group, refusal: Refusal | None, depth: int) -> list[GroupLine]:
    view = outlook(group, root, refusal)
    counts = group.counts
    if group.kind == "CompositePodGroup":
        has = group.tallies[0]
    else:
        has = group.counted + sum(counts[state] for state in (GATED, PENDING, ASSUMED))
    line = GroupLine(
        kind=group.owner.kind if group.owner else group.kind,
        namespace=group.namespace,
        name=group.owner.name if group.owner else group.name,
        depth=depth,
        policy="gang" if group.gang else "basic",
        needs=group.quorum,
        has=has,
        bound=group.counted,
        missing=max(0, group.quorum - group.counted),
        reason=view.reason,
        message=view.sentence,
        members=tuple(
            _member_line(member)
            for member in sorted(group.members.values(), key=lambda member: member.ref.name)
        ),
    )
    below = (_lines(child, root, refusal, depth + 1) for child in group.ordered_children())
    return [line, *(deeper for lines in below for deeper in lines)]


def _member_line(member: Member) -> MemberLine:
    waits = member.state in ALIVE and member.state not in (ASSUMED, BOUND, FINISHED)
    reason, message = member.said if waits and member.said is not None else ("", "")
    return MemberLine(
        namespace=member.ref.namespace,
        name=member.ref.name,
        state=member.state.name.lower(),
        node=member.node,
        reason=reason,
        message=message,
    )
