"""The reflector and the informer together, over a server that cuts, refuses and forgets."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from tests.kube.peer import Papers, Request, Wire, serving
from tutti.api.core_v1 import Node
from tutti.api.registry import NODES
from tutti.kube.client import Client
from tutti.kube.informer import Gone, Informer, Relisted, Seen

Watch = Callable[[Wire], Awaitable[None]]


def node(name: str, version: int, uid: str = "") -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": uid or f"u-{name}", "resourceVersion": str(version)}}


def line(type_: str, obj: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"type": type_, "object": obj}) + b"\n"


def status(code: int) -> dict[str, Any]:
    return {"kind": "Status", "status": "Failure", "code": code, "reason": "", "message": "no"}


class Script:
    """Lists and watches, answered in order; the last watch stays open."""

    def __init__(self, lists: list[tuple[int, list[dict[str, Any]]]], watches: list[Any]) -> None:
        self.lists = lists
        self.watches = watches
        self.since: list[str] = []

    async def __call__(self, request: Request, wire: Wire) -> None:
        if "watch=true" not in request.target:
            version, items = self.lists.pop(0)
            wire.answer(200, {"metadata": {"resourceVersion": str(version)}, "items": items})
            return
        self.since.append(request.target.partition("resourceVersion=")[2].partition("&")[0])
        watch = self.watches.pop(0) if self.watches else []
        if isinstance(watch, int):
            wire.answer(watch, status(watch))
            return
        wire.begin_stream()
        for data in watch:
            wire.send_chunk(data)
        if self.watches or not watch:
            if not watch:
                await asyncio.Event().wait()
            wire.end_stream()


async def told(papers: Papers, script: Script, count: int) -> list[str]:
    """The first `count` things that an informer tells, as words."""
    words: list[str] = []
    enough = asyncio.Event()

    def on(news: Seen[Node] | Gone[Node] | Relisted) -> None:
        match news:
            case Seen(obj):
                words.append(f"{obj.metadata.name}@{obj.metadata.resource_version}")
            case Gone(obj):
                words.append(f"{obj.metadata.name} gone ({obj.metadata.uid})")
            case Relisted():
                words.append("listed")
        if len(words) >= count:
            enough.set()

    async with serving(papers, script) as peer:
        client = Client(peer.config)
        informer = Informer(client, NODES, Node)
        task = asyncio.create_task(informer.run(on))
        try:
            async with asyncio.timeout(10):
                await enough.wait()
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await client.close()
    return words


async def test_a_list_and_then_every_change_is_told(papers: Papers) -> None:
    script = Script(
        [(5, [node("a", 3), node("b", 4)])],
        [
            [
                line("ADDED", node("c", 6)),
                line("MODIFIED", node("a", 7)),
                line("DELETED", node("b", 8)),
            ]
        ],
    )
    assert await told(papers, script, 6) == ["a@3", "b@4", "listed", "c@6", "a@7", "b gone (u-b)"]


async def test_a_watch_that_ended_goes_on_where_it_was(papers: Papers) -> None:
    script = Script(
        [(5, [])],
        [[line("ADDED", node("a", 6))], [line("ADDED", node("b", 9))], []],
    )
    assert await told(papers, script, 3) == ["listed", "a@6", "b@9"]
    assert script.since[:2] == ["5", "6"]


@pytest.mark.parametrize("spec", [{}, {"spec": {"taints": None}}], ids=["bare", "as Go has it"])
async def test_a_bookmark_moves_the_place_to_go_on_from(
    papers: Papers, spec: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    bookmark = line("BOOKMARK", {"metadata": {"resourceVersion": "40"}, **spec})
    script = Script([(5, [])], [[bookmark], [line("ADDED", node("a", 41))], []])
    assert await told(papers, script, 2) == ["listed", "a@41"]
    assert script.since[:2] == ["5", "40"]
    assert "can't be read" not in caplog.text


@pytest.mark.parametrize(
    "expired",
    [
        pytest.param(410, id="refused at once"),
        pytest.param([line("ERROR", status(410))], id="said in the stream"),
    ],
)
async def test_a_forgotten_version_means_a_new_list_and_no_deletion_is_lost(
    papers: Papers, expired: Any
) -> None:
    script = Script(
        [(5, [node("a", 3), node("b", 4)]), (20, [node("a", 3), node("c", 15)])],
        [expired, []],
    )
    assert await told(papers, script, 6) == [
        "a@3",
        "b@4",
        "listed",
        "b gone (u-b)",
        "c@15",
        "listed",
    ]


async def test_a_namesake_made_meanwhile_is_another_object(papers: Papers) -> None:
    script = Script([(5, [node("a", 3)]), (9, [node("a", 8, uid="u-new")])], [410, []])
    words = await told(papers, script, 5)
    assert words == ["a@3", "listed", "a gone (u-a)", "a@8", "listed"]


async def test_a_server_that_fails_for_a_while_is_tried_again(papers: Papers) -> None:
    script = Script([(5, [])], [500, 503, [line("ADDED", node("a", 6))], []])
    assert await told(papers, script, 2) == ["listed", "a@6"]
    assert script.since[:3] == ["5", "5", "5"]


async def test_a_refusal_that_stays_is_said_once(
    papers: Papers, caplog: pytest.LogCaptureFixture
) -> None:
    script = Script([(5, [])], [403, 403, 403, [line("ADDED", node("a", 6))], []])
    await told(papers, script, 2)
    assert caplog.text.count("following is refused") == 1


async def test_an_object_that_can_not_be_read_is_passed_over(
    papers: Papers, caplog: pytest.LogCaptureFixture
) -> None:
    odd = {"metadata": {"name": "odd", "resourceVersion": "6"}, "spec": {"unschedulable": "maybe"}}
    script = Script([(5, [])], [[line("ADDED", odd), line("ADDED", node("a", 7))], []])
    assert await told(papers, script, 2) == ["listed", "a@7"]
    assert "an object can't be read" in caplog.text


async def test_the_end_of_something_unknown_is_not_told(papers: Papers) -> None:
    script = Script([(5, [])], [[line("DELETED", node("x", 6)), line("ADDED", node("a", 7))], []])
    assert await told(papers, script, 2) == ["listed", "a@7"]
