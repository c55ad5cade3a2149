"""Subresources that are verbs rather than parts of an object: binding and eviction of pods."""

from typing import Any

from tutti.api import validation
from tutti.api.errors import ApiError, BadRequest, Conflict, NotFound
from tutti.server import ages, bodies, budgets, changing, deleting, options, pods, replies, stored
from tutti.server.context import Context
from tutti.server.options import Deletion
from tutti.server.routes import Target
from tutti.store import Row
from tutti.web.app import Request, Response

Object = dict[str, Any]

_TRIES = 5


async def bind(context: Context, request: Request, target: Target) -> Response:
    """POST of a Binding: the pod gets its node, once and for all."""
    asked = options.write(request.query, "CreateOptions")
    binding = await _body(request, target, "Binding", asked.field_validation)
    node = _node_of(binding)
    for attempt in range(1, _TRIES + 1):
        row = await _pod(context, target)
        pod = stored.read(row.value, row.revision)
        _may_be_bound(target, pod, binding)
        pods.bound(pod, node, binding["metadata"], ages.stamp(context.now()))
        try:
            await context.objects.replace(target, row, pod, dry_run=asked.dry_run)
        except Conflict:
            if attempt == _TRIES:
                raise
            continue
        return replies.success(201)
    raise AssertionError("the last attempt returns or raises")


async def evict(context: Context, request: Request, target: Target) -> Response:
    """POST of an Eviction: a delete that says on the pod what it was."""
    asked = options.write(request.query, "CreateOptions")
    eviction = await _body(request, target, "Eviction", asked.field_validation)
    deletion = options.deletion([], eviction.get("deleteOptions") or {})
    if asked.dry_run:
        deletion = Deletion(
            dry_run=["All"],
            grace_period_seconds=deletion.grace_period_seconds,
            preconditions=deletion.preconditions,
        )
    row = await _pod(context, target)
    pod = stored.read(row.value, row.revision)
    await budgets.spend(context, target, pod, dry_run=bool(deletion.dry_run))
    now = ages.stamp(context.now())
    await deleting.removed(context, target, deletion, lambda pod: pods.evicted(pod, now))
    return replies.success(201)


async def _pod(context: Context, target: Target) -> Row:
    row = await context.objects.find(target)
    if row is None:
        raise NotFound.of("pods", target.name or "")
    return row


async def _body(request: Request, target: Target, kind: str, validation: str) -> Object:
    content = await request.body()
    found = bodies.read(content, replies.content_type(request), target.kind, validation).found
    if found.setdefault("metadata", {}).get("name") != target.name:
        raise BadRequest(f"name in URL does not match name in {kind} object")
    return found


def _node_of(binding: Object) -> str:
    if errors := validation.bound(binding):
        text = ", ".join(error.sentence for error in errors)
        raise ApiError(f"[{text}]" if len(errors) > 1 else text)
    node: str = binding["target"]["name"]
    return node


def _may_be_bound(target: Target, pod: Object, binding: Object) -> None:
    """Kubernetes' own order: is it the one that is meant, does it stay, is it free, is it ready?"""
    metadata, wanted = pod["metadata"], binding["metadata"]
    if wanted.get("uid") and wanted["uid"] != metadata["uid"]:
        raise changing.precondition_failed(target, wanted["uid"], metadata["uid"])
    if wanted.get("resourceVersion", metadata["resourceVersion"]) != metadata["resourceVersion"]:
        raise Conflict.of("pods", target.name or "")
    name = metadata["name"]
    why = None
    if metadata.get("deletionTimestamp"):
        why = f"pod {name} is being deleted, cannot be assigned to a host"
    elif pod["spec"].get("nodeName"):
        why = f'pod {name} is already assigned to node "{pod["spec"]["nodeName"]}"'
    elif pod["spec"].get("schedulingGates"):
        why = f"pod {name} has non-empty .spec.schedulingGates"
    if why is not None:
        raise Conflict.of("pods/binding", name, why)
