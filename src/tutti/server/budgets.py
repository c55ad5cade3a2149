"""Evictions honour disruption budgets: each takes one from what the budget's status allows.

The status is kept by a disruption controller; where none runs, a budget that was never looked at allows
nothing, as on a real server.
"""

from dataclasses import replace
from typing import Any

from tutti.api import registry, selectors
from tutti.api.errors import ApiError, Conflict, Forbidden, TooManyRequests
from tutti.server import ages, pods, stored
from tutti.server.context import Context
from tutti.server.routes import Target
from tutti.store import Row

Object = dict[str, Any]

_TRIES = 5
_MOST_UNCONFIRMED = 2000
_CAUSE = "DisruptionBudget"
_REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
_RETRY_AFTER_S = 10


async def spend(context: Context, target: Target, pod: Object, *, dry_run: bool) -> None:
    """Take one disruption from the pod's budget, if it has one; raises where none is left."""
    if _ends_anyway(pod):
        return
    for attempt in range(1, _TRIES + 1):
        row = await _budget_of(context, target, pod)
        if row is None:
            return
        budget = stored.read(row.value, row.revision)
        if _is_no_loss(pod, budget):
            return
        _decrement(budget, pod["metadata"]["name"], ages.stamp(context.now()))
        place = replace(target, **_PLACE, name=row.name, subresource="status")
        try:
            await context.objects.replace(place, row, budget, dry_run=dry_run)
        except Conflict:
            if attempt == _TRIES:
                raise
            continue
        return


def _ends_anyway(pod: Object) -> bool:
    """Pods that don't run, or are being deleted, are in nobody's budget."""
    phase = pod.get("status", {}).get("phase")
    return phase in ("Succeeded", "Failed", "Pending") or bool(
        pod["metadata"].get("deletionTimestamp")
    )


async def _budget_of(context: Context, target: Target, pod: Object) -> Row | None:
    """The one budget that selects the pod; several are more than an eviction can heed."""
    labels = pod["metadata"].get("labels")
    page = await context.objects.store.list(registry.BUDGETS.key, target.namespace)
    found = [row for row in page.rows if _selector(row).matches(labels)]
    if len(found) > 1:
        raise ApiError(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
            "not support."
        )
    return found[0] if found else None


def _selector(row: Row) -> selectors.LabelSelector:
    spec = stored.read(row.value, row.revision).get("spec", {})
    return selectors.from_label_selector(spec.get("selector"))


def _is_no_loss(pod: Object, budget: Object) -> bool:
    """A pod that isn't ready counts for nothing, where the others are enough."""
    if pods.is_ready(pod):
        return False
    if budget.get("spec", {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status", {})
    desired = status.get("desiredHealthy", 0)
    return 0 < desired <= status.get("currentHealthy", 0)


def _decrement(budget: Object, pod: str, now: str) -> None:
    metadata, status = budget["metadata"], budget.setdefault("status", {})
    name = metadata["name"]
    if status.get("observedGeneration", 0) < metadata.get("generation", 0):
        said = f"The disruption budget {name} is still being processed by the server."
        raise _too_many(said, _RETRY_AFTER_S)
    allowed = status.get("disruptionsAllowed", 0)
    if allowed < 0:
        why = "pdb disruptions allowed is negative"
        raise _forbidden(name, why, why)
    unconfirmed = status.setdefault("disruptedPods", {})
    if len(unconfirmed) > _MOST_UNCONFIRMED:
        raise _forbidden(
            name,
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
            "too many pending evictions not confirmed by PDB controller",
        )
    if allowed == 0:
        raise _too_many(_why_nothing_is_left(name, status), 0)
    status["disruptionsAllowed"] = allowed - 1
    unconfirmed[pod] = now
    if allowed == 1:
        _say_used_up(status, now)


def _why_nothing_is_left(name: str, status: Object) -> str:
    conditions = status.get("conditions", ())
    none: Object = {}
    found = next((one for one in conditions if one["type"] == "DisruptionAllowed"), none)
    said = found.get("message") if found.get("status") == "False" else None
    begin = f"The disruption budget {name} does not allow evicting pods currently"
    desired, current = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    if said and found.get("reason") == "SyncFailed":
        return f"{begin} because it failed sync: {said}"
    if current <= desired:
        return (
            f"The disruption budget {name} needs {desired} healthy pods and has {current} currently"
        )
    return f"{begin} ({found.get('reason')}): {said}" if said else begin


def _say_used_up(status: Object, now: str) -> None:
    condition = {
        "type": "DisruptionAllowed",
        "status": "False",
        "observedGeneration": status.get("observedGeneration", 0),
        "lastTransitionTime": now,
        "reason": "InsufficientPods",
        "message": "",
    }
    others = [one for one in status.get("conditions", ()) if one["type"] != condition["type"]]
    status["conditions"] = [*others, condition]


def _too_many(cause: str, retry_after: int) -> TooManyRequests:
    details: Object = {"causes": [{"reason": _CAUSE, "message": cause}]}
    if retry_after:
        details["retryAfterSeconds"] = retry_after
    return TooManyRequests(_REFUSED, details)


def _forbidden(name: str, why: str, cause: str) -> Forbidden:
    refusal = Forbidden.of("poddisruptionbudget.policy", name, why)
    said = f"The disruption budget {name} does not allow evicting pods currently: {cause}"
    refusal.details["causes"] = [{"reason": _CAUSE, "message": said}]
    return refusal


_PLACE: dict[str, Any] = {"storage": registry.BUDGETS, "group": "policy", "version": "v1"}
