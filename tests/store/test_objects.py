"""Reading: one object, pages of many, and how it all stood before."""

import asyncio
from pathlib import Path

import pytest

from tests.store.conftest import OpenStore
from tests.store.values import put, remove, value
from tutti.store import Ahead, Compacted, Page, Row, Store, with_version


def names(page: Page) -> list[str]:
    return [f"{row.namespace}/{row.name}" for row in page.rows]


async def test_an_object_is_found_by_its_whole_name(store: Store) -> None:
    await store.commit([put("a", "here")])

    assert await store.get("pods", "default", "a") == Row("default", "a", "uid-a", value("here"), 2)
    assert await store.get("pods", "other", "a") is None
    assert await store.get("nodes", "default", "a") is None


async def test_a_list_is_in_order_of_namespace_and_name(store: Store) -> None:
    await store.commit(
        [put("b"), put("a", namespace="z"), put("a"), put("c", namespace="a"), put("a-b")]
    )

    assert names(await store.list("pods", None)) == [
        "a/c",
        "default/a",
        "default/a-b",
        "default/b",
        "z/a",
    ]
    assert names(await store.list("pods", "default")) == ["default/a", "default/a-b", "default/b"]
    assert names(await store.list("pods", "nowhere")) == []


async def test_pages_show_the_version_of_the_first_one(store: Store) -> None:
    await store.commit([put(name) for name in "abcdef"])

    first = await store.list("pods", None, limit=2)
    await store.commit([remove("c", 4), put("d", "new", expect=5), put("bb"), put("g")])
    second = await store.list("pods", None, at=first.revision, after=first.last, limit=2)
    third = await store.list("pods", None, at=first.revision, after=second.last, limit=2)

    assert [names(page) for page in (first, second, third)] == [
        ["default/a", "default/b"],
        ["default/c", "default/d"],
        ["default/e", "default/f"],
    ]
    assert [page.remaining for page in (first, second, third)] == [4, 2, 0]
    assert [page.revision for page in (first, second, third)] == [7, 7, 7]
    assert third.last is None
    assert second.rows[1].value == value("v"), "as it stood then"


async def test_a_long_list_is_of_one_version_though_others_write_meanwhile(
    open_store: OpenStore, tmp_path: Path
) -> None:
    store = open_store(tmp_path, history_rows=1)
    await store.commit([put(f"pod-{number:04}") for number in range(1200)])
    row = await store.get("pods", "default", "pod-1100")
    assert row is not None

    listing = asyncio.create_task(store.list("pods", None))
    await asyncio.sleep(0)
    assert not listing.done(), "it takes turns"
    await store.commit([remove("pod-1100", row.revision), put("pod-9999")])
    page = await listing

    assert [row.name for row in page.rows] == [f"pod-{number:04}" for number in range(1200)]
    assert (page.revision, page.last, page.remaining) == (1201, None, 0)


async def test_a_version_that_is_not_written_yet_is_refused(store: Store) -> None:
    with pytest.raises(Ahead, match="version 9 is not written yet; the newest one is 1"):
        await store.list("pods", None, at=9)


async def test_history_is_kept_for_so_many_changes(open_store: OpenStore) -> None:
    store = open_store(history_rows=3)
    for text in "abcdef":
        await store.commit([put("a", text, expect=None)])

    page = await store.list("pods", None, at=4)
    assert page.rows[0].value == value("c")
    with pytest.raises(Compacted, match="version 3 is no longer kept; the oldest one is 4"):
        await store.list("pods", None, at=3)
    with pytest.raises(Compacted):
        await store.watch("pods", None, 3)


async def test_history_is_kept_for_so_long(open_store: OpenStore) -> None:
    now = 1000.0
    store = open_store(history_age_s=300, clock=lambda: now)
    await store.commit([put("a", "old")])
    await store.commit([put("a", "newer", expect=2)])
    now += 299
    await store.commit([put("b")])
    assert (await store.list("pods", None, at=2)).rows[0].value == value("old")

    now += 2
    await store.commit([put("c")])

    with pytest.raises(Compacted):
        await store.list("pods", None, at=2)
    assert names(await store.list("pods", None, at=4)) == ["default/a", "default/b"]


async def test_what_stands_is_never_pruned(open_store: OpenStore) -> None:
    store = open_store(history_rows=0)
    await store.commit([put("a", "first")])
    for number in range(50):
        await store.commit([put("b", str(number), expect=None)])

    row = await store.get("pods", "default", "a")
    assert row is not None
    assert row.value == value("first")


@pytest.mark.parametrize(
    ("stored", "opening", "shown"),
    [
        (
            b'{"metadata":{"name":"a"},"spec":{}}',
            b'{"metadata":{',
            b'{"metadata":{"resourceVersion":"7","name":"a"},"spec":{}}',
        ),
        (b'{"metadata":{}}', b'{"metadata":{', b'{"metadata":{"resourceVersion":"7"}}'),
        (
            b'{"metadata":{"name":"a"}}',
            b'{"kind":"Pod","apiVersion":"v1","metadata":{',
            b'{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"a"}}',
        ),
    ],
)
def test_a_version_is_put_in_without_decoding(stored: bytes, opening: bytes, shown: bytes) -> None:
    assert with_version(stored, 7, opening) == shown


async def test_a_value_that_no_version_could_be_put_into_is_not_taken(store: Store) -> None:
    wrong = put("a")
    with pytest.raises(ValueError, match="begins with"):
        await store.commit(
            [type(wrong)("pods", "default", "a", "uid", b'{"kind":"Pod","metadata":{}}', 0)]
        )
    with pytest.raises(ValueError, match="begins with"):
        with_version(b"{}", 7)
