"""Events last an hour, as Kubernetes keeps them: what is older is removed, a few at a time."""

import asyncio
import logging
from datetime import datetime, timedelta

import msgspec

from tutti.api import registry
from tutti.server import ages
from tutti.server.context import Context
from tutti.store import Refused, Remove, Row, StoreError

log = logging.getLogger(__name__)

LIFETIME = timedelta(hours=1)

_EVERY_S = 60.0
_PAGE_ROWS = 200


class _Series(msgspec.Struct, frozen=True, rename="camel"):
    last_observed_time: str | None = None


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    creation_timestamp: str


class _Event(msgspec.Struct, frozen=True, rename="camel"):
    metadata: _Metadata
    last_timestamp: str | None = None
    series: _Series | None = None


_decoder = msgspec.json.Decoder(_Event)


async def keep_expiring(context: Context) -> None:
    """Sweep again and again, until cancelled."""
    while True:
        try:
            await sweep(context)
        except StoreError:
            log.warning("old events can't be removed now", exc_info=True)
        await asyncio.sleep(_EVERY_S)


async def sweep(context: Context) -> int:
    """Remove the events whose time is up; how many there were."""
    store, key = context.objects.store, registry.EVENTS.key
    born_before = context.now() - LIFETIME
    removed, after = 0, None
    while True:
        page = await store.list(key, None, after=after, limit=_PAGE_ROWS)
        old = [row for row in page.rows if _last_seen(row) < born_before]
        if old:
            removed += await _remove(context, old)
        after = page.last
        if after is None:
            return removed
        await asyncio.sleep(0)  # other requests have their turn


async def _remove(context: Context, rows: list[Row]) -> int:
    """All of these, or none where one of them has just been written again: then another time."""
    key = registry.EVENTS.key
    changes = [Remove(key, row.namespace, row.name, row.revision, row.value) for row in rows]
    try:
        await context.objects.store.commit(changes)
    except Refused:
        return 0
    return len(changes)


def _last_seen(row: Row) -> datetime:
    event = _decoder.decode(row.value)
    seen = event.series.last_observed_time if event.series is not None else event.last_timestamp
    return ages.parse(max(seen or "", event.metadata.creation_timestamp))
