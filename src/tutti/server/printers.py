"""The columns of each kind as `kubectl get` shows them, and what stands in them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tutti.server import ages, pod_status

Object = dict[str, Any]
Cells = list[Any]

NONE = "<none>"


@dataclass(frozen=True, slots=True)
class Column:
    """One column; a priority of 1 shows it with `-o wide` only."""

    name: str
    type: str = "string"
    format: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Printer:
    """The columns of a kind, and the cells of one object at a moment."""

    columns: tuple[Column, ...]
    cells: Callable[[Object, datetime], Cells]


def of(key: str) -> Printer:
    """The printer of a storage."""
    return _PRINTERS.get(key, _PLAIN)


def _name_and_age(found: Object, now: datetime) -> Cells:
    return [found["metadata"]["name"], _age(found, now)]


def _pod(pod: Object, now: datetime) -> Cells:
    spec, status = pod["spec"], pod.get("status", {})
    shown = pod_status.summary(pod, now)
    addresses = status.get("podIPs") or [{}]
    return [
        pod["metadata"]["name"],
        f"{shown.ready}/{shown.containers}",
        shown.reason,
        shown.restarts,
        _age(pod, now),
        addresses[0].get("ip") or NONE,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        pod_status.readiness_gates(pod) or NONE,
    ]


def _node(node: Object, now: datetime) -> Cells:
    status = node.get("status", {})
    info = status.get("nodeInfo", {})
    kernel = info.get("kernelVersion") or ages.UNKNOWN
    if info.get("architecture"):
        kernel += f" ({info['architecture']})"
    return [
        node["metadata"]["name"],
        _node_status(node),
        ",".join(_roles(node)) or NONE,
        _age(node, now),
        info.get("kubeletVersion", ""),
        _address(status, "InternalIP"),
        _address(status, "ExternalIP"),
        info.get("osImage") or ages.UNKNOWN,
        kernel,
        info.get("containerRuntimeVersion") or ages.UNKNOWN,
    ]


def _node_status(node: Object) -> str:
    ready = next(
        (one for one in node.get("status", {}).get("conditions", ()) if one["type"] == "Ready"),
        None,
    )
    said = "Unknown" if ready is None else "Ready" if ready["status"] == "True" else "NotReady"
    return f"{said},SchedulingDisabled" if node.get("spec", {}).get("unschedulable") else said


def _roles(node: Object) -> Iterable[str]:
    prefix = "node-role.kubernetes.io/"
    roles = set()
    for label, value in node["metadata"].get("labels", {}).items():
        if label.startswith(prefix) and label != prefix:
            roles.add(label.removeprefix(prefix))
        elif label == "kubernetes.io/role" and value:
            roles.add(value)
    return sorted(roles)


def _address(status: Object, kind: str) -> str:
    addresses = status.get("addresses", ())
    return next((one["address"] for one in addresses if one["type"] == kind), NONE)


def _namespace(namespace: Object, now: datetime) -> Cells:
    phase = namespace.get("status", {}).get("phase", "")
    return [namespace["metadata"]["name"], phase, _age(namespace, now)]


def _config_map(config: Object, now: datetime) -> Cells:
    entries = len(config.get("data") or ()) + len(config.get("binaryData") or ())
    return [config["metadata"]["name"], entries, _age(config, now)]


def _event(event: Object, now: datetime) -> Cells:
    first = ages.since(event.get("firstTimestamp") or event.get("eventTime"), now)
    last = ages.since(event["lastTimestamp"], now) if event.get("lastTimestamp") else first
    count = event.get("count") or 1
    if series := event.get("series"):
        last = ages.since(series.get("lastObservedTime"), now)
        count = series.get("count", 0)
    about = event.get("involvedObject", {})
    target = about.get("kind", "").lower()
    if about.get("name"):
        target += f"/{about['name']}"
    return [
        last,
        event.get("type", ""),
        event.get("reason", ""),
        target,
        about.get("fieldPath", ""),
        _event_source(event),
        event.get("message", "").strip(),
        first,
        count,
        event["metadata"]["name"],
    ]


def _event_source(event: Object) -> str:
    source = event.get("source", {})
    component = source.get("component") or event.get("reportingComponent", "")
    instance = source.get("host") or event.get("reportingInstance", "")
    return f"{component}, {instance}" if instance else component


def _lease(lease: Object, now: datetime) -> Cells:
    holder = lease.get("spec", {}).get("holderIdentity", "")
    return [lease["metadata"]["name"], holder, _age(lease, now)]


def _priority_class(priority: Object, now: datetime) -> Cells:
    return [
        priority["metadata"]["name"],
        priority.get("value", 0),
        priority.get("globalDefault", False),
        _age(priority, now),
        priority.get("preemptionPolicy", ""),
    ]


def _pod_group(group: Object, now: datetime) -> Cells:
    conditions = {one["type"]: one for one in group.get("status", {}).get("conditions", ())}
    status = "Pending"
    if scheduled := conditions.get("PodGroupInitiallyScheduled"):
        status = "Scheduled" if scheduled["status"] == "True" else "Unschedulable"
    if disrupted := conditions.get("DisruptionTarget"):
        status = disrupted.get("reason", "")
    return [*_policy_and_workload(group), status, _age(group, now)]


def _composite(group: Object, now: datetime) -> Cells:
    return [*_policy_and_workload(group), _age(group, now)]


def _policy_and_workload(group: Object) -> Cells:
    spec = group.get("spec", {})
    policy = "Gang" if "gang" in spec.get("schedulingPolicy", {}) else "Basic"
    workload = (spec.get("workloadRef") or {}).get("workloadName", NONE)
    return [group["metadata"]["name"], policy, workload]


def _age(found: Object, now: datetime) -> str:
    return ages.since(found["metadata"].get("creationTimestamp"), now)


_NAME = Column("Name", format="name")
_AGE = Column("Age")


def _wide(name: str, format: str = "") -> Column:
    return Column(name, format=format, priority=1)


_PLAIN = Printer((_NAME, _AGE), _name_and_age)
_PRINTERS = {
    "pods": Printer(
        (
            _NAME,
            Column("Ready"),
            Column("Status"),
            Column("Restarts"),
            _AGE,
            _wide("IP"),
            _wide("Node"),
            _wide("Nominated Node"),
            _wide("Readiness Gates"),
        ),
        _pod,
    ),
    "nodes": Printer(
        (
            _NAME,
            Column("Status"),
            Column("Roles"),
            _AGE,
            Column("Version"),
            _wide("Internal-IP"),
            _wide("External-IP"),
            _wide("OS-Image"),
            _wide("Kernel-Version"),
            _wide("Container-Runtime"),
        ),
        _node,
    ),
    "namespaces": Printer((_NAME, Column("Status"), _AGE), _namespace),
    "configmaps": Printer((_NAME, Column("Data"), _AGE), _config_map),
    "events": Printer(
        (
            Column("Last Seen"),
            Column("Type"),
            Column("Reason"),
            Column("Object"),
            _wide("Subobject"),
            _wide("Source"),
            Column("Message"),
            _wide("First Seen"),
            _wide("Count"),
            _wide("Name", format="name"),
        ),
        _event,
    ),
    "leases.coordination.k8s.io": Printer((_NAME, Column("Holder"), _AGE), _lease),
    "priorityclasses.scheduling.k8s.io": Printer(
        (
            _NAME,
            Column("Value", "integer"),
            Column("Global-Default", "boolean"),
            _AGE,
            Column("PreemptionPolicy"),
        ),
        _priority_class,
    ),
    "podgroups.scheduling.k8s.io": Printer(
        (_NAME, Column("Policy"), Column("Workload"), Column("Status"), _AGE), _pod_group
    ),
    "compositepodgroups.scheduling.k8s.io": Printer(
        (_NAME, Column("Policy"), Column("Workload"), _AGE), _composite
    ),
}
