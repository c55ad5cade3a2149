"""What `tutti why` says: API objects -> a report of a root, its groups and its members. Pure.

It goes by what the objects themselves say, so it works for any scheduler that writes conditions.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal

import msgspec

from tutti.api.batch import Job
from tutti.api.core_v1 import Pod
from tutti.api.meta import Condition
from tutti.api.scheduling import CompositePodGroup, PodGroup
from tutti.engine.implied import Asked

SATISFIED = "tutti.dev/Satisfied"
SCHEDULED = ("PodGroupInitiallyScheduled", "CompositePodGroupInitiallyScheduled")

Group = PodGroup | CompositePodGroup
State = Literal["runs", "waits", "ended", "ends"]


class Member(msgspec.Struct, frozen=True):
    """A pod: where it is, or why it is nowhere."""

    name: str
    state: str
    node: str = ""
    reason: str = ""
    message: str = ""


class Report(msgspec.Struct, frozen=True, omit_defaults=True):
    """A lone pod or a group; a composite has children in place of members."""

    kind: str
    namespace: str
    name: str
    state: str
    needs: int = 0
    has: int = 0
    bound: int = 0
    reason: str = ""
    message: str = ""
    since: datetime | None = None
    members: tuple[Member, ...] = ()
    children: tuple["Report", ...] = ()


class Family(msgspec.Struct, frozen=True):
    """The groups and pods of one namespace, each to be found by the group that it belongs to."""

    groups: Mapping[str, PodGroup]
    composites: Mapping[str, CompositePodGroup]
    pods: Mapping[str, Sequence[Pod]]

    @classmethod
    def of(
        cls,
        groups: Iterable[PodGroup],
        composites: Iterable[CompositePodGroup],
        pods: Iterable[Pod],
    ) -> "Family":
        members: dict[str, list[Pod]] = {}
        for pod in sorted(pods, key=lambda pod: pod.metadata.name):
            if name := group_name(pod):
                members.setdefault(name, []).append(pod)
        return cls(
            {group.metadata.name: group for group in groups},
            {group.metadata.name: group for group in composites},
            members,
        )

    def root_of(self, group: Group) -> Group:
        """The top of the tree that a group is in, as far as its objects are there."""
        climbed: set[str] = set()
        while (above := self.parent_of(group)) is not None and above.metadata.name not in climbed:
            climbed.add(above.metadata.name)
            group = above
        return group

    def parent_of(self, group: Group) -> CompositePodGroup | None:
        return self.composites.get(group.spec.parent_composite_pod_group_name or "")

    def children_of(self, group: CompositePodGroup) -> list[Group]:
        name = group.metadata.name
        groups: list[Group] = [*self.composites.values(), *self.groups.values()]
        children = [g for g in groups if g.spec.parent_composite_pod_group_name == name]
        return sorted(children, key=lambda child: child.metadata.name)


def group_name(pod: Pod) -> str:
    group = pod.spec.scheduling_group
    return (group.pod_group_name if group else None) or ""


def of_pod(pod: Pod) -> Report:
    member = _member(pod)
    return Report(
        kind="Pod",
        namespace=pod.metadata.namespace,
        name=pod.metadata.name,
        state=member.state,
        needs=1,
        has=1,
        bound=int(bool(pod.spec.node_name)),
        reason=member.reason,
        message=member.message,
        since=_since(pod.status.conditions, "PodScheduled"),
        members=(member,),
    )


def of_job(job: Job, pods: Sequence[Pod], asked: Asked) -> Report:
    """A Job whose pods are in no group: what they need is what the Job itself says."""
    members = sorted(pods, key=lambda pod: pod.metadata.name)
    waiting = next((pod for pod in members if not pod.spec.node_name), None)
    said = _member(waiting) if waiting is not None else None
    bound = sum(_counts(pod) and pod.status.phase != "Succeeded" for pod in members)
    needs = min(asked.quorum or 0, job.wanted_at_once)
    enough = bound >= needs and (bool(asked.quorum) or said is None)
    return Report(
        kind="Job",
        namespace=job.metadata.namespace,
        name=job.metadata.name,
        state="ended" if job.ending else "runs" if enough and not asked.wrong else "waits",
        needs=needs,
        has=len(members),
        bound=bound,
        reason=said.reason if said else "",
        message=asked.wrong or (said.message if said else "") or _of_lone_pods(asked),
        since=_since(waiting.status.conditions, "PodScheduled") if waiting else None,
        members=tuple(_member(pod) for pod in members),
    )


def _of_lone_pods(asked: Asked) -> str:
    return "" if asked.is_gang else "it is no gang: its pods start one by one"


def is_of(pod: Pod, job: Job) -> bool:
    owner = pod.metadata.controller
    return owner is not None and owner.uid == job.metadata.uid


def of_absent_group(pod: Pod) -> Report:
    """The group of a pod, where the pod is there and the group isn't."""
    member = _member(pod)
    return Report(
        kind="PodGroup",
        namespace=pod.metadata.namespace,
        name=group_name(pod),
        state="is not there",
        reason=member.reason,
        message=member.message or "the pod names a PodGroup that does not exist",
        members=(member,),
    )


def of_group(group: Group, family: Family, above: frozenset[str] = frozenset()) -> Report:
    """`above` names the groups that this one is shown in: a cycle is shown once around."""
    match group:
        case PodGroup():
            return _of_leaf(group, family)
        case CompositePodGroup():
            return _of_composite(group, family, above | {group.metadata.name})


def _of_leaf(group: PodGroup, family: Family) -> Report:
    pods = family.pods.get(group.metadata.name, ())
    gang = group.spec.scheduling_policy.gang
    return _of(
        "PodGroup",
        group,
        needs=gang.min_count if gang else 1,
        has=len(pods),
        bound=sum(_counts(pod) for pod in pods),
        members=tuple(_member(pod) for pod in pods),
    )


def _of_composite(group: CompositePodGroup, family: Family, above: frozenset[str]) -> Report:
    gang = group.spec.scheduling_policy.gang
    children = tuple(
        of_group(child, family, above)
        for child in family.children_of(group)
        if isinstance(child, PodGroup) or child.metadata.name not in above
    )
    return _of(
        "CompositePodGroup",
        group,
        needs=gang.min_group_count if gang else 1,
        has=len(children),
        bound=sum(child.state == "runs" for child in children),
        children=children,
    )


def _of(
    kind: str,
    group: Group,
    *,
    needs: int,
    has: int,
    bound: int,
    members: tuple[Member, ...] = (),
    children: tuple[Report, ...] = (),
) -> Report:
    conditions = {condition.type: condition for condition in group.status.conditions}
    said = conditions.get(SATISFIED) or next(
        (conditions[type_] for type_ in SCHEDULED if type_ in conditions), None
    )
    return Report(
        kind=kind,
        namespace=group.metadata.namespace,
        name=group.metadata.name,
        state="runs" if bound >= needs else "waits",
        needs=needs,
        has=has,
        bound=bound,
        reason=said.reason if said else "",
        message=said.message if said else "no scheduler has said anything about it yet",
        since=said.last_transition_time if said else group.metadata.creation_timestamp,
        members=members,
        children=children,
    )


def _counts(pod: Pod) -> bool:
    """Bound, and neither failed nor on its way out."""
    return bool(
        pod.spec.node_name
        and pod.status.phase != "Failed"
        and pod.metadata.deletion_timestamp is None
    )


def _member(pod: Pod) -> Member:
    said = next((c for c in pod.status.conditions if c.type == "PodScheduled"), None)
    waits = not pod.spec.node_name
    return Member(
        name=pod.metadata.name,
        state=_state(pod),
        node=pod.spec.node_name,
        reason=said.reason if said and waits else "",
        message=said.message if said and waits else "",
    )


def _state(pod: Pod) -> str:
    if pod.metadata.deletion_timestamp is not None:
        return "Terminating"
    if pod.spec.node_name and pod.status.phase == "Pending":
        return "Bound"
    return pod.status.phase or "Pending"


def _since(conditions: Sequence[Condition], type_: str) -> datetime | None:
    return next((c.last_transition_time for c in conditions if c.type == type_), None)
