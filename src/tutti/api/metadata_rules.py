"""The rules of metadata, which every kind shares, and of conditions, which many do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tutti.api import names
from tutti.api.errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)

Json = dict[str, Any]
NameRule = Callable[[str, str], tuple[str, ...]]
"""From a name and the unit of lengths to what is wrong with it."""

_MOST_ANNOTATIONS: Final = 256 * 1024
_LONGEST_REASON: Final = 1024
_LONGEST_MESSAGE: Final = 32 * 1024
_SETTLED: Final = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
_STATUSES: Final = ("False", "True", "Unknown")
_STANDARD_FINALIZERS: Final = ("kubernetes", "orphan", "foregroundDeletion")
_DEPENDENTS: Final = ("foregroundDeletion", "orphan")


def created(metadata: Json, *, namespaced: bool, name_rule: NameRule) -> Iterator[FieldError]:
    path = "metadata"
    base = metadata.get("generateName") or ""
    for problem in name_rule(_as_prefix(base), "characters") if base else ():
        yield invalid(f"{path}.generateName", base, problem)
    name = metadata.get("name") or ""
    if not name:
        yield required(f"{path}.name", "name or generateName is required")
    for problem in name_rule(name, "characters") if name else ():
        yield invalid(f"{path}.name", name, problem)
    namespace = metadata.get("namespace") or ""
    if not namespaced and namespace:
        yield forbidden(f"{path}.namespace", "not allowed on this type")
    if namespaced and not namespace:
        yield required(f"{path}.namespace")
    for problem in names.label(namespace, "characters") if namespaced and namespace else ():
        yield invalid(f"{path}.namespace", namespace, problem)
    if (generation := metadata.get("generation") or 0) < 0:
        yield invalid(f"{path}.generation", generation, "must be greater than or equal to 0")
    yield from _labels_and_owners(metadata)
    yield from _finalizers(metadata.get("finalizers") or [])


def qualified_finalizers(metadata: Json) -> Iterator[FieldError]:
    """What the kinds of the older groups ask of finalizers beyond the common rules."""
    for index, finalizer in enumerate(metadata.get("finalizers") or ()):
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            said = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid(f"metadata.finalizers[{index}]", finalizer, said)


def updated(new: Json, old: Json) -> Iterator[FieldError]:
    """The version that an update must name is the server's to look at: not every kind asks for it."""
    path = "metadata"
    if old.get("deletionTimestamp"):
        extra = sorted(set(new.get("finalizers") or ()) - set(old.get("finalizers") or ()))
        if extra:
            listed = ", ".join(json.dumps(name) for name in extra)
            yield forbidden(
                f"{path}.finalizers",
                "no new finalizers can be added if the object is being deleted, "
                f"found new finalizers []string{{{listed}}}",
            )
    if (new.get("generation") or 0) < (old.get("generation") or 0):
        yield invalid(f"{path}.generation", new.get("generation") or 0, "must not be decremented")
    for field in ("name", "namespace", *_SETTLED):
        if (new.get(field) or None) != (old.get(field) or None):
            yield invalid(f"{path}.{field}", new.get(field), "field is immutable")
    yield from _labels_and_owners(new)
    yield from _finalizers(new.get("finalizers") or [])


def conditions(path: str, items: list[Json]) -> Iterator[FieldError]:
    """The conditions of metav1, as the kinds of workload-aware scheduling have them."""
    seen: set[str] = set()
    for index, condition in enumerate(items):
        if (kind := condition.get("type") or "") in seen:
            yield duplicate(f"{path}[{index}]", kind)
        seen.add(kind)
        yield from _condition(f"{path}[{index}]", condition)


def label_map(path: str, found: Mapping[str, str]) -> Iterator[FieldError]:
    for key, value in found.items():
        yield from (invalid(path, key, problem) for problem in names.qualified_name(key))
        yield from (invalid(path, value, problem) for problem in names.label_value(value))


def annotation_map(path: str, found: Mapping[str, str]) -> Iterator[FieldError]:
    size = 0
    for key, value in found.items():
        size += len(key.encode()) + len(value.encode())
        yield from (invalid(path, key, problem) for problem in names.qualified_name(key.lower()))
    if size > _MOST_ANNOTATIONS:
        yield too_long(path, _MOST_ANNOTATIONS)


def _labels_and_owners(metadata: Json) -> Iterator[FieldError]:
    yield from label_map("metadata.labels", metadata.get("labels") or {})
    yield from annotation_map("metadata.annotations", metadata.get("annotations") or {})
    yield from _owners(metadata.get("ownerReferences") or [])


def _owners(owners: list[Json]) -> Iterator[FieldError]:
    path = "metadata.ownerReferences"
    controller = ""
    for index, owner in enumerate(owners):
        yield from _owner(f"{path}[{index}]", owner)
        if owner.get("controller"):
            this = f"{owner.get('kind', '')}/{owner.get('name', '')}"
            if controller:
                yield invalid(
                    path,
                    owners,
                    "Only one reference can have Controller set to true. "
                    f'Found "true" in references for {controller} and {this}',
                )
            controller = controller or this


def _owner(path: str, owner: Json) -> Iterator[FieldError]:
    api_version = owner.get("apiVersion") or ""
    if not api_version:
        yield required(f"{path}.apiVersion", "must not be empty")
    elif api_version.count("/") > 1 or api_version.endswith("/"):
        said = "must be <group>/<version> or <version>"
        yield invalid(f"{path}.apiVersion", api_version, said)
    for field in ("kind", "name", "uid"):
        if not owner.get(field):
            yield required(f"{path}.{field}", "must not be empty")
    if (api_version, owner.get("kind")) == ("v1", "Event"):
        yield invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner")


def _finalizers(found: list[str]) -> Iterator[FieldError]:
    path = "metadata.finalizers"
    for finalizer in found:
        yield from (invalid(path, finalizer, said) for said in names.qualified_name(finalizer))
    if set(_DEPENDENTS) <= set(found):
        said = "finalizer orphan and foregroundDeletion cannot be both set"
        yield invalid(path, found, said)


def _condition(path: str, condition: Json) -> Iterator[FieldError]:
    kind, status = condition.get("type") or "", condition.get("status") or ""
    if not kind:
        yield required(f"{path}.type", "is required")
    for problem in names.qualified_name(kind) if kind else ():
        yield invalid(f"{path}.type", kind, problem)
    if not status:
        yield required(f"{path}.status")
    elif status not in _STATUSES:
        yield not_supported(f"{path}.status", status, _STATUSES)
    if (generation := condition.get("observedGeneration") or 0) < 0:
        said = "must be greater than or equal to zero"
        yield invalid(f"{path}.observedGeneration", generation, said)
    if not condition.get("lastTransitionTime"):
        yield required(f"{path}.lastTransitionTime")
    reason = condition.get("reason") or ""
    if not reason:
        yield required(f"{path}.reason")
    for problem in names.condition_reason(reason) if reason else ():
        yield invalid(f"{path}.reason", reason, problem)
    if len(reason.encode()) > _LONGEST_REASON:
        yield too_long(f"{path}.reason", _LONGEST_REASON)
    if len((condition.get("message") or "").encode()) > _LONGEST_MESSAGE:
        yield too_long(f"{path}.message", _LONGEST_MESSAGE)


def _as_prefix(base: str) -> str:
    """A base of generated names may end in a dash, for more will follow."""
    return f"{base[:-2]}a" if len(base) > 1 and base.endswith("-") else base
