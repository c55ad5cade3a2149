"""What a turn does with roots: settles them in the queue, wakes them, tries them.

All the roots of a turn are tried in one trial, the first in rank first: what one takes, the next
doesn't see. What was refused in this turn is refused again to every root of the same shape.
"""

from __future__ import annotations

from typing import assert_never

from tutti.core.decide import plan
from tutti.core.plan import Placed, Refusal
from tutti.core.profile import Profile
from tutti.core.trial import Trial
from tutti.engine.assume import Assumptions
from tutti.engine.encode import Cluster
from tutti.engine.flights import Flights
from tutti.engine.forest import Forest
from tutti.engine.groups import Group
from tutti.engine.layout import lay_out
from tutti.engine.queue import Entry, Phase, Queue, Rank
from tutti.engine.roots import Shape, shape_of, value_of
from tutti.engine.settings import Settings
from tutti.engine.sleepers import Sleepers
from tutti.engine.speaker import Speaker

WORK_PER_ROOT = 10
"""What a root costs of a turn's budget beside its members."""
UNIT_BYTES = 256
"""What a unit of a root that is about to be tried may take on the Lease."""
WIDEST = 3
"""How often the search for a root that was refused without a proof doubles its budget: no further,
for a search is made in one turn, and meanwhile nobody else is heard."""


class Rounds:
    def __init__(
        self,
        settings: Settings,
        forest: Forest,
        cluster: Cluster,
        queue: Queue,
        assumptions: Assumptions,
        flights: Flights,
        speaker: Speaker,
    ) -> None:
        self._settings = settings
        self._forest = forest
        self._cluster = cluster
        self._queue = queue
        self._assumptions = assumptions
        self._flights = flights
        self._speaker = speaker
        self._sleepers = Sleepers()
        self._trial: Trial | None = None
        self._last_trial: Trial | None = None
        self._refused_shapes: dict[tuple[str, Shape], Refusal] = {}
        self._set_aside: list[tuple[Entry, int]] = []

    def begin(self) -> None:
        """A turn begins: what was decided in the last one says nothing about this one."""
        self._trial = None
        self._refused_shapes.clear()

    def settle(self, now: float) -> None:
        """Bring the queue in line with what has changed."""
        while self._flights.landed or self._forest.touched:
            landed, self._flights.landed = self._flights.landed, {}
            for key, failed in landed.items():
                self._land(key, failed, now)
            touched, self._forest.touched = self._forest.touched, {}
            for key in touched:
                self._settle_root(key, now)

    def _settle_root(self, key: str, now: float) -> None:
        root = self._forest.root(key)
        if root is None:
            self._leave_queue(key, now)
            return
        if not root.laid_out:
            lay_out(root, self._forest.workloads)
        tally = root.tally
        entry = self._queue.entries.get(key)
        if entry is not None and entry.phase is Phase.IN_FLIGHT:
            pass
        elif self._flights.is_in_flight(key):
            entry = self._queue.enter(key, now)
            self._stop_sleeping(entry)
            self._queue.take_off(entry, now)
            self._hand_on(entry, now)
        elif _can_be_tried(root):
            self._make_ready(entry or self._queue.enter(key, now), root, now)
        elif tally.standing and not tally.open:
            self._leave_queue(key, now)
        else:
            entry = entry or self._queue.enter(key, now)
            if entry.phase is not Phase.WAITING:
                self._stop_sleeping(entry)
                self._queue.wait(entry, now)
                self._hand_on(entry, now)
        self._speaker.soon(key, now)

    def _make_ready(self, entry: Entry, root: Group, now: float) -> None:
        match entry.phase:
            case Phase.WAITING:
                self._queue.ready(entry, _rank(root), now)
            case Phase.ACTIVE:
                rank = _rank(root)
                if rank != entry.rank:
                    self._queue.activate(entry, rank, now)
            case Phase.BACKING_OFF | Phase.UNSCHEDULABLE:
                if entry.shape is not None and entry.shape != shape_of(root):
                    self._stop_sleeping(entry)
                    self._queue.hint(entry, _rank(root), now)
            case Phase.IN_FLIGHT:
                pass

    def _land(self, key: str, failed: bool, now: float) -> None:
        """All commits of the root have ended."""
        entry = self._queue.entries.get(key)
        root = self._forest.groups.get(key)
        if entry is None or entry.phase is not Phase.IN_FLIGHT:
            return
        if root is None:
            self._leave_queue(key, now)
            return
        if failed:
            self._queue.fail(entry, _size(root), now)
        else:
            self._queue.succeed(entry, now)
        self._forest.touched[key] = None
        self._speaker.at_once(key)

    def _leave_queue(self, key: str, now: float) -> None:
        entry = self._queue.drop(key)
        if entry is not None:
            self._stop_sleeping(entry)
            self._hand_on(entry, now)
        if key not in self._forest.groups:
            self._speaker.forget(key)

    # --- waking -------------------------------------------------------------------------------

    def wake(self, now: float) -> None:
        for entry in self._queue.rested(now):
            self._stop_sleeping(entry)
            self._queue.activate(entry, entry.rank, now)
        freed, self._assumptions.freed = self._assumptions.freed, {}
        moved, self._assumptions.moved = self._assumptions.moved, False
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
        self._queue.hint(entry, entry.rank, now)

    def _hand_on(self, entry: Entry, now: float) -> None:
        """The root was woken for others too, and isn't tried, or got its place: the next is."""
        shape, entry.stands_for = entry.stands_for, None
        if shape is not None and (heir := self._sleepers.first(shape)) is not None:
            self._rouse(heir, now)

    def _stop_sleeping(self, entry: Entry) -> None:
        self._sleepers.discard(entry)

    # --- deciding -----------------------------------------------------------------------------

    def decide(self, now: float) -> None:
        """Try the active roots, as far as the budget of work goes, and room on the Lease."""
        work = self._settings.work_per_turn
        room = self._settings.intent_bytes - self._flights.unit_bytes
        if room >= 0:
            self._take_up_again(now)
        while work > 0 and (entry := self._queue.next(now)) is not None:
            root = self._forest.groups[entry.key]
            work -= WORK_PER_ROOT + _size(root) * _effort(entry)
            if root.kind != "Pod":
                if room < 0:
                    self._queue.wait(entry, now)
                    self._set_aside.append((entry, entry.stamp))
                    continue
                room -= UNIT_BYTES
            self._try(entry, root, now)

    def _take_up_again(self, now: float) -> None:
        """Roots for whose units there was no room on the Lease."""
        for entry, stamp in self._set_aside:
            if entry.stamp == stamp:
                self._queue.activate(entry, entry.rank, now)
        self._set_aside.clear()

    def _try(self, entry: Entry, root: Group, now: float) -> None:
        shape = shape_of(root)
        profile = self._profile_of(root)
        known = self._refused_shapes.get((profile.name, shape))
        answer = known or plan(self._the_trial(), value_of(root), profile, effort=_effort(entry))
        match answer:
            case Refusal():
                self._refused_shapes[profile.name, shape] = answer
                self._queue.refuse(entry, answer, shape, _size(root), now)
                self._sleepers.add(entry)
                self._speaker.at_once(entry.key)
            case Placed(bindings, extras):
                self._stop_sleeping(entry)
                self._queue.take_off(entry, now)
                self._flights.launch(entry.key, (*bindings, *extras))
                entry.stands_for = shape
                self._hand_on(entry, now)
            case _:
                assert_never(answer)

    def replan(self, key: str) -> None:
        """Look for places for the members that a commit still misses."""
        root = self._forest.root(key)
        if root is not None and _can_be_tried(root):
            answer = plan(self._the_trial(), value_of(root), self._profile_of(root))
            if isinstance(answer, Placed):
                self._flights.launch(key, (*answer.bindings, *answer.extras))

    def _profile_of(self, root: Group) -> Profile:
        """The profile of the scheduler that the pods name; in one tree all name the same."""
        group = root
        while not group.names and group.children:
            group = next(iter(group.children.values()))
        name = next(iter(group.names), "")
        return self._settings.profiles.get(name, self._settings.profile)

    def _the_trial(self) -> Trial:
        """This turn's trial: the last one's, brought up to date, unless nodes have changed."""
        if self._trial is None:
            changed, snapshot = self._cluster.take_changes(), self._cluster.snapshot()
            if changed is None or self._last_trial is None:
                self._last_trial = Trial(snapshot, self._settings.profile, self._settings.seed)
            else:
                self._last_trial.catch_up(snapshot, changed)
            self._trial = self._last_trial
        return self._trial


def _can_be_tried(root: Group) -> bool:
    tally = root.tally
    sound = root.fault is None and root.unserved is None and not tally.mixed
    return sound and bool(tally.workable)


def _effort(entry: Entry) -> int:
    """How many times as wide as at first the search for it may be by now."""
    return 2 ** min(entry.refusals, WIDEST)


def _rank(root: Group) -> Rank:
    """A root that stands goes by the age of what still waits in it, not by its own."""
    born = root.born
    if root.tally.standing:
        waiting = (member.born for leaf in root.leaves() for member in leaf.waiting())
        born = min(waiting, default=born)
    return Rank(-root.priority(), born, root.key)


def _size(root: Group) -> int:
    return sum(leaf.eligible for leaf in root.leaves())
