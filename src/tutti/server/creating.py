"""create: decode, default, name, admit, prepare, validate, write."""

import secrets
from dataclasses import replace
from typing import Any

from tutti.api import defaults, preparation, validation
from tutti.api.errors import AlreadyExists, ApiError, BadRequest, Invalid
from tutti.server import admission, ages, bodies, options, replies, stored, strategy
from tutti.server.context import Context
from tutti.server.routes import Target
from tutti.store import Row
from tutti.web.app import Request, Response

Object = dict[str, Any]

_TRIES = 8  # as often as Kubernetes draws another name
_LONGEST_BASE = 58
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"  # no vowels: no words
_GIVEN_BY_US = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "managedFields",
)


async def create(context: Context, request: Request, target: Target) -> Response:
    """POST to a collection."""
    asked = options.write(request.query, "CreateOptions")
    shape = replies.shape(context, request, target)
    body = bodies.read(
        await request.body(), replies.content_type(request), target.kind, asked.field_validation
    )
    row = await made(context, target, body.found, dry_run=asked.dry_run)
    return replies.one(shape, row, status=201, warnings=body.warnings)


async def made(context: Context, target: Target, new: Object, *, dry_run: bool) -> Row:
    """A new object from a decoded one; draws further names while a generated one is taken."""
    defaults.apply(target.storage, target.version, new, context.gates)
    new = stored.form(target, new)
    metadata = own_metadata(context, target, new)
    if metadata.get("name") or not metadata.get("generateName"):
        return await _written(context, target, new, dry_run=dry_run)
    for attempt in range(1, _TRIES + 1):
        metadata["name"] = _generated(metadata["generateName"])
        try:
            return await _written(context, target, new, dry_run=dry_run)
        except AlreadyExists:
            if attempt == _TRIES:
                raise
    raise AssertionError("the last attempt returns or raises")


def own_metadata(context: Context, target: Target, new: Object) -> Object:
    """The metadata, with what only the server gives; namespace and path must agree."""
    metadata: Object = new.setdefault("metadata", {})
    if target.namespace is None:
        metadata.pop("namespace", None)
    elif metadata.setdefault("namespace", target.namespace) != target.namespace:
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    for field in _GIVEN_BY_US:
        metadata.pop(field, None)
    metadata["uid"] = context.new_uid()
    metadata["creationTimestamp"] = ages.stamp(context.now())
    return metadata


async def _written(context: Context, target: Target, new: Object, *, dry_run: bool) -> Row:
    target = replace(target, name=new["metadata"].get("name"))
    admission.create(target, new, context.view, context.gates)
    strategy.of(target.storage.key).created(new)
    preparation.prepare(target.storage, new, None, context.gates)
    if errors := validation.created(target.storage, target.version, new, context.gates):
        raise Invalid.of(target.storage.qualified_kind, target.name or "", errors)
    if new["metadata"].pop("resourceVersion", ""):
        raise ApiError("resourceVersion should not be set on objects to be created")
    return await context.objects.create(target, new, dry_run=dry_run)


def _generated(base: str) -> str:
    suffix = "".join(secrets.choice(_SUFFIX) for _ in range(5))
    return base[:_LONGEST_BASE] + suffix
