"""The way of an object through the door, as the server takes it, without the server."""

from copy import deepcopy
from typing import Any

from tutti.api import defaults, registry, schema, validation

Json = dict[str, Any]


def read(storage: registry.Storage, obj: Json, version: str | None = None) -> Json:
    """The object, checked against its schema and defaulted."""
    obj = deepcopy(obj)
    metadata = obj.setdefault("metadata", {})
    metadata.setdefault("name", "x")
    if storage.namespaced:
        metadata.setdefault("namespace", "n")
    version = version or storage.versions[0]
    schema.load(storage.group, version, storage.kind).check(obj)
    defaults.apply(storage, version, obj)
    return obj


def created(storage: registry.Storage, obj: Json) -> list[str]:
    """What is said against a new object."""
    errors = validation.created(storage, storage.versions[0], read(storage, obj))
    return [error.sentence for error in errors]


def updated(
    storage: registry.Storage, old: Json, new: Json, subresource: str | None = None
) -> list[str]:
    """What is said against the change of a stored object."""
    before, after = read(storage, old), read(storage, new)
    errors = validation.updated(storage, storage.versions[0], before, after, subresource)
    return [error.sentence for error in errors]


def changed(obj: Json, path: str, value: Any) -> Json:
    """A copy with another value at `spec.list.0.field`; None takes the field away."""
    copy = deepcopy(obj)
    inner: Any = copy
    *outer, last = path.split(".")
    for step in outer:
        inner = inner[int(step)] if step.isdigit() else inner[step]
    if value is None:
        inner.pop(last, None)
    else:
        inner[last] = value
    return copy
