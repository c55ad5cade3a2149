"""The loop as a value machine: `handle` takes events in, `turn` decides and answers with actions.

It owns all that the scheduler knows, reaches nothing and reads no clock. The hands drain their
inbox into `handle`, then call `turn`: what arrives together is decided together. A turn is bounded
by work; where more is to be done, `next_wake` says so, and the next turn goes on.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import assert_never

from tutti.api.core_v1 import Node, Pod
from tutti.api.scheduling import PodGroup
from tutti.core.decide import plan
from tutti.core.plan import Placed, Refusal
from tutti.core.profile import Profile
from tutti.core.trial import Trial
from tutti.engine.assume import Assumptions
from tutti.engine.commit import as_bound, mark_of
from tutti.engine.encode import Cluster
from tutti.engine.flights import Flights
from tutti.engine.forest import Forest
from tutti.engine.groups import Group
from tutti.engine.intake import Intake
from tutti.engine.layout import lay_out
from tutti.engine.members import LEAVING
from tutti.engine.messages import (
    Action,
    BindRefused,
    BindUnknown,
    Bound,
    CompositeGone,
    CompositeSeen,
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
    Synced,
    Unit,
    WorkloadGone,
    WorkloadSeen,
    WriteIntent,
)
from tutti.engine.queue import Entry, Phase, Queue, Rank
from tutti.engine.report import RootReport, report
from tutti.engine.roots import Shape, shape_of, value_of
from tutti.engine.settings import Settings
from tutti.engine.sleepers import Sleepers
from tutti.engine.words import Words

WORK_PER_ROOT = 10
"""What a root costs of a turn's budget beside its members."""
UNIT_BYTES = 256
"""What a unit of a root that is about to be tried may take on the Lease."""
WIDEST = 6
"""How often the search for a root that was refused without a proof doubles its budget."""
INTENT_INTERVAL = 1.0
"""How long units that are done may stay on the Lease when nothing else has to be written."""


class Engine:
    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.forest = Forest()
        self.cluster = Cluster()
        self.queue = Queue(self.settings)
        self.assumptions = Assumptions(self.cluster, self.forest)
        self.intake = Intake(
            self.settings.scheduler_names, self.forest, self.cluster, self.assumptions
        )
        self.flights = Flights(self.settings, self.forest, self.assumptions, self.intake)
        self._sleepers = Sleepers()
        self._words = Words(self.settings.refresh_interval)
        self._synced = False
        self._held = False
        self._found: tuple[Unit, ...] = ()
        self._nodes: dict[str, Node] = {}
        self._edition = Edition(composites=True, group_status=True)
        self._generation = 0
        self._trial: Trial | None = None
        self._last_trial: Trial | None = None
        self._refused_shapes: dict[tuple[str, Shape], Refusal] = {}
        self._set_aside: list[Entry] = []
        self._to_say: dict[str, None] = {}
        self._to_say_later: dict[str, float] = {}
        self._say_timers: list[tuple[float, str]] = []
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
            case JobSeen(uid, wanted):
                self.intake.job_seen(uid, wanted)
            case JobGone(uid):
                self.forest.job_gone(uid)
            case Edition(composites, group_status):
                self._edition = event
                self.forest.use_composites(composites)
                self._words.group_status = group_status
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

    # --- a turn -------------------------------------------------------------------------------

    def turn(self, now: float) -> list[Action]:
        """Decide, as far as the budget of work goes. While the Lease isn't held: nothing."""
        self._now = now
        if self._held and self._synced:
            self._trial = None
            self._refused_shapes.clear()
            if self._generation != self.cluster.generation:
                self._generation = self.cluster.generation
                self.intake.class_all_again()
            self._recover(now)
            self._settle(now)
            self.flights.advance(now, self._replan)
            self._settle(now)
            self._wake(now)
            self._decide(now)
            self._settle(now)
            self._speak(now)
            self._write_intent(now)
        actions, self.flights.outbox = self.flights.outbox, []
        return actions

    def next_wake(self) -> float | None:
        """When `turn` has something to do even if nothing happens; in the past: at once."""
        if not (self._held and self._synced):
            return self._now if self.flights.outbox else None
        if (
            self.flights.outbox
            or self.flights.has_answers
            or self.forest.touched
            or self.assumptions.freed
            or self._to_say
            or self.queue.has_active()
        ):
            return self._now
        wakes = [self.queue.next_timer(), self.flights.next_wake()]
        if self._say_timers:
            wakes.append(self._say_timers[0][0])
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
        yield from (JobSeen(uid, wanted) for uid, wanted in self.forest.jobs.items())
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
        group = self.forest.groups.get(key)
        if group is None and key.startswith("Pod/"):
            member = self.forest.member_named(*key.split("/")[1:])
            group = member.group if member is not None else None
        if group is None:
            return None
        root = self.forest.root_of(group)
        return report(root, self.queue.entries.get(root.key))

    def check(self) -> list[str]:
        """Derive everything that is counted anew, and name every difference."""
        return [*self.cluster.check(), *self.forest.check(), *self._check_queue()]

    def _check_queue(self) -> list[str]:
        """Every root that has something to decide is in one phase, and nobody else is."""
        wrong = []
        for key, group in self.forest.groups.items():
            if key in self.forest.touched or key in self.flights.landed:
                continue
            is_root = self.forest.root_of(group) is group
            entry = self.queue.entries.get(key)
            if is_root and entry is None and (group.tally.open or not group.tally.standing):
                wrong.append(f"{key} is lost: it is in no phase")
            if entry is not None and not is_root:
                wrong.append(f"{key} is {entry.phase.value}, and no root")
            if entry is None:
                continue
            if (entry.phase is Phase.IN_FLIGHT) is not self.flights.is_in_flight(key):
                wrong.append(f"{key} is {entry.phase.value}, and has commits or has none")
            asleep = entry.phase in (Phase.UNSCHEDULABLE, Phase.BACKING_OFF)
            if asleep and not group.tally.workable:
                wrong.append(f"{key} is {entry.phase.value}, and nothing in it can be placed")
        return wrong + [
            f"{key} is no group"
            for key in self.queue.entries
            if key not in self.forest.groups and key not in self.forest.touched
        ]

    def _recover(self, now: float) -> None:
        found, self._found = self._found, ()
        self.flights.recover(found, now)

    def _settle(self, now: float) -> None:
        """Bring the queue in line with what has changed."""
        while self.flights.landed or self.forest.touched:
            landed, self.flights.landed = self.flights.landed, {}
            for key, failed in landed.items():
                self._land(key, failed, now)
            touched, self.forest.touched = self.forest.touched, {}
            for key in touched:
                self._settle_root(key, now)

    def _settle_root(self, key: str, now: float) -> None:
        root = self.forest.groups.get(key)
        if root is None or self.forest.root_of(root) is not root:
            self._leave_queue(key, now)
            return
        if not root.laid_out:
            lay_out(root, self.forest.workloads)
        tally = root.tally
        entry = self.queue.entries.get(key)
        if entry is not None and entry.phase is Phase.IN_FLIGHT:
            pass
        elif self.flights.is_in_flight(key):
            entry = self.queue.enter(key, now)
            self._stop_sleeping(entry)
            self.queue.take_off(entry, now)
            self._hand_on(entry, now)
        elif _can_be_tried(root):
            self._make_ready(entry or self.queue.enter(key, now), root, now)
        elif tally.standing and not tally.open:
            self._leave_queue(key, now)
        else:
            entry = entry or self.queue.enter(key, now)
            if entry.phase is not Phase.WAITING:
                self._stop_sleeping(entry)
                self.queue.wait(entry, now)
                self._hand_on(entry, now)
        self._say_soon(key, now)

    def _make_ready(self, entry: Entry, root: Group, now: float) -> None:
        match entry.phase:
            case Phase.WAITING:
                self.queue.ready(entry, _rank(root), now)
            case Phase.ACTIVE:
                rank = _rank(root)
                if rank != entry.rank:
                    self.queue.activate(entry, rank, now)
            case Phase.BACKING_OFF | Phase.UNSCHEDULABLE:
                if entry.shape is not None and entry.shape != shape_of(root):
                    self._stop_sleeping(entry)
                    self.queue.hint(entry, _rank(root), now)
            case Phase.IN_FLIGHT:
                pass

    def _land(self, key: str, failed: bool, now: float) -> None:
        """All commits of the root have ended."""
        entry = self.queue.entries.get(key)
        root = self.forest.groups.get(key)
        if entry is None or entry.phase is not Phase.IN_FLIGHT:
            return
        if root is None:
            self._leave_queue(key, now)
            return
        if failed:
            self.queue.fail(entry, _size(root), now)
        else:
            self.queue.succeed(entry, now)
        self.forest.touched[key] = None
        self._to_say[key] = None

    def _leave_queue(self, key: str, now: float) -> None:
        entry = self.queue.drop(key)
        if entry is not None:
            self._stop_sleeping(entry)
            self._hand_on(entry, now)
        if key not in self.forest.groups:
            self._words.forget(key)
            self._to_say.pop(key, None)

    # --- waking -------------------------------------------------------------------------------

    def _wake(self, now: float) -> None:
        for entry in self.queue.rested(now):
            self._stop_sleeping(entry)
            self.queue.activate(entry, entry.rank, now)
        freed, self.assumptions.freed = self.assumptions.freed, {}
        moved, self.assumptions.moved = self.assumptions.moved, False
        if freed and self._sleepers:
            for entry in self._sleepers.helped(self._the_trial(), freed):
                self._rouse(entry, now)
        if moved:
            for entry in self._sleepers.heed_what_moved():
                self._rouse(entry, now)

    def _rouse(self, entry: Entry, now: float) -> None:
        """Something changed that could help all roots of its shape; it is tried for all."""
        entry.stands_for = entry.shape
        self._stop_sleeping(entry)
        self.queue.hint(entry, entry.rank, now)

    def _hand_on(self, entry: Entry, now: float) -> None:
        """The root was woken for others too, and isn't tried, or got its place: the next is."""
        shape, entry.stands_for = entry.stands_for, None
        if shape is not None and (heir := self._sleepers.first(shape)) is not None:
            self._rouse(heir, now)

    def _stop_sleeping(self, entry: Entry) -> None:
        self._sleepers.discard(entry)

    # --- deciding -----------------------------------------------------------------------------

    def _decide(self, now: float) -> None:
        work = self.settings.work_per_turn
        room = self.settings.intent_bytes - self.flights.unit_bytes
        while work > 0 and (entry := self.queue.next(now)) is not None:
            root = self.forest.groups[entry.key]
            work -= WORK_PER_ROOT + _size(root)
            if root.kind != "Pod":
                if room < 0:
                    self._set_aside.append(entry)
                    self.queue.wait(entry, now)
                    continue
                room -= UNIT_BYTES
            self._try(entry, root, now)
        for entry in self._set_aside:
            self.queue.activate(entry, entry.rank, now)
        self._set_aside.clear()

    def _try(self, entry: Entry, root: Group, now: float) -> None:
        shape = shape_of(root)
        profile = self._profile_of(root)
        known = self._refused_shapes.get((profile.name, shape))
        effort = 2 ** min(entry.refusals, WIDEST)
        answer = known or plan(self._the_trial(), value_of(root), profile, effort=effort)
        match answer:
            case Refusal():
                self._refused_shapes[profile.name, shape] = answer
                self.queue.refuse(entry, answer, shape, _size(root), now)
                self._sleepers.add(entry)
                self._to_say[entry.key] = None
            case Placed(bindings, extras):
                self._stop_sleeping(entry)
                self.queue.take_off(entry, now)
                self.flights.launch(entry.key, (*bindings, *extras))
                entry.stands_for = shape
                self._hand_on(entry, now)
            case _:
                assert_never(answer)

    def _replan(self, key: str) -> None:
        """Look for places for the members that a commit still misses."""
        root = self.forest.groups.get(key)
        if root is None or self.forest.root_of(root) is not root:
            return
        if _can_be_tried(root):
            answer = plan(self._the_trial(), value_of(root), self._profile_of(root))
            if isinstance(answer, Placed):
                self.flights.launch(key, (*answer.bindings, *answer.extras))

    def _profile_of(self, root: Group) -> Profile:
        """The profile of the scheduler that the pods name; in one tree all name the same."""
        group = root
        while not group.names and group.children:
            group = next(iter(group.children.values()))
        name = next(iter(group.names), "")
        return self.settings.profiles.get(name, self.settings.profile)

    def _the_trial(self) -> Trial:
        """This turn's trial: the last one's, brought up to date, unless nodes have changed."""
        if self._trial is None:
            changed, snapshot = self.cluster.take_changes(), self.cluster.snapshot()
            if changed is None or self._last_trial is None:
                self._last_trial = Trial(snapshot, self.settings.profile, self.settings.seed)
            else:
                self._last_trial.catch_up(snapshot, changed)
            self._trial = self._last_trial
        return self._trial

    # --- the Lease, and words -----------------------------------------------------------------

    def _write_intent(self, now: float) -> None:
        """One write a turn: the new units, and those that are still on their way."""
        self._number += 1
        fresh = self.flights.set_out(self._number)
        if not fresh and now < self._written_at + INTENT_INTERVAL:
            return
        if fresh or self.flights.units_changed:
            self._written_at = now
            self.flights.outbox.append(WriteIntent(self._number, self.flights.units()))

    def _say_soon(self, key: str, now: float) -> None:
        """Once things have stood for a moment; what passes sooner needs no words."""
        if key not in self._to_say_later:
            at = now + self.settings.moment
            self._to_say_later[key] = at
            heapq.heappush(self._say_timers, (at, key))

    def _speak(self, now: float) -> None:
        to_say, self._to_say = self._to_say, {}
        while self._say_timers and self._say_timers[0][0] <= now:
            _, key = heapq.heappop(self._say_timers)
            del self._to_say_later[key]
            to_say[key] = None
        for key in to_say:
            root = self.forest.groups.get(key)
            if root is None or self.forest.root_of(root) is not root:
                continue
            entry = self.queue.entries.get(key)
            refusal = entry.refusal if entry is not None else None
            actions, held_back = self._words.of_root(root, refusal, now)
            self.flights.outbox.extend(actions)
            if held_back:
                self._say_soon(key, now + self.settings.refresh_interval)


def _can_be_tried(root: Group) -> bool:
    tally = root.tally
    sound = root.fault is None and root.unserved is None and not tally.mixed
    return sound and bool(tally.workable)


def _rank(root: Group) -> Rank:
    return Rank(-root.priority(), root.born, root.key)


def _size(root: Group) -> int:
    return sum(leaf.eligible for leaf in root.leaves())
