"""Keys that ask for attention: each attended by one worker at a time, and again after a failure.

    idle ──add──> queued ──> attended ──done──> idle
                    ^            │ └──added meanwhile──> queued
                    └──back-off──┘ failed

A key stands for "look at this and do what is due": what is to be done is found out when its turn
comes, so a key that is added twice costs one look.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from tutti.api.errors import ApiError, Unanswered

K = TypeVar("K", bound=Hashable)
log = logging.getLogger(__name__)

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 30.0


class Work(Generic[K]):
    def __init__(self, attend: Callable[[K], Awaitable[None]], *, workers: int = 8) -> None:
        self._attend = attend
        self._workers = workers
        self._queue: asyncio.Queue[K] = asyncio.Queue()
        self._queued: set[K] = set()
        self._busy: set[K] = set()
        self._again: set[K] = set()
        self._failures: dict[K, int] = {}

    def add(self, key: K, *, after: float = 0.0) -> None:
        """Attend to this key soon, or in so many seconds."""
        if after > 0:
            asyncio.get_running_loop().call_later(after, self.add, key)
        elif key in self._busy:
            self._again.add(key)
        elif key not in self._queued:
            self._queued.add(key)
            self._queue.put_nowait(key)

    async def run(self) -> None:
        """Attend to keys as they come, for ever."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._workers):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            key = await self._queue.get()
            self._queued.discard(key)
            self._busy.add(key)
            try:
                await self._attend(key)
                self._failures.pop(key, None)
            except (ApiError, Unanswered) as error:
                self.add(key, after=self._pause(key, error))
            self._busy.discard(key)
            if key in self._again:
                self._again.discard(key)
                self.add(key)

    def _pause(self, key: K, error: Exception) -> float:
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        if failures >= 3:  # a conflict or two is part of normal life
            log.warning("tried again later", extra={"key": str(key), "why": str(error)})
        pause: float = FIRST_PAUSE_S * 2**failures
        return min(pause, LONGEST_PAUSE_S)
