"""What selectors see of an object, read from its stored bytes: labels, and a few fields of each kind."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

Fields = Mapping[str, str]


@lru_cache(maxsize=1024)
def attributes(key: str, value: bytes) -> tuple[dict[str, str], Fields]:
    """Labels and selectable fields of a value of this storage; remembered, since all watchers ask the same of a change."""
    decoder, fields_of = _OF_KIND.get(key, _OF_ANY)
    found = decoder.decode(value)
    metadata = found.metadata
    fields = {
        "metadata.name": metadata.name,
        "metadata.namespace": metadata.namespace,
        **fields_of(found),
    }
    return metadata.labels or {}, fields


class _Metadata(msgspec.Struct, frozen=True, gc=False):
    name: str = ""
    namespace: str = ""
    labels: dict[str, str] | None = None


class _Any(msgspec.Struct, frozen=True, gc=False):
    metadata: _Metadata


class _PodSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    node_name: str = ""
    restart_policy: str = ""
    scheduler_name: str = ""
    service_account_name: str = ""
    host_network: bool = False


class _PodIP(msgspec.Struct, frozen=True, gc=False):
    ip: str = ""


class _PodStatus(msgspec.Struct, frozen=True, gc=False):
    phase: str = ""
    nominated_node_name: str = msgspec.field(default="", name="nominatedNodeName")
    pod_ips: list[_PodIP] = msgspec.field(default_factory=list, name="podIPs")


class _Pod(msgspec.Struct, frozen=True, gc=False):
    metadata: _Metadata
    spec: _PodSpec
    status: _PodStatus


class _NodeSpec(msgspec.Struct, frozen=True, gc=False):
    unschedulable: bool = False


class _Node(msgspec.Struct, frozen=True, gc=False):
    metadata: _Metadata
    spec: _NodeSpec = _NodeSpec()


class _Phase(msgspec.Struct, frozen=True, gc=False):
    phase: str = ""


class _Namespace(msgspec.Struct, frozen=True, gc=False):
    metadata: _Metadata
    status: _Phase = _Phase()


class _JobStatus(msgspec.Struct, frozen=True, gc=False):
    succeeded: int = 0


class _Job(msgspec.Struct, frozen=True, gc=False):
    metadata: _Metadata
    status: _JobStatus = _JobStatus()


class _ServiceSpec(msgspec.Struct, frozen=True, gc=False):
    type: str = ""
    cluster_ip: str = msgspec.field(default="", name="clusterIP")


class _Service(msgspec.Struct, frozen=True, gc=False):
    metadata: _Metadata
    spec: _ServiceSpec = _ServiceSpec()


class _Replicas(msgspec.Struct, frozen=True, gc=False):
    replicas: int = 0


class _Owner(msgspec.Struct, frozen=True, gc=False):
    metadata: _Metadata
    status: _Replicas = _Replicas()


class _Pool(msgspec.Struct, frozen=True, gc=False):
    name: str = ""


class _SliceSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    driver: str = ""
    node_name: str = ""
    pool: _Pool = _Pool()


class _Slice(msgspec.Struct, frozen=True, gc=False):
    metadata: _Metadata
    spec: _SliceSpec = _SliceSpec()


class _Source(msgspec.Struct, frozen=True, gc=False):
    component: str = ""


class _Event(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    metadata: _Metadata
    involved_object: dict[str, str] = msgspec.field(default_factory=dict)
    reason: str = ""
    type: str = ""
    reporting_component: str = ""
    source: _Source = _Source()


def _pod_fields(pod: _Pod) -> dict[str, str]:
    return {
        "spec.nodeName": pod.spec.node_name,
        "spec.restartPolicy": pod.spec.restart_policy,
        "spec.schedulerName": pod.spec.scheduler_name,
        "spec.serviceAccountName": pod.spec.service_account_name,
        "spec.hostNetwork": _said(pod.spec.host_network),
        "status.phase": pod.status.phase,
        "status.podIP": pod.status.pod_ips[0].ip if pod.status.pod_ips else "",
        "status.nominatedNodeName": pod.status.nominated_node_name,
    }


def _node_fields(node: _Node) -> dict[str, str]:
    return {"spec.unschedulable": _said(node.spec.unschedulable)}


def _namespace_fields(namespace: _Namespace) -> dict[str, str]:
    return {"name": namespace.metadata.name, "status.phase": namespace.status.phase}


def _job_fields(job: _Job) -> dict[str, str]:
    return {"status.successful": str(job.status.succeeded)}


def _service_fields(service: _Service) -> dict[str, str]:
    return {"spec.clusterIP": service.spec.cluster_ip, "spec.type": service.spec.type}


def _owner_fields(owner: _Owner) -> dict[str, str]:
    return {"status.replicas": str(owner.status.replicas)}


def _slice_fields(found: _Slice) -> dict[str, str]:
    return {
        "spec.driver": found.spec.driver,
        "spec.nodeName": found.spec.node_name,
        "spec.pool.name": found.spec.pool.name,
    }


def _event_fields(event: _Event) -> dict[str, str]:
    about = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
    return {
        **{f"involvedObject.{field}": event.involved_object.get(field, "") for field in about},
        "reason": event.reason,
        "type": event.type,
        "reportingComponent": event.reporting_component,
        "source": event.source.component or event.reporting_component,
    }


def _said(flag: bool) -> str:
    return "true" if flag else "false"


_Reader = tuple[msgspec.json.Decoder[Any], Callable[[Any], dict[str, str]]]

_OF_KIND: dict[str, _Reader] = {
    "pods": (msgspec.json.Decoder(_Pod), _pod_fields),
    "nodes": (msgspec.json.Decoder(_Node), _node_fields),
    "namespaces": (msgspec.json.Decoder(_Namespace), _namespace_fields),
    "jobs.batch": (msgspec.json.Decoder(_Job), _job_fields),
    "events": (msgspec.json.Decoder(_Event), _event_fields),
    "services": (msgspec.json.Decoder(_Service), _service_fields),
    "resourceslices.resource.k8s.io": (msgspec.json.Decoder(_Slice), _slice_fields),
    "replicationcontrollers": (msgspec.json.Decoder(_Owner), _owner_fields),
}
_OF_ANY: _Reader = (msgspec.json.Decoder(_Any), lambda _: {})
