"""How long a client waits, and what is done when that is over."""

import asyncio

import pytest

from tests.server.door import Door
from tests.server.objects import MAPS
from tutti.api.errors import Timeout
from tutti.server import deadline


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5s", 5), ("1m", 60), ("1.5s", 1.5), ("1s500ms", 1.5), (".5s", 0.5), ("2h", 60), ("0", 60)],
)
def test_a_duration_as_go_writes_it(text: str, seconds: float) -> None:
    assert deadline.asked([("timeout", text)]) == pytest.approx(seconds)


def test_who_says_nothing_waits_as_long_as_it_takes() -> None:
    assert deadline.asked([("limit", "5")]) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [("soon", 'time: invalid duration "soon"'), ("5", 'time: missing unit in duration "5"')],
)
async def test_what_is_no_duration_is_refused(door: Door, text: str, why: str) -> None:
    answer = await door.get(MAPS, timeout=text)

    assert answer.code == 400
    assert answer.text == f"invalid timeout specified in the request URL - {why}"


async def test_what_is_in_time_is_answered(door: Door) -> None:
    assert (await door.get(MAPS, timeout="30s")).code == 200
    assert (await door.get(f"{MAPS}/a", timeout="30s")).code == 404


async def test_what_was_begun_is_finished_though_nobody_waits_for_it() -> None:
    go_on, finished = asyncio.Event(), asyncio.Event()

    async def write() -> None:
        await go_on.wait()
        finished.set()

    with pytest.raises(Timeout):
        await deadline.within(0.01, write())
    go_on.set()
    async with asyncio.timeout(5):
        await finished.wait()
