"""The roots that have something to decide, each in exactly one phase.

              quorum and objects are here            planned
    WAITING ──────────────────────────▶ ACTIVE ───────────────▶ IN_FLIGHT ──▶ (all bound: it leaves)
       ▲                                │    ▲                      │
       │ something is missing again     │    │ time, or a hint      │ a binding failed, or more waits
       │                        refused │    │                      ▼
       └──── UNSCHEDULABLE ◀────────────┴────┴──────────────── BACKING_OFF

A refusal that is proved sleeps as UNSCHEDULABLE until something changes that could help. One that
is not proved, and a failed binding, is tried again by time. A hint cuts the wait short, to a
sixteenth of the back-off, so that a stream of hints can't make a large group starve the others.
"""

from __future__ import annotations

import heapq
from enum import Enum
from math import sqrt
from typing import NamedTuple

from tutti.core.plan import Refusal
from tutti.engine.roots import Shape
from tutti.engine.settings import Settings

HINTED_SHARE = 1 / 16


class Phase(Enum):
    WAITING = "waiting"
    ACTIVE = "active"
    BACKING_OFF = "backing off"
    UNSCHEDULABLE = "unschedulable"
    IN_FLIGHT = "in flight"


class Rank(NamedTuple):
    """The order in which roots are tried: priority, age, then name."""

    unimportance: int
    born: float
    key: str


class Entry:
    """A root in the queue. `refusals` and `errors` in a row decide how long it backs off."""

    __slots__ = (
        "errors",
        "key",
        "not_before",
        "phase",
        "rank",
        "refusal",
        "refusals",
        "shape",
        "since",
        "stamp",
        "stands_for",
        "until",
    )

    def __init__(self, key: str, now: float) -> None:
        self.key = key
        self.phase = Phase.WAITING
        self.rank = Rank(0, 0.0, key)
        self.since = now
        self.refusals = 0
        self.errors = 0
        self.until = now
        self.not_before = now
        self.refusal: Refusal | None = None
        self.shape: Shape | None = None
        self.stands_for: Shape | None = None
        """It was woken for all sleeping roots of this shape; if it isn't tried, another must be."""
        self.stamp = 0


class Queue:
    def __init__(self, settings: Settings) -> None:
        self.entries: dict[str, Entry] = {}
        self._settings = settings
        self._active: list[tuple[Rank, int]] = []
        self._timers: list[tuple[float, str, int]] = []
        self._hinted: list[tuple[Rank, int]] = []

    def enter(self, key: str, now: float) -> Entry:
        entry = self.entries.get(key)
        if entry is None:
            entry = self.entries[key] = Entry(key, now)
        return entry

    def drop(self, key: str) -> Entry | None:
        entry = self.entries.pop(key, None)
        if entry is not None:
            entry.stamp += 1
        return entry

    def wait(self, entry: Entry, now: float) -> None:
        self._pass(entry, Phase.WAITING, now)

    def ready(self, entry: Entry, rank: Rank, now: float) -> None:
        """Nothing is missing any more; a back-off that had begun goes on."""
        entry.rank = rank
        if now < entry.until:
            self._back_off(entry, entry.until, now)
        else:
            self.activate(entry, rank, now)

    def activate(self, entry: Entry, rank: Rank, now: float) -> None:
        self._pass(entry, Phase.ACTIVE, now)
        entry.rank = rank
        heapq.heappush(self._active, (rank, entry.stamp))

    def take_off(self, entry: Entry, now: float) -> None:
        """It was planned: it is in the air until its bindings are answered."""
        entry.refusals = 0
        entry.refusal = entry.shape = None
        self._pass(entry, Phase.IN_FLIGHT, now)

    def refuse(self, entry: Entry, refusal: Refusal, shape: Shape, size: int, now: float) -> None:
        entry.refusals += 1
        entry.errors = 0
        entry.refusal, entry.shape = refusal, shape
        entry.stands_for = None
        pause = self._backoff(entry.refusals, size)
        entry.not_before = now + pause * HINTED_SHARE
        if refusal.proved:
            entry.until = now
            self._pass(entry, Phase.UNSCHEDULABLE, now)
        else:
            self._back_off(entry, now + pause, now)

    def succeed(self, entry: Entry, now: float) -> None:
        """All that was planned is bound. What is left of the root starts afresh."""
        entry.errors = 0
        entry.until = now
        self.wait(entry, now)

    def fail(self, entry: Entry, size: int, now: float) -> None:
        """A binding failed, for reasons that no plan can see."""
        entry.errors += 1
        entry.refusal = entry.shape = None
        pause = self._backoff(entry.errors, size)
        entry.not_before = now + pause
        self._back_off(entry, now + pause, now)

    def hint(self, entry: Entry, rank: Rank, now: float) -> None:
        """Something changed that could help this root."""
        if now >= entry.not_before:
            self.activate(entry, rank, now)
        elif entry.phase is not Phase.BACKING_OFF or entry.until > entry.not_before:
            self._back_off(entry, entry.not_before, now)
            entry.rank = rank
            heapq.heappush(self._hinted, (rank, entry.stamp))

    def has_active(self) -> bool:
        return self._first(self._active) is not None

    def next(self, now: float) -> Entry | None:
        """The first of the active roots; it stays active until its fate is told.

        Who was hinted at and still backs off goes before those of lower rank: they must not take
        the room that the hint was about.
        """
        entry = self._first(self._active)
        if entry is None:
            return None
        hinted = self._first(self._hinted)
        if hinted is not None and hinted.rank < entry.rank:
            self.activate(hinted, hinted.rank, now)
            return hinted
        return entry

    def _first(self, heap: list[tuple[Rank, int]]) -> Entry | None:
        while heap:
            rank, stamp = heap[0]
            entry = self.entries.get(rank.key)
            if entry is not None and entry.stamp == stamp:
                return entry
            heapq.heappop(heap)
        return None

    def rested(self, now: float) -> list[Entry]:
        """Roots whose back-off has ended; the caller activates each, or lets it wait."""
        done: list[Entry] = []
        while self._timers and self._timers[0][0] <= now:
            _, key, stamp = heapq.heappop(self._timers)
            entry = self.entries.get(key)
            if entry is not None and entry.stamp == stamp:
                done.append(entry)
        return done

    def next_timer(self) -> float | None:
        while self._timers:
            until, key, stamp = self._timers[0]
            entry = self.entries.get(key)
            if entry is not None and entry.stamp == stamp:
                return until
            heapq.heappop(self._timers)
        return None

    def _pass(self, entry: Entry, phase: Phase, now: float) -> None:
        entry.stamp += 1
        entry.phase = phase
        entry.since = now

    def _back_off(self, entry: Entry, until: float, now: float) -> None:
        self._pass(entry, Phase.BACKING_OFF, now)
        entry.until = until
        heapq.heappush(self._timers, (until, entry.key, entry.stamp))

    def _backoff(self, count: int, size: int) -> float:
        """As Kubernetes has it: doubled from try to try, bounded, longer for large groups."""
        longest = self._settings.max_backoff * (sqrt(size) if size > 1 else 1.0)
        return min(self._settings.initial_backoff * 2.0 ** min(count - 1, 30), longest)
