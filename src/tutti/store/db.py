"""The data folder: locked, versioned, opened as SQLite connections that sync before they answer."""

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from tutti.store.errors import Failed, Full, Locked, NewerSchema

DATABASE = "tutti.db"
LOCK = "tutti.lock"
SCHEMA_VERSION = 1
APPLICATION = 0x54555454  # "TUTT": says in the file's header whose it is

# A checkpoint copies the log of 16 MiB into the database, and costs two syncs.
_CHECKPOINT_PAGES = 4096
_KEPT_WAL_BYTES = 64 * 1024 * 1024


class Database:
    """One connection that writes, one that reads what is newest, and some for longer reading.

    In memory, one connection does it all.
    """

    def __init__(self, folder: Path | None) -> None:
        self._lock = None if folder is None else _locked(folder)
        try:
            if folder is None:
                self.writer = self.reader = _prepared(":memory:", None)
            else:
                self._file = _private_file(folder / DATABASE)
                self.writer = _prepared(self._file, folder)
                self.reader = self._another_reader()
        except BaseException as error:
            self._unlock()
            if isinstance(error, sqlite3.Error):
                raise of_the_disk(error) from error
            raise
        self.in_memory = folder is None
        self._spare: list[sqlite3.Connection] = [self.reader] if self.in_memory else []

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees what stands now, whatever is written while it is used."""
        connection = self._spare.pop() if self._spare else self._another_reader()
        connection.execute("BEGIN")
        try:
            yield connection
        finally:
            connection.execute("ROLLBACK")
            self._spare.append(connection)

    def close(self) -> None:
        for connection in {self.reader, self.writer, *self._spare}:
            connection.close()
        self._unlock()

    def _another_reader(self) -> sqlite3.Connection:
        connection = _connection(self._file)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def of_the_disk(error: sqlite3.Error) -> Full | Failed:
    """What SQLite says of the disk, as ours."""
    if getattr(error, "sqlite_errorname", "") in {"SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"}:
        ours: Full | Failed = Full("no room is left on the disk of the data folder")
    else:
        ours = Failed(f"the data folder fails: {error}")
    ours.__cause__ = error
    return ours


def _locked(folder: Path) -> int:
    """The lock ends with the process that holds it, however that ends."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise Locked(f"{folder} is in use by another process") from error
    return descriptor


def _private_file(path: Path) -> Path:
    """SQLite gives the files beside a database the mode of the database."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    return path


def _connection(file: Path | str) -> sqlite3.Connection:
    # Transactions are begun and ended by hand; a commit runs in a thread of its own.
    return sqlite3.connect(file, isolation_level=None, check_same_thread=False)


def _prepared(file: Path | str, folder: Path | None) -> sqlite3.Connection:
    """A connection to a database of ours; one that turns out to be none is not left open."""
    connection = _connection(file)
    try:
        _prepare(connection, folder)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, folder: Path | None) -> None:
    """Check the version before anything is written, then make the tables if there are none."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        raise NewerSchema(
            f"{folder} has data of schema {version}; this version of Tutti knows {SCHEMA_VERSION}"
        )
    if folder is not None:
        # FULL, and the folder's sync as well when the journal goes that was there before WAL.
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {_KEPT_WAL_BYTES}")
    if version == 0:
        schema = resources.files("tutti.store").joinpath("schema.sql").read_text("utf-8")
        connection.executescript(
            f"BEGIN IMMEDIATE; {schema}"
            f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
        )
    if folder is not None:
        _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    """So that the files themselves are found again after a power cut, not only their content."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
