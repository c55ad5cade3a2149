"""What the server decides about pods: their first status, their class of service, their generation."""

from typing import Any

from tutti.api import quantity

Object = dict[str, Any]

_COUNTED = ("cpu", "memory")


def created(pod: Object) -> None:
    """A new pod is pending, of generation 1, and says so where gates hold it back."""
    pod["metadata"]["generation"] = 1
    status: Object = {"phase": "Pending"}
    if pod["spec"].get("schedulingGates"):
        status["conditions"] = [
            condition("PodScheduled", "False", pod["metadata"]["creationTimestamp"]) | _GATED
        ]
    status["qosClass"] = quality(pod["spec"])
    pod["status"] = status


def updated(new: Object, old: Object) -> None:
    """Status is kept; a change of the spec is a new generation."""
    new["status"] = old["status"]
    if new["spec"] != old["spec"]:
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def status_updated(new: Object, old: Object) -> None:
    """The spec and what deletes or owns the pod are kept, and so is its class of service."""
    new["spec"] = old["spec"]
    metadata, before = new["metadata"], old["metadata"]
    for field in ("deletionTimestamp", "ownerReferences"):
        metadata.pop(field, None)
        if field in before:
            metadata[field] = before[field]
    status, stood = new.setdefault("status", {}), old.get("status", {})
    for field in ("qosClass", "observedGeneration"):
        if field in stood and not status.get(field):
            status[field] = stood[field]
    for field in ("resourceClaimStatuses", "extendedResourceClaimStatus"):
        if field in stood:
            status.setdefault(field, stood[field])
    _keep_observed(status.get("conditions", ()), stood.get("conditions", ()))


def bound(pod: Object, node: str, carried: Object, now: str) -> None:
    """The pod has its node, what the binding carries for it, and the condition that says so."""
    pod["spec"]["nodeName"] = node
    status = pod.setdefault("status", {})
    status.pop("nominatedNodeName", None)
    for field in ("annotations", "labels"):
        if carried.get(field):
            pod["metadata"][field] = {**pod["metadata"].get(field, {}), **carried[field]}
    _set_condition(status, condition("PodScheduled", "True", now))


def evicted(pod: Object, now: str) -> None:
    """The condition that tells those who count failures that this was none."""
    said = {"reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting"}
    status = pod.setdefault("status", {})
    _set_condition(status, condition("DisruptionTarget", "True", now) | said)


def condition(kind: str, status: str, now: str) -> Object:
    """A condition of a pod without a reason."""
    return {"type": kind, "status": status, "lastProbeTime": None, "lastTransitionTime": now}


def _set_condition(status: Object, new: Object) -> None:
    """One condition of a type; when it last changed its status is kept if it doesn't now."""
    conditions = status.setdefault("conditions", [])
    for position, stood in enumerate(conditions):
        if stood.get("type") == new["type"]:
            if stood.get("status") == new["status"]:
                new["lastTransitionTime"] = stood.get("lastTransitionTime")
            conditions[position] = new
            return
    conditions.append(new)


def is_ready(pod: Object) -> bool:
    """Whether the kubelet says that the pod is ready."""
    conditions = pod.get("status", {}).get("conditions", ())
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def quality(spec: Object) -> str:
    """The class of service that follows from what the containers ask for and are limited to."""
    if spec.get("resources"):
        return _quality_of(spec["resources"])
    containers = (*(spec.get("initContainers") or ()), *(spec.get("containers") or ()))
    classes = {_quality_of(container.get("resources", {})) for container in containers}
    return classes.pop() if len(classes) == 1 else "Burstable" if classes else "BestEffort"


def _quality_of(resources: Object) -> str:
    requests = _amounts(resources.get("requests", {}))
    limits = _amounts(resources.get("limits", {}))
    if not requests and not limits:
        return "BestEffort"
    if len(limits) == len(_COUNTED) and all(
        requests.get(name, limits[name]) == limits[name] for name in _COUNTED
    ):
        return "Guaranteed"
    return "Burstable"


def _amounts(resources: dict[str, str]) -> dict[str, Any]:
    amounts = {name: quantity.parse(resources[name]) for name in _COUNTED if name in resources}
    return {name: amount for name, amount in amounts.items() if amount > 0}


def _keep_observed(new: list[Object], old: list[Object]) -> None:
    observed = {
        condition["type"]: condition.get("observedGeneration") for condition in reversed(old)
    }
    for condition in new:
        kept = observed.get(condition.get("type"))
        if kept and not condition.get("observedGeneration"):
            condition["observedGeneration"] = kept


_GATED: Object = {
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}
