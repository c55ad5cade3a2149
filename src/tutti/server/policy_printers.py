"""The columns of disruption budgets, and of devices and claims on them."""

from datetime import datetime

from tutti.server import ages
from tutti.server.columns import AGE, NAME, Cells, Column, Object, Printer, age


def _budget(budget: Object, now: datetime) -> Cells:
    spec, status = budget.get("spec", {}), budget.get("status", {})
    return [
        budget["metadata"]["name"],
        str(spec.get("minAvailable", "N/A")),
        str(spec.get("maxUnavailable", "N/A")),
        status.get("disruptionsAllowed", 0),
        age(budget, now),
    ]


def _claim(claim: Object, now: datetime) -> Cells:
    status = claim.get("status", {})
    is_going = bool(claim["metadata"].get("deletionTimestamp"))
    states = ["deleted"] if is_going else []
    if status.get("allocation") is not None:
        states.append("allocated")
        states += ["reserved"] if status.get("reservedFor") else []
    elif not is_going:
        states.append("pending")
    return [claim["metadata"]["name"], ",".join(states), age(claim, now)]


def _slice(found: Object, now: datetime) -> Cells:
    spec = found.get("spec", {})
    return [
        found["metadata"]["name"],
        spec.get("nodeName", ""),
        spec.get("driver", ""),
        spec.get("pool", {}).get("name", ""),
        age(found, now),
    ]


def _taint(rule: Object, now: datetime) -> Cells:
    taint = rule.get("spec", {}).get("taint", {})
    added = taint.get("timeAdded")
    return [
        rule["metadata"]["name"],
        taint.get("key", ""),
        taint.get("value", ""),
        taint.get("effect", ""),
        ages.since(added, now) if added else "",
        age(rule, now),
    ]


PRINTERS = {
    "poddisruptionbudgets.policy": Printer(
        (
            NAME,
            Column("Min Available"),
            Column("Max Unavailable"),
            Column("Allowed Disruptions", "integer"),
            AGE,
        ),
        _budget,
    ),
    "resourceclaims.resource.k8s.io": Printer((NAME, Column("State"), AGE), _claim),
    "resourceslices.resource.k8s.io": Printer(
        (NAME, Column("Node"), Column("Driver"), Column("Pool"), AGE), _slice
    ),
    "devicetaintrules.resource.k8s.io": Printer(
        (NAME, Column("Key"), Column("Value"), Column("Effect"), Column("TimeAdded"), AGE), _taint
    ),
}
