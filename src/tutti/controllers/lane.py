"""Work of one kind, in order of arrival, so much of it at a time."""

from asyncio import Event, TaskGroup
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lane(Generic[T]):
    """Up to `width` tasks carry out what is put in; without work there are no tasks."""

    def __init__(self, tasks: TaskGroup, width: int, work: Callable[[T], Awaitable[None]]) -> None:
        self._tasks = tasks
        self._width = width
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
        if self._running < self._width:
            self._running += 1
            self._tasks.create_task(self._carry_out())

    async def _carry_out(self) -> None:
        try:
            while self._waiting:
                await self._work(self._waiting.popleft())
            self.empty.set()
        finally:
            self._running -= 1
            if not self._running:
                self.idle.set()
