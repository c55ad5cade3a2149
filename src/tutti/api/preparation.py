"""What a server takes out of an object before it is validated: fields whose feature gate is closed.

A new object loses them silently. An update loses them only where the stored object does not use them
already; what is in use is kept, and validation says whether it may change.
"""

from __future__ import annotations

from typing import Any

from tutti.api.gates import (
    COMPOSITE_POD_GROUP,
    GENERIC_WORKLOAD,
    PREEMPTION_POLICY,
    RESOURCE_CLAIMS,
    TOPOLOGY,
    WORKLOAD_WITH_JOB,
    Gates,
)
from tutti.api.registry import (
    COMPOSITE_POD_GROUPS,
    CRONJOBS,
    JOBS,
    POD_GROUPS,
    PODS,
    WORKLOADS,
    Storage,
)

Json = dict[str, Any]

_TEMPLATE_GATES = {
    "schedulingConstraints": TOPOLOGY,
    "resourceClaims": RESOURCE_CLAIMS,
    "preemptionPolicy": PREEMPTION_POLICY,
}
_COMPOSITE_GATES = {"preemptionPolicy": PREEMPTION_POLICY}
_SPEC_GATES: dict[str, dict[str, str]] = {
    PODS.key: {"schedulingGroup": GENERIC_WORKLOAD},
    POD_GROUPS.key: {**_TEMPLATE_GATES, "parentCompositePodGroupName": COMPOSITE_POD_GROUP},
    COMPOSITE_POD_GROUPS.key: _COMPOSITE_GATES,
    WORKLOADS.key: {"compositePodGroupTemplates": COMPOSITE_POD_GROUP},
}


def prepare(storage: Storage, new: Json, old: Json | None, gates: Gates) -> None:
    """Takes the fields of closed gates out of the object, in place."""
    spec, before = new.get("spec") or {}, (old or {}).get("spec") or {}
    if storage is JOBS:
        _drop_in_job(spec, before, gates)
    elif storage is CRONJOBS:
        inner, earlier = (
            (one.get("jobTemplate") or {}).get("spec") or {} for one in (spec, before)
        )
        _drop_in_job(inner, earlier, gates)
    closed = _SPEC_GATES.get(storage.key)
    if closed is None:
        return
    _drop(spec, before, closed, gates)
    if storage is WORKLOADS:
        _drop_in_templates(spec, before, gates)
    if storage is POD_GROUPS and not gates.on(RESOURCE_CLAIMS) and not before.get("resourceClaims"):
        (new.get("status") or {}).pop("resourceClaimStatuses", None)


def _drop_in_job(spec: Json, before: Json, gates: Gates) -> None:
    _drop(spec, before, {"scheduling": WORKLOAD_WITH_JOB}, gates)
    pod, earlier = ((one.get("template") or {}).get("spec") or {} for one in (spec, before))
    _drop(pod, earlier, _SPEC_GATES[PODS.key], gates)


def _drop(obj: Json, before: Json, closed: dict[str, str], gates: Gates) -> None:
    for field, gate in closed.items():
        if not gates.on(gate) and before.get(field) in (None, []):
            obj.pop(field, None)


def _drop_in_templates(spec: Json, before: Json, gates: Gates) -> None:
    """Leaves at the root are told apart by their place, as in Kubernetes; all others by name."""
    earlier = before.get("podGroupTemplates") or []
    for index, leaf in enumerate(spec.get("podGroupTemplates") or ()):
        _drop(leaf, earlier[index] if index < len(earlier) else {}, _TEMPLATE_GATES, gates)
    _drop_in_composites(spec, before, gates)


def _drop_in_composites(parent: Json, before: Json, gates: Gates) -> None:
    earlier = _by_name(before.get("compositePodGroupTemplates"))
    for composite in parent.get("compositePodGroupTemplates") or ():
        was = earlier.get(composite.get("name"), {})
        _drop(composite, was, _COMPOSITE_GATES, gates)
        leaves = _by_name(was.get("podGroupTemplates"))
        for leaf in composite.get("podGroupTemplates") or ():
            _drop(leaf, leaves.get(leaf.get("name"), {}), _TEMPLATE_GATES, gates)
        _drop_in_composites(composite, was, gates)


def _by_name(templates: list[Json] | None) -> dict[Any, Json]:
    return {template.get("name"): template for template in templates or ()}
