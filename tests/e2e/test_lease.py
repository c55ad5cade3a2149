"""Of two schedulers with one name one binds; one that was stopped past its Lease binds nothing."""

import asyncio
import signal
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from tests.e2e.gang import gang_of, scheduling
from tools.throwaway import Plane
from tutti.kube.client import Client
from tutti.kube.config import load
from tutti.kube.lease import Elector

SIZE = 200

pytestmark = [pytest.mark.real, pytest.mark.timeout(90)]


@asynccontextmanager
async def somebody_else_holds(plane: Plane, name: str) -> Any:
    client = Client(load(plane.kubeconfig("admin")), connections=2)
    elector = Elector(client, f"tutti-{name}", "somebody else", duration=2.0)
    await elector.acquire()
    keeping = asyncio.create_task(elector.keep())
    try:
        yield
    finally:
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping
        await elector.release()
        await client.close()


async def test_a_scheduler_that_was_stopped_past_its_lease_binds_nothing(
    real_plane: Plane,
) -> None:
    async with (
        gang_of(SIZE, real_plane) as gang,
        scheduling(real_plane, gang.scheduler, "--lease-duration", "2") as scheduler,
    ):
        gang.when(lambda: len(gang.marked) >= 5, lambda: scheduler.signal(signal.SIGSTOP))
        await gang.until(lambda: len(gang.marked) >= 5)
        async with somebody_else_holds(real_plane, gang.scheduler):
            half = await gang.settled()
            assert 0 < half < SIZE, "it was not stopped in the middle of the gang"
            scheduler.signal(signal.SIGCONT)
            await scheduler.says("the Lease is lost")
            assert await gang.settled() == half
        await gang.until(lambda: len(gang.bound) == SIZE)


async def test_the_second_scheduler_of_a_name_waits_until_the_first_is_gone(
    real_plane: Plane,
) -> None:
    async with gang_of(SIZE, real_plane) as gang:
        flags = ("--lease-duration", "2")
        async with scheduling(real_plane, gang.scheduler, *flags) as first:
            await first.says("ready")
            async with scheduling(real_plane, gang.scheduler, *flags) as second:
                await gang.until(lambda: len(gang.bound) == SIZE)
                assert len(gang.sessions) == 1
                first.signal(signal.SIGKILL)
                await second.says("ready")
                await gang.make_pod(SIZE)
                await gang.until(lambda: len(gang.bound) == SIZE + 1)
                assert len(gang.sessions) == 2


async def test_a_scheduler_that_is_asked_to_stop_hands_its_lease_on(real_plane: Plane) -> None:
    async with gang_of(3, real_plane) as gang:
        flags = ("--lease-duration", "60")
        async with scheduling(real_plane, gang.scheduler, *flags) as first:
            await first.says("ready")
            assert await first.child.stop(5) == 0
        async with scheduling(real_plane, gang.scheduler, *flags) as second:
            await second.says("ready", within=10)


async def test_a_scheduler_restarted_under_its_identity_takes_its_lease_at_once(
    real_plane: Plane,
) -> None:
    async with gang_of(3, real_plane) as gang:
        flags = ("--lease-duration", "60", "--identity", "the one that up started")
        async with scheduling(real_plane, gang.scheduler, *flags) as first:
            await first.says("ready")
        async with scheduling(real_plane, gang.scheduler, *flags) as second:
            await second.says("ready", within=10)
