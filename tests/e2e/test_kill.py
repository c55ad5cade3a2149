"""kill -9 of the scheduler while it binds a gang: afterwards the gang is whole, or not there at all.

Counted are kills that were *seen*: some of the quorum bound, and not all of it. A run does
TUTTI_KILLS of them (2 by default, 20 with `make kills-real`), in turn with room for the rest of the
gang when the scheduler comes back, and without.
"""

import os
import signal

import pytest

from tests.e2e.gang import Gang, gang_of, scheduling
from tools.throwaway import Plane

KILLS = int(os.environ.get("TUTTI_KILLS", "2"))
SIZE = 200
BY_OTHERS = [3, 77, 150]
WITHIN = 20.0
"""Seconds from the restart: the Lease must run out first, and the deadline of a commit pass."""

pytestmark = [pytest.mark.real, pytest.mark.timeout(60 + 45 * KILLS)]


async def test_a_gang_is_whole_or_not_at_all_after_each_kill(real_plane: Plane) -> None:
    seen = tries = 0
    while seen < KILLS:
        assert tries < 3 * KILLS, f"only {seen} of {tries} kills came in the middle of a gang"
        has_room = seen % 2 == 0
        seen += await one_kill(real_plane, after=1 + 13 * tries % 60, has_room=has_room)
        tries += 1


async def one_kill(plane: Plane, *, after: int, has_room: bool) -> bool:
    """Kill when this many are seen bound, start again, look. Was it in the middle of the gang?"""
    async with gang_of(SIZE, plane) as gang:
        others = await gang.bind_by_hand(BY_OTHERS)
        async with scheduling(plane, gang.scheduler) as scheduler:
            gang.when(lambda: len(gang.marked) >= after, lambda: scheduler.signal(signal.SIGKILL))
            assert await scheduler.child.wait() == -signal.SIGKILL
        half = await gang.settled()
        in_the_middle = 0 < half < SIZE - len(BY_OTHERS)
        if not has_room:
            await gang.cordon()
        async with scheduling(plane, gang.scheduler):
            if has_room or not in_the_middle:
                await gang.until(lambda: len(gang.bound) == SIZE, WITHIN)
            else:
                await gang.until(lambda: not gang.marked, WITHIN)
        for pod in others:
            assert as_it_was(gang, pod.metadata.name) == (pod.metadata.uid, pod.spec.node_name)
        return in_the_middle


def as_it_was(gang: Gang, name: str) -> tuple[str, str]:
    [pod] = [pod for pod in gang.pods if pod.metadata.name == name]
    assert pod.metadata.deletion_timestamp is None
    assert not any(each.type == "DisruptionTarget" for each in pod.status.conditions)
    return pod.metadata.uid, pod.spec.node_name
