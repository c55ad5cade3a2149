"""Each action has one answer, whatever the server does; nothing is sent without the Lease."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from tests.kube.peer import Papers, Peer, Request, Responds, Wire, serving, until
from tutti.api.meta import Condition
from tutti.controllers import binder as binders
from tutti.controllers.binder import COMMIT, Binder
from tutti.controllers.conditions import Conditions
from tutti.engine.messages import (
    Bind,
    BindRefused,
    BindUnknown,
    Bound,
    Deleted,
    DeleteFailed,
    Event,
    PodRead,
    PodRef,
    ReadPod,
    SetPodCondition,
    UndoBind,
)
from tutti.kube.client import Client

POD = PodRef("blue", "p", "u-1")
BIND = Bind(POD, "n-1", "c-1")
PATH = "/api/v1/namespaces/blue/pods/p"

Act = Callable[[Binder], Awaitable[None]]


def status(code: int, reason: str = "", message: str = "no") -> dict[str, Any]:
    return {"kind": "Status", "code": code, "reason": reason, "message": message}


def pod(uid: str = "u-1", node: str = "n-1", commit: str = "c-1") -> dict[str, Any]:
    annotations = {COMMIT: commit} if commit else {}
    meta = {"name": "p", "namespace": "blue", "uid": uid, "annotations": annotations}
    return {"metadata": meta, "spec": {"nodeName": node} if node else {}}


class Desk:
    """A binder, what it has answered, and the switch by which it holds the Lease."""

    def __init__(self, peer: Peer, client: Client, tasks: asyncio.TaskGroup) -> None:
        self.peer = peer
        self.held = True
        self.answers: list[Event] = []
        self.conditions = Conditions(client, tasks, seen=lambda ref: (), allowed=lambda: self.held)
        self.binder = Binder(
            client,
            self.conditions,
            self.answers.append,
            allowed=lambda: self.held,
            within=0.2,
        )

    def wrote(self) -> list[tuple[str, str]]:
        return [(r.method, r.target) for r in self.peer.requests if r.method != "GET"]


@asynccontextmanager
async def desk(papers: Papers, responds: Responds) -> AsyncIterator[Desk]:
    async with serving(papers, responds) as peer:
        client = Client(peer.config)
        try:
            async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
                yield Desk(peer, client, tasks)
        finally:
            await client.close()


@pytest.mark.parametrize(
    ("code", "body", "answer"),
    [
        pytest.param(201, status(201), Bound(POD, "n-1", "c-1"), id="bound"),
        pytest.param(
            409,
            status(409, "Conflict", "pod p is already assigned"),
            BindRefused(POD, "n-1", "c-1", "Conflict", "pod p is already assigned"),
            id="refused",
        ),
        pytest.param(
            404,
            status(404, "NotFound", "gone"),
            BindRefused(POD, "n-1", "c-1", "NotFound", "gone"),
            id="gone",
        ),
        pytest.param(
            500,
            status(500, "InternalError", "etcdserver: request timed out"),
            BindUnknown(POD, "n-1", "c-1", "etcdserver: request timed out"),
            id="a failure in which it may have been done",
        ),
    ],
)
async def test_a_binding_is_answered_as_the_server_answers(
    papers: Papers, code: int, body: dict[str, Any], answer: Event
) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(code, body)

    async with desk(papers, responds) as it:
        await it.binder.bind(BIND)
    assert it.answers == [answer]


@pytest.mark.parametrize("how", ["silence", "reset", "end"])
async def test_a_binding_without_an_answer_is_unknown_and_sent_once(
    papers: Papers, how: str
) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        match how:
            case "silence":
                await asyncio.Event().wait()
            case "reset":
                wire.cut()
            case _:
                wire.hang_up()

    async with desk(papers, responds) as it:
        await it.binder.bind(BIND)
    assert [type(answer) for answer in it.answers] == [BindUnknown]
    assert len(it.peer.requests) == 1


@pytest.mark.parametrize(
    ("act", "answer"),
    [
        pytest.param(lambda binder: binder.bind(BIND), BindRefused, id="bind"),
        pytest.param(lambda binder: binder.undo(UndoBind(POD, "c-1")), DeleteFailed, id="undo"),
    ],
)
async def test_without_the_lease_nothing_is_written(
    papers: Papers, act: Act, answer: type[Event]
) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(200, pod())

    async with desk(papers, responds) as it:
        it.held = False
        await act(it.binder)
    assert [type(each) for each in it.answers] == [answer]
    assert it.wrote() == []


def unscheduled(message: str) -> SetPodCondition:
    return SetPodCondition(POD, Condition(type="PodScheduled", status="False", message=message))


async def test_a_binding_waits_for_the_condition_that_is_on_its_way_and_drops_the_next(
    papers: Papers,
) -> None:
    go_on = asyncio.Event()

    async def responds(request: Request, wire: Wire) -> None:
        if request.method == "PATCH":
            await go_on.wait()
        wire.answer(200, b"{}")

    async with desk(papers, responds) as it, asyncio.TaskGroup() as tasks:
        it.conditions.set_on_pod(unscheduled("one"))
        await until(lambda: it.peer.requests)
        it.conditions.set_on_pod(unscheduled("two"))
        binding = tasks.create_task(it.binder.bind(BIND))
        await asyncio.sleep(0)
        assert not binding.done()
        go_on.set()
    assert it.wrote() == [("PATCH", f"{PATH}/status"), ("POST", f"{PATH}/binding")]


async def test_a_condition_that_was_held_back_is_said_when_the_binding_is_refused(
    papers: Papers,
) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(409 if request.method == "POST" else 200, b"{}")

    async with desk(papers, responds) as it:
        it.conditions.set_on_pod(unscheduled("no room"))
        await it.binder.bind(BIND)
    assert it.wrote() == [("POST", f"{PATH}/binding"), ("PATCH", f"{PATH}/status")]


@pytest.mark.parametrize(
    ("code", "body", "there"),
    [
        pytest.param(200, pod(), True, id="there"),
        pytest.param(404, status(404, "NotFound"), False, id="gone"),
        pytest.param(200, pod(uid="u-2"), False, id="a namesake is not it"),
    ],
)
async def test_a_look_at_a_pod_says_whether_it_is_there(
    papers: Papers, code: int, body: dict[str, Any], there: bool
) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(code, body)

    async with desk(papers, responds) as it:
        await it.binder.read(ReadPod(POD))
    [answer] = it.answers
    assert isinstance(answer, PodRead)
    assert (answer.pod is not None) is there


async def test_a_look_goes_on_until_the_server_answers(
    papers: Papers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binders, "FIRST_PAUSE", 0.001)

    async def responds(request: Request, wire: Wire) -> None:
        match len(it.peer.requests):
            case 1:
                wire.answer(500, status(500))
            case 2:
                wire.hang_up()
            case _:
                wire.answer(200, pod())

    async with desk(papers, responds) as it:
        await it.binder.read(ReadPod(POD))
    assert [type(answer) for answer in it.answers] == [PodRead]


async def test_an_undone_pod_is_marked_and_then_deleted_by_its_uid(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(200, pod())

    async with desk(papers, responds) as it:
        await it.binder.undo(UndoBind(POD, "c-1"))
    assert it.answers == [Deleted(POD)]
    assert it.wrote() == [("PATCH", f"{PATH}/status"), ("DELETE", PATH)]
    mark, delete = [msgspec.json.decode(r.body) for r in it.peer.requests if r.method != "GET"]
    assert mark["metadata"] == {"uid": "u-1"}
    assert mark["status"]["conditions"][0]["type"] == "DisruptionTarget"
    assert delete["preconditions"] == {"uid": "u-1"}
    assert "gracePeriodSeconds" not in delete  # as long as the pod itself asks for


@pytest.mark.parametrize(
    "there",
    [
        pytest.param(pod(commit=""), id="somebody else bound it"),
        pytest.param(pod(commit="c-0"), id="another commit bound it"),
        pytest.param(pod(node=""), id="nobody bound it"),
    ],
)
async def test_what_this_commit_did_not_bind_is_never_undone(
    papers: Papers, there: dict[str, Any]
) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(200, there)

    async with desk(papers, responds) as it:
        await it.binder.undo(UndoBind(POD, "c-1"))
    assert [type(answer) for answer in it.answers] == [DeleteFailed]
    assert it.wrote() == []


@pytest.mark.parametrize(
    ("code", "body"),
    [
        pytest.param(404, status(404, "NotFound"), id="gone"),
        pytest.param(200, pod(uid="u-2"), id="only a namesake is there"),
    ],
)
async def test_a_pod_that_is_gone_needs_no_undoing(
    papers: Papers, code: int, body: dict[str, Any]
) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(code, body)

    async with desk(papers, responds) as it:
        await it.binder.undo(UndoBind(POD, "c-1"))
    assert it.answers == [Deleted(POD)]
    assert it.wrote() == []


async def test_a_deletion_that_fails_is_told(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        if request.method == "DELETE":
            wire.answer(403, status(403, "Forbidden", "not you"))
        else:
            wire.answer(200, pod())

    async with desk(papers, responds) as it:
        await it.binder.undo(UndoBind(POD, "c-1"))
    assert it.answers == [DeleteFailed(POD, "not you")]
