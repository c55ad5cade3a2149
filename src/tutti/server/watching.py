"""watch: what stands, where asked, then each change as a line, until the time is up.

An object that begins to match the selectors is ADDED for the watcher, one that no longer does is
DELETED. A line is made once and then shared by all who watch in the same shape.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass

import msgspec

from tutti.api.errors import ApiError, Expired
from tutti.server import options, reading, replies
from tutti.server.answers import Shape
from tutti.server.context import Context
from tutti.server.options import Listing
from tutti.server.routes import Target
from tutti.server.selecting import Selection
from tutti.store import Changed, Row, Watch
from tutti.store.errors import Ahead, Behind, Compacted
from tutti.web.app import Request, Response, Stream

_LASTS_S = 1800.0  # where the client doesn't say: this long at least, and twice as long at most
_CHUNK_ROWS = 200


async def watch(
    context: Context, request: Request, target: Target, asked: Listing, selection: Selection
) -> Response | Stream:
    """GET of a collection with `watch`."""
    shape = replies.shape(context, request, target)
    watcher = _Watcher(context, target, asked, selection, shape)
    try:
        first, since = await watcher.start()
        changes = await context.objects.store.watch(target.storage.key, target.namespace, since)
    except Compacted as error:
        return _refused(f"too old resource version: {error.asked} ({error.oldest})")
    except Ahead as error:
        # A version of another life of this store: it won't come, and the client should list again.
        return _refused(f"Too large resource version: {error.asked}, current: {error.newest}")
    return Stream(200, watcher.lines(first, since, changes))


@dataclass(slots=True)
class _Watcher:
    context: Context
    target: Target
    asked: Listing
    selection: Selection
    shape: Shape
    told: bool = False
    """Whether a line was sent: the first table alone names its columns."""

    async def start(self) -> tuple[list[Row], int]:
        """What to show at first, and the version to go on from."""
        text = self.asked.resource_version
        initial = self.asked.initial_events
        if initial is None:
            initial = text in ("", "0")
        if initial:
            found = await reading.all_of(self.context, self.target, self.selection)
            return found.rows, found.revision
        if text in ("", "0"):
            return [], self.context.objects.store.revision
        if not text.isdecimal():
            raise ApiError(f"resourceVersion: {options.unparsable(text)}")
        return [], int(text)

    async def lines(self, first: list[Row], since: int, changes: Watch) -> AsyncIterator[bytes]:
        """The body of the answer."""
        lasts = self.asked.timeout_seconds or _LASTS_S * (1 + random.random())
        deadline = asyncio.get_running_loop().time() + lasts
        try:
            for at in range(0, len(first), _CHUNK_ROWS):
                rows = first[at : at + _CHUNK_ROWS]
                yield b"".join(self._line("ADDED", row.value, row.revision) for row in rows)
            if self.asked.initial_events and self.asked.bookmarks:
                yield _line("BOOKMARK", self.shape.bookmark(since, initial_events_end=True))
            async for chunk in self._changes(changes, since, deadline):
                yield chunk
        except Behind as error:
            yield _line("ERROR", msgspec.json.encode(Expired(str(error)).status()))
        finally:
            changes.close()

    async def _changes(self, changes: Watch, since: int, deadline: float) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        store = self.context.objects.store
        while True:
            bookmark_at = min(deadline, loop.time() + self.context.bookmark_every_s)
            seen = max(since, store.revision)  # told of, if the watch has nothing to say at once
            try:
                async with asyncio.timeout_at(bookmark_at):
                    some = await anext(changes)
            except StopAsyncIteration:
                return
            except TimeoutError:
                if loop.time() >= deadline:
                    return
                if self.asked.bookmarks:
                    yield _line("BOOKMARK", self.shape.bookmark(seen, initial_events_end=False))
                continue
            if chunk := b"".join(filter(None, map(self._of_change, some))):
                yield chunk

    def _of_change(self, change: Changed) -> bytes:
        """The line of a change for this watcher; nothing where it was and is not selected."""
        is_in, was_in = self.selection.matches(change.after), self.selection.matches(change.before)
        if is_in:
            assert change.after is not None
            kind, value = "MODIFIED" if was_in else "ADDED", change.after
        elif was_in:
            assert change.before is not None
            kind, value = "DELETED", change.before
        else:
            return b""
        if self.shape.key is None:
            return self._line(kind, value, change.revision)
        key = (kind, self.shape.key)
        line = change.shared.get(key)
        if line is None:
            line = change.shared[key] = self._line(kind, value, change.revision)
        return line

    def _line(self, kind: str, value: bytes, revision: int) -> bytes:
        first, self.told = not self.told, True
        return _line(kind, self.shape.row(value, revision, first=first))


def _line(kind: str, shown: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (kind.encode(), shown.rstrip(b"\n"))


def _refused(why: str) -> Response:
    """Kubernetes says so within the stream, which has begun by then."""
    return Response(200, _line("ERROR", msgspec.json.encode(Expired(why).status())))
