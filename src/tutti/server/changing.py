"""update and patch: read what stands, make the new object, check it against the old, write it.

Whoever names no resource version is given the newest, and tried again when somebody else was faster.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from tutti.api import defaults, patch, preparation, schema, validation
from tutti.api.errors import (
    ApiError,
    BadRequest,
    Conflict,
    Invalid,
    UnsupportedMediaType,
    invalid,
)
from tutti.server import (
    admission,
    bodies,
    creating,
    deletion,
    negotiate,
    options,
    replies,
    stored,
    strategy,
)
from tutti.server.bodies import Body
from tutti.server.context import Context
from tutti.server.routes import Target
from tutti.store import Row
from tutti.web.app import Request, Response

Object = dict[str, Any]
Make = Callable[[Object], Body]
"""From what stands to the new object."""

_TRIES = 5


async def update(context: Context, request: Request, target: Target) -> Response:
    """PUT of an object, or of a subresource of it."""
    asked = options.write(request.query, "UpdateOptions")
    shape = replies.shape(context, request, target)
    content = await request.body()
    kind = replies.content_type(request)
    body = bodies.read(content, kind, target.kind, asked.field_validation)
    _must_be_named(target, body.found)
    creates = target.subresource is None and strategy.of(target.storage.key).creates_on_update
    if creates and await context.objects.find(target) is None:
        row = await creating.made(context, target, body.found, dry_run=asked.dry_run)
        return replies.one(shape, row, status=201, warnings=body.warnings)

    def as_sent(old: Object) -> Body:
        # Decoded afresh for each try: making it ready to be written changes it.
        fresh = bodies.read(content, kind, target.kind, asked.field_validation)
        wanted, found = fresh.found["metadata"].get("uid"), old["metadata"]["uid"]
        if wanted and wanted != found:
            raise precondition_failed(target, wanted, found)
        return fresh

    changed = await change(context, target, as_sent, dry_run=asked.dry_run)
    return replies.one(shape, changed.row, warnings=changed.warnings)


async def patched(context: Context, request: Request, target: Target) -> Response:
    """PATCH of an object, or of a subresource of it."""
    media_type = negotiate.content_type(replies.content_type(request))
    if media_type.startswith("application/apply-patch"):
        raise UnsupportedMediaType(
            "server-side apply is not served; accepted media types include: "
            f"{patch.JSON_PATCH}, {patch.MERGE_PATCH}, {patch.STRATEGIC_PATCH}"
        )
    asked = options.write(request.query, "PatchOptions")
    shape = replies.shape(context, request, target)
    content = await request.body()
    kind = target.kind
    known = schema.load(kind.group, kind.version, kind.kind)
    strict, silent = (asked.field_validation == word for word in ("Strict", "Ignore"))

    def applied(old: Object) -> Body:
        new, complaints = patch.apply(media_type, old, content, known, strict=strict)
        if (new.get("kind"), new.get("apiVersion")) != (old["kind"], old["apiVersion"]):
            said, version = new.get("kind", ""), new.get("apiVersion", "")
            raise _another_kind(new, f'no kind "{said}" is registered for version "{version}"')
        _must_be_named(target, new)
        return Body(new, () if silent else complaints)

    changed = await change(context, target, applied, dry_run=asked.dry_run, is_patch=True)
    return replies.one(shape, changed.row, warnings=changed.warnings)


@dataclass(frozen=True, slots=True)
class Changed:
    """What was written, and what the client should be told."""

    row: Row
    warnings: Sequence[str]


async def change(
    context: Context, target: Target, make: Make, *, dry_run: bool, is_patch: bool = False
) -> Changed:
    """Carry out one change; again where that is free of danger and somebody else was faster."""
    for attempt in range(1, _TRIES + 1):
        row = await context.objects.get(target)
        old = stored.read(row.value, row.revision)
        body = make(_shown(target, row))
        unconditional = _unconditional(target, body.found, old, is_patch=is_patch)
        try:
            row = await _write(context, target, row, body.found, old, dry_run=dry_run)
        except Conflict:
            if attempt == _TRIES or not unconditional:
                raise
            continue
        return Changed(row, body.warnings)
    raise AssertionError("the last attempt returns or raises")


async def _write(
    context: Context, target: Target, row: Row, new: Object, old: Object, *, dry_run: bool
) -> Row:
    defaults.apply(target.storage, target.version, new, context.gates)
    new = stored.form(target, new)
    _keep_metadata(target, new, old)
    if target.subresource is None:
        admission.update(target, new, old, context.view)
    strategy.of(target.storage.key).adjust(target.subresource)(new, old)
    preparation.prepare(target.storage, new, old, context.gates)
    errors = validation.updated(
        target.storage, target.version, old, new, target.subresource, context.gates
    )
    if errors:
        raise Invalid.of(target.storage.qualified_kind, target.name or "", errors)
    if deletion.ends(target, new, old):
        return await context.objects.remove(target, row, stored.value(new), dry_run=dry_run)
    if {**new, "kind": None, "apiVersion": None} == {**old, "kind": None, "apiVersion": None}:
        return row
    return await context.objects.replace(target, row, new, dry_run=dry_run)


def _keep_metadata(target: Target, new: Object, old: Object) -> None:
    """What an update never changes, whatever the client sends; what it may not is validation's."""
    metadata, stood = new["metadata"], old["metadata"]
    if target.namespace is None:
        metadata.pop("namespace", None)
    elif metadata.setdefault("namespace", target.namespace) != target.namespace:
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    for field in ("generation", "creationTimestamp", "resourceVersion"):
        metadata.pop(field, None)
        if field in stood:
            metadata[field] = stood[field]
    if "deletionTimestamp" in stood:
        metadata["deletionTimestamp"] = stood["deletionTimestamp"]
    for field in ("uid", "deletionGracePeriodSeconds"):
        if field in stood and not metadata.get(field):
            metadata[field] = stood[field]
    for field in ("managedFields", "selfLink"):
        metadata.pop(field, None)


def precondition_failed(target: Target, wanted: str, found: str) -> Conflict:
    """Somebody means an object of the same name that is no more."""
    path = "/".join(filter(None, (target.storage.key, target.namespace, target.name)))
    return Conflict.of(
        target.storage.key,
        target.name or "",
        f"StorageError: invalid object, Code: 4, Key: /registry/{path}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: UID in precondition: {wanted}, "
        f"UID in object meta: {found}",
    )


def _unconditional(target: Target, new: Object, old: Object, *, is_patch: bool) -> bool:
    """Whether this change may be made again on a newer object; raises where it is too late."""
    metadata = new.setdefault("metadata", {})
    version = metadata.get("resourceVersion") or "0"
    if version == "0":
        if strategy.of(target.storage.key).updates_unconditionally:
            return True
        error = invalid("metadata.resourceVersion", 0, "must be specified for an update")
        raise Invalid.of(target.storage.key, target.name or "", [error])
    if not version.isdecimal():
        shown = options.quoted(version)
        raise ApiError(f"strconv.ParseUint: parsing {shown}: invalid syntax")
    if version != old["metadata"]["resourceVersion"]:
        raise Conflict.of(target.storage.key, target.name or "")
    return is_patch


def _another_kind(new: Object, why: str) -> Invalid:
    """A patch makes something else of an object."""
    text = msgspec.json.encode(new).decode()
    error = invalid("patch", text, f'{why} in scheme "pkg/runtime/scheme.go:111"')
    return Invalid.of("", "", [error])


def _must_be_named(target: Target, found: Object) -> None:
    """The object that is written is the one that the path names."""
    name = found.setdefault("metadata", {}).get("name")
    if not name:
        raise BadRequest(
            f"the name of the object ({target.name} based on URL) was undeterminable: "
            "name must be provided"
        )
    if name != target.name:
        raise BadRequest(
            f"the name of the object ({name}) does not match the name on the URL ({target.name})"
        )


def _shown(target: Target, row: Row) -> Object:
    """The object as the client sees it, and patches it."""
    found: Object = msgspec.json.decode(stored.shown(target, row.value, row.revision))
    return found
