"""Groups with their counts: of members by state, and of children by what they say of themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from tutti.api.scheduling import CompositePodGroup, PodGroup
from tutti.core.pods import PodClass
from tutti.engine.implied import Asked
from tutti.engine.members import (
    ASSUMED,
    BOUND,
    FINISHED,
    GATED,
    PENDING,
    REPORTED,
    Member,
    State,
)
from tutti.engine.messages import GroupRef, OwnerRef, Unit

Kind: TypeAlias = Literal["Pod", "PodGroup", "CompositePodGroup", "Implied"]


class Tally(NamedTuple):
    """What a group says of itself to its parent, and what a parent counts of its children."""

    admissible: int = 0
    """With what waits, is decided and runs, its quorum can be met."""
    standing: int = 0
    """Its quorum is bound."""
    workable: int = 0
    """It is admissible, and somebody in it waits to be placed."""
    mixed: int = 0
    """Members that can't be scheduled together are in it."""
    open: int = 0
    """Members of ours are in it that are on no node."""


class Group:
    """A place in the forest: a PodGroup, a CompositePodGroup, the group of one of a lone pod, or
    what the pods of an owner are where there is no object for it (`implied.py`)."""

    __slots__ = (
        "asked",
        "awaited",
        "children",
        "counts",
        "fault",
        "gang",
        "jobs",
        "key",
        "kind",
        "laid_out",
        "least",
        "members",
        "name",
        "names",
        "namespace",
        "object",
        "owner",
        "parent",
        "pending",
        "policies",
        "priorities",
        "quorum",
        "said",
        "tallies",
        "tally",
        "unserved",
        "wanted",
    )

    def __init__(self, kind: Kind, namespace: str, name: str) -> None:
        self.kind = kind
        self.namespace = namespace
        self.name = name
        self.key = key_of(kind, namespace, name)
        self.object: PodGroup | CompositePodGroup | None = None
        self.owner: OwnerRef | None = None
        self.asked: Asked | None = None
        """Of an implied group: its owner, and what that asks, as soon as it is known."""
        self.quorum = 1
        self.least = 1
        """What the object asks as its quorum; Jobs that want fewer pods make the quorum smaller."""
        self.jobs: dict[str, int] = {}
        """The Jobs that members belong to, and how many to each."""
        self.wanted: int | None = None
        """How many pods these Jobs want at once; None where there are none, or one isn't known."""
        self.gang = kind == "Pod"
        self.parent: Group | None = None
        self.children: dict[str, Group] = {}
        self.members: dict[str, Member] = {}
        self.counts = [0] * len(State)
        self.pending: dict[PodClass, dict[str, Member]] = {}
        self.names: dict[str, int] = {}
        self.priorities: dict[int, int] = {}
        self.policies: dict[str, int] = {}
        """Preemption policies; like names and priorities counted over members that are alive."""
        self.tally = Tally()
        self.tallies = [0] * len(Tally._fields)
        self.laid_out = False
        self.fault: str | None = None
        """Of a root: what is wrong with the layout of its tree."""
        self.unserved: str | None = None
        """Of a root: what its tree asks for, and is not supported yet."""
        self.awaited: tuple[str, ...] = ()
        """Templates of which a child group should be here, and isn't."""
        self.said: dict[str, tuple[str, str, str]] = {}

    @property
    def ref(self) -> GroupRef | None:
        """None while the object isn't here, and where there never is one."""
        if self.object is None or self.kind == "Pod" or self.kind == "Implied":
            return None
        return GroupRef(self.kind, self.namespace, self.name, self.object.metadata.uid)

    @property
    def is_there(self) -> bool:
        return self.object is not None or self.asked is not None or self.kind == "Pod"

    @property
    def subject(self) -> GroupRef | OwnerRef | None:
        """What events about the group are about."""
        return self.owner or self.ref

    def unit(self, commit: str) -> Unit:
        """How the Lease carries it while a commit is to establish its quorum."""
        subject = self.subject
        assert subject is not None
        assert self.kind != "Pod"
        return Unit(subject.uid, self.kind, self.namespace, self.name, commit)

    @property
    def workload(self) -> str | None:
        ref = self.object.spec.workload_ref if self.object is not None else None
        return ref.workload_name if ref is not None else None

    @property
    def template(self) -> str | None:
        ref = self.object.spec.workload_ref if self.object is not None else None
        return ref.template_name if ref is not None else None

    @property
    def counted(self) -> int:
        """What counts towards the quorum by itself: bound and alive, or finished for good."""
        if self.kind == "CompositePodGroup":
            return self.tallies[1]
        return self.counts[BOUND] + self.counts[FINISHED]

    @property
    def eligible(self) -> int:
        """Members that may be placed now. One that is gated holds a basic group back, as upstream."""
        if not self.gang and self.counts[GATED]:
            return 0
        return self.counts[PENDING]

    def is_atomic(self) -> bool:
        """Whether part of its quorum without the rest would be half a gang."""
        return self.gang and self.quorum > 1

    def leaves(self) -> Iterator[Group]:
        return (group for group in self.all() if group.kind != "CompositePodGroup")

    def all(self) -> Iterator[Group]:
        """This group and everything below, each once, even where groups form a ring."""
        seen = {self.key}
        waiting = [self]
        while waiting:
            group = waiting.pop()
            yield group
            below = [child for child in group.ordered_children() if child.key not in seen]
            seen.update(child.key for child in below)
            waiting.extend(reversed(below))

    def ordered_children(self) -> list[Group]:
        """By creation, then by name: a tie-break that no arrival order can change."""
        return sorted(
            self.children.values(), key=lambda child: (child.born, child.name, child.kind)
        )

    @property
    def born(self) -> float:
        if self.object is None:
            return min((member.born for member in self.members.values()), default=0.0)
        made = self.object.metadata.creation_timestamp
        return made.timestamp() if made is not None else 0.0

    def waiting(self) -> Iterator[Member]:
        """The members that may be placed."""
        return (member for alike in self.pending.values() for member in alike.values())

    def priority(self) -> int:
        """The group's own; where its edition has none, that of its lowest member."""
        if self.object is not None and self.object.spec.priority is not None:
            return self.object.spec.priority
        return min((p for leaf in self.leaves() for p in leaf.priorities), default=0)


def named(group: Group) -> str:
    if group.owner is not None:
        return f'{group.owner.kind} "{group.owner.name}"'
    return f'{group.kind} "{group.name}"'


def key_of(kind: Kind, namespace: str, name: str) -> str:
    return f"{kind}/{namespace}/{name}"


def policy_of(made: PodGroup | CompositePodGroup) -> tuple[bool, int]:
    """Whether it is a gang, and its quorum: M of the formulas, 1 for a basic group."""
    if isinstance(made, PodGroup):
        gang = made.spec.scheduling_policy.gang
        return (False, 1) if gang is None else (True, max(1, gang.min_count))
    groups = made.spec.scheduling_policy.gang
    return (False, 1) if groups is None else (True, max(1, groups.min_group_count))


def tally_of(group: Group) -> Tally:
    quorum = group.quorum
    if group.kind == "CompositePodGroup":
        admissible, standing, workable, mixed, unbound = group.tallies
        if not group.is_there:
            return Tally(open=unbound > 0)
        can = admissible >= quorum
        return Tally(can, standing >= quorum, can and workable > 0, mixed > 0, unbound > 0)
    counts = group.counts
    counted = counts[BOUND] + counts[FINISHED]
    eligible = group.eligible
    can = counted + counts[ASSUMED] + eligible >= quorum
    waiting = counts[PENDING] + counts[GATED] + counts[REPORTED] > 0
    if not group.is_there:
        return Tally(open=waiting)
    stands = counted >= quorum
    return Tally(can, stands, can and eligible > 0, mixture(group) is not None, waiting)


def mixture(group: Group) -> str | None:
    """Why its members can't be scheduled together, in the words of kube-scheduler."""
    if len(group.names) > 1:
        first, second = sorted(group.names)[:2]
        return (
            "all pods in a single pod group should have the same .spec.schedulerName set, "
            f'got: "{first}" and "{second}"'
        )
    spec = group.object.spec if group.object is not None else None
    if spec is not None and spec.priority is not None:
        for priority in sorted(group.priorities):
            if priority != spec.priority:
                return (
                    "all pods in a single pod group should have the same priority as the pod "
                    f"group's priority, got {priority} and {spec.priority}"
                )
    if spec is not None and spec.preemption_policy is not None:
        for policy in sorted(group.policies):
            if policy != spec.preemption_policy:
                return (
                    "all pods in a single pod group should have the same preemption policy as the "
                    f"pod group's preemption policy, got {policy} and {spec.preemption_policy}"
                )
    if len(group.policies) > 1:
        first, second = sorted(group.policies)[:2]
        return (
            "all pods in a single pod group should have the same preemption policy, "
            f"got {first} and {second}"
        )
    return None
