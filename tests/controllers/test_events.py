"""Events: each for itself while there are few, one for a group when there are many, always last."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
import pytest

from tests.kube.peer import Papers, Peer, Request, Responds, Wire, serving, until
from tutti.controllers import events as module
from tutti.controllers.events import Events
from tutti.engine.messages import GroupRef, Note, PodRef
from tutti.kube.client import Client

GROUP = GroupRef("PodGroup", "blue", "g", "u-g")


def pod(number: int) -> PodRef:
    return PodRef("blue", f"p-{number}", f"u-{number}")


def scheduled(number: int) -> Note:
    text = f"Successfully assigned blue/p-{number} to n"
    return Note(pod(number), "Normal", "Scheduled", "Binding", text)


async def fine(request: Request, wire: Wire) -> None:
    wire.answer(201, b"{}")


class Desk:
    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.counted: list[str] = []
        self.after = asyncio.Event()
        self.client = Client(peer.config)
        self.events = Events(
            self.client,
            lambda ref: "tutti-at-night" if ref.name == "p-7" else "tutti",
            "tutti-here",
            group_of=lambda ref: GROUP if ref.uid != "u-0" else None,
            after=self.after,
            count=self.counted.append,
        )

    def sent(self) -> list[dict[str, Any]]:
        return [msgspec.json.decode(request.body) for request in self.peer.requests]

    async def all_sent(self, count: int) -> None:
        await until(lambda: len(self.counted) >= count)


@asynccontextmanager
async def desk(papers: Papers, responds: Responds = fine) -> AsyncIterator[Desk]:
    async with serving(papers, responds) as peer:
        it = Desk(peer)
        it.after.set()
        task = asyncio.create_task(it.events.run())
        try:
            yield it
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await it.client.close()


async def test_an_event_is_as_kube_schedulers(papers: Papers) -> None:
    async with desk(papers) as it:
        it.events.note(scheduled(1))
        await it.all_sent(1)
    [request], [event] = it.peer.requests, it.sent()
    assert request.target == "/apis/events.k8s.io/v1/namespaces/blue/events"
    assert event.pop("eventTime")
    assert event.pop("metadata")["name"].startswith("p-1.")
    assert event == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "type": "Normal",
        "reason": "Scheduled",
        "action": "Binding",
        "note": "Successfully assigned blue/p-1 to n",
        "reportingController": "tutti",
        "reportingInstance": "tutti-here",
        "regarding": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": "blue",
            "name": "p-1",
            "uid": "u-1",
        },
    }


async def test_an_event_is_from_the_scheduler_that_the_pod_names(papers: Papers) -> None:
    async with desk(papers) as it:
        it.events.note(scheduled(1))
        it.events.note(scheduled(7))
        await it.all_sent(2)
    assert [event["reportingController"] for event in it.sent()] == ["tutti", "tutti-at-night"]


async def test_a_long_note_is_cut_as_kube_scheduler_cuts_it(papers: Papers) -> None:
    async with desk(papers) as it:
        it.events.note(Note(pod(1), "Warning", "FailedScheduling", "Scheduling", "x" * 2000))
        await it.all_sent(1)
    [event] = it.sent()
    assert len(event["note"]) == 1024
    assert event["note"].endswith("x ...")


async def test_beyond_a_burst_the_members_of_a_group_are_told_as_one(
    papers: Papers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BURST", 3)
    async with desk(papers) as it:
        for number in range(1, 11):
            it.events.note(scheduled(number))
        it.events.note(Note(pod(11), "Warning", "FailedScheduling", "Scheduling", "no room"))
        await it.all_sent(5)
    told = [(event["regarding"]["name"], event["note"]) for event in it.sent()]
    assert [name for name, _ in told] == ["p-1", "p-2", "p-3", "g", "g"]
    assert told[3][1] == "Successfully assigned blue/p-10 to n (and 6 more)"
    assert told[4][1] == "no room"


async def test_a_pod_without_a_group_waits_for_its_turn(
    papers: Papers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BURST", 1)
    async with desk(papers) as it:
        it.events.note(scheduled(1))
        it.events.note(scheduled(0))
        await it.all_sent(2)
    assert [event["regarding"]["name"] for event in it.sent()] == ["p-1", "p-0"]


async def test_nothing_is_sent_while_something_more_urgent_waits(papers: Papers) -> None:
    async with desk(papers) as it:
        it.after.clear()
        it.events.note(scheduled(1))
        await asyncio.sleep(0)
        assert it.peer.requests == []
        it.after.set()
        await it.all_sent(1)


async def test_what_finds_no_room_is_counted_and_dropped(
    papers: Papers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BURST", 0)
    monkeypatch.setattr(module, "ROOM", 1)
    async with desk(papers) as it:
        it.events.note(scheduled(1))
        it.events.note(scheduled(0))
        assert it.counted == ["dropped"]
        await it.all_sent(2)
    assert [event["regarding"]["name"] for event in it.sent()] == ["g"]


async def test_an_event_that_is_refused_costs_only_itself(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(403 if len(it.peer.requests) == 1 else 201, b"{}")

    async with desk(papers, responds) as it:
        it.events.note(scheduled(1))
        it.events.note(scheduled(2))
        await it.all_sent(2)
    assert it.counted == ["dropped", "sent"]
