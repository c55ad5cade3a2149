"""Watches: what is on disk is handed to everyone who watches it, once.

A watch reads the history up to where it joined, then lives from what is handed to it. Its buffer
is bounded: a reader that does not keep up is cut off, and may watch again from where it was.
"""

import asyncio
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import Self

from tutti.store import log
from tutti.store.changes import Changed
from tutti.store.errors import Behind, Closed

BUFFERED_CHANGES = 20_000
_HISTORY_CHUNK = 500


class Watch:
    """An asynchronous iterator of lists of changes, each later than the one before."""

    def __init__(
        self,
        watches: "Watches",
        resource: str,
        namespace: str | None,
        history: list[Changed],
        joined: int,
    ) -> None:
        self.resource = resource
        self.namespace = namespace
        self._watches = watches
        self._joined = joined
        self._history = history
        self._live: list[Changed] = []
        self._ended = False
        self._behind = False
        self._waiter: asyncio.Future[None] | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> list[Changed]:
        while True:
            if self._behind:
                raise Behind(f"more than {self._watches.buffered_changes} changes wait to be read")
            if self._history:
                return self._from_history()
            if self._live:
                changes, self._live = self._live, []
                return changes
            if self._ended:
                raise StopAsyncIteration
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None

    def close(self) -> None:
        """Hand nothing more to it; what it has can still be read, then it ends."""
        self._watches.leave(self)
        self._ended = True
        self._wake()

    def take(self, changes: Sequence[Changed]) -> None:
        """What `Watches` hands over: changes of this resource, in order."""
        if self.namespace is not None:
            changes = [change for change in changes if change.namespace == self.namespace]
        if changes and changes[0].revision <= self._joined:
            changes = [change for change in changes if change.revision > self._joined]
        if not changes:
            return
        if len(self._live) + len(changes) > self._watches.buffered_changes:
            self._watches.leave(self)
            self._behind = True
            self._live.clear()
        else:
            self._live.extend(changes)
        self._wake()

    def _from_history(self) -> list[Changed]:
        """The history's next chunk, and the one after it read ahead, so that an end is known."""
        changes = self._history
        self._history = self._watches.read(
            self.resource, self.namespace, changes[-1].revision, self._joined
        )
        return changes

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Watches:
    """All watches of a store, by what they watch."""

    def __init__(self, reader: sqlite3.Connection, *, buffered_changes: int) -> None:
        self.buffered_changes = buffered_changes
        self._reader = reader
        self._by_resource: defaultdict[str, set[Watch]] = defaultdict(set)
        self._closed = False

    def join(self, resource: str, namespace: str | None, since: int, now: int) -> Watch:
        """Watch what comes after version `since`; `now` is the newest that was handed out."""
        if self._closed:
            raise Closed("the store is closed")
        joined = max(since, now)
        history = self.read(resource, namespace, since, joined)
        watch = Watch(self, resource, namespace, history, joined)
        self._by_resource[resource].add(watch)
        return watch

    def leave(self, watch: Watch) -> None:
        self._by_resource[watch.resource].discard(watch)

    def read(self, resource: str, namespace: str | None, after: int, until: int) -> list[Changed]:
        return log.since(self._reader, resource, namespace, after, until, _HISTORY_CHUNK)

    def hand_out(self, changes: Sequence[tuple[str, Changed]]) -> None:
        by_resource: defaultdict[str, list[Changed]] = defaultdict(list)
        for resource, change in changes:
            by_resource[resource].append(change)
        for resource, ours in by_resource.items():
            for watch in tuple(self._by_resource.get(resource, ())):
                watch.take(ours)

    def close(self) -> None:
        self._closed = True
        for watches in tuple(self._by_resource.values()):
            for watch in tuple(watches):
                watch.close()
