"""get and list."""

import base64
import binascii
from dataclasses import dataclass
from typing import Any

import msgspec

from tutti.api.errors import ApiError, BadRequest, Expired, Timeout
from tutti.server import options, replies
from tutti.server.answers import ListMeta
from tutti.server.context import Context
from tutti.server.options import Listing
from tutti.server.routes import Target
from tutti.server.selecting import Selection
from tutti.store import Compacted, Row
from tutti.web.app import Request, Response

_SEARCH_ROWS = 500  # read at a time when a selector decides how many of them count

_NEWEST = -1

_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the first "
    "chunk was returned and now may show up in the list."
)


async def get(context: Context, request: Request, target: Target) -> Response:
    """GET of one object, or of its status."""
    shape = replies.shape(context, request, target)
    for name, value in request.query:
        if name == "resourceVersion" and value:
            if not value.isdecimal():
                raise ApiError(f"resourceVersion: {options.unparsable(value)}")
            _not_ahead(context, int(value))
    return replies.one(shape, await context.objects.get(target))


async def listed(
    context: Context, request: Request, target: Target, asked: Listing, selection: Selection
) -> Response:
    """GET of a collection, or of one page of it."""
    shape = replies.shape(context, request, target)
    found = await page(context, target, asked, selection)
    remaining = found.remaining if selection.everything else None
    token = ""
    if found.last is not None:
        token = _Continue(rv=found.revision, start=found.last).encoded()
    return Response(200, shape.many(found.rows, ListMeta(found.revision, token, remaining)))


class _Continue(msgspec.Struct, frozen=True):
    """Where a list goes on; -1 stands for whatever is newest then."""

    rv: int
    start: tuple[str, str]
    v: str = "meta.k8s.io/v1"

    def encoded(self) -> str:
        """Opaque to clients."""
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).rstrip(b"=").decode()

    @classmethod
    def decoded(cls, text: str) -> "_Continue":
        """Raises BadRequest where it isn't one of ours."""
        try:
            return msgspec.json.decode(
                base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=cls
            )
        except (binascii.Error, ValueError) as error:
            why = f"invalid continue token: continue key is not valid: {error}"
            raise BadRequest(why) from error


class _ExpiredPage(Expired):
    """Says in its metadata how to go on all the same, though inconsistently."""

    def __init__(self, after: tuple[str, str]) -> None:
        super().__init__(_TOO_OLD)
        self._resume = _Continue(rv=_NEWEST, start=after).encoded()

    def status(self) -> dict[str, Any]:  # type: ignore[explicit-override]  # Python 3.12 has it
        return {**super().status(), "metadata": {"continue": self._resume}}


@dataclass(slots=True)
class Found:
    """What a list has found, all as of one version, and where the next page goes on."""

    rows: list[Row]
    revision: int
    remaining: int
    last: tuple[str, str] | None


async def all_of(context: Context, target: Target, selection: Selection) -> Found:
    """Everything that is selected, as it stands now."""
    return await _search(context, target, selection, at=None, after=None, limit=0)


async def page(context: Context, target: Target, asked: Listing, selection: Selection) -> Found:
    """What a list with these options shows."""
    at: int | None = None
    after = None
    if asked.continued:
        token = _Continue.decoded(asked.continued)
        if asked.resource_version not in ("", "0"):
            raise BadRequest("specifying resource version is not allowed when using continue")
        at, after = None if token.rv == _NEWEST else token.rv, token.start
    elif asked.resource_version:
        version = options.resource_version(asked.resource_version)
        _not_ahead(context, version)
        exact = asked.match == "Exact" or (asked.limit and not asked.match and version)
        at = version if exact else None
    try:
        return await _search(context, target, selection, at=at, after=after, limit=asked.limit)
    except Compacted as error:
        if after is None:
            raise Expired("The resourceVersion for the provided list is too old.") from error
        raise _ExpiredPage(after) from error


async def _search(
    context: Context,
    target: Target,
    selection: Selection,
    *,
    at: int | None,
    after: tuple[str, str] | None,
    limit: int,
) -> Found:
    """Rows that match, up to `limit` (0: all of them)."""
    store, key = context.objects.store, target.storage.key
    if selection.name is not None and at is None and after is None and _is_one_place(target):
        return await _named(context, target.named(selection.name), selection)
    if selection.everything:
        read = await store.list(key, _span(target), at=at, after=after, limit=limit or None)
        return Found(read.rows, read.revision, read.remaining, read.last)
    rows: list[Row] = []
    while True:
        read = await store.list(
            key, _span(target), at=at, after=after, limit=_SEARCH_ROWS if limit else None
        )
        for row in read.rows:
            if not selection.matches(row.value):
                continue
            if limit and len(rows) == limit:
                last = rows[-1].namespace, rows[-1].name
                return Found(rows, read.revision, 0, last)
            rows.append(row)
        at, after = read.revision, read.last
        if after is None:
            return Found(rows, read.revision, 0, None)


async def _named(context: Context, target: Target, selection: Selection) -> Found:
    """The one object that can match, without a look at the others."""
    row = await context.objects.find(target)
    rows = [row] if row is not None and selection.matches(row.value) else []
    newest = max([context.objects.store.revision, *(row.revision for row in rows)])
    return Found(rows, newest, 0, None)


def _is_one_place(target: Target) -> bool:
    return target.namespace is not None or not target.storage.namespaced


def _span(target: Target) -> str | None:
    """The namespace to look in: None for all of them; objects without one have ""."""
    return target.namespace if target.storage.namespaced else ""


def _not_ahead(context: Context, version: int) -> None:
    """A version that isn't written yet can't be shown."""
    newest = context.objects.store.revision
    if version > newest:
        raise Timeout(
            f"Timeout: Too large resource version: {version}, current: {newest}",
            {
                "retryAfterSeconds": 1,
                "causes": [
                    {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
                ],
            },
        )
