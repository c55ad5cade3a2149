"""delete and deletecollection."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from tutti.api.errors import Conflict, NotFound
from tutti.server import admission, bodies, deletion, options, reading, replies, stored, strategy
from tutti.server.answers import ListMeta, Shape
from tutti.server.context import Context
from tutti.server.deletion import Gone, Marked, Pending
from tutti.server.options import Deletion, Listing
from tutti.server.routes import Target
from tutti.server.selecting import Selection
from tutti.store import Row
from tutti.web.app import Request, Response

Object = dict[str, Any]

_TRIES = 5
_AT_ONCE = 64


async def delete(context: Context, request: Request, target: Target) -> Response:
    """DELETE of one object."""
    asked = await _options(request)
    shape = replies.shape(context, request, target)
    admission.delete(target)
    row, gone = await removed(context, target, asked)
    status = 202 if not gone and asked.orphan_dependents is False else 200
    return _answer(shape, target, row, gone=gone, status=status)


async def delete_collection(
    context: Context, request: Request, target: Target, listing: Listing, selection: Selection
) -> Response:
    """DELETE of all objects of a collection that are selected."""
    asked = await _options(request)
    shape = replies.shape(context, request, target)
    found = await reading.page(context, target, listing, selection)
    for at in range(0, len(found.rows), _AT_ONCE):
        await _removed_together(context, target, found.rows[at : at + _AT_ONCE], asked)
    return Response(200, shape.many(found.rows, ListMeta(found.revision)))


async def removed(
    context: Context,
    target: Target,
    asked: Deletion,
    first: Callable[[Object], None] | None = None,
) -> tuple[Row, bool]:
    """The object as the delete leaves it, and whether it is gone; `first` is made before that."""
    for attempt in range(1, _TRIES + 1):
        row = await context.objects.get(target)
        found = stored.read(row.value, row.revision)
        deletion.check(target, found, asked)
        if first is not None:
            first(found)
        try:
            return await _carried_out(context, target, row, found, asked)
        except Conflict:
            if attempt == _TRIES:
                raise
    raise AssertionError("the last attempt returns or raises")


async def _carried_out(
    context: Context, target: Target, row: Row, found: Object, asked: Deletion
) -> tuple[Row, bool]:
    dry_run = bool(asked.dry_run)
    match deletion.of(target, found, asked, context.now()):
        case Gone(last):
            value = stored.value(last)
            return await context.objects.remove(target, row, value, dry_run=dry_run), True
        case Marked(new):
            return await context.objects.replace(target, row, new, dry_run=dry_run), False
        case Pending():
            return row, False


async def _removed_together(
    context: Context, target: Target, rows: Sequence[Row], asked: Deletion
) -> None:
    async def one(row: Row) -> None:
        place = target.in_namespace(row.namespace or None).named(row.name)
        try:
            admission.delete(place)
            await removed(context, place, asked)
        except NotFound:
            pass  # somebody else was faster, which is as good

    async with asyncio.TaskGroup() as group:
        for row in rows:
            group.create_task(one(row))


async def _options(request: Request) -> Deletion:
    content = await request.body()
    body = bodies.delete_options(content, replies.content_type(request))
    return options.deletion(request.query, body)


def _answer(shape: Shape, target: Target, row: Row, *, gone: bool, status: int) -> Response:
    if not gone or strategy.of(target.storage.key).returns_deleted:
        return Response(status, shape.one(row.value, row.revision))
    details = {"name": row.name, "group": target.storage.group, "kind": target.storage.plural}
    return replies.success(status, {**details, "uid": row.uid})
