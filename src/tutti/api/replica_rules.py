"""The rules of those who own alike pods: replication controllers, replica sets, stateful sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tutti.api import pod_rules, selectors
from tutti.api.errors import FieldError, forbidden, invalid, not_supported, required
from tutti.api.gates import Gates

Json = dict[str, Any]


def replication_controller(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    spec = new.get("spec") or {}
    yield from _counts(spec)
    selector = spec.get("selector") or {}
    if not selector:
        yield required("spec.selector")
    if not spec.get("template"):
        yield required("spec.template")
        return
    yield from _template(spec, {"matchLabels": selector}, "ReplicationController")


def replica_set(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    spec = new.get("spec") or {}
    yield from _counts(spec)
    yield from _selected(spec, "deployment", "ReplicaSet")
    if old is not None:
        yield from _immutable(spec, old.get("spec") or {}, "selector")


def stateful_set(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    spec = new.get("spec") or {}
    yield from _counts(spec)
    yield from _selected(spec, "statefulset", "StatefulSet")
    if old is not None:
        before = old.get("spec") or {}
        for field in ("selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy"):
            yield from _immutable(spec, before, field)


def _counts(spec: Json) -> Iterator[FieldError]:
    for field in ("replicas", "minReadySeconds"):
        if (count := spec.get(field) or 0) < 0:
            yield invalid(f"spec.{field}", count, "must be greater than or equal to 0")


def _selected(spec: Json, said: str, kind: str) -> Iterator[FieldError]:
    """There is a selector, it selects something, and its own pods are among that."""
    selector = spec.get("selector")
    if selector is None:
        yield required("spec.selector")
    elif not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield invalid("spec.selector", selector, f"empty selector is invalid for {said}")
    yield from _template(spec, selector, kind)


def _template(spec: Json, selector: Json | None, kind: str) -> Iterator[FieldError]:
    template = spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    asked = selectors.from_label_selector(selector)
    if not asked.everything and not asked.matches(labels):
        said = "`selector` does not match template `labels`"
        yield invalid("spec.template.metadata.labels", labels or None, said)
    yield from pod_rules.template("spec.template", template)
    inside = template.get("spec") or {}
    if inside.get("restartPolicy") != "Always":
        said = inside.get("restartPolicy") or ""
        yield not_supported("spec.template.spec.restartPolicy", said, ("Always",))
    if inside.get("activeDeadlineSeconds") is not None:
        said = f"activeDeadlineSeconds in {kind} is not Supported"
        yield forbidden("spec.template.spec.activeDeadlineSeconds", said)


def _immutable(new: Json, old: Json, field: str) -> Iterator[FieldError]:
    if (new.get(field) or None) != (old.get(field) or None):
        yield invalid(f"spec.{field}", new.get(field), "field is immutable")
