"""Work of one kind, in order of arrival, so much of it at a time."""

from asyncio import Event, TaskGroup
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lane(Generic[T]):
    """Up to `width` tasks carry out what is put in; without work there are no tasks.

    Work that finds the other side overwhelmed makes the lane narrower, work that doesn't makes it
    wider again, up to the width that it began with.
    """

    def __init__(self, tasks: TaskGroup, width: int, work: Callable[[T], Awaitable[None]]) -> None:
        self._tasks = tasks
        self._width = self._widest = width
        self._work = work
        self._waiting: deque[T] = deque()
        self._running = 0
        self.empty = Event()
        """Set while nothing waits to be begun."""
        self.empty.set()
        self.idle = Event()
        """Set while nothing waits and nothing is being worked on."""
        self.idle.set()

    def put(self, item: T) -> None:
        self._waiting.append(item)
        self.empty.clear()
        self.idle.clear()
        self._begin()

    def narrow(self) -> None:
        """Halve it, down to a sixteenth; what is being worked on goes on."""
        self._width = max(1, self._widest // 16, self._width // 2)

    def widen(self) -> None:
        if self._width < self._widest:
            self._width += 1
            self._begin()

    def _begin(self) -> None:
        if self._waiting and self._running < self._width:
            self._running += 1
            self._tasks.create_task(self._carry_out())

    async def _carry_out(self) -> None:
        try:
            while self._waiting and self._running <= self._width:
                await self._work(self._waiting.popleft())
            if not self._waiting:
                self.empty.set()
        finally:
            self._running -= 1
            if not self._running:
                self.idle.set()
