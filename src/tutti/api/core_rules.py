"""The rules of nodes, namespaces, config maps, events and leases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tutti.api import names, quantity
from tutti.api.errors import FieldError, duplicate, forbidden, invalid, required, too_long
from tutti.api.gates import Gates
from tutti.api.pod_rules import taint_effect

Json = dict[str, Any]

_MOST_CONFIG: Final = 1024 * 1024
_SEALED: Final = "field is immutable when `immutable` is set"


def node(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    spec = new.get("spec") or {}
    yield from _taints(spec.get("taints") or [])
    for field in ("capacity", "allocatable"):
        for name, amount in ((new.get("status") or {}).get(field) or {}).items():
            if quantity.parse(amount) < 0:
                said = "must be greater than or equal to 0"
                yield invalid(f"status.{field}.{name}", amount, said)
    if old is None:
        return
    before = old.get("spec") or {}
    if before.get("podCIDRs") and before["podCIDRs"] != spec.get("podCIDRs"):
        said = 'node updates may not change podCIDR except from "" to valid'
        yield forbidden("spec.podCIDRs", said)
    if before.get("providerID") and before["providerID"] != spec.get("providerID"):
        change = "modified" if spec.get("providerID") else "cleared"
        yield invalid("spec.providerID", None, f"field cannot be {change} once set")


def namespace(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    for finalizer in (new.get("spec") or {}).get("finalizers") or ():
        yield from (
            invalid("spec.finalizers", finalizer, problem)
            for problem in names.qualified_name(finalizer)
        )


def config_map(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    if old is not None and old.get("immutable"):
        if not new.get("immutable"):
            yield forbidden("immutable", _SEALED)
        for field in ("data", "binaryData"):
            if (new.get(field) or {}) != (old.get(field) or {}):
                yield forbidden(field, _SEALED)
    data, binary = new.get("data") or {}, new.get("binaryData") or {}
    size = 0
    for field, values in (("data", data), ("binaryData", binary)):
        for key, value in values.items():
            path = f"{field}[{key}]"
            yield from (invalid(path, key, problem) for problem in names.config_key(key))
            if field == "data" and key in binary:
                yield invalid(path, key, "duplicate of key present in binaryData")
            size += len(value.encode()) if field == "data" else len(value) * 3 // 4
    if size > _MOST_CONFIG:
        yield too_long("[]", _MOST_CONFIG)  # the whole object, as Kubernetes prints it


def event(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    """An event in its stored form; what the newer group asks for beyond that is not checked."""
    if old is not None:
        return
    about = (new.get("involvedObject") or {}).get("namespace") or ""
    own = (new.get("metadata") or {}).get("namespace") or ""
    homeless = ("default", "kube-system") if new.get("eventTime") else ("default",)
    if (about != own if about else own not in homeless) and not (new.get("eventTime") and about):
        yield invalid("involvedObject.namespace", about, "does not match event.namespace")
    if new.get("eventTime"):
        reporter = new.get("reportingComponent") or ""
        if not reporter:
            yield required("reportingComponent")
        for problem in names.qualified_name(reporter):
            yield invalid("reportingComponent", reporter, problem)
        for field in ("reportingInstance", "action", "reason"):
            if not new.get(field):
                yield required(field)


def lease(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    spec = new.get("spec") or {}
    duration, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if duration is not None and duration <= 0:
        yield invalid("spec.leaseDurationSeconds", duration, "must be greater than 0")
    if transitions is not None and transitions < 0:
        said = "must be greater than or equal to 0"
        yield invalid("spec.leaseTransitions", transitions, said)


def _taints(taints: list[Json]) -> Iterator[FieldError]:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        # Kubernetes reports them under metadata, though they stand in spec.
        path = f"metadata.taints[{index}]"
        key, value, effect = (taint.get(field) or "" for field in ("key", "value", "effect"))
        yield from (invalid(f"{path}.key", key, problem) for problem in names.qualified_name(key))
        if problems := names.label_value(value):
            yield invalid(f"{path}.value", value, ";".join(problems))
        if not effect:
            yield required(f"{path}.effect")
        else:
            yield from taint_effect(f"{path}.effect", effect)
        if (key, effect) in seen:
            said = "taints must be unique by key and effect pair"
            inner = {
                "Key": key,
                "Value": value,
                "Effect": effect,
                "TimeAdded": taint.get("timeAdded"),
            }
            yield duplicate(path, inner, said)
        seen.add((key, effect))
