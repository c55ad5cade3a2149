"""Commits: all or none, each caller for itself, answered when written."""

import asyncio

import pytest

from tests.store.values import put, remove, value
from tutti.store import Closed, Exists, Missing, Put, Refused, Stale, Store


async def test_each_change_gets_the_next_version(store: Store) -> None:
    assert await store.commit([put("a"), put("b")]) == [2, 3]
    assert await store.commit([put("c")]) == [4]
    assert store.revision == 4


async def test_a_new_store_is_at_version_one(store: Store) -> None:
    assert store.revision == 1


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        pytest.param(put("a", expect=0), Exists, id="created twice"),
        pytest.param(put("a", expect=7), Stale, id="replaced at another version"),
        pytest.param(put("b", expect=2), Missing, id="replaced though there is none"),
        pytest.param(remove("a", expect=7), Stale, id="removed at another version"),
        pytest.param(remove("b", expect=2), Missing, id="removed though there is none"),
    ],
)
async def test_what_expects_something_else_is_refused(
    store: Store, change: Put, refusal: type[Refused]
) -> None:
    await store.commit([put("a")])

    with pytest.raises(refusal):
        await store.commit([put("c"), change])

    assert await store.get("pods", "default", "c") is None, "all or none"
    assert store.revision == 2


async def test_an_object_is_put_whatever_stands_when_nothing_is_expected(store: Store) -> None:
    await store.commit([put("a", "one", expect=None)])
    await store.commit([put("a", "two", expect=None)])

    row = await store.get("pods", "default", "a")
    assert row is not None
    assert (row.value, row.revision, row.uid) == (value("two"), 3, "uid-a")


async def test_one_callers_failed_expectation_fails_nobody_else(store: Store) -> None:
    answers = await asyncio.gather(
        store.commit([put("a")]),
        store.commit([put("x"), put("a")]),
        store.commit([put("b")]),
        return_exceptions=True,
    )

    assert [type(answer) for answer in answers] == [list, Exists, list]
    assert [row.name for row in (await store.list("pods", None)).rows] == ["a", "b"]


async def test_a_commit_changes_each_object_once(store: Store) -> None:
    with pytest.raises(ValueError, match="once"):
        await store.commit([put("a"), put("a", expect=2)])


async def test_what_cannot_be_written_at_all_is_told_and_holds_nobody_up(store: Store) -> None:
    with pytest.raises(UnicodeEncodeError):
        await store.commit([put("half a pair: \ud800")])

    assert await store.commit([put("a")]) == [2]


async def test_a_cancelled_caller_holds_nobody_up(store: Store) -> None:
    cancelled = asyncio.create_task(store.commit([put("a")]))
    other = asyncio.create_task(store.commit([put("b")]))
    await asyncio.sleep(0)

    cancelled.cancel()

    assert await other == [3]


async def test_a_closed_store_refuses_and_has_answered_what_waited(store: Store) -> None:
    waiting = asyncio.create_task(store.commit([put("a")]))
    await asyncio.sleep(0)

    await store.close()

    assert await waiting == [2]
    with pytest.raises(Closed):
        await store.commit([put("b")])
