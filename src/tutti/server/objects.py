"""The gate to the store: rows in and out, refusals in Kubernetes' words, and the view kept fresh.

A dry run goes the whole way up to here, and ends here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tutti.api.errors import (
    AlreadyExists,
    Conflict,
    InsufficientStorage,
    InternalError,
    NotFound,
    ServiceUnavailable,
)
from tutti.server import stored
from tutti.server.routes import Target
from tutti.server.view import View
from tutti.store import Put, Remove, Row, Store, errors

Object = dict[str, Any]


class Objects:
    """What the verbs know of the store. Every write of the server passes here."""

    def __init__(self, store: Store, view: View) -> None:
        self.store = store
        self._view = view

    async def find(self, target: Target) -> Row | None:
        """The object of that name, if it is there."""
        return await self.store.get(target.storage.key, target.namespace or "", target.name or "")

    async def get(self, target: Target) -> Row:
        """The object of that name; NotFound where there is none."""
        row = await self.find(target)
        if row is None:
            raise NotFound.of(target.storage.key, target.name or "")
        return row

    async def create(self, target: Target, new: Object, *, dry_run: bool) -> Row:
        """Write an object that must not be there yet."""
        value = stored.value(new)
        if dry_run:
            if await self.find(target) is not None:
                raise AlreadyExists.of(target.storage.key, target.name or "")
            return _row(target, new, value, 0)
        return await self._put(target, new, value, expect=0)

    async def replace(self, target: Target, row: Row, new: Object, *, dry_run: bool) -> Row:
        """Write an object in the place of what stands, if that still stands."""
        value = stored.value(new)
        if dry_run or value == row.value:
            return _row(target, new, value, row.revision)
        return await self._put(target, new, value, expect=row.revision)

    async def remove(self, target: Target, row: Row, last: bytes, *, dry_run: bool) -> Row:
        """Take away what stands; `last` is what its watchers see of it."""
        if dry_run:
            return row._replace(value=last)
        namespace, name = target.namespace or "", target.name or ""
        change = Remove(target.storage.key, namespace, name, row.revision, last)
        with _refusals(target):
            (revision,) = await self.store.commit([change])
        self._view.saw(target.storage.key, name, None)
        return row._replace(value=last, revision=revision)

    async def _put(self, target: Target, new: Object, value: bytes, *, expect: int) -> Row:
        row = _row(target, new, value, 0)
        change = Put(target.storage.key, row.namespace, row.name, row.uid, value, expect)
        with _refusals(target):
            (revision,) = await self.store.commit([change])
        self._view.saw(target.storage.key, row.name, value)
        return row._replace(revision=revision)


def _row(target: Target, new: Object, value: bytes, revision: int) -> Row:
    name = target.name or new["metadata"]["name"]
    return Row(target.namespace or "", name, new["metadata"].get("uid", ""), value, revision)


@contextmanager
def _refusals(target: Target) -> Iterator[None]:
    """What the store refuses, as Kubernetes says it."""
    key, name = target.storage.key, target.name or ""
    try:
        yield
    except errors.Exists as refusal:
        raise AlreadyExists.of(key, name) from refusal
    except errors.Missing as refusal:
        raise NotFound.of(key, name) from refusal
    except errors.Stale as refusal:
        raise Conflict.of(key, name) from refusal
    except errors.Full as refusal:
        raise InsufficientStorage(str(refusal)) from refusal
    except errors.Failed as refusal:
        raise InternalError.because(str(refusal)) from refusal
    except errors.Closed as refusal:
        raise ServiceUnavailable(str(refusal)) from refusal
