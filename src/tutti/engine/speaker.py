"""When something is said of a root: at once, or when things have stood for a moment."""

from __future__ import annotations

import heapq

from tutti.engine.forest import Forest
from tutti.engine.groups import Group
from tutti.engine.messages import Action
from tutti.engine.queue import Queue
from tutti.engine.settings import Settings
from tutti.engine.words import SATISFIED, Words


class Speaker:
    def __init__(self, settings: Settings, forest: Forest, queue: Queue) -> None:
        self.words = Words(settings.refresh_interval)
        self._settings = settings
        self._forest = forest
        self._queue = queue
        self._names = frozenset(settings.scheduler_names)
        self._now: dict[str, None] = {}
        self._later: dict[str, float] = {}
        self._timers: list[tuple[float, str]] = []

    def at_once(self, root: str) -> None:
        """In this turn."""
        self._now[root] = None

    def soon(self, root: str, now: float) -> None:
        """Once things have stood for a moment; what passes sooner needs no words."""
        if root not in self._later:
            at = now + self._settings.moment
            self._later[root] = at
            heapq.heappush(self._timers, (at, root))

    def forget(self, root: str) -> None:
        self.words.forget(root)
        self._now.pop(root, None)

    def speak(self, now: float) -> list[Action]:
        due, self._now = self._now, {}
        while self._timers and self._timers[0][0] <= now:
            _, key = heapq.heappop(self._timers)
            del self._later[key]
            due[key] = None
        said: list[Action] = []
        for key in due:
            root = self._forest.root(key)
            if root is None or not self._is_ours(root):
                continue
            entry = self._queue.entries.get(key)
            actions, held_back = self.words.of_root(root, entry.refusal if entry else None, now)
            said += actions
            if held_back:
                self.soon(key, now + self._settings.refresh_interval)
        return said

    def _is_ours(self, root: Group) -> bool:
        """A tree of other schedulers' pods is theirs to speak of, unless we did so before."""
        return any(
            SATISFIED in group.said or not self._names.isdisjoint(group.names)
            for group in root.all()
        )

    def next_wake(self, now: float) -> float | None:
        if self._now:
            return now
        return self._timers[0][0] if self._timers else None
