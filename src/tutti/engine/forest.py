"""Who belongs to whom, what is here and what is missing: counted as it changes.

Pods hang on groups, groups on composite groups; what hangs on nothing is a root. Objects come in
any order: a group has its place as soon as anything names it, with or without its object. A change
costs the depth of its tree, not the size of its group: every group counts its members by state, and
its children by what they say of themselves (see `Tally`), and passes on only what changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tutti.api.core_v1 import Pod
from tutti.api.scheduling import CompositePodGroup, PodGroup, Workload
from tutti.core.pods import PodClass
from tutti.engine.groups import Group, Kind, Tally, key_of, policy_of, tally_of
from tutti.engine.implied import NOTHING, Asked, Implied, is_job, says_alike
from tutti.engine.members import (
    ALIVE,
    ASSUMED,
    BOUND,
    FOREIGN,
    PENDING,
    UNBOUND,
    Member,
    State,
    job_of,
)
from tutti.engine.messages import OwnerRef

_What = TypeVar("_What", str, int)
USUAL_POLICY = "PreemptLowerPriority"


class Forest:
    """All groups and all members. `touched` are the roots to look at again, in order of change."""

    def __init__(self, implied: Implied | None = None) -> None:
        self.implied = implied or Implied()
        self.groups: dict[str, Group] = {}
        self.members: dict[str, Member] = {}
        self.touched: dict[str, None] = {}
        self.workloads: dict[tuple[str, str], Workload] = {}
        self._of_workload: dict[tuple[str, str], dict[str, None]] = {}
        self.jobs: dict[str, int] = {}
        """How many pods each Job wants at once."""
        self._of_job: dict[str, dict[str, None]] = {}
        self._of_owner: dict[str, dict[str, None]] = {}
        """By uid of the owner: pods that are, or could be, in its implied group."""
        self._astray: dict[str, None] = {}
        """Members that belong elsewhere now, or may."""
        self._doubted: dict[str, None] = {}
        """Implied groups of which somebody else has bound a pod."""
        self._uids: dict[tuple[str, str], str] = {}
        self._composites = True

    # --- pods ---------------------------------------------------------------------------------

    def namesake(self, pod: Pod) -> Member | None:
        """A known pod of the same name that this one has replaced."""
        meta = pod.metadata
        uid = self._uids.get((meta.namespace, meta.name), meta.uid)
        return self.members[uid] if uid != meta.uid else None

    def member_named(self, namespace: str, name: str) -> Member | None:
        uid = self._uids.get((namespace, name))
        return self.members[uid] if uid is not None else None

    def is_grouped(self, pod: Pod) -> bool:
        """Whether it is of interest even when it neither waits nor runs."""
        return pod.spec.scheduling_group is not None or self.implied.owner_of_gang(pod) is not None

    def add(self, pod: Pod, state: State, cls: PodClass) -> Member:
        member = Member(pod, state, cls)
        ref = member.ref
        self.members[ref.uid] = member
        self._uids[ref.namespace, ref.name] = ref.uid
        if group := self._home(member):
            member.group = group
            group.members[ref.uid] = member
            self._file_under_job(group, member, 1)
            self._enter(group, member)
        self._file_under_owner(member, 1)
        return member

    def remove(self, uid: str) -> Member | None:
        member = self.members.pop(uid, None)
        if member is None:
            return None
        del self._uids[member.ref.namespace, member.ref.name]
        self._astray.pop(uid, None)
        self._file_under_owner(member, -1)
        if group := member.group:
            del group.members[uid]
            self._file_under_job(group, member, -1)
            self._leave(group, member)
            self._prune(group)
        return member

    def move(self, member: Member, state: State) -> None:
        """The member stands elsewhere now; its group and all above it count anew."""
        if state is member.state:
            return
        group = member.group
        if group is None:
            member.state = state
            return
        was = member.state
        group.counts[was] -= 1
        group.counts[state] += 1
        if was is PENDING:
            self._forget_pending(group, member)
        elif state is PENDING:
            group.pending.setdefault(member.cls, {})[member.ref.uid] = member
        if (was in ALIVE) is not (state in ALIVE):
            self._note_kind(group, member, 1 if state in ALIVE else -1)
        member.state = state
        if group.kind == "Pod" and state not in UNBOUND and state is not ASSUMED:
            self._let_go(group, member)
        else:
            self._weigh(group)

    def replace(self, member: Member, pod: Pod, state: State, cls: PodClass) -> None:
        """The pod as it is now; only what changed is counted anew."""
        group = member.group
        if group is not None and cls is not member.cls and member.state is PENDING:
            self._forget_pending(group, member)
            group.pending.setdefault(cls, {})[member.ref.uid] = member
            self.touch(group)
        self.see_again(member, pod)
        member.cls = cls
        self.move(member, state)

    def see_again(self, member: Member, pod: Pod) -> None:
        """Another view of the pod; whoever owned it may not do so any more."""
        if says_alike(pod, member.pod):
            member.pod = pod
            return
        group = member.group
        self._file_under_owner(member, -1)
        if group is not None:
            self._file_under_job(group, member, -1)
        member.pod = pod
        self._file_under_owner(member, 1)
        self._astray[member.ref.uid] = None
        if group is not None:
            self._file_under_job(group, member, 1)
            self._weigh(group)

    # --- groups -------------------------------------------------------------------------------

    def plant(self, kind: Kind, made: PodGroup | CompositePodGroup) -> Group:
        """A group's object is here, or has changed."""
        meta = made.metadata
        group = self._place(kind, meta.namespace, meta.name)
        if group.object is not None and group.object.metadata.uid != meta.uid:
            group.said = {}
        self._file_under_workload(group, False)
        group.object = made
        self._file_under_workload(group, True)
        group.gang, group.least = policy_of(made)
        self._set_quorum(group)
        self._unsettle(group)
        self._attach(group)
        self._weigh(group)
        return group

    def uproot(self, kind: Kind, namespace: str, name: str, uid: str) -> Group | None:
        """A group's object has gone; its members and children stay where they are and wait."""
        group = self.groups.get(key_of(kind, namespace, name))
        if group is None or group.object is None or group.object.metadata.uid != uid:
            return None
        self._file_under_workload(group, False)
        group.object = None
        group.gang, group.least = False, 1
        self._set_quorum(group)
        group.said = {}
        self._unsettle(group)
        self._attach(group)
        self._weigh(group)
        self._prune(group)
        return group

    def workload_seen(self, workload: Workload) -> None:
        key = workload.metadata.namespace, workload.metadata.name
        self.workloads[key] = workload
        self._unsettle_workload(key)
        self._reconsider_job(self.implied.workload_seen(workload))

    def workload_gone(self, namespace: str, name: str) -> None:
        workload = self.workloads.pop((namespace, name), None)
        self._unsettle_workload((namespace, name))
        if workload is not None:
            self._reconsider_job(self.implied.workload_gone(workload))

    def job_seen(self, uid: str, wanted: int, asked: Asked = NOTHING) -> list[Member]:
        """Its pods, if the Job is new here."""
        known = self.jobs.get(uid)
        self.jobs[uid] = wanted
        if self.implied.job_seen(uid, asked):
            self._reconsider(uid)
        if known == wanted:
            return []
        self._requorum(uid)
        members = self._of_job.get(uid, ()) if known is None else ()
        return [self.members[member] for member in members]

    def job_gone(self, uid: str) -> None:
        if self.jobs.pop(uid, None) is not None:
            self.implied.job_gone(uid)
            self._reconsider(uid)
            self._requorum(uid)

    def follow_jobs(self, told: bool) -> None:
        """Whether Jobs are told of; without that nobody waits for a word of his Job."""
        if told != self.implied.follows_jobs:
            for member in self.members.values():
                self._file_under_owner(member, -1)
            self.implied.follows_jobs = told
            for uid, member in self.members.items():
                self._file_under_owner(member, 1)
                self._astray[uid] = None

    def bound_by_another(self, member: Member) -> None:
        """A pod has got its node, and not by us."""
        if member.group is not None and member.group.kind == "Implied":
            self._doubted[member.group.key] = None
            self.touch(member.group)

    def bring_home(self, is_busy: Callable[[str], bool]) -> list[Group]:
        """Put members where they belong by now, but none of a group that has commits.

        Returned are the implied groups that are left alone from now on.
        """
        left_alone = []
        for key in [key for key in self._doubted if not is_busy(key)]:
            del self._doubted[key]
            group = self.groups.get(key)
            if group is not None and group.owner is not None and _is_anothers(group):
                self.implied.leave_alone(group.owner.uid)
                self._astray.update(dict.fromkeys(group.members))
                left_alone.append(group)
        for uid in list(self._astray):
            member = self.members[uid]
            if member.group is None or not is_busy(self.root_of(member.group).key):
                del self._astray[uid]
                self._rehome(member)
        return left_alone

    def use_composites(self, served: bool) -> None:
        """Where no composite groups are served, a left-over parent reference means nothing."""
        if served != self._composites:
            self._composites = served
            for group in list(self.groups.values()):
                self._attach(group)

    def root(self, key: str) -> Group | None:
        """The group of this key, if it is a root."""
        group = self.groups.get(key)
        return group if group is not None and self.root_of(group) is group else None

    def root_of(self, group: Group) -> Group:
        """The top of its tree; of a ring of groups, the one whose key comes first."""
        top, seen = group, {group.key}
        while (parent := top.parent) is not None:
            if parent.key in seen:
                return _first_of_ring(parent)
            seen.add(parent.key)
            top = parent
        return top

    def touch(self, group: Group) -> None:
        self.touched[self.root_of(group).key] = None

    def check(self) -> list[str]:
        """Count everything anew, and name every difference."""
        wrong = []
        for group in self.groups.values():
            counts = [0] * len(State)
            for member in group.members.values():
                counts[member.state] += 1
            tallies = [
                sum(child.tally[index] for child in group.children.values())
                for index in range(len(Tally._fields))
            ]
            pending = sum(len(alike) for alike in group.pending.values())
            for what, counted, true in (
                ("members", group.counts, counts),
                ("children", group.tallies, tallies),
                ("tally", group.tally, tally_of(group)),
                ("pending", pending, counts[PENDING]),
            ):
                if counted != true:
                    wrong.append(f"{group.key}: {what} are {counted}, should be {true}")
        for member in self.members.values():
            owner = self.implied.owner_of_gang(member.pod)
            at = member.group.owner if member.group is not None else None
            if owner != at and member.ref.uid not in self._astray:
                wrong.append(f"{member.ref.name} is with {at}, should be with {owner}")
        return wrong

    # --- how it is counted --------------------------------------------------------------------

    def _home(self, member: Member) -> Group | None:
        ref = member.ref
        named = member.pod.spec.scheduling_group
        if named is not None and named.pod_group_name:
            return self._place("PodGroup", ref.namespace, named.pod_group_name)
        if (owner := self.implied.owner_of_gang(member.pod)) is not None:
            return self._imply(owner, member.pod)
        if member.state in UNBOUND and member.state is not FOREIGN:
            return self._place("Pod", ref.namespace, ref.name)
        return None

    def _place(self, kind: Kind, namespace: str, name: str) -> Group:
        key = key_of(kind, namespace, name)
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = Group(kind, namespace, name)
        return group

    def _imply(self, owner: OwnerRef, pod: Pod) -> Group:
        """The place of the owner's pods, of whatever name the owner's namesakes are."""
        group = self._place("Implied", owner.namespace, f"{owner.name}.{owner.uid}")
        group.owner = owner
        asked = self.implied.asked_for(pod)
        if asked is not None and asked.outweighs(group.asked):
            self._ask(group, asked)
        return group

    def _ask(self, group: Group, asked: Asked | None) -> None:
        group.asked = asked
        group.gang, group.least = asked is not None, (asked.quorum if asked else None) or 1
        self._set_quorum(group)
        self._unsettle(group)
        self._weigh(group)

    def _reconsider_job(self, job: tuple[str, str] | None) -> None:
        """Whether the Job of this name can be a gang has changed."""
        for owner, pods in list(self._of_owner.items()) if job is not None else ():
            pod = self.members[next(iter(pods))].pod
            its = pod.metadata.controller
            if its is not None and is_job(its) and (pod.metadata.namespace, its.name) == job:
                self._reconsider(owner)

    def _reconsider(self, owner: str) -> None:
        """The Job asks otherwise: its group counts anew, and its pods may belong elsewhere."""
        for uid in self._of_owner.get(owner, ()):
            self._astray[uid] = None
            group = self.members[uid].group
            if group is None:
                continue
            self.touch(group)
            asked = self.implied.asked_by_job(owner) if owner in self.jobs else None
            if group.owner is not None and group.asked != asked:
                self._ask(group, asked)

    def _rehome(self, member: Member) -> None:
        was, now = member.group, self._home(member)
        if was is now:
            return
        uid = member.ref.uid
        if was is not None:
            del was.members[uid]
            self._file_under_job(was, member, -1)
            self._leave(was, member)
            self._prune(was)
        member.group = now
        if now is not None:
            now.members[uid] = member
            self._file_under_job(now, member, 1)
            self._enter(now, member)

    def _let_go(self, group: Group, member: Member) -> None:
        """A lone pod is bound, or will never be: it is no root any more."""
        member.group = None
        del self.groups[group.key]
        self.touched[group.key] = None

    def _enter(self, group: Group, member: Member) -> None:
        group.counts[member.state] += 1
        if member.state is PENDING:
            group.pending.setdefault(member.cls, {})[member.ref.uid] = member
        if member.state in ALIVE:
            self._note_kind(group, member, 1)
        self._weigh(group)

    def _leave(self, group: Group, member: Member) -> None:
        group.counts[member.state] -= 1
        if member.state is PENDING:
            self._forget_pending(group, member)
        if member.state in ALIVE:
            self._note_kind(group, member, -1)
        self._weigh(group)

    def _forget_pending(self, group: Group, member: Member) -> None:
        alike = group.pending[member.cls]
        del alike[member.ref.uid]
        if not alike:
            del group.pending[member.cls]

    def _note_kind(self, group: Group, member: Member, change: int) -> None:
        spec = member.pod.spec
        _count(group.names, spec.scheduler_name, change)
        _count(group.priorities, spec.priority or 0, change)
        _count(group.policies, spec.preemption_policy or USUAL_POLICY, change)

    def _weigh(self, group: Group) -> None:
        """Count this group anew, and everything above it that this changes."""
        self.touch(group)
        at: Group | None = group
        while at is not None:
            tally = tally_of(at)
            if tally == at.tally:
                return
            parent = at.parent
            if parent is not None:
                tallies = parent.tallies
                for index, (now, before) in enumerate(zip(tally, at.tally, strict=True)):
                    tallies[index] += now - before
            if at.tally.standing and not tally.standing:
                # It is held to its template again, once nothing of it runs.
                self._unsettle(at)
            at.tally = tally
            at = parent

    def _attach(self, group: Group) -> None:
        """Hang the group on the parent that its object names."""
        named = None
        if group.object is not None and self._composites:
            named = group.object.spec.parent_composite_pod_group_name
        parent = self._place("CompositePodGroup", group.namespace, named) if named else None
        old = group.parent
        if parent is old:
            return
        if old is not None:
            self.touch(group)
            del old.children[group.key]
            for index, value in enumerate(group.tally):
                old.tallies[index] -= value
            group.parent = None
            self._unsettle(old)
            self._weigh(old)
            self._prune(old)
        if parent is not None:
            self.touched[group.key] = None
            group.parent = parent
            parent.children[group.key] = group
            for index, value in enumerate(group.tally):
                parent.tallies[index] += value
            self._weigh(parent)
        self._unsettle(group)

    def _file_under_job(self, group: Group, member: Member, change: int) -> None:
        job = job_of(member.pod)
        if job is None:
            return
        _count(group.jobs, job, change)
        pods = self._of_job.setdefault(job, {})
        if change > 0:
            pods[member.ref.uid] = None
        else:
            pods.pop(member.ref.uid, None)
            if not pods:
                del self._of_job[job]
        self._set_quorum(group)

    def _file_under_owner(self, member: Member, change: int) -> None:
        owner = self.implied.uid_of_owner(member.pod)
        if owner is None:
            return
        pods = self._of_owner.setdefault(owner, {})
        if change > 0:
            pods[member.ref.uid] = None
        else:
            pods.pop(member.ref.uid, None)
            if not pods:
                del self._of_owner[owner]
                self.implied.forget(owner)

    def _requorum(self, job: str) -> None:
        """The Job wants another number of pods; its groups count anew."""
        pods = self._of_job.get(job, ())
        groups = {group.key: group for pod in pods if (group := self.members[pod].group)}
        for group in groups.values():
            self._set_quorum(group)
            self._weigh(group)

    def _set_quorum(self, group: Group) -> None:
        group.wanted = None
        if group.gang and group.jobs and all(job in self.jobs for job in group.jobs):
            group.wanted = sum(self.jobs[job] for job in group.jobs)
        wanted = group.least if group.wanted is None else max(1, group.wanted)
        group.quorum = min(group.least, wanted)

    def _file_under_workload(self, group: Group, here: bool) -> None:
        name = group.workload
        if name is None:
            return
        alike = self._of_workload.setdefault((group.namespace, name), {})
        if here:
            alike[group.key] = None
        else:
            alike.pop(group.key, None)
            if not alike:
                del self._of_workload[group.namespace, name]

    def _unsettle_workload(self, key: tuple[str, str]) -> None:
        for group in self._of_workload.get(key, ()):
            self._unsettle(self.groups[group])

    def _unsettle(self, group: Group) -> None:
        """The layout of the tree has to be looked at again."""
        root = self.root_of(group)
        root.laid_out = False
        self.touched[root.key] = None

    def _prune(self, group: Group) -> None:
        """A place that nothing names any more is none."""
        at: Group | None = group
        while at is not None and at.object is None and not at.members and not at.children:
            self.touched[at.key] = None
            self.groups.pop(at.key, None)
            at = at.parent


def _is_anothers(group: Group) -> bool:
    """Whether somebody else bound pods of it, and none is bound by us."""
    bound = [member.commit for member in group.members.values() if member.state is BOUND]
    return bool(bound) and not any(bound)


def _first_of_ring(group: Group) -> Group:
    first, at = group, group.parent
    while at is not None and at is not group:
        if at.key < first.key:
            first = at
        at = at.parent
    return first


def _count(counts: dict[_What, int], what: _What, change: int) -> None:
    now = counts.get(what, 0) + change
    if now:
        counts[what] = now
    else:
        del counts[what]
