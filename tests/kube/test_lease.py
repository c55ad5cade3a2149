"""Candidates for one Lease, on clocks that the tests move, over a server that may fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from tests.kube.board import board
from tests.kube.peer import Papers, Peer, until
from tutti.api.errors import Invalid
from tutti.kube.client import Client
from tutti.kube.lease import Elector, LeaseLost

DURATION = 0.5  # of real time only the pauses between two looks depend on it


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


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


async def test_a_candidate_that_is_stopped_while_it_takes_the_lease_lets_go_of_it(
    papers: Papers,
) -> None:
    async with board(papers) as (kept, peer), candidate(peer, "former") as former:
        await former.acquire()
        await former.release()
        kept.failures.append("slow")
        async with candidate(peer, "me") as elector:
            taking = asyncio.create_task(elector.acquire())
            await until(lambda: kept.spec["holderIdentity"] == "me")
            taking.cancel()
            with suppress(asyncio.CancelledError):
                await taking
            assert not elector.held
            await elector.release()
            assert kept.spec["holderIdentity"] == ""


async def test_a_holder_that_is_stopped_while_it_writes_lets_go_of_the_lease(
    papers: Papers,
) -> None:
    async with board(papers) as (kept, peer), candidate(peer, "me") as elector:
        await elector.acquire()
        kept.failures.append("slow")
        writing = asyncio.create_task(elector.annotate("note", "the last one"))
        await until(lambda: "note" in kept.annotations)
        writing.cancel()
        with suppress(asyncio.CancelledError):
            await writing
        await elector.release()
        assert kept.spec["holderIdentity"] == ""
        assert kept.annotations == {"note": "the last one"}


async def test_what_is_sent_at_the_last_moment_is_over_before_another_may_begin(
    papers: Papers,
) -> None:
    async with board(papers) as (_, peer), candidate(peer, "a") as elector:
        assert elector.renew_deadline + elector.request_limit < DURATION
