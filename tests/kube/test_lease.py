"""Candidates for one Lease, on clocks that the tests move, over a server that may fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
import pytest

from tests.kube.peer import Papers, Peer, Request, Wire, serving, until
from tutti.api.errors import Invalid
from tutti.kube.client import Client
from tutti.kube.lease import Elector, LeaseLost

COLLECTION = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
DURATION = 0.5  # of real time only the pauses between two looks depend on it


class Board:
    """A server that keeps one Lease, under optimistic locking, and fails as it is told."""

    def __init__(self) -> None:
        self.lease: dict[str, Any] | None = None
        self.version = 0
        self.failures: list[str] = []
        self.writes = 0
        self.written = asyncio.Event()

    async def __call__(self, request: Request, wire: Wire) -> None:
        failure = self.failures.pop(0) if self.failures and request.method == "PATCH" else ""
        if failure == "silent":
            await asyncio.Event().wait()
        if failure == "500":
            wire.answer(500, {"kind": "Status", "code": 500, "message": "no"})
            return
        if request.method == "POST":
            self.lease = self._kept(msgspec.json.decode(request.body))
            wire.answer(201, self.lease)
        elif self.lease is None:
            wire.answer(404, {"kind": "Status", "code": 404, "reason": "NotFound"})
        elif request.method == "GET":
            wire.answer(200, self.lease)
        elif failure == "unheard":  # done, and nobody hears of it
            self._merge(msgspec.json.decode(request.body))
            wire.cut()
        elif not self._merge(msgspec.json.decode(request.body)):
            wire.answer(409, {"kind": "Status", "code": 409, "reason": "Conflict"})
        elif len(str(self.lease["metadata"].get("annotations", ""))) > 1000:
            wire.answer(422, {"kind": "Status", "code": 422, "reason": "Invalid"})
        else:
            wire.answer(200, self.lease)

    @property
    def spec(self) -> dict[str, Any]:
        assert self.lease is not None
        return self.lease["spec"]

    @property
    def annotations(self) -> dict[str, str]:
        assert self.lease is not None
        return self.lease["metadata"].get("annotations", {})

    def write(self, **spec: Any) -> None:
        """As somebody else would."""
        assert self.lease is not None
        self.lease = self._kept({**self.lease, "spec": {**self.spec, **spec}})

    def _merge(self, patch: dict[str, Any]) -> bool:
        assert self.lease is not None
        meta = patch["metadata"]
        if meta["resourceVersion"] != self.lease["metadata"]["resourceVersion"]:
            return False
        annotations = {**self.annotations, **meta.get("annotations", {})}
        self.lease["metadata"]["annotations"] = {k: v for k, v in annotations.items() if v}
        self.lease = self._kept({**self.lease, "spec": {**self.spec, **patch["spec"]}})
        return True

    def _kept(self, lease: dict[str, Any]) -> dict[str, Any]:
        self.version += 1
        self.writes += 1
        self.written.set()
        lease["metadata"]["resourceVersion"] = str(self.version)
        return lease


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def board(papers: Papers) -> AsyncIterator[tuple[Board, Peer]]:
    kept = Board()
    async with serving(papers, kept) as peer:
        yield kept, peer


@asynccontextmanager
async def candidate(
    peer: Peer, identity: str, clock: Clock | None = None
) -> AsyncIterator[Elector]:
    client = Client(peer.config, connections=2)
    try:
        yield Elector(client, "l", identity, duration=DURATION, clock=clock or Clock())
    finally:
        await client.close()


@asynccontextmanager
async def keeping(elector: Elector) -> AsyncIterator["asyncio.Task[None]"]:
    task: asyncio.Task[None] = asyncio.create_task(elector.keep())
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, LeaseLost):
            await task


async def more_requests(peer: Peer, count: int) -> None:
    before = len(peer.requests)
    await until(lambda: len(peer.requests) >= before + count)


async def test_a_lease_that_is_not_there_is_made_and_held(papers: Papers) -> None:
    async with board(papers) as (kept, peer), candidate(peer, "a") as elector:
        assert not elector.held
        assert await elector.acquire() == {}
        assert elector.held
    assert kept.spec["holderIdentity"] == "a"
    assert kept.spec["leaseDurationSeconds"] == 1


async def test_the_lease_of_another_is_taken_when_it_was_not_renewed_for_its_duration(
    papers: Papers,
) -> None:
    clock = Clock()
    async with board(papers) as (kept, peer), candidate(peer, "a") as first:
        await first.acquire()
        await first.annotate("note", "left by a")
        async with candidate(peer, "b", clock) as second:
            taking = asyncio.create_task(second.acquire())
            await more_requests(peer, 3)  # it looks again and again, and waits
            assert not taking.done()
            clock.now += 1.0
            assert await taking == {"note": "left by a"}
            assert second.held
            with pytest.raises(LeaseLost, match="taken by b"):
                await first.annotate("note", "too late")
            assert not first.held
    assert kept.spec["leaseTransitions"] == 1
    assert kept.annotations == {"note": "left by a"}


@pytest.mark.parametrize(
    "holder", [pytest.param("me", id="our own former self"), pytest.param("", id="nobody")]
)
async def test_a_lease_that_nobody_can_be_using_is_taken_at_once(
    papers: Papers, holder: str
) -> None:
    async with board(papers) as (kept, peer), candidate(peer, "somebody") as former:
        await former.acquire()
        kept.write(holderIdentity=holder)
        async with candidate(peer, "me") as elector, asyncio.timeout(0.4):
            await elector.acquire()


async def test_a_lease_is_renewed_for_as_long_as_it_goes(papers: Papers) -> None:
    clock = Clock()
    async with board(papers) as (kept, peer), candidate(peer, "a", clock) as elector:
        await elector.acquire()
        async with keeping(elector) as task:
            for _ in range(3):
                clock.now += elector.renew_deadline * 0.9
                kept.written.clear()
                await asyncio.wait_for(kept.written.wait(), 5)
                assert elector.held
            assert not task.done()


async def test_held_ends_by_the_clock_alone_and_begins_again_with_a_late_renewal(
    papers: Papers,
) -> None:
    clock = Clock()
    async with board(papers) as (kept, peer), candidate(peer, "a", clock) as elector:
        await elector.acquire()
        clock.now += elector.renew_deadline - 0.001
        assert elector.held
        clock.now += 10
        assert not elector.held
        kept.failures = ["silent", "500"]
        async with keeping(elector) as task:
            await until(lambda: elector.held)
            assert not task.done()
    assert kept.spec["leaseTransitions"] == 0


async def test_a_late_renewal_finds_that_another_took_it(papers: Papers) -> None:
    clock = Clock()
    async with board(papers) as (kept, peer), candidate(peer, "a", clock) as elector:
        await elector.acquire()
        kept.write(holderIdentity="b", leaseTransitions=1)
        clock.now += 10
        async with keeping(elector) as task:
            with pytest.raises(LeaseLost, match="taken by b"):
                await asyncio.wait_for(task, 5)
        assert not elector.held


async def test_a_server_that_fails_for_a_moment_costs_nothing(papers: Papers) -> None:
    async with board(papers) as (kept, peer), candidate(peer, "a") as elector:
        await elector.acquire()
        kept.failures = ["500", "500"]
        await elector.annotate("note", "x")
        assert elector.held
    assert kept.annotations == {"note": "x"}


async def test_a_write_of_which_the_answer_was_lost_is_found_to_be_done(papers: Papers) -> None:
    async with board(papers) as (kept, peer), candidate(peer, "a") as elector:
        await elector.acquire()
        kept.failures = ["unheard"]
        await elector.annotate("note", "x")
        assert elector.held
    assert kept.annotations == {"note": "x"}


async def test_a_person_who_edits_the_lease_does_not_end_it(papers: Papers) -> None:
    async with board(papers) as (kept, peer), candidate(peer, "a") as elector:
        await elector.acquire()
        kept.write(renewTime="2026-01-01T00:00:00.000000Z")
        await elector.annotate("note", "x")
        assert elector.held
    assert kept.annotations == {"note": "x"}


async def test_what_the_server_will_not_have_is_said_and_the_lease_is_still_held(
    papers: Papers,
) -> None:
    async with board(papers) as (_, peer), candidate(peer, "a") as elector:
        await elector.acquire()
        with pytest.raises(Invalid):
            await elector.annotate("note", "x" * 2000)
        assert elector.held


async def test_a_lease_that_is_deleted_is_lost(papers: Papers) -> None:
    async with board(papers) as (kept, peer), candidate(peer, "a") as elector:
        await elector.acquire()
        kept.lease = None
        with pytest.raises(LeaseLost, match="deleted"):
            await asyncio.wait_for(elector.annotate("note", "x"), 5)
        assert not elector.held


async def test_a_lease_that_was_seen_deleted_may_still_be_held_for_its_duration(
    papers: Papers,
) -> None:
    clock = Clock()
    async with board(papers) as (kept, peer), candidate(peer, "a") as holder:
        await holder.acquire()
        async with candidate(peer, "b", clock) as waiting:
            taking = asyncio.create_task(waiting.acquire())
            await more_requests(peer, 2)
            kept.lease = None
            await more_requests(peer, 3)
            assert kept.lease is None
            clock.now += DURATION
            await asyncio.wait_for(taking, 5)
            assert waiting.held


async def test_a_lease_that_is_let_go_names_nobody_and_keeps_what_is_written_on_it(
    papers: Papers,
) -> None:
    async with board(papers) as (kept, peer), candidate(peer, "a") as elector:
        await elector.acquire()
        await elector.annotate("note", "for the next")
        await elector.release()
        assert not elector.held
    assert kept.spec["holderIdentity"] == ""
    assert kept.annotations == {"note": "for the next"}


async def test_what_is_sent_at_the_last_moment_is_over_before_another_may_begin(
    papers: Papers,
) -> None:
    async with board(papers) as (_, peer), candidate(peer, "a") as elector:
        assert elector.renew_deadline + elector.request_limit < DURATION
