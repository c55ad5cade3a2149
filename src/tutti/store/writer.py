"""Group commit: what waits is written in one transaction, and answered once that is on disk.

Statements run where the callers do, on the event loop; they take microseconds. The commit, which
waits for the disk, runs in a thread of its own, and whatever comes meanwhile is the next group:

    idle ──commit()──> gathering ──_turn()──> syncing ──_settle()──> gathering, or idle
"""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from tutti.store import log
from tutti.store.changes import Change, Changed, Revisions
from tutti.store.db import Database, of_the_disk
from tutti.store.errors import Closed, Refused
from tutti.store.objects import OPENING, newest

_GROUP_CHANGES = 256  # a group's statements hold up the event loop for some milliseconds at most
_PRUNE_AT_LEAST = 256

Answer = asyncio.Future[Revisions]
Written = list[tuple[str, Changed]]  # with the resource


class _Waiting(msgspec.Struct):
    changes: Sequence[Change]
    answer: Answer
    outcome: Revisions | Refused | None = None


class Writer:
    """Owns the writing connection. Used from one event loop."""

    def __init__(
        self,
        database: Database,
        seen: Callable[[int, Written], None],
        *,
        history_rows: int,
        history_age_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._database = database
        self._connection = database.writer
        self._seen = seen
        self._history_rows = history_rows
        self._history_age_s = history_age_s
        self._clock = clock
        self._revision = newest(self._connection)
        self._waiting: list[_Waiting] = []
        self._syncing: asyncio.Future[None] | None = None
        self._scheduled = False
        self._closed = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store-commit")

    async def commit(self, changes: Sequence[Change]) -> Revisions:
        """Write all of `changes` or none; their versions, once they are on disk."""
        if self._closed:
            raise Closed("the store is closed")
        _check(changes)
        loop = asyncio.get_running_loop()
        answer: Answer = loop.create_future()
        self._waiting.append(_Waiting(changes, answer))
        if not self._scheduled and self._syncing is None:
            # Not at once: what other tasks are about to ask in this round of the loop comes along.
            self._scheduled = True
            loop.call_soon(self._turn)
        return await answer

    async def close(self) -> None:
        """Answer what waits, and refuse what comes later."""
        self._closed = True
        while self._scheduled or self._syncing is not None:
            if self._syncing is not None:
                await asyncio.wait([self._syncing])
            await asyncio.sleep(0)
        self._thread.shutdown()

    def _turn(self) -> None:
        self._scheduled = False
        group = self._next_group()
        try:
            written = self._write(group)
        except Exception as error:
            self._give_up(group, error)
            return
        if not written:
            self._roll_back()
            self._settle(group, written)
        elif self._database.in_memory:
            self._connection.execute("COMMIT")
            self._settle(group, written)
        else:
            self._sync(group, written)

    def _next_group(self) -> list[_Waiting]:
        size = count = 0
        for waiting in self._waiting:
            size += len(waiting.changes)
            if count and size > _GROUP_CHANGES:
                break
            count += 1
        group = self._waiting[:count]
        del self._waiting[:count]
        return group

    def _write(self, group: list[_Waiting]) -> Written:
        now = self._clock()
        revision = self._revision
        written: Written = []
        self._connection.execute("BEGIN IMMEDIATE")
        for waiting in group:
            try:
                changed = log.apply(self._connection, waiting.changes, revision, now)
            except Refused as refusal:
                waiting.outcome = refusal
                continue
            waiting.outcome = [change.revision for change in changed]
            revision += len(changed)
            written += zip((change.resource for change in waiting.changes), changed, strict=True)
        if written:
            log.prune(
                self._connection,
                revision,
                keep=self._history_rows,
                written_after=now - self._history_age_s,
                work=_PRUNE_AT_LEAST + 2 * len(written),
            )
        return written

    def _sync(self, group: list[_Waiting], written: Written) -> None:
        loop = asyncio.get_running_loop()
        self._syncing = loop.run_in_executor(self._thread, self._commit)

        def done(syncing: asyncio.Future[None]) -> None:
            self._syncing = None
            match syncing.exception():
                case None:
                    self._settle(group, written)
                case error:
                    self._give_up(group, error)

        self._syncing.add_done_callback(done)

    def _commit(self) -> None:
        self._connection.execute("COMMIT")

    def _settle(self, group: list[_Waiting], written: Written) -> None:
        """Watchers first, so that who was answered finds the change already seen."""
        if written:
            self._revision = written[-1][1].revision
            self._seen(self._revision, written)
        for waiting in group:
            if waiting.answer.done():  # its caller was cancelled
                continue
            if isinstance(waiting.outcome, Refused):
                waiting.answer.set_exception(waiting.outcome)
            else:
                waiting.answer.set_result(waiting.outcome or [])
        self._go_on()

    def _go_on(self) -> None:
        if self._waiting and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _give_up(self, group: list[_Waiting], error: BaseException) -> None:
        """Nothing of the group stands, so even a refusal within it has lost its ground."""
        self._roll_back()
        for waiting in group:
            if not waiting.answer.done():
                ours = of_the_disk(error) if isinstance(error, sqlite3.Error) else error
                waiting.answer.set_exception(ours)
        self._go_on()

    def _roll_back(self) -> None:
        # A full disk may have rolled back already, or be too full even for this; the next group
        # begins anew either way.
        with contextlib.suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def _check(changes: Sequence[Change]) -> None:
    keys = {(change.resource, change.namespace, change.name) for change in changes}
    if len(keys) < len(changes):
        raise ValueError("a commit changes each object once")
    for change in changes:
        if not change.value.startswith(OPENING):
            raise ValueError(f"a stored value begins with {OPENING!r}, not {change.value[:20]!r}")
