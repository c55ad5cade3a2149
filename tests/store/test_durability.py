"""P8: a write is acknowledged only when it is on disk; kill -9 and a power cut lose nothing."""

import asyncio
import contextlib
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.disk import Disk
from tests.store.values import put, value
from tutti.store import Failed, Full, Store

WRITES_UNDER_LOAD = """
import asyncio, sys
from pathlib import Path
from tests.store.values import put
from tutti.store import Store

async def write(store, writer, turn):
    for number in range(100_000):
        name = f"{turn}-{writer}-{number}"
        (revision,) = await store.commit([put(name)])
        print(name, revision, flush=True)

async def main(folder, turn):
    store = Store.open(Path(folder))
    await asyncio.gather(*(write(store, writer, turn) for writer in range(20)))

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    durable = tmp_path / "durable"
    durable.mkdir()
    return Disk(durable)


async def lost_in_a_power_cut(disk: Disk, folder: Path, *, synchronous: str | None = None) -> int:
    """How many of 20 acknowledged writes a power cut right after each would have lost."""
    survivors: dict[int, Path] = {}
    with disk.plugged_in():
        store = Store.open(folder)
        if synchronous:
            store._database.writer.execute(f"PRAGMA synchronous = {synchronous}")
        for number in range(20):
            (revision,) = await store.commit([put(f"pod-{number}")])
            survivors[revision] = disk.survivors(folder.with_name(f"after-{number}"))
        await store.close()
    return sum(newest(survivor) < revision for revision, survivor in survivors.items())


def newest(folder: Path) -> int:
    with contextlib.closing(sqlite3.connect(folder / "tutti.db")) as connection:
        (revision,) = connection.execute("SELECT max(revision) FROM log").fetchone()
    return revision or 1


async def test_a_write_is_synced_before_it_is_acknowledged(disk: Disk, tmp_path: Path) -> None:
    assert await lost_in_a_power_cut(disk, tmp_path / "data") == 0


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
async def test_the_test_above_would_see_a_missing_sync(
    disk: Disk, tmp_path: Path, synchronous: str
) -> None:
    assert await lost_in_a_power_cut(disk, tmp_path / "data", synchronous=synchronous) == 20


async def test_kill_9_under_load_loses_nothing_acknowledged(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    acknowledged: dict[str, int] = {}
    for turn in range(10):
        acknowledged |= written_until_killed(folder, turn, after=40 + 25 * turn)

        store = Store.open(folder)
        found = {row.name: row.revision for row in (await store.list("pods", None)).rows}
        await store.close()

        assert acknowledged.items() <= found.items()
    assert len(acknowledged) > 10 * 40


def written_until_killed(folder: Path, turn: int, *, after: int) -> dict[str, int]:
    """What a process acknowledged that was killed after so many lines."""
    command = [sys.executable, "-c", WRITES_UNDER_LOAD, str(folder), str(turn)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    lines = [writer.stdout.readline() for _ in range(after)]
    writer.kill()
    lines += writer.stdout.read().splitlines(keepends=True)
    writer.stdout.close()
    assert writer.wait(10) == -signal.SIGKILL
    # The last line may be torn, and then nobody has heard all of it.
    pairs = (line.split() for line in lines if line.endswith("\n"))
    return {name: int(revision) for name, revision in pairs}


async def test_a_torn_log_is_recovered_from(tmp_path: Path) -> None:
    """Wherever the log is cut or garbled, what is left is all of what was written up to there."""
    whole = tmp_path / "whole"
    store = Store.open(whole)
    for number in range(12):
        await store.commit([put("counter", str(number), expect=None), put(f"pod-{number}")])
    torn = tmp_path / "torn"
    size = (whole / "tutti.db-wal").stat().st_size

    @settings(max_examples=40)
    @given(at=st.integers(0, size), garble=st.booleans())
    def recovers(at: int, garble: bool) -> None:
        shutil.rmtree(torn, ignore_errors=True)
        shutil.copytree(whole, torn)
        with (torn / "tutti.db-wal").open("r+b") as log:
            log.seek(at)
            log.write(b"\xa5" * 64) if garble else log.truncate()
        asyncio.run(holds_a_prefix(torn))

    await asyncio.to_thread(recovers)
    await store.close()


async def holds_a_prefix(folder: Path) -> None:
    store = Store.open(folder)
    rows = {row.name: row for row in (await store.list("pods", None)).rows}
    commits = (store.revision - 1) // 2
    assert set(rows) == {f"pod-{number}" for number in range(commits)} | (
        {"counter"} if commits else set()
    )
    if commits:
        assert rows["counter"].value == value(str(commits - 1))
    assert await store.commit([put("later")]) == [store.revision]
    await store.close()


async def test_a_full_disk_refuses_writes_and_keeps_reads_until_there_is_room(
    disk: Disk, tmp_path: Path
) -> None:
    with disk.plugged_in():
        store = Store.open(tmp_path / "data")
        await store.commit([put("before")])
        watch = await store.watch("pods", None, 1)

        disk.is_full = True
        refused = await asyncio.gather(
            store.commit([put("a")]), store.commit([put("before")]), return_exceptions=True
        )
        assert [type(refusal) for refusal in refused] == [Full, Full]
        assert await store.get("pods", "default", "before") is not None
        assert [row.name for row in (await store.list("pods", None)).rows] == ["before"]

        disk.is_full = False
        assert await store.commit([put("after")]) == [3]
        seen = await anext(watch) + await anext(watch)
        assert [change.name for change in seen] == ["before", "after"]
        await store.close()


async def test_a_disk_that_fills_up_under_load_tears_no_commit(disk: Disk, tmp_path: Path) -> None:
    """Large commits, so that the log's index and SQLite's cache overflow on the way."""
    with disk.plugged_in():
        store = Store.open(tmp_path / "data")
        big = "x" * 30_000
        await store.commit([put(f"first-{number}", big) for number in range(200)])
        disk.is_full = True
        with pytest.raises(Full):
            await store.commit([put(f"second-{number}", big) for number in range(200)])
        disk.is_full = False
        await store.commit([put(f"third-{number}", big) for number in range(200)])
        names = {row.name.split("-")[0] for row in (await store.list("pods", None)).rows}
        await store.close()

    assert names == {"first", "third"}


async def test_a_disk_that_fails_is_said_so_and_written_again_when_it_works(
    disk: Disk, tmp_path: Path
) -> None:
    with disk.plugged_in():
        store = Store.open(tmp_path / "data")
        disk.syncs_fail = True
        with pytest.raises(Failed, match="folder fails"):
            await store.commit([put("a")])
        disk.syncs_fail = False
        assert await store.commit([put("a")]) == [2]
        await store.close()
