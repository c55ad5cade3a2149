"""What the API shows, taken into the forest and the columns. Nothing is decided here.

A view of a pod may be older than what the engine knows from an answer: a pod that is assumed or
bound is never unbound by a sighting, only by an answer, or by its end.
"""

from __future__ import annotations

from tutti.api.core_v1 import Pod
from tutti.api.podspec import unsupported
from tutti.api.scheduling import CompositePodGroup, PodGroup
from tutti.core.pods import PodClass
from tutti.engine.assume import Assumptions
from tutti.engine.commit import mark_of
from tutti.engine.encode import Cluster
from tutti.engine.forest import Forest
from tutti.engine.groups import Group, Kind
from tutti.engine.implied import Asked
from tutti.engine.members import (
    ASSUMED,
    BOUND,
    FAILED,
    FINISHED,
    FOREIGN,
    GATED,
    LEAVING,
    PENDING,
    REPORTED,
    UNBOUND,
    Member,
    State,
    job_of,
)
from tutti.engine.messages import JobSeen
from tutti.engine.words import INITIALLY, said_of

TERMINAL = ("Succeeded", "Failed")


class Intake:
    def __init__(
        self,
        names: tuple[str, ...],
        forest: Forest,
        cluster: Cluster,
        assumptions: Assumptions,
    ) -> None:
        self._names = frozenset(names)
        self._forest = forest
        self._cluster = cluster
        self._assumptions = assumptions

    def state_of(self, pod: Pod) -> State:
        spec = pod.spec
        if pod.metadata.deletion_timestamp is not None:
            return LEAVING
        if pod.status.phase == "Succeeded" and spec.restart_policy in ("Never", "OnFailure"):
            # Of a Job only pods that live count: it says itself how many it still wants.
            return FAILED if job_of(pod) in self._forest.jobs else FINISHED
        if pod.status.phase in TERMINAL:
            return FAILED
        if spec.node_name:
            return BOUND
        if spec.scheduler_name not in self._names:
            return FOREIGN
        if spec.scheduling_gates:
            return GATED
        return REPORTED if unsupported(pod) else PENDING

    def pod_seen(self, pod: Pod) -> Member | None:
        """The member, if the pod is one that matters and is bound now, and was not before."""
        member = self._forest.members.get(pod.metadata.uid)
        if member is not None:
            return self._see_again(member, pod)
        if (other := self._forest.namesake(pod)) is not None:
            self.pod_gone(other.ref.uid)
        return self._meet(pod)

    def job_seen(self, job: JobSeen) -> None:
        for member in self._forest.job_seen(job.uid, job.wanted, Asked(job.gang, job.wrong)):
            if member.state is FINISHED:
                self._forest.move(member, FAILED)

    def pod_gone(self, uid: str) -> None:
        member = self._forest.remove(uid)
        if member is not None:
            self._assumptions.release(member)
            self._cluster.volumes.unmounted(member.pod)

    def group_seen(self, made: PodGroup | CompositePodGroup) -> Group:
        kind: Kind = "PodGroup" if isinstance(made, PodGroup) else "CompositePodGroup"
        group = self._forest.plant(kind, made)
        for type in ("tutti.dev/Satisfied", INITIALLY[kind]):
            said = said_of(made.status.conditions, type)
            if said is None:
                continue
            # What was written last is known better here than in a view of the object; but what
            # is True there and must stay so stays so, whoever wrote it.
            known = group.said.get(type)
            if known is None or (type == INITIALLY[kind] and said[0] == "True" != known[0]):
                group.said[type] = said
        return group

    def _meet(self, pod: Pod) -> Member | None:
        state = self.state_of(pod)
        spec = pod.spec
        occupies = bool(spec.node_name) and pod.status.phase not in TERMINAL
        waits = state in (PENDING, GATED, REPORTED)
        if not (waits or occupies or self._forest.is_grouped(pod)):
            return None
        self._cluster.volumes.mounted(pod)
        cls = self._cluster.class_of(pod)
        member = self._forest.add(pod, state, cls)
        member.node = ""
        if occupies:
            member.node = spec.node_name
            member.commit = mark_of(pod)
            self._assumptions.hold(member)
        elif state in UNBOUND:
            said = said_of(pod.status.conditions, "PodScheduled")
            if said is not None and said[0] == "False":
                member.said = said[1:]
        if state is BOUND and not member.commit:
            self._forest.bound_by_another(member)
        return member if state is BOUND else None

    def _see_again(self, member: Member, pod: Pod) -> Member | None:
        state = self.state_of(pod)
        if state in UNBOUND and member.state not in UNBOUND:
            self._forest.see_again(member, pod)
            return None
        cls = self._class_again(member, pod)
        lands = False
        if state is BOUND:
            lands = member.state in UNBOUND or member.state is ASSUMED
            if lands or member.node != pod.spec.node_name:
                self._assumptions.confirm(member, pod.spec.node_name)
            elif cls is not member.cls:
                self._assumptions.freed[member.node] = None
        elif pod.status.phase in TERMINAL:
            self._assumptions.release(member)
        if cls is not member.cls and member.node:
            self._cluster.hold(member.ref.uid, cls, member.node)
        self._forest.replace(member, pod, state, cls)
        return member if lands else None

    def class_all_again(self) -> None:
        """A pod asks about labels that nobody asked about before: they tell pods apart now."""
        for member in tuple(self._forest.members.values()):
            self._class_member_again(member)

    def class_again_where_claims_changed(self) -> None:
        for uid in self._cluster.volumes.take_changed():
            self._class_member_again(self._forest.members[uid])

    def _class_member_again(self, member: Member) -> None:
        cls = self._cluster.class_of(member.pod)
        if cls is not member.cls:
            if member.node:
                self._cluster.hold(member.ref.uid, cls, member.node)
            self._forest.replace(member, member.pod, member.state, cls)

    def _class_again(self, member: Member, pod: Pod) -> PodClass:
        """The pod's class now. Of a bound pod its amounts may change, by a resize, and who it is."""
        was = member.pod
        if member.state in UNBOUND:
            same = pod.spec == was.spec and pod.metadata.labels == was.metadata.labels
        else:
            same = (
                pod.metadata.labels == was.metadata.labels
                and pod.metadata.deletion_timestamp == was.metadata.deletion_timestamp
                and pod.spec.containers == was.spec.containers
                and pod.spec.resources == was.spec.resources
                and pod.spec.init_containers == was.spec.init_containers
                and pod.status.container_statuses == was.status.container_statuses
                and pod.status.resources == was.status.resources
                and pod.status.allocated_resources == was.status.allocated_resources
            )
        return member.cls if same else self._cluster.class_of(pod)
