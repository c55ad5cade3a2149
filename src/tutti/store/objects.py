"""Reading objects: as they stand now, or as they stood at a version that is still kept."""

import asyncio
import sqlite3

from tutti.store.changes import Page, Row
from tutti.store.errors import Ahead, Compacted

OPENING = b'{"metadata":{'  # how every stored value begins

_SLICE_ROWS = 500  # some milliseconds

_GET = """
SELECT l.namespace, l.name, l.uid, l.value, l.revision
FROM objects o JOIN log l ON l.revision = o.revision
WHERE o.resource = ? AND o.namespace = ? AND o.name = ?"""

_NOW = """
SELECT l.namespace, l.name, l.uid, l.value, l.revision
FROM objects o JOIN log l ON l.revision = o.revision
WHERE o.resource = :resource AND {range}
ORDER BY o.namespace, o.name LIMIT :limit"""

_COUNT_NOW = "SELECT count(*) FROM objects o WHERE o.resource = :resource AND {range}"

# What has not changed since stands as it stood. What has is as its first change since found it:
# with min(), SQLite takes the other columns from the row that has the least.
_UNCHANGED = """
SELECT o.namespace, o.name, o.revision FROM objects o
WHERE o.resource = :resource AND {range} AND o.revision <= :at"""

_CHANGED = """
SELECT namespace, name, before AS revision FROM (
  SELECT o.namespace, o.name, o.before, min(o.revision) FROM log o
  WHERE o.revision > :at AND o.resource = :resource AND {range}
  GROUP BY o.namespace, o.name
) WHERE before IS NOT NULL"""

_THEN = f"""
SELECT l.namespace, l.name, l.uid, l.value, l.revision
FROM (
  SELECT * FROM ({_UNCHANGED} ORDER BY o.namespace, o.name LIMIT :limit) UNION ALL {_CHANGED}
) stood JOIN log l ON l.revision = stood.revision
ORDER BY stood.namespace, stood.name LIMIT :limit"""

_COUNT_THEN = f"""
SELECT (SELECT count(*) FROM ({_UNCHANGED})) + (SELECT count(*) FROM ({_CHANGED}))"""

_EVERYWHERE = "(o.namespace, o.name) > (:after_namespace, :after_name)"
_IN_ONE = "o.namespace = :namespace AND o.name > :after_name"


def with_version(value: bytes, revision: int, opening: bytes = OPENING) -> bytes:
    """The value with its resource version in it, and `opening` in the place of the stored one.

    An opening such as `{"kind":"Pod","apiVersion":"v1","metadata":{` says in which version the
    object is shown; nothing is decoded on the way.
    """
    if not value.startswith(OPENING):
        raise ValueError(f"a stored value begins with {OPENING!r}, not {value[:20]!r}")
    rest = value[len(OPENING) :]
    comma = b"" if rest.startswith(b"}") else b","
    return b'%b"resourceVersion":"%d"%b%b' % (opening, revision, comma, rest)


def get(connection: sqlite3.Connection, resource: str, namespace: str, name: str) -> Row | None:
    found = connection.execute(_GET, (resource, namespace, name)).fetchone()
    return None if found is None else Row._make(found)


def newest(connection: sqlite3.Connection) -> int:
    """The version of the last write; an empty store is at 1, since 0 has a meaning on the wire."""
    (revision,) = connection.execute("SELECT max(revision) FROM log").fetchone()
    return 1 if revision is None else int(revision)


def oldest(connection: sqlite3.Connection) -> int:
    """The oldest version that can still be read."""
    (revision,) = connection.execute("SELECT oldest FROM history").fetchone()
    return int(revision)


async def page(
    snapshot: sqlite3.Connection,
    resource: str,
    namespace: str | None,
    *,
    at: int | None,
    after: tuple[str, str] | None,
    limit: int | None,
    at_once: bool,
) -> Page:
    """Up to `limit` objects, and what remains, all as of one version: `at`, or now (None).

    A long page is read in slices, and other tasks have their turn between them, unless `at_once`
    because they would write on the same connection.
    """
    now = newest(snapshot)
    if at is None:
        at = now
    if at > now:
        raise Ahead(at, now)
    if at < (kept := oldest(snapshot)):
        raise Compacted(at, kept)
    span = _EVERYWHERE if namespace is None else _IN_ONE
    values = {
        "resource": resource,
        "namespace": namespace,
        "after_namespace": after[0] if after else "",
        "after_name": after[1] if after else "",
        "at": at,
        "limit": -1 if limit is None else limit + 1,
    }
    rows_sql = _NOW.format(range=span) if at == now else _THEN.format(range=span)
    rows = await _rows(snapshot.execute(rows_sql, values), at_once=at_once)
    if limit is None or len(rows) <= limit:
        return Page(rows, at, 0, None)
    del rows[limit:]
    count_sql = _COUNT_NOW.format(range=span) if at == now else _COUNT_THEN.format(range=span)
    (count,) = snapshot.execute(count_sql, values).fetchone()
    return Page(rows, at, count - limit, (rows[-1].namespace, rows[-1].name))


async def _rows(found: sqlite3.Cursor, *, at_once: bool) -> list[Row]:
    rows: list[Row] = []
    while slice_ := found.fetchmany(_SLICE_ROWS):
        rows += map(Row._make, slice_)
        if len(slice_) == _SLICE_ROWS and not at_once:
            await asyncio.sleep(0)
    return rows
