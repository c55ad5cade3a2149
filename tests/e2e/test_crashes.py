"""P1 on a real API server: however a scheduler ends, its gang is whole or not there at all."""

import os
import random
import signal
from pathlib import Path

import pytest

from tests.e2e.arena import Arena, entered
from tools.throwaway import Plane

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]

KILLS = int(os.environ.get("TUTTI_KILLS", "3"))
SIZE = 200
FOREIGN = 3


async def test_killed_amid_a_gang_it_leaves_it_whole_or_not_at_all(
    real_plane: Plane, namespace: str, tmp_path: Path
) -> None:
    """Every second time the nodes are cordoned meanwhile, so that it can't be completed."""
    chance = random.Random(7)
    async with entered(real_plane.kubeconfig("scheduler"), namespace, tmp_path) as arena:
        seen = tries = 0
        while seen < KILLS:
            tries += 1
            assert tries <= 4 * KILLS, f"only {seen} of {tries} kills came in time"
            gang = f"gang-{tries}"
            await arena.make_gang(gang, SIZE)
            foreign = await arena.bind_by_hand(gang, FOREIGN)
            if not await killed_amid(arena, gang, after=chance.randrange(FOREIGN + 1, SIZE - 20)):
                await arena.wipe()
                continue
            seen += 1
            hopeless = seen % 2 == 0
            await arena.cordon(hopeless)
            again = arena.start_scheduler()
            await came_to(arena, gang, FOREIGN if hopeless else SIZE)
            assert arena.bound(gang).items() >= foreign.items()
            again.end()
            await arena.cordon(False)
            await arena.wipe()


async def killed_amid(arena: Arena, gang: str, after: int) -> bool:
    """Whether the kill came when some of the gang was bound, and not all."""
    scheduler = arena.start_scheduler()
    await arena.until(lambda: len(arena.bound(gang)) >= after, 30)
    scheduler.end(signal.SIGKILL)
    pods = await arena.listed(gang)
    return FOREIGN < sum(bool(pod.spec.node_name) for pod in pods) < SIZE


async def came_to(arena: Arena, gang: str, bound: int) -> None:
    """The Lease of the one that was killed must run out first."""
    await arena.until(lambda: len(arena.bound(gang)) == bound, 20)


async def test_nobody_binds_in_the_term_of_another(
    real_plane: Plane, namespace: str, tmp_path: Path
) -> None:
    """Two of one name. The one that holds the Lease is stopped for longer than it lasts, twice."""
    async with entered(real_plane.kubeconfig("scheduler"), namespace, tmp_path) as arena:
        first = arena.start_scheduler()
        await arena.until(lambda: arena.holder != "", 20)
        second = arena.start_scheduler()

        first.send(signal.SIGSTOP)
        await arena.make_gang("while-the-first-is-stopped", 20)
        await arena.until(lambda: len(arena.bound("while-the-first-is-stopped")) == 20, 30)
        assert arena.bound_in_term("while-the-first-is-stopped") == {1}

        second.send(signal.SIGSTOP)
        await arena.make_gang("while-both-are-stopped", 20)
        first.send(signal.SIGCONT)  # it last knew itself as the holder
        await arena.until(lambda: len(arena.bound("while-both-are-stopped")) == 20, 30)
        assert arena.bound_in_term("while-both-are-stopped") == {2}
        first_holder, second_holder, third_holder = (holder for _, holder in arena.terms)
        assert first_holder == third_holder != second_holder


async def test_stopped_amid_a_gang_it_changes_nothing_when_it_goes_on(
    real_plane: Plane, namespace: str, tmp_path: Path
) -> None:
    async with entered(real_plane.kubeconfig("scheduler"), namespace, tmp_path) as arena:
        first = arena.start_scheduler()
        await arena.until(lambda: arena.holder != "", 20)
        arena.start_scheduler()
        await arena.make_gang("gang", SIZE)
        await arena.until(lambda: len(arena.bound("gang")) > 10, 20)
        first.send(signal.SIGSTOP)
        await arena.until(lambda: len(arena.bound("gang")) == SIZE, 30)
        whole = arena.bound("gang")
        first.send(signal.SIGCONT)
        await arena.make_gang("next", 20)
        await arena.until(lambda: len(arena.bound("next")) == 20, 30)
        assert arena.bound("gang") == whole
