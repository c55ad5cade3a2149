"""One kind of object, followed: a list, then a watch from the list's version, for ever.

list ──> watch ──ended, cut, refused──> watch from the last version seen
  ^                                        │
  └──────── 410: that version is gone ─────┘
"""

import asyncio
import logging
import random
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import msgspec

from tutti.api.errors import ApiError, Gone, Unanswered, from_status
from tutti.api.meta import ObjectMeta
from tutti.api.registry import Storage
from tutti.kube.client import Client, Listed
from tutti.kube.wire import WatchLine, decoder


class Versioned(Protocol):
    @property
    def metadata(self) -> ObjectMeta: ...


T = TypeVar("T", bound=Versioned)
log = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 5.0


class Changed(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """One line of the watch: the object as it is now, or (`gone`) as it was last."""

    object: T
    gone: bool


class _Bare(msgspec.Struct, frozen=True):
    """Any object, as far as one resumes from it."""

    metadata: ObjectMeta


class _HasCode(msgspec.Struct):
    code: int = 500


class Reflector(Generic[T]):
    """What can't be reached or read is tried again, with growing pauses; `run` never returns."""

    def __init__(
        self,
        client: Client,
        storage: Storage,
        type_: type[T],
        *,
        namespace: str | None = None,
        label: str | None = None,
        field: str | None = None,
    ) -> None:
        self._client = client
        self._storage = storage
        self._type = type_
        self._namespace = namespace
        self._label = label
        self._field = field
        self._lines: msgspec.json.Decoder[WatchLine[T]] = decoder(
            WatchLine[type_]  # type: ignore[valid-type]
        )
        self._version = ""
        self._pause = FIRST_PAUSE
        self._refusal = ""

    async def run(
        self, on_list: Callable[[Listed[T]], None], on_change: Callable[[Changed[T]], None]
    ) -> None:
        while True:
            try:
                if not self._version:
                    await self._list(on_list)
                else:
                    await self._watch(on_change)
                    await self._rest()
            except Gone:
                self._version = ""
                await self._rest()
            except Unanswered as error:  # the transport says what there is to say
                log.debug("following is cut", extra={"kind": self._storage.key, "why": str(error)})
                await self._rest()
            except ApiError as error:
                self._complain(error)
                await self._rest()

    def _complain(self, error: ApiError) -> None:
        """The same refusal, again and again, is worth one line."""
        if error.message != self._refusal:
            self._refusal = error.message
            log.warning(
                "following is refused", extra={"kind": self._storage.key, "why": error.message}
            )

    async def _list(self, on_list: Callable[[Listed[T]], None]) -> None:
        listed = await self._client.list(
            self._storage,
            self._namespace,
            into=self._type,
            label=self._label,
            field=self._field,
        )
        self._refusal = ""
        on_list(listed)
        self._version = listed.version

    async def _watch(self, on_change: Callable[[Changed[T]], None]) -> None:
        def on_lines(lines: list[bytes]) -> None:
            self._pause = FIRST_PAUSE
            for line in lines:
                self._read(line, on_change)

        await self._client.watch(
            self._storage,
            self._namespace,
            on_lines,
            since=self._version,
            label=self._label,
            field=self._field,
            seconds=random.randint(300, 600),  # so that not all watches end together
        )

    def _read(self, line: bytes, on_change: Callable[[Changed[T]], None]) -> None:
        try:
            event = self._lines.decode(line)
        except msgspec.ValidationError as error:
            self._read_odd(line, error)
            return
        if event.type in ("ADDED", "MODIFIED"):
            on_change(Changed(event.object, gone=False))
        elif event.type == "DELETED":
            on_change(Changed(event.object, gone=True))
        elif event.type == "ERROR":
            raise from_status(*_code_and_body(line))
        self._version = event.object.metadata.resource_version or self._version

    def _read_odd(self, line: bytes, error: msgspec.ValidationError) -> None:
        """An error, a bookmark, or an object that doesn't fit our projection: it is passed over."""
        event = decoder(WatchLine[msgspec.Raw]).decode(line)
        if event.type == "ERROR":
            raise from_status(*_code_and_body(line))
        if event.type != "BOOKMARK":  # of which some have lists of null, and none is an object
            log.error("an object can't be read", extra={"error": str(error), "object": line[:300]})
        self._version = decoder(_Bare).decode(event.object).metadata.resource_version

    async def _rest(self) -> None:
        await asyncio.sleep(self._pause * random.uniform(0.8, 1.2))
        self._pause = min(self._pause * 2, LONGEST_PAUSE)


def _code_and_body(line: bytes) -> tuple[int, bytes]:
    """The Status in an ERROR line."""
    status = decoder(WatchLine[msgspec.Raw]).decode(line).object
    return decoder(_HasCode).decode(status).code, bytes(status)
