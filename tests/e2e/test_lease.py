"""When a scheduler may bind, and how soon the next one may: never two of one name at a time."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from tests.e2e.arena import Arena, Scheduler, entered, per_gang
from tests.e2e.units import Unit, gang, tower
from tools.throwaway import Plane
from tutti.kube.client import Client
from tutti.kube.config import load
from tutti.kube.lease import Elector

pytestmark = pytest.mark.timeout(120)

PACE_S = 0.01
"""A wire so narrow that there is a time when a scheduler is in the middle of its bindings."""
NEVER = ("--lease-duration", "60")
"""Nobody waits in a test for such a Lease to run out."""
SHORT = ("--lease-duration", "3")


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


@pytest.mark.parametrize("make", [gang, tower])
async def test_what_was_about_to_be_sent_when_it_was_stopped_is_not_sent_when_it_goes_on(
    make: Callable[[str], Unit], plane: Plane, room: str, tmp_path: Path
) -> None:
    unit = make("unit")
    async with entered(plane, room, tmp_path) as arena:
        await arena.make(unit)
        arena.wire.pace = PACE_S
        scheduler = arena.start_scheduler(on_the_wire=True)
        await stopped_amid(arena, scheduler, unit)
        async with held_by_somebody_else(plane, arena):
            part = await arena.listed(unit)
            assert not unit.stands(per_gang(part)), "it was not stopped in the middle"
            arena.wire.pace = 0
            scheduler.send(signal.SIGCONT)
            await arena.until(lambda: scheduler.has_said("the Lease is lost"), 20)
            assert len(await arena.listed(unit)) == len(part)
        await arena.until(lambda: arena.is_whole(unit), 30)


@pytest.mark.parametrize("make", [gang, tower])
async def test_stopped_in_the_middle_it_changes_nothing_when_it_goes_on(
    make: Callable[[str], Unit], plane: Plane, room: str, tmp_path: Path
) -> None:
    """Another goes on with its commit meanwhile."""
    unit, after = make("unit"), Unit("after", size=20)
    async with entered(plane, room, tmp_path) as arena:
        first = arena.start_scheduler(on_the_wire=True)
        await arena.until(lambda: arena.holder != "", 20)
        arena.start_scheduler()
        arena.wire.pace = PACE_S
        await arena.make(unit)
        await stopped_amid(arena, first, unit)
        await arena.until(lambda: arena.is_whole(unit), 30)
        assert arena.bound_in_term(unit) == {0, 1}
        whole = arena.bound(unit)

        arena.wire.pace = 0
        first.send(signal.SIGCONT)
        await arena.until(lambda: first.has_said("the Lease is lost"), 20)
        await arena.make(after)
        await arena.until(lambda: arena.is_whole(after), 30)
        assert arena.bound(unit) == whole
        assert arena.bound_in_term(after) == {1}


async def test_nobody_binds_in_the_term_of_another(plane: Plane, room: str, tmp_path: Path) -> None:
    """Two of one name. The one that holds the Lease is stopped for longer than it lasts, twice."""
    one, two = Unit("while-the-first-is-stopped", size=20), Unit("while-both-are-stopped", size=20)
    async with entered(plane, room, tmp_path) as arena:
        first = arena.start_scheduler(*SHORT)
        await arena.until(lambda: arena.holder != "", 20)
        second = arena.start_scheduler(*SHORT)

        first.send(signal.SIGSTOP)
        await arena.make(one)
        await arena.until(lambda: arena.is_whole(one), 30)
        assert arena.bound_in_term(one) == {1}

        second.send(signal.SIGSTOP)
        await arena.make(two)
        first.send(signal.SIGCONT)  # it last knew itself as the holder
        await arena.until(lambda: arena.is_whole(two), 30)
        assert arena.bound_in_term(two) == {2}
        first_holder, second_holder, third_holder = (holder for _, holder in arena.terms)
        assert first_holder == third_holder != second_holder


async def test_a_scheduler_that_is_asked_to_stop_hands_its_lease_on(
    plane: Plane, room: str, tmp_path: Path
) -> None:
    async with entered(plane, room, tmp_path) as arena:
        first = arena.start_scheduler(*NEVER)
        await arena.until(lambda: arena.holder != "", 20)
        former = arena.holder
        first.end(signal.SIGTERM)
        arena.start_scheduler(*NEVER)
        await arena.until(lambda: arena.holder not in ("", former), 10)


async def test_a_scheduler_that_is_started_again_under_its_identity_takes_its_lease_at_once(
    plane: Plane, room: str, tmp_path: Path
) -> None:
    flags = (*NEVER, "--identity", "the-only-one")
    unit = Unit("gang", size=3)
    async with entered(plane, room, tmp_path) as arena:
        first = arena.start_scheduler(*flags)
        await arena.until(lambda: arena.holder == "the-only-one", 20)
        first.end(signal.SIGKILL)
        await arena.make(unit)
        arena.start_scheduler(*flags)
        await arena.until(lambda: arena.is_whole(unit), 10)


async def stopped_amid(arena: Arena, scheduler: Scheduler, unit: Unit) -> None:
    await arena.until(lambda: len(arena.bound(unit)) > 0, 30)
    scheduler.send(signal.SIGSTOP)
