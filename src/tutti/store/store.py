"""The store as the server sees it: get, list, commit, watch."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from tutti.store import objects
from tutti.store.changes import Change, Page, Revisions, Row
from tutti.store.db import Database
from tutti.store.watch import BUFFERED_CHANGES, Watch, Watches
from tutti.store.writer import Writer, Written


class Store:
    """Objects under one resource version. Used from one event loop.

    A version that anybody was told of (an answer, a list, a watch) is on disk.
    """

    def __init__(
        self,
        database: Database,
        *,
        history_rows: int,
        history_age_s: float,
        buffered_changes: int,
        clock: Callable[[], float],
    ) -> None:
        self._database = database
        self._reader = database.reader
        self._watches = Watches(database.reader, buffered_changes=buffered_changes)
        self._writer = Writer(
            database,
            self._seen,
            history_rows=history_rows,
            history_age_s=history_age_s,
            clock=clock,
        )
        self.revision = objects.newest(database.reader)
        """The version of the last write that watches were told of."""

    @classmethod
    def open(
        cls,
        folder: Path | None,
        *,
        history_rows: int = 100_000,
        history_age_s: float = 300,
        buffered_changes: int = BUFFERED_CHANGES,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """Open the data folder, making it where there is none; None keeps everything in memory."""
        return cls(
            Database(folder),
            history_rows=history_rows,
            history_age_s=history_age_s,
            buffered_changes=buffered_changes,
            clock=clock,
        )

    async def get(self, resource: str, namespace: str, name: str) -> Row | None:
        return objects.get(self._reader, resource, namespace, name)

    async def list(
        self,
        resource: str,
        namespace: str | None,
        *,
        at: int | None = None,
        after: tuple[str, str] | None = None,
        limit: int | None = None,
    ) -> Page:
        """Objects of a namespace (None: of all), as of version `at` (None: now).

        Raises Compacted where `at` is no longer kept, Ahead where it is not written yet.
        """
        with self._database.snapshot() as snapshot:
            return await objects.page(
                snapshot,
                resource,
                namespace,
                at=at,
                after=after,
                limit=limit,
                at_once=self._database.in_memory,
            )

    async def commit(self, changes: Sequence[Change]) -> Revisions:
        """Write all of `changes` or none of them; their versions, once they are on disk.

        Raises Exists, Missing or Stale where a change expects something else than what stands,
        Full where there is no room, Failed where the disk reports an error.
        """
        return await self._writer.commit(changes)

    async def watch(self, resource: str, namespace: str | None, since: int) -> Watch:
        """What changes after version `since`; raises Compacted and Ahead like `list`."""
        return self._watches.join(resource, namespace, since, self.revision)

    async def close(self) -> None:
        """Answer what waits, end the watches, let go of the folder."""
        await self._writer.close()
        self._watches.close()
        self._database.close()

    def _seen(self, revision: int, written: Written) -> None:
        self.revision = revision
        self._watches.hand_out(written)
