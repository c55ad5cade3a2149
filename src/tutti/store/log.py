"""The log: one row for each change; what was changed since a version; what is no longer kept."""

import sqlite3
from collections.abc import Sequence

from tutti.store.changes import Change, Changed, Put, Row
from tutti.store.errors import Ahead, Compacted, Exists, Missing, Stale
from tutti.store.objects import get, newest, oldest

_APPEND = "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_STAND = """
INSERT INTO objects VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET revision = excluded.revision"""
_FALL = "DELETE FROM objects WHERE resource = ? AND namespace = ? AND name = ?"

_SINCE = """
SELECT l.revision, l.namespace, l.name, l.gone, l.value, b.value, b.revision
FROM log l LEFT JOIN log b ON b.revision = l.before
WHERE l.revision > ? AND l.revision <= ? AND l.resource = ? AND (? IS NULL OR l.namespace = ?)
ORDER BY l.revision LIMIT ?"""

# Once a change is older than the history, nobody asks any more what it replaced.
_PRUNE_REPLACED = """
DELETE FROM log WHERE revision IN
  (SELECT before FROM log WHERE revision > :oldest AND revision <= :until AND before IS NOT NULL)"""
_PRUNE_GONE = "DELETE FROM log WHERE revision > :oldest AND revision <= :until AND gone"


def apply(
    connection: sqlite3.Connection, changes: Sequence[Change], revision: int, now: float
) -> list[Changed]:
    """Write all of `changes`, with versions that count up from after `revision`, or raise before
    anything is written because one of them expects something else."""
    standing = [_standing(connection, change) for change in changes]
    return [
        _write(connection, change, before, number, now)
        for number, (change, before) in enumerate(
            zip(changes, standing, strict=True), start=revision + 1
        )
    ]


def _standing(connection: sqlite3.Connection, change: Change) -> Row | None:
    found = get(connection, change.resource, change.namespace, change.name)
    match change.expect, found:
        case None, _:
            return found
        case 0, None:
            return None
        case 0, _:
            raise Exists(change.resource, change.namespace, change.name)
        case _, None:
            raise Missing(change.resource, change.namespace, change.name)
        case expected, row if row.revision != expected:
            raise Stale(
                change.resource,
                change.namespace,
                change.name,
                expected=expected,
                found=row.revision,
            )
    return found


def _write(
    connection: sqlite3.Connection, change: Change, before: Row | None, revision: int, now: float
) -> Changed:
    key = (change.resource, change.namespace, change.name)
    replaced = None if before is None else before.revision
    if isinstance(change, Put):
        row = (revision, *key, change.uid, replaced, 0, int(now), change.value)
        connection.execute(_APPEND, row)
        connection.execute(_STAND, (*key, revision))
        old = None if before is None else before.value
        return Changed(revision, change.namespace, change.name, old, change.value, replaced or 0)
    assert before is not None
    row = (revision, *key, before.uid, replaced, 1, int(now), change.value)
    connection.execute(_APPEND, row)
    connection.execute(_FALL, key)
    return Changed(revision, change.namespace, change.name, change.value, None, before.revision)


def since(
    connection: sqlite3.Connection,
    resource: str,
    namespace: str | None,
    after: int,
    until: int,
    limit: int,
) -> list[Changed]:
    """The first `limit` changes of a resource after version `after`, up to and with `until`."""
    connection.execute("BEGIN")
    try:
        if after > (now := newest(connection)):
            raise Ahead(after, now)
        if after < (kept := oldest(connection)):
            raise Compacted(after, kept)
        found = connection.execute(_SINCE, (after, until, resource, namespace, namespace, limit))
        return [_changed(*row) for row in found]
    finally:
        connection.execute("ROLLBACK")


def _changed(
    revision: int,
    namespace: str,
    name: str,
    gone: int,
    value: bytes,
    before: bytes | None,
    before_revision: int | None,
) -> Changed:
    if gone:
        return Changed(revision, namespace, name, value, None, before_revision or 0)
    return Changed(revision, namespace, name, before, value, before_revision or 0)


def prune(
    connection: sqlite3.Connection, newest: int, *, keep: int, written_after: float, work: int
) -> None:
    """Let go of changes beyond the newest `keep`, or older than `written_after`; `work` at most.

    The newest change always stays: its number is where counting goes on.
    """
    kept = oldest(connection)
    few, young = newest - keep, int(written_after)
    first = connection.execute("SELECT written FROM log WHERE revision = ?", (kept + 1,)).fetchone()
    if first is None or (kept >= few and first[0] >= young):
        return
    (until,) = connection.execute(
        """SELECT max(revision) FROM log
        WHERE revision > :kept AND revision <= :last AND (revision <= :few OR written < :young)""",
        {
            "kept": kept,
            "last": min(kept + work, newest - 1),
            "few": few,
            "young": young,
        },
    ).fetchone()
    if until is None:
        return
    connection.execute(_PRUNE_REPLACED, {"oldest": kept, "until": until})
    connection.execute(_PRUNE_GONE, {"oldest": kept, "until": until})
    connection.execute("UPDATE history SET oldest = ?", (until,))
