"""The columns of services, and of those who own alike pods."""

from datetime import datetime

from tutti.server.batch_printers import containers, selector
from tutti.server.columns import AGE, NAME, NONE, Cells, Column, Object, Printer, age, wide


def _service(service: Object, now: datetime) -> Cells:
    spec = service.get("spec", {})
    addresses = spec.get("clusterIPs") or [NONE]
    return [
        service["metadata"]["name"],
        spec.get("type", ""),
        addresses[0],
        _external(service),
        ",".join(_port(port) for port in spec.get("ports") or ()) or NONE,
        age(service, now),
        _labels(spec.get("selector")),
    ]


def _external(service: Object) -> str:
    spec = service.get("spec", {})
    given = list(spec.get("externalIPs") or ())
    match spec.get("type"):
        case "ExternalName":
            name: str = spec.get("externalName", "")
            return name
        case "LoadBalancer":
            entries = service.get("status", {}).get("loadBalancer", {}).get("ingress") or ()
            found = sorted({one.get("ip") or one.get("hostname") or "" for one in entries})
            return ",".join([*found, *given]) or "<pending>"
        case _:
            return ",".join(given) or NONE


def _port(port: Object) -> str:
    outside = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port['port']}{outside}/{port.get('protocol', 'TCP')}"


def _replicas(owner: Object, now: datetime) -> Cells:
    """For replica sets, and for controllers, whose selector is a plain map."""
    spec, status = owner["spec"], owner.get("status", {})
    asked = spec.get("selector")
    is_plain = asked is not None and not {"matchLabels", "matchExpressions"} & set(asked)
    return [
        owner["metadata"]["name"],
        spec.get("replicas", 0),
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        age(owner, now),
        *containers((spec.get("template") or {}).get("spec", {})),
        _labels(asked) if is_plain else selector(asked),
    ]


def _stateful_set(owner: Object, now: datetime) -> Cells:
    spec, status = owner["spec"], owner.get("status", {})
    return [
        owner["metadata"]["name"],
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        age(owner, now),
        *containers(spec["template"]["spec"]),
    ]


def _labels(found: dict[str, str] | None) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted((found or {}).items())) or NONE


_OWNER = Printer(
    (
        NAME,
        Column("Desired", "integer"),
        Column("Current", "integer"),
        Column("Ready", "integer"),
        AGE,
        wide("Containers"),
        wide("Images"),
        wide("Selector"),
    ),
    _replicas,
)

PRINTERS = {
    "services": Printer(
        (
            NAME,
            Column("Type"),
            Column("Cluster-IP"),
            Column("External-IP"),
            Column("Port(s)"),
            AGE,
            wide("Selector"),
        ),
        _service,
    ),
    "replicationcontrollers": _OWNER,
    "replicasets.apps": _OWNER,
    "statefulsets.apps": Printer(
        (NAME, Column("Ready"), AGE, wide("Containers"), wide("Images")), _stateful_set
    ),
}
