import asyncio

from tutti.controllers.lane import Lane


async def test_no_more_than_its_width_is_worked_on_at_once() -> None:
    at_once: list[int] = []
    busy = 0
    go_on = asyncio.Event()

    async def work(item: int) -> None:
        nonlocal busy
        busy += 1
        at_once.append(busy)
        await go_on.wait()
        busy -= 1

    async with asyncio.TaskGroup() as tasks:
        lane = Lane(tasks, 3, work)
        for item in range(10):
            lane.put(item)
        await asyncio.sleep(0)
        assert at_once == [1, 2, 3]
        go_on.set()
    assert len(at_once) == 10
    assert max(at_once) == 3


async def test_what_came_first_is_begun_first_and_what_comes_later_too() -> None:
    begun: list[int] = []

    async def work(item: int) -> None:
        begun.append(item)
        await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        lane = Lane(tasks, 1, work)
        for item in range(3):
            lane.put(item)
        await lane.empty.wait()
        assert begun == [0, 1, 2]
        lane.put(3)
        assert not lane.empty.is_set()
    assert begun == [0, 1, 2, 3]


async def test_a_lane_that_was_narrowed_widens_again_step_by_step() -> None:
    busy = 0
    done = asyncio.Semaphore(0)

    async def work(item: int) -> None:
        nonlocal busy
        busy += 1
        await done.acquire()
        busy -= 1

    async def after(finished: int) -> int:
        for _ in range(finished):
            done.release()
        for _ in range(5):
            await asyncio.sleep(0)
        return busy

    async with asyncio.TaskGroup() as tasks:
        lane = Lane(tasks, 4, work)
        for item in range(12):
            lane.put(item)
        assert await after(finished=0) == 4
        lane.narrow()
        assert await after(finished=0) == 4
        assert await after(finished=4) == 2
        lane.widen()
        assert await after(finished=0) == 3
        for _ in range(9):
            lane.widen()
        assert await after(finished=1) == 4
        assert await after(finished=12) == 0
        assert lane.idle.is_set()
