"""The loop as a value machine: `handle` takes events in, `turn` decides and answers with actions.

It owns all that the scheduler knows, reaches nothing and reads no clock. The hands drain their
inbox into `handle`, then call `turn`: what arrives together is decided together. A turn is bounded
by work; where more is to be done, `next_wake` says so, and the next turn goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from tutti.api.core_v1 import Node, Pod
from tutti.api.scheduling import PodGroup
from tutti.api.storage import CSINode
from tutti.engine.assume import Assumptions
from tutti.engine.check import misplaced_roots
from tutti.engine.commit import as_bound, mark_of
from tutti.engine.encode import Cluster
from tutti.engine.flights import Flights
from tutti.engine.forest import Forest
from tutti.engine.groups import Group
from tutti.engine.implied import Implied
from tutti.engine.intake import Intake
from tutti.engine.members import LEAVING
from tutti.engine.messages import (
    Action,
    BindRefused,
    BindUnknown,
    Bound,
    ClaimGone,
    ClaimSeen,
    CompositeGone,
    CompositeSeen,
    CsiNodeGone,
    CsiNodeSeen,
    Deleted,
    DeleteFailed,
    Edition,
    Event,
    GroupGone,
    GroupSeen,
    IntentRefused,
    IntentWritten,
    JobGone,
    JobSeen,
    LeaseHeld,
    LeaseLost,
    NodeGone,
    NodeSeen,
    PodGone,
    PodRead,
    PodRef,
    PodSeen,
    StorageClassGone,
    StorageClassSeen,
    Synced,
    Unit,
    VolumeGone,
    VolumeSeen,
    WorkloadGone,
    WorkloadSeen,
    WriteIntent,
)
from tutti.engine.queue import Queue
from tutti.engine.report import RootReport, report
from tutti.engine.rounds import Rounds
from tutti.engine.settings import Settings
from tutti.engine.speaker import Speaker
from tutti.engine.words import left_alone_note

INTENT_INTERVAL = 1.0
"""How long units that are done may stay on the Lease when nothing else has to be written."""


class Engine:
    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.forest = Forest(Implied(self.settings.scheduler_names))
        self.cluster = Cluster()
        self.queue = Queue(self.settings)
        self.assumptions = Assumptions(self.cluster, self.forest)
        self.intake = Intake(
            self.settings.scheduler_names, self.forest, self.cluster, self.assumptions
        )
        self.flights = Flights(self.settings, self.forest, self.assumptions, self.intake)
        self._speaker = Speaker(self.settings, self.forest, self.queue)
        self._rounds = Rounds(
            self.settings,
            self.forest,
            self.cluster,
            self.queue,
            self.assumptions,
            self.flights,
            self._speaker,
        )
        self._synced = False
        self._held = False
        self._found: tuple[Unit, ...] = ()
        self._nodes: dict[str, Node] = {}
        self._csi_nodes: dict[str, CSINode] = {}
        self._edition = Edition(composites=True, group_status=True)
        self._generation = 0
        self._number = 0
        self._written_at = 0.0
        self._now = 0.0

    # --- events -------------------------------------------------------------------------------

    def handle(self, event: Event, now: float) -> None:
        """Take an event in. Nothing is decided before the next turn."""
        self._now = now
        match event:
            case PodSeen(pod):
                self._pod_seen(pod)
            case PodGone(ref):
                self._pod_gone(ref)
            case NodeSeen(node):
                name = node.metadata.name
                self._nodes[name] = node
                self.cluster.node_seen(node)
                self.assumptions.freed[name] = None
            case NodeGone(name):
                self._nodes.pop(name, None)
                self.cluster.node_gone(name)
            case GroupSeen(group) | CompositeSeen(group):
                self.intake.group_seen(group)
            case GroupGone(ref) | CompositeGone(ref):
                self.forest.uproot(ref.kind, ref.namespace, ref.name, ref.uid)
            case WorkloadSeen(workload):
                self.forest.workload_seen(workload)
            case WorkloadGone(namespace, name):
                self.forest.workload_gone(namespace, name)
            case JobSeen():
                self.intake.job_seen(event)
            case JobGone(uid):
                self.forest.job_gone(uid)
            case ClaimSeen(claim):
                self.cluster.volumes.claim_seen(claim)
            case ClaimGone(namespace, name):
                self.cluster.volumes.claim_gone(namespace, name)
            case VolumeSeen(volume):
                self.cluster.volumes.volume_seen(volume)
            case VolumeGone(name):
                self.cluster.volumes.volume_gone(name)
            case StorageClassSeen(storage_class):
                self.cluster.volumes.class_seen(storage_class)
            case StorageClassGone(name):
                self.cluster.volumes.class_gone(name)
            case CsiNodeSeen(csi_node):
                name = csi_node.metadata.name
                self._csi_nodes[name] = csi_node
                self._limits_seen(name, csi_node.limits)
            case CsiNodeGone(name):
                self._csi_nodes.pop(name, None)
                self._limits_seen(name, {})
            case Edition(composites, group_status, jobs):
                self._edition = event
                self.forest.follow_jobs(jobs)
                self.forest.use_composites(composites)
                self._speaker.words.group_status = group_status
                self._speaker.words.composites = composites
            case Synced():
                self._synced = True
            case LeaseHeld(units):
                self._held, self._found = True, units
                self.flights.units_changed, self._written_at = bool(units), now
            case LeaseLost():
                self._held, self._found = False, ()
                self.flights.drop_all()
            case IntentWritten(number):
                self.flights.intent_written(number, self._nodes.__contains__)
            case IntentRefused(number):
                self.flights.intent_refused(number)
            case Bound(ref, node, commit):
                self.flights.bound(ref, node, commit)
            case BindRefused(ref, node, commit, reason, message):
                self.flights.refused(ref, node, commit, reason, message)
            case BindUnknown(ref, node, commit, message):
                self.flights.unknown(ref, node, commit, message)
            case PodRead(ref, pod):
                self._pod_read(ref, pod)
            case Deleted(ref):
                self._deleted(ref)
            case DeleteFailed(ref):
                self.flights.delete_failed(ref.uid, now)
            case _:
                assert_never(event)

    def _pod_seen(self, pod: Pod) -> None:
        landed = self.intake.pod_seen(pod)
        if landed is not None:
            self.flights.seen_bound(landed, mark_of(pod))
        elif pod.metadata.deletion_timestamp is not None:
            member = self.forest.members.get(pod.metadata.uid)
            if member is not None:
                self.flights.gone(member)

    def _pod_gone(self, ref: PodRef) -> None:
        member = self.forest.members.get(ref.uid)
        if member is not None:
            self.intake.pod_gone(ref.uid)
            self.flights.gone(member)

    def _pod_read(self, ref: PodRef, pod: Pod | None) -> None:
        if pod is None or pod.metadata.uid != ref.uid:
            self._pod_gone(ref)
            return
        self._pod_seen(pod)
        if not pod.spec.node_name:
            self.flights.read_unbound(ref)

    def _deleted(self, ref: PodRef) -> None:
        member = self.forest.members.get(ref.uid)
        if member is not None:
            self.forest.move(member, LEAVING)
            self.flights.gone(member)

    def _limits_seen(self, node: str, limits: dict[str, int]) -> None:
        self.cluster.limits_seen(node, limits)
        self.assumptions.freed[node] = None

    # --- a turn -------------------------------------------------------------------------------

    def turn(self, now: float) -> list[Action]:
        """Decide, as far as the budget of work goes. While the Lease isn't held: nothing."""
        self._now = now
        if self._held and self._synced:
            self._tell_pods_apart()
            self.intake.class_again_where_claims_changed()
            self._bring_home()
            self._recover(now)
            rounds = self._rounds
            rounds.begin()
            rounds.settle(now)
            self.flights.advance(now, rounds.replan)
            rounds.settle(now)
            rounds.wake(now)
            rounds.decide(now)
            rounds.settle(now)
            self.flights.outbox += self._speaker.speak(now)
            self._write_intent(now)
        actions, self.flights.outbox = self.flights.outbox, []
        return actions

    def _tell_pods_apart(self) -> None:
        """Ask for all classes again where pods may have to be told apart, or most are long gone."""
        if self.cluster.is_overgrown:
            self.cluster.begin_anew()
        while self._generation != self.cluster.generation:
            self._generation = self.cluster.generation
            self.intake.class_all_again()
            self.cluster.settle()

    def next_wake(self) -> float | None:
        """When `turn` has something to do even if nothing happens; in the past: at once."""
        if not (self._held and self._synced):
            return self._now if self.flights.outbox else None
        if (
            self.flights.outbox
            or self.flights.has_answers
            or self.forest.touched
            or self.assumptions.freed
            or self.queue.has_active()
        ):
            return self._now
        wakes = [
            self.queue.next_timer(),
            self.flights.next_wake(),
            self._speaker.next_wake(self._now),
        ]
        if self.flights.units_changed:
            wakes.append(self._written_at + INTENT_INTERVAL)
        return min((wake for wake in wakes if wake is not None), default=None)

    def is_quiet(self) -> bool:
        """Whether no commit is on its way, so that the objects alone say how things stand."""
        return not self.flights.commits and not self.flights.outbox

    def known(self) -> Iterator[Event]:
        """Events that tell another engine all the objects that this one knows."""
        yield self._edition
        yield from map(WorkloadSeen, self.forest.workloads.values())
        volumes = self.cluster.volumes
        yield from map(ClaimSeen, volumes.claims.values())
        yield from map(VolumeSeen, volumes.volumes.values())
        yield from map(StorageClassSeen, volumes.classes.values())
        yield from map(CsiNodeSeen, self._csi_nodes.values())
        for uid, wanted in self.forest.jobs.items():
            asked = self.forest.implied.asked_by_job(uid)
            yield JobSeen(uid, wanted, asked.quorum, asked.wrong)
        for group in self.forest.groups.values():
            if isinstance(group.object, PodGroup):
                yield GroupSeen(group.object)
            elif group.object is not None:
                yield CompositeSeen(group.object)
        yield from (PodSeen(as_bound(member)) for member in self.forest.members.values())
        yield from map(NodeSeen, self._nodes.values())
        if self._synced:
            yield Synced()
        if self._held:
            yield LeaseHeld(self.flights.units())

    def explain(self, key: str) -> RootReport | None:
        """How the root stands that `Kind/namespace/name` is, or belongs to."""
        group = self.forest.groups.get(key) or self._group_of(key)
        if group is None:
            return None
        root = self.forest.root_of(group)
        return report(root, self.queue.entries.get(root.key))

    def _group_of(self, key: str) -> Group | None:
        """The group of a pod, or of the owner of an implied one."""
        kind, namespace, name = key.split("/", 2)
        if kind == "Pod":
            member = self.forest.member_named(namespace, name)
            return member.group if member is not None else None
        return next(
            (
                group
                for group in self.forest.groups.values()
                if (owner := group.owner) is not None
                and (owner.kind, owner.namespace, owner.name) == (kind, namespace, name)
            ),
            None,
        )

    def check(self) -> list[str]:
        """Derive everything that is counted anew, and name every difference."""
        return [
            *self.cluster.check(),
            *self.forest.check(),
            *misplaced_roots(self.forest, self.queue, self.flights),
        ]

    def _recover(self, now: float) -> None:
        found, self._found = self._found, ()
        self.flights.recover(found, now)

    def _bring_home(self) -> None:
        for group in self.forest.bring_home(self.flights.is_in_flight):
            if group.owner is not None:
                self.flights.outbox.append(left_alone_note(group.owner))

    # --- the Lease -----------------------------------------------------------------

    def _write_intent(self, now: float) -> None:
        """One write a turn: the new units, and those that are still on their way."""
        self._number += 1
        fresh = self.flights.set_out(self._number)
        if not fresh and now < self._written_at + INTENT_INTERVAL:
            return
        if fresh or self.flights.units_changed:
            self._written_at = now
            self.flights.outbox.append(WriteIntent(self._number, self.flights.units()))
