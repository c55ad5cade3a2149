"""Keys that ask for attention: none is lost, and none is attended by two at a time."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from tutti.api.errors import Conflict
from tutti.controllers import work
from tutti.controllers.work import Work


class Looks:
    """Who was looked at, in which order; `attend` can be told what else to do."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.news = asyncio.Condition()

    async def note(self, key: str) -> None:
        self.seen.append(key)
        async with self.news:
            self.news.notify_all()

    async def until(self, *keys: str) -> None:
        async with asyncio.timeout(5), self.news:
            await self.news.wait_for(lambda: sorted(self.seen) == sorted(keys))


@contextlib.asynccontextmanager
async def running(queue: Work[str]) -> AsyncIterator[None]:
    task = asyncio.create_task(queue.run())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_a_key_that_is_added_twice_costs_one_look():
    looks = Looks()
    queue = Work(looks.note)
    for key in ("a", "a", "b"):
        queue.add(key)
    async with running(queue):
        await looks.until("a", "b")


async def test_a_key_that_is_added_while_it_is_attended_is_attended_again():
    looks = Looks()

    async def attend(key: str) -> None:
        if not looks.seen:
            queue.add(key)
        await looks.note(key)

    queue = Work(attend)
    queue.add("a")
    async with running(queue):
        await looks.until("a", "a")


async def test_one_key_keeps_one_worker_busy_and_no_more():
    looks = Looks()
    at_work: set[str] = set()

    async def attend(key: str) -> None:
        assert key not in at_work
        at_work.add(key)
        if len(looks.seen) < 9:
            queue.add(key)
        await looks.note(key)
        at_work.discard(key)

    queue = Work(attend, workers=4)
    queue.add("a")
    async with running(queue):
        await looks.until(*"a" * 10)


async def test_what_failed_is_tried_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(work, "FIRST_PAUSE_S", 0.001)
    looks = Looks()

    async def attend(key: str) -> None:
        await looks.note(key)
        if len(looks.seen) < 3:
            raise Conflict("somebody else was faster")

    queue = Work(attend)
    queue.add("a")
    async with running(queue):
        await looks.until("a", "a", "a")


async def test_a_mistake_of_our_own_stops_it_and_is_seen():
    async def attend(key: str) -> None:
        raise ZeroDivisionError

    queue = Work(attend)
    queue.add("a")
    with pytest.raises(ExceptionGroup) as stopped:
        await queue.run()
    assert stopped.group_contains(ZeroDivisionError)


async def test_a_key_can_be_looked_at_later():
    looks = Looks()
    queue = Work(looks.note)
    queue.add("later", after=0.01)
    queue.add("now")
    async with running(queue):
        await looks.until("now", "later")
    assert looks.seen == ["now", "later"]
