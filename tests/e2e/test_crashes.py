"""P1: however a scheduler ends, what it was binding is whole or not there at all.

The process is killed for good, while some of a gang or a tree of gangs is bound and some isn't; it
has a narrow wire to the server, so that there is such a time. Only kills count after which the
server shows a part of the unit, and not its quorum.
"""

import asyncio
import itertools
import os
import random
import signal
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import pytest

from tests.e2e.arena import COMMIT, Arena, entered, per_gang
from tests.e2e.units import Unit, gang, tower, tree
from tools.throwaway import Plane
from tutti.api import registry
from tutti.api.core_v1 import Pod

KILLS = int(os.environ.get("TUTTI_KILLS", "3"))
FOREIGN = 3
PACE_S = 0.01
UNDONE = ("DisruptionTarget", "GangIncomplete")
RECOVERED_S = 20
"""How long after the restart all must be in order, the dead one's Lease included."""

pytestmark = pytest.mark.timeout(120 + 40 * KILLS)


class Trouble(Enum):
    """What happens between the kill and the restart, and whether the unit can still be whole."""

    NONE = "nothing else", True
    TAINTED = "every second node tainted", True
    REPLACED = "a node lost, its pods made anew", True
    GONE = "a node gone, its pods not yet", True
    LOST = "a node lost, its pods for good", False
    FILLED = "every node filled by others", False
    CORDONED = "every node cordoned", False

    @property
    def leaves_room(self) -> bool:
        return self.value[1]


@dataclass(frozen=True)
class Case:
    make: Callable[[str], Unit]
    second_run: bool
    trouble: Trouble
    same_identity: bool
    foreign: int
    share: float
    """Which part of it is bound when the kill comes."""
    twice: bool
    """Whether the next one is killed, too, at the first thing that it completes or undoes."""

    def __str__(self) -> str:
        run = "second run" if self.second_run else "first run"
        twice = ", killed again" if self.twice else ""
        return f"{self.make.__name__}, {run}, {self.trouble.value[0]}{twice}"


def cases() -> Iterator[Case]:
    """The same in every run of the tests."""
    chance = random.Random(10)
    all_kinds = list(itertools.product((gang, tree, tower), (False, True), Trouble))
    while True:
        for make, second_run, trouble in chance.sample(all_kinds, len(all_kinds)):
            yield Case(
                make,
                second_run,
                trouble,
                same_identity=chance.random() < 0.5,
                foreign=chance.choice((0, FOREIGN)),
                share=chance.uniform(0.1, 0.7),
                twice=chance.random() < 0.25,
            )


async def test_killed_amid_a_gang_or_a_tree_it_leaves_it_whole_or_not_at_all(
    plane: Plane, room: str, tmp_path: Path
) -> None:
    seen: Counter[str] = Counter()
    async with entered(plane, room, tmp_path) as arena:
        for number, case in enumerate(cases(), 1):
            assert number <= 2 * KILLS + 2, (
                f"of {number - 1} kills only {seen.total()} came in time"
            )
            story = await play(arena, case, case.make(f"unit-{number}"))
            if story:
                seen[str(case)] += 1
                print(f"{seen.total():3} {case}: {story}", flush=True)
            if seen.total() == KILLS:
                break
    print(f"{KILLS} kills seen in the middle, of {number}; {len(seen)} kinds")


async def play(arena: Arena, case: Case, unit: Unit) -> str:
    """What was seen; nothing if the kill didn't come in the middle."""
    story = ""
    await arena.make(unit)
    if case.second_run:
        await has_run(arena, unit)
    others, standing = await somebody_elses_half(arena, f"{unit.name}-others")
    foreign = await arena.bind_by_hand(unit, case.foreign)
    part = await killed_amid(arena, case, unit)
    if part:
        ours = marks(arena.members(unit))
        assert len(ours) == 1, "one unit is one commit"
        forbidden = await befall(arena, case.trouble, unit)
        lost = set(arena.gone)
        before = arena.bound(unit)
        stay = without(foreign, lost)
        if case.twice and before != stay:
            await kill_when(arena, lambda: arena.bound(unit) != before)
        seconds = await recovers(arena, case, unit, stay)

        undone = [pod for uid, pod in arena.gone.items() if uid not in lost]
        assert marks(undone) <= ours
        assert all(UNDONE in reasons(pod) for pod in undone)
        assert len(undone) == 0 or not case.trouble.leaves_room
        came = without(arena.bound(unit), before)
        assert forbidden.isdisjoint(came.values())
        assert arena.bound(others) == without(standing, lost)
        ending = "whole" if case.trouble.leaves_room else "undone"
        story = f"{part} of {unit.total} bound, {ending} {seconds:.1f} s after the restart"
    await tidy(arena)
    return story


async def has_run(arena: Arena, unit: Unit) -> None:
    """It was whole once, its conditions say so for ever, and its pods are made anew."""
    scheduler = arena.start_scheduler("--identity", "first")
    await arena.until(lambda: arena.is_whole(unit) and arena.said_scheduled(unit) == {True}, 30)
    scheduler.end()
    await arena.wipe()
    await arena.make_members(unit)


async def somebody_elses_half(arena: Arena, name: str) -> tuple[Unit, dict[str, str]]:
    """A gang of four with three members, two of them bound by hand: nothing to complete, or undo."""
    others = Unit(name, size=4)
    await arena.make(others)
    await arena.client.delete(registry.PODS, arena.namespace, f"{name}-3", grace=0)
    await arena.until(lambda: len(arena.members(others)) == 3, 20)
    return others, await arena.bind_by_hand(others, 2)


async def killed_amid(arena: Arena, case: Case, unit: Unit) -> int:
    enough = case.foreign + 1 + int(case.share * (unit.total - case.foreign))
    await kill_when(arena, lambda: len(arena.bound(unit)) >= enough)
    bound = await arena.listed(unit)
    uids = {pod.metadata.uid for pod in bound}
    await arena.until(lambda: arena.bound(unit).keys() == uids, 20)
    amid = len(bound) > case.foreign and not unit.stands(per_gang(bound))
    return len(bound) if amid else 0


async def kill_when(arena: Arena, true: Callable[[], bool]) -> None:
    """What a scheduler had on the wire is lost with it."""
    arena.wire.pace = PACE_S
    scheduler = arena.start_scheduler("--identity", "first", on_the_wire=True)
    await arena.until(true, 30)
    scheduler.end(signal.SIGKILL)
    arena.wire.cut()
    arena.wire.pace = 0


async def befall(arena: Arena, trouble: Trouble, unit: Unit) -> set[str]:
    """The nodes that get nothing of the unit from now on."""
    match trouble:
        case Trouble.NONE:
            return set()
        case Trouble.TAINTED:
            half = arena.nodes[::2]
            taint = {"key": "example.com/broken", "effect": "NoSchedule"}
            await arena.change_nodes(half, {"taints": [taint]})
            return set(half)
        case Trouble.GONE | Trouble.REPLACED | Trouble.LOST:
            places = Counter(arena.bound(unit).values())
            [(busiest, _)] = places.most_common(1)
            await arena.lose_node(busiest)
            if trouble is not Trouble.GONE:
                await arena.lose_pods_on(busiest)
            if trouble is Trouble.REPLACED:
                await arena.make_members(unit)
            return {busiest}
        case Trouble.FILLED:
            for name in arena.nodes:
                await arena.fill_node(name)
            return set(arena.nodes)
        case Trouble.CORDONED:
            await arena.change_nodes(arena.nodes, {"unschedulable": True})
            return set(arena.nodes)


async def recovers(arena: Arena, case: Case, unit: Unit, foreign: dict[str, str]) -> float:
    """Whole, or as if nobody but others had ever bound any of it; after how many seconds."""
    clock = asyncio.get_running_loop().time
    began = clock()
    identity = "first" if case.same_identity else "second"
    scheduler = arena.start_scheduler("--identity", identity)
    if case.trouble.leaves_room:
        await arena.until(lambda: arena.is_whole(unit), RECOVERED_S)
        seconds = clock() - began
        await arena.until(lambda: arena.said_scheduled(unit) == {True} and not arena.units, 20)
    else:
        await arena.until(lambda: arena.bound(unit) == foreign, RECOVERED_S)
        seconds = clock() - began
        await arena.until(lambda: not arena.units, 20)
        assert arena.said_scheduled(unit) == {case.second_run}
    scheduler.end()
    left = {pod.metadata.uid: pod.spec.node_name for pod in await arena.listed(unit)}
    assert left.items() >= foreign.items()
    assert len(left) == (unit.total if case.trouble.leaves_room else len(foreign))
    return seconds


async def tidy(arena: Arena) -> None:
    await arena.wipe()
    await arena.mend_nodes()


def marks(pods: Iterable[Pod]) -> set[str]:
    return {mark for pod in pods if (mark := pod.metadata.annotations.get(COMMIT))}


def reasons(pod: Pod) -> set[tuple[str, str | None]]:
    return {(condition.type, condition.reason) for condition in pod.status.conditions}


def without(bound: dict[str, str], uids: Container[str]) -> dict[str, str]:
    return {uid: node for uid, node in bound.items() if uid not in uids}
