"""The columns of pods, nodes, namespaces, config maps, events and leases."""

from collections.abc import Iterable
from datetime import datetime

from tutti.server import ages, pod_status
from tutti.server.columns import AGE, NAME, NONE, Cells, Column, Object, Printer, age, wide


def _pod(pod: Object, now: datetime) -> Cells:
    spec, status = pod["spec"], pod.get("status", {})
    shown = pod_status.summary(pod, now)
    addresses = status.get("podIPs") or [{}]
    return [
        pod["metadata"]["name"],
        f"{shown.ready}/{shown.containers}",
        shown.reason,
        shown.restarts,
        age(pod, now),
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
        age(node, now),
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
    return [namespace["metadata"]["name"], phase, age(namespace, now)]


def _config_map(config: Object, now: datetime) -> Cells:
    entries = len(config.get("data") or ()) + len(config.get("binaryData") or ())
    return [config["metadata"]["name"], entries, age(config, now)]


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
    return [lease["metadata"]["name"], holder, age(lease, now)]


PRINTERS = {
    "pods": Printer(
        (
            NAME,
            Column("Ready"),
            Column("Status"),
            Column("Restarts"),
            AGE,
            wide("IP"),
            wide("Node"),
            wide("Nominated Node"),
            wide("Readiness Gates"),
        ),
        _pod,
    ),
    "nodes": Printer(
        (
            NAME,
            Column("Status"),
            Column("Roles"),
            AGE,
            Column("Version"),
            wide("Internal-IP"),
            wide("External-IP"),
            wide("OS-Image"),
            wide("Kernel-Version"),
            wide("Container-Runtime"),
        ),
        _node,
    ),
    "namespaces": Printer((NAME, Column("Status"), AGE), _namespace),
    "configmaps": Printer((NAME, Column("Data"), AGE), _config_map),
    "events": Printer(
        (
            Column("Last Seen"),
            Column("Type"),
            Column("Reason"),
            Column("Object"),
            wide("Subobject"),
            wide("Source"),
            Column("Message"),
            wide("First Seen"),
            wide("Count"),
            wide("Name", format="name"),
        ),
        _event,
    ),
    "leases.coordination.k8s.io": Printer((NAME, Column("Holder"), AGE), _lease),
}
