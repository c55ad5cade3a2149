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


def _job(job: Object, now: datetime) -> Cells:
    spec, status = job["spec"], job.get("status", {})
    succeeded, wanted = status.get("succeeded", 0), spec.get("completions")
    completions = f"{succeeded}/{1 if wanted is None else wanted}"
    if wanted is None and spec.get("parallelism", 0) > 1:
        completions += f" of {spec['parallelism']}"
    return [
        job["metadata"]["name"],
        _job_state(job),
        completions,
        _job_duration(status, now),
        _age(job, now),
        *_containers(spec["template"]["spec"]),
        _selector(spec.get("selector")),
    ]


def _job_state(job: Object) -> str:
    """The first of these conditions that is true; being deleted counts between them."""
    conditions = job.get("status", {}).get("conditions", ())
    true = {one["type"] for one in conditions if one["status"] == "True"}
    if "deletionTimestamp" in job["metadata"]:
        true.add("Terminating")
    states = (
        "Complete",
        "Failed",
        "Terminating",
        "Suspended",
        "FailureTarget",
        "SuccessCriteriaMet",
    )
    return next((state for state in states if state in true), "Running")


def _job_duration(status: Object, now: datetime) -> str:
    if not status.get("startTime"):
        return ""
    end = status.get("completionTime")
    return ages.since(status["startTime"], ages.parse(end) if end else now)


def _cron_job(cron: Object, now: datetime) -> Cells:
    spec, status = cron["spec"], cron.get("status", {})
    last = status.get("lastScheduleTime")
    return [
        cron["metadata"]["name"],
        spec["schedule"],
        spec.get("timeZone", NONE),
        "True" if spec.get("suspend") else "False",
        len(status.get("active", ())),
        ages.since(last, now) if last else NONE,
        _age(cron, now),
        *_containers(spec["jobTemplate"]["spec"]["template"]["spec"]),
        _selector(spec["jobTemplate"]["spec"].get("selector")),
    ]


def _containers(spec: Object) -> Cells:
    """The names and the images of the containers, each in one cell."""
    containers = spec.get("containers") or ()
    return [",".join(one.get(field, "") for one in containers) for field in ("name", "image")]


def _selector(selector: Object | None) -> str:
    """A label selector as people write it on a command line."""
    if not selector:
        return NONE
    terms = [f"{key}={value}" for key, value in sorted(selector.get("matchLabels", {}).items())]
    for asked in selector.get("matchExpressions", ()):
        key, values = asked["key"], ",".join(sorted(asked.get("values", ())))
        match asked["operator"]:
            case "In":
                terms.append(f"{key} in ({values})")
            case "NotIn":
                terms.append(f"{key} notin ({values})")
            case "Exists":
                terms.append(key)
            case _:
                terms.append(f"!{key}")
    return ",".join(terms) or NONE


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
    "jobs.batch": Printer(
        (
            _NAME,
            Column("Status"),
            Column("Completions"),
            Column("Duration"),
            _AGE,
            _wide("Containers"),
            _wide("Images"),
            _wide("Selector"),
        ),
        _job,
    ),
    "cronjobs.batch": Printer(
        (
            _NAME,
            Column("Schedule"),
            Column("Timezone"),
            Column("Suspend", "boolean"),
            Column("Active", "integer"),
            Column("Last Schedule"),
            _AGE,
            _wide("Containers"),
            _wide("Images"),
            _wide("Selector"),
        ),
        _cron_job,
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
