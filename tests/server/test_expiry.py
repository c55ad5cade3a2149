"""Events last an hour from when they were last seen."""

from tests.server.door import Door
from tests.server.objects import HERE
from tutti.server import expiry
from tutti.server.context import Context
from tutti.server.gates import Gates
from tutti.server.objects import Objects
from tutti.server.view import View

EVENTS = f"{HERE}/events"


def context_of(door: Door) -> Context:
    view = View()
    return Context(Objects(door.store, view), view, Gates(), door.clock, str)


def event(name: str, **fields: object) -> dict[str, object]:
    about = {"kind": "Pod", "namespace": "default", "name": "p"}
    return {"metadata": {"name": name}, "involvedObject": about, **fields}


async def names(door: Door) -> list[str]:
    return [one["metadata"]["name"] for one in (await door.get(EVENTS)).json["items"]]


async def test_what_was_seen_within_the_hour_stays(door: Door) -> None:
    await door.made(EVENTS, event("old"))
    await door.made(EVENTS, event("again", lastTimestamp="2026-11-19T12:30:00Z"))
    series = {"count": 2, "lastObservedTime": "2026-11-19T12:59:00.000000Z"}
    await door.made(EVENTS, event("series", series=series))

    door.clock.advance(seconds=3599)
    assert await expiry.sweep(context_of(door)) == 0
    door.clock.advance(seconds=2)
    assert await expiry.sweep(context_of(door)) == 1

    assert await names(door) == ["again", "series"]


async def test_many_are_swept_in_one_go(door: Door) -> None:
    for number in range(450):
        await door.made(EVENTS, event(f"e{number}"))
    door.clock.advance(seconds=3601)
    await door.made(EVENTS, event("fresh"))

    assert await expiry.sweep(context_of(door)) == 450
    assert await names(door) == ["fresh"]
