"""The data folder: one owner, a version, nobody else's eyes, and everything back at the next start."""

import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.store.values import put, remove
from tutti.store import Failed, Locked, NewerSchema, Store


async def test_what_was_written_is_there_again_with_its_versions(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    await store.commit([put("a", "one"), put("b")])
    await store.commit([remove("b", 3), put("a", "two", expect=2)])
    before = await store.list("pods", None)
    await store.close()

    again = Store.open(tmp_path)
    assert again.revision == 5
    assert await again.list("pods", None) == before
    assert [row.name for row in (await again.list("pods", None, at=3)).rows] == ["a", "b"]
    await again.close()


async def test_counting_goes_on_though_the_last_write_was_a_removal_that_is_pruned(
    tmp_path: Path,
) -> None:
    store = Store.open(tmp_path, history_rows=0)
    await store.commit([put("a")])
    await store.commit([remove("a", 2)])
    await store.close()

    again = Store.open(tmp_path, history_rows=0)
    assert again.revision == 3
    assert await again.commit([put("a")]) == [4]
    await again.close()


async def test_a_folder_has_one_owner_at_a_time(tmp_path: Path) -> None:
    store = Store.open(tmp_path)

    with pytest.raises(Locked, match="in use"):
        Store.open(tmp_path)
    assert "Locked" in opened_elsewhere(tmp_path)

    await store.close()
    assert opened_elsewhere(tmp_path) == "opened"


def opened_elsewhere(folder: Path) -> str:
    code = (
        "import sys; from pathlib import Path; from tutti.store import Store;"
        " Store.open(Path(sys.argv[1])); print('opened', end='')"
    )
    command = [sys.executable, "-c", code, str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.stdout or ended.stderr


def test_what_is_no_database_is_refused_and_not_kept_open(tmp_path: Path) -> None:
    database = tmp_path / "tutti.db"
    database.write_bytes(b"no database at all, and longer than a header of one" * 20)

    with pytest.raises(Failed, match="not a database"):
        Store.open(tmp_path)

    assert database not in {link.resolve() for link in Path("/proc/self/fd").iterdir()}


async def test_a_newer_schema_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    await Store.open(tmp_path).close()
    database = tmp_path / "tutti.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA user_version = 2")
    content = database.read_bytes()

    with pytest.raises(NewerSchema, match="schema 2"):
        Store.open(tmp_path)

    assert database.read_bytes() == content
    with pytest.raises(NewerSchema):  # and not Locked: the refusal let go of the folder
        Store.open(tmp_path)


def test_a_file_that_is_no_database_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "tutti.db").write_bytes(b"not what SQLite writes" * 100)

    with pytest.raises(Failed, match="not a database"):
        Store.open(tmp_path)


async def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    store = Store.open(folder)
    await store.commit([put("a")])

    assert set(files(folder).values()) == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    await store.close()


def files(folder: Path) -> dict[str, int]:
    """The names of a folder's files, and their modes."""
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}


async def test_memory_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = Store.open(None)
    await store.commit([put("a")])
    await store.close()

    assert files(tmp_path) == {}
