"""Watches: every change once, in order, when it is on disk; and no reader holds up the rest."""

import asyncio
from pathlib import Path

import pytest

from tests.store.conftest import OpenStore
from tests.store.values import put, remove, value
from tutti.store import Ahead, Behind, Changed, Closed, Compacted, Remove, Store, Watch


async def seen(watch: Watch, count: int) -> list[Changed]:
    """The next `count` changes."""
    changes: list[Changed] = []
    async with asyncio.timeout(5):
        while len(changes) < count:
            changes += await anext(watch)
    return changes


async def test_a_watch_sees_what_an_object_was_and_what_it_is(store: Store) -> None:
    watch = await store.watch("pods", None, store.revision)

    await store.commit([put("a", "one")])
    await store.commit([put("a", "two", expect=2)])
    await store.commit([remove("a", 3, "gone")])

    assert await seen(watch, 3) == [
        Changed(2, "default", "a", None, value("one"), 0),
        Changed(3, "default", "a", value("one"), value("two"), 2),
        Changed(4, "default", "a", value("gone"), None, 3),
    ]


async def test_a_watch_from_the_past_sees_the_same(open_store: OpenStore, tmp_path: Path) -> None:
    store = open_store(tmp_path)
    live = await store.watch("pods", None, 1)
    await store.commit([put("a", "one")])
    await store.commit([put("a", "two", expect=2)])
    await store.commit([remove("a", 3, "gone")])
    told = await seen(live, 3)

    assert await seen(await store.watch("pods", None, 1), 3) == told
    assert await seen(await store.watch("pods", None, 3), 1) == told[2:]


async def test_history_and_present_join_without_a_gap_or_a_double(store: Store) -> None:
    for number in range(1200):
        await store.commit([put(f"old-{number}")])
    watch = await store.watch("pods", None, 1)
    changes = await seen(watch, 1)
    for number in range(10):
        await store.commit([put(f"new-{number}")])

    changes += await seen(watch, 1210 - len(changes))

    assert [change.revision for change in changes] == list(range(2, 1212))


async def test_a_watch_from_a_list_that_was_ahead_of_other_watches_sees_nothing_twice(
    open_store: OpenStore, tmp_path: Path
) -> None:
    """What is on disk can be read at once; that watchers are told is the loop's next turn."""
    store = open_store(tmp_path)
    writing = asyncio.create_task(store.commit([put("a")]))
    await asyncio.sleep(0)  # it asks,
    await asyncio.sleep(0)  # and is on its way to the disk; from here on the loop has no turn
    while (page := await store.list("pods", None, limit=1)).revision == 1:
        pass
    assert store.revision == 1
    watch = await store.watch("pods", None, page.revision)
    await writing
    await store.commit([put("b")])

    assert [change.name for change in await seen(watch, 1)] == ["b"]


async def test_a_watch_sees_its_resource_and_namespace_only(store: Store) -> None:
    everywhere = await store.watch("pods", None, 1)
    here = await store.watch("pods", "here", 1)
    nodes = await store.watch("nodes", None, 1)

    await store.commit([put("a", namespace="there"), put("b", namespace="here")])

    assert [change.name for change in await seen(everywhere, 2)] == ["a", "b"]
    assert [change.name for change in await seen(here, 1)] == ["b"]
    assert [change.name for change in await seen(await store.watch("pods", "here", 1), 1)] == ["b"]
    nodes.close()
    assert [changes async for changes in nodes] == []


async def test_a_change_is_handed_to_all_watchers_as_one(store: Store) -> None:
    watches = [await store.watch("pods", None, 1) for _ in range(3)]
    await store.commit([put("a")])

    first, *others = [(await seen(watch, 1))[0] for watch in watches]

    first.shared["line"] = b"made once"
    assert [other.shared for other in others] == [{"line": b"made once"}] * 2


async def test_who_was_answered_finds_the_change_already_handed_out(store: Store) -> None:
    watch = await store.watch("pods", None, 1)

    await store.commit([put("a")])

    async with asyncio.timeout(0):
        assert [change.name for change in await anext(watch)] == ["a"]


async def test_a_reader_that_does_not_keep_up_is_cut_off_and_holds_nobody_up(
    open_store: OpenStore,
) -> None:
    store = open_store(buffered_changes=10)
    slow = await store.watch("pods", None, 1)
    quick = await store.watch("pods", None, 1)

    for number in range(11):
        await store.commit([put(f"pod-{number}")])
        await seen(quick, 1)

    with pytest.raises(Behind, match="more than 10"):
        await anext(slow)
    with pytest.raises(Behind):
        await anext(slow)
    assert [change.revision for change in await seen(await store.watch("pods", None, 1), 11)] == [
        *range(2, 13)
    ], "it may watch again from where it was"


@pytest.mark.parametrize(
    ("since", "refusal"),
    [pytest.param(1, Compacted, id="past"), pytest.param(99, Ahead, id="future")],
)
async def test_a_watch_from_a_version_that_is_not_there_is_refused(
    open_store: OpenStore, since: int, refusal: type[Exception]
) -> None:
    store = open_store(history_rows=1)
    for number in range(3):
        await store.commit([put(f"pod-{number}")])

    with pytest.raises(refusal):
        await store.watch("pods", None, since)


async def test_a_slow_reader_of_history_that_is_pruned_meanwhile_is_told(
    open_store: OpenStore,
) -> None:
    store = open_store(history_rows=1500)
    for number in range(1500):
        await store.commit([put(f"old-{number}")])
    watch = await store.watch("pods", None, 1)
    await store.commit([put(f"new-{number}") for number in range(1500)])

    with pytest.raises(Compacted):
        await seen(watch, 1500)


async def test_closing_the_store_ends_its_watches(store: Store) -> None:
    watch = await store.watch("pods", None, 1)
    reading = asyncio.create_task(anext(watch, None))
    await store.commit([put("a")])
    assert [change.name for change in await reading or []] == ["a"]

    waiting = asyncio.create_task(anext(watch, None))
    await asyncio.sleep(0)
    await store.close()

    assert await waiting is None
    with pytest.raises(Closed):
        await store.watch("pods", None, 1)


async def test_the_removed_bytes_are_those_that_the_removal_gave(store: Store) -> None:
    await store.commit([put("a", "stored")])
    await store.commit([Remove("pods", "default", "a", 2, value("with a deletion timestamp"))])

    (change,) = await seen(await store.watch("pods", None, 2), 1)

    assert change.before == value("with a deletion timestamp")
    assert (await store.list("pods", None, at=2)).rows[0].value == value("stored")
