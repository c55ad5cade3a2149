"""When a scheduler may bind, and how soon the next one may."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from tests.e2e.arena import Arena, entered
from tools.throwaway import Plane
from tutti.kube.client import Client
from tutti.kube.config import load
from tutti.kube.lease import Elector

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

SIZE = 200
NEVER = ("--lease-duration", "60")
"""Nobody waits in a test for such a Lease to run out."""


@asynccontextmanager
async def held_by_somebody_else(plane: Plane, arena: Arena) -> AsyncIterator[None]:
    client = Client(load(plane.kubeconfig("admin")), connections=2)
    elector = Elector(client, f"tutti-{arena.namespace}", "somebody else", duration=2.0)
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


async def test_what_was_about_to_be_sent_when_it_was_stopped_is_not_sent_when_it_goes_on(
    real_plane: Plane, namespace: str, tmp_path: Path
) -> None:
    async with entered(real_plane.kubeconfig("scheduler"), namespace, tmp_path) as arena:
        await arena.make_gang("gang", SIZE)
        scheduler = arena.start_scheduler("--lease-duration", "2")
        await arena.until(lambda: len(arena.bound("gang")) > 0, 30)
        scheduler.send(signal.SIGSTOP)
        async with held_by_somebody_else(real_plane, arena):
            half = await bound(arena)
            assert 0 < half < SIZE, "it was not stopped in the middle of the gang"
            scheduler.send(signal.SIGCONT)
            await arena.until(lambda: scheduler.has_said("the Lease is lost"), 20)
            assert await bound(arena) == half
        await arena.until(lambda: len(arena.bound("gang")) == SIZE, 30)


async def test_a_scheduler_that_is_asked_to_stop_hands_its_lease_on(
    real_plane: Plane, namespace: str, tmp_path: Path
) -> None:
    async with entered(real_plane.kubeconfig("scheduler"), namespace, tmp_path) as arena:
        first = arena.start_scheduler(*NEVER)
        await arena.until(lambda: arena.holder != "", 20)
        former = arena.holder
        first.end(signal.SIGTERM)
        arena.start_scheduler(*NEVER)
        await arena.until(lambda: arena.holder not in ("", former), 10)


async def test_a_scheduler_that_is_started_again_under_its_identity_takes_its_lease_at_once(
    real_plane: Plane, namespace: str, tmp_path: Path
) -> None:
    flags = (*NEVER, "--identity", "the-only-one")
    async with entered(real_plane.kubeconfig("scheduler"), namespace, tmp_path) as arena:
        first = arena.start_scheduler(*flags)
        await arena.until(lambda: arena.holder == "the-only-one", 20)
        first.end(signal.SIGKILL)
        await arena.make_gang("gang", 3)
        arena.start_scheduler(*flags)
        await arena.until(lambda: len(arena.bound("gang")) == 3, 10)


async def bound(arena: Arena) -> int:
    return sum(bool(pod.spec.node_name) for pod in await arena.listed("gang"))
