"""The columns of priority classes and groups."""

from datetime import datetime

from tutti.server.columns import AGE, NAME, NONE, Cells, Column, Object, Printer, age


def _priority_class(priority: Object, now: datetime) -> Cells:
    return [
        priority["metadata"]["name"],
        priority.get("value", 0),
        priority.get("globalDefault", False),
        age(priority, now),
        priority.get("preemptionPolicy", ""),
    ]


def _pod_group(group: Object, now: datetime) -> Cells:
    conditions = {one["type"]: one for one in group.get("status", {}).get("conditions", ())}
    status = "Pending"
    if scheduled := conditions.get("PodGroupInitiallyScheduled"):
        status = "Scheduled" if scheduled["status"] == "True" else "Unschedulable"
    if disrupted := conditions.get("DisruptionTarget"):
        status = disrupted.get("reason", "")
    return [*_policy_and_workload(group), status, age(group, now)]


def _composite(group: Object, now: datetime) -> Cells:
    return [*_policy_and_workload(group), age(group, now)]


def _policy_and_workload(group: Object) -> Cells:
    spec = group.get("spec", {})
    policy = "Gang" if "gang" in spec.get("schedulingPolicy", {}) else "Basic"
    workload = (spec.get("workloadRef") or {}).get("workloadName", NONE)
    return [group["metadata"]["name"], policy, workload]


PRINTERS = {
    "priorityclasses.scheduling.k8s.io": Printer(
        (
            NAME,
            Column("Value", "integer"),
            Column("Global-Default", "boolean"),
            AGE,
            Column("PreemptionPolicy"),
        ),
        _priority_class,
    ),
    "podgroups.scheduling.k8s.io": Printer(
        (NAME, Column("Policy"), Column("Workload"), Column("Status"), AGE), _pod_group
    ),
    "compositepodgroups.scheduling.k8s.io": Printer(
        (NAME, Column("Policy"), Column("Workload"), AGE), _composite
    ),
}
