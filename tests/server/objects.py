"""Objects that the tests make, as short as they may be."""

from typing import Any

Object = dict[str, Any]

NAMESPACES = "/api/v1/namespaces"
NODES = "/api/v1/nodes"
HERE = "/api/v1/namespaces/default"
PODS = f"{HERE}/pods"
MAPS = f"{HERE}/configmaps"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"


def named(name: str, **fields: Any) -> Object:
    return {"metadata": {"name": name}, **fields}


def pod(name: str, labels: dict[str, str] | None = None, **spec: Any) -> Object:
    container = {"name": "main", "image": "registry.example/main:1"}
    metadata: Object = {"name": name, **({"labels": labels} if labels else {})}
    return {"metadata": metadata, "spec": {"containers": [container], **spec}}


def group(name: str, count: int = 2, **spec: Any) -> Object:
    policy = {"gang": {"minCount": count}}
    return {"metadata": {"name": name}, "spec": {"schedulingPolicy": policy, **spec}}


def binding(name: str, node: str, **metadata: Any) -> Object:
    return {"metadata": {"name": name, **metadata}, "target": {"kind": "Node", "name": node}}
