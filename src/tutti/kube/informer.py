"""One kind of object, known: what is there now, told as `Seen` and `Gone`, with nothing missed.

A watch that was cut for long loses deletions; a new list brings them to light, since what was known
and isn't listed any more is gone. A name that was deleted and made again is told as both.
"""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from tutti.api.registry import Storage
from tutti.kube.client import Client, Listed
from tutti.kube.reflector import Changed, Reflector, Versioned

T = TypeVar("T", bound=Versioned)
Key = tuple[str, str]


class Seen(msgspec.Struct, Generic[T], frozen=True, gc=False):
    object: T


class Gone(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """The object as it was last."""

    object: T


class Relisted(msgspec.Struct, frozen=True, gc=False):
    """All that a list brought has been told."""


On = Callable[[Seen[T] | Gone[T] | Relisted], None]


class Informer(Generic[T]):
    """`synced` is set once the first list has been told."""

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
        self._reflector = Reflector(
            client, storage, type_, namespace=namespace, label=label, field=field
        )
        self.known: dict[Key, T] = {}
        self.synced = asyncio.Event()

    async def run(self, on: On[T]) -> None:
        await self._reflector.run(
            lambda listed: self._relisted(listed, on), lambda change: self._changed(change, on)
        )

    def _relisted(self, listed: Listed[T], on: On[T]) -> None:
        there = {_key(obj) for obj in listed.items}
        for key in [key for key in self.known if key not in there]:
            on(Gone(self.known.pop(key)))
        for obj in listed.items:
            self._saw(obj, on)
        on(Relisted())
        self.synced.set()

    def _changed(self, change: Changed[T], on: On[T]) -> None:
        if not change.gone:
            self._saw(change.object, on)
        elif self.known.pop(_key(change.object), None) is not None:
            on(Gone(change.object))

    def _saw(self, obj: T, on: On[T]) -> None:
        key = _key(obj)
        before = self.known.get(key)
        if before is not None:
            if before.metadata.resource_version == obj.metadata.resource_version:
                return
            if before.metadata.uid != obj.metadata.uid:
                on(Gone(before))
        self.known[key] = obj
        on(Seen(obj))


def _key(obj: Versioned) -> Key:
    return obj.metadata.namespace, obj.metadata.name
