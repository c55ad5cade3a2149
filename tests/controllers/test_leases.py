"""The scheduler's Leases, and the intents that are written onto them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgspec
import pytest

from tests.kube.board import Board, board
from tests.kube.peer import Papers, Peer, until
from tutti.controllers.intents import Intents
from tutti.controllers.leases import UNITS, Leases
from tutti.engine.messages import Event, IntentRefused, IntentWritten, Unit, WriteIntent

TRAIN = Unit("u-1", "PodGroup", "blue", "train", "s-1")
SERVE = Unit("u-2", "PodGroup", "blue", "serve", "s-2")


@asynccontextmanager
async def held(peer: Peer, identity: str = "me") -> AsyncIterator[Leases]:
    leases = Leases(peer.config, ["tutti"], identity, 5.0)
    try:
        yield leases
    finally:
        await leases.release()


async def test_who_takes_the_lease_finds_the_units_that_were_left(papers: Papers) -> None:
    async with board(papers) as (kept, peer):
        async with held(peer) as first:
            assert await first.acquire() == ()
            await first.write([TRAIN, SERVE])
        assert kept.spec["holderIdentity"] == ""
        async with held(peer, "the next") as second:
            assert await second.acquire() == (TRAIN, SERVE)
            assert second.held()
            await second.write([])
            assert UNITS not in kept.annotations


async def test_units_that_can_not_be_read_stop_nobody(
    papers: Papers, caplog: pytest.LogCaptureFixture
) -> None:
    async with board(papers) as (kept, peer):
        async with held(peer) as first:
            await first.acquire()
        assert kept.lease is not None
        kept.lease["metadata"]["annotations"] = {UNITS: "{not a list"}
        async with held(peer, "the next") as second:
            assert await second.acquire() == ()
    assert "can't be read" in caplog.text


@asynccontextmanager
async def writing(papers: Papers) -> AsyncIterator[tuple[Board, Intents, list[Event]]]:
    answers: list[Event] = []
    async with board(papers) as (kept, peer), held(peer) as leases:
        await leases.acquire()
        intents = Intents(leases, answers.append)
        task = asyncio.create_task(intents.run())
        yield kept, intents, answers
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_the_newest_intent_stands_for_those_before_it(papers: Papers) -> None:
    async with writing(papers) as (kept, intents, answers):
        intents.write(WriteIntent(1, (TRAIN,)))
        await asyncio.sleep(0)
        intents.write(WriteIntent(2, (SERVE,)))
        intents.write(WriteIntent(3, (TRAIN, SERVE)))
        await until(lambda: len(answers) == 2)
        written = msgspec.json.decode(kept.annotations[UNITS], type=tuple[Unit, ...])
    assert answers == [IntentWritten(1), IntentWritten(3)]
    assert written == (TRAIN, SERVE)


async def test_an_intent_that_the_server_will_not_have_is_refused(papers: Papers) -> None:
    long = Unit("u-1", "PodGroup", "blue", "n" * 2000, "s-1")
    async with writing(papers) as (_, intents, answers):
        intents.write(WriteIntent(1, (long,)))
        await until(lambda: answers)
    assert [type(answer) for answer in answers] == [IntentRefused]
