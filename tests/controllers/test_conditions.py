"""Conditions as they go over the wire: merged by type, or, where that isn't served, with care."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from tests.kube.peer import Papers, Peer, Request, Responds, Wire, serving, until
from tutti.api.meta import Condition
from tutti.controllers import conditions as module
from tutti.controllers.conditions import Conditions
from tutti.engine.messages import GroupRef, PodRef, SetGroupCondition, SetPodCondition
from tutti.kube.client import Client

POD = PodRef("blue", "p", "u-1")
GROUP = GroupRef("PodGroup", "blue", "g", "u-9")
INITIALLY = "PodGroupInitiallyScheduled"


def condition(type_: str, status: str, message: str = "") -> Condition:
    return Condition(type=type_, status=status, reason="Because", message=message)


@asynccontextmanager
async def writing(
    papers: Papers, responds: Responds, seen: tuple[Condition, ...] = ()
) -> AsyncIterator[tuple[Conditions, Peer]]:
    """All that was set has been written when the block is left."""
    async with serving(papers, responds) as peer:
        client = Client(peer.config)
        try:
            async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
                yield (
                    Conditions(client, tasks, seen=lambda ref: seen, allowed=lambda: True),
                    peer,
                )
        finally:
            await client.close()


async def fine(request: Request, wire: Wire) -> None:
    wire.answer(200, b"{}")


def bodies(peer: Peer) -> list[dict[str, Any]]:
    return [msgspec.json.decode(request.body) for request in peer.requests]


async def test_a_pods_condition_is_merged_into_its_status(papers: Papers) -> None:
    async with writing(papers, fine) as (conditions, peer):
        conditions.set_on_pod(SetPodCondition(POD, condition("PodScheduled", "False", "no room")))
    [request], [patch] = peer.requests, bodies(peer)
    assert request.target == "/api/v1/namespaces/blue/pods/p/status"
    assert request.headers["content-type"] == "application/strategic-merge-patch+json"
    [entry] = patch["status"]["conditions"]
    assert entry.pop("lastTransitionTime")
    assert entry == {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Because",
        "message": "no room",
    }
    assert patch["metadata"] == {"uid": "u-1"}
    assert "nominatedNodeName" not in patch["status"]


@pytest.mark.parametrize(("nominated", "written"), [("n-1", "n-1"), ("", None)])
async def test_a_nomination_goes_with_it(
    papers: Papers, nominated: str, written: str | None
) -> None:
    async with writing(papers, fine) as (conditions, peer):
        conditions.set_on_pod(
            SetPodCondition(POD, condition("PodScheduled", "False"), nominated=nominated)
        )
    [patch] = bodies(peer)
    assert patch["status"]["nominatedNodeName"] == written


@pytest.mark.parametrize(
    ("seen", "moves"),
    [
        pytest.param((), True, id="new"),
        pytest.param((condition("PodScheduled", "True"),), True, id="turned"),
        pytest.param((condition("PodScheduled", "False", "old"),), False, id="other words"),
    ],
)
async def test_the_time_of_a_condition_moves_only_when_its_status_does(
    papers: Papers, seen: tuple[Condition, ...], moves: bool
) -> None:
    """Behaviours 49 and 50 of kube-scheduler."""
    async with writing(papers, fine, seen) as (conditions, peer):
        conditions.set_on_pod(SetPodCondition(POD, condition("PodScheduled", "False", "new")))
    [patch] = bodies(peer)
    assert ("lastTransitionTime" in patch["status"]["conditions"][0]) is moves


async def test_what_is_said_while_a_write_is_on_its_way_goes_out_together(papers: Papers) -> None:
    go_on = asyncio.Event()

    async def responds(request: Request, wire: Wire) -> None:
        await go_on.wait()
        wire.answer(200, b"{}")

    async with writing(papers, responds) as (conditions, peer):
        conditions.set_on_group(SetGroupCondition(GROUP, condition(INITIALLY, "False", "one")))
        await until(lambda: peer.requests)
        for word in ("two", "three"):
            conditions.set_on_group(SetGroupCondition(GROUP, condition(INITIALLY, "False", word)))
        conditions.set_on_group(SetGroupCondition(GROUP, condition("Satisfied", "False")))
        go_on.set()
    first, second = bodies(peer)
    assert [each["message"] for each in first["status"]["conditions"]] == ["one"]
    assert [(each["type"], each["message"]) for each in second["status"]["conditions"]] == [
        (INITIALLY, "three"),
        ("Satisfied", ""),
    ]


@pytest.mark.parametrize("known", ["from the cache", "from our own last write"])
async def test_a_group_that_was_scheduled_is_never_said_not_to_be(
    papers: Papers, known: str
) -> None:
    true = condition(INITIALLY, "True")
    seen = (true,) if known == "from the cache" else ()
    async with writing(papers, fine, seen) as (conditions, peer):
        if not seen:
            conditions.set_on_group(SetGroupCondition(GROUP, true))
            await until(lambda: peer.requests and not conditions._writing)
        conditions.set_on_group(SetGroupCondition(GROUP, condition(INITIALLY, "False")))
    statuses = [each["status"] for patch in bodies(peer) for each in patch["status"]["conditions"]]
    assert "False" not in statuses


async def test_a_write_that_failed_is_tried_again_with_the_newest_words(
    papers: Papers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)

    async def responds(request: Request, wire: Wire) -> None:
        if len(peer.requests) == 1:
            conditions.set_on_pod(SetPodCondition(POD, condition("PodScheduled", "False", "new")))
            wire.answer(500, b"{}")
        else:
            wire.answer(200, b"{}")

    async with writing(papers, responds) as (conditions, peer):
        conditions.set_on_pod(SetPodCondition(POD, condition("PodScheduled", "False", "old")))
    messages = [patch["status"]["conditions"][0]["message"] for patch in bodies(peer)]
    assert messages == ["old", "new"]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        pytest.param(404, "not found", id="gone"),
        pytest.param(409, "Precondition failed: UID in precondition", id="another, says one"),
        pytest.param(422, "metadata.uid: Invalid value: field is immutable", id="says another"),
        pytest.param(403, "namespace is being terminated", id="not allowed"),
    ],
)
async def test_what_can_not_be_written_is_not_tried_again(
    papers: Papers, code: int, message: str
) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(code, {"kind": "Status", "code": code, "message": message})

    async with writing(papers, responds) as (conditions, peer):
        conditions.set_on_pod(SetPodCondition(POD, condition("PodScheduled", "False")))
    assert len(peer.requests) == 1


class WithoutMerge:
    """A server of a custom resource: no strategic merge, and others write the list as well."""

    def __init__(self) -> None:
        self.version = 1
        self.listed = [
            {"type": "Theirs", "status": "True", "lastTransitionTime": "then"},
            {"type": "Satisfied", "status": "False", "lastTransitionTime": "then"},
        ]

    async def __call__(self, request: Request, wire: Wire) -> None:
        if request.headers.get("content-type") == "application/strategic-merge-patch+json":
            wire.answer(415, {"kind": "Status", "code": 415})
        elif request.method == "GET":
            meta = {"uid": "u-9", "resourceVersion": str(self.version)}
            wire.answer(200, {"metadata": meta, "status": {"conditions": self.listed}})
            if self.version == 1:  # somebody writes between our reading and our writing
                self.listed.append({"type": "New", "status": "True"})
                self.version += 1
        else:
            patch = msgspec.json.decode(request.body)
            if patch["metadata"]["resourceVersion"] != str(self.version):
                wire.answer(409, {"kind": "Status", "code": 409, "reason": "Conflict"})
                return
            self.listed = patch["status"]["conditions"]
            wire.answer(200, b"{}")


async def test_where_nothing_merges_the_list_is_written_under_its_version(papers: Papers) -> None:
    server = WithoutMerge()
    async with writing(papers, server) as (conditions, _):
        conditions.set_on_group(SetGroupCondition(GROUP, condition("Satisfied", "False", "why")))
        conditions.set_on_group(SetGroupCondition(GROUP, condition(INITIALLY, "False")))
    by_type = {each["type"]: each for each in server.listed}
    assert list(by_type) == ["Theirs", "Satisfied", "New", INITIALLY]
    assert by_type["Satisfied"]["message"] == "why"
    assert by_type["Satisfied"]["lastTransitionTime"] == "then"
    assert by_type[INITIALLY]["lastTransitionTime"] != "then"
