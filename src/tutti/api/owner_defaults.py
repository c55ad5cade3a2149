"""Defaults of services, of those who own alike pods, and of volumes and their like."""

from __future__ import annotations

from typing import Any

from tutti.api.registry import (
    CLAIMS,
    CSI_DRIVERS,
    DEVICE_CLAIM_TEMPLATES,
    DEVICE_CLAIMS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    SERVICES,
    STATEFUL_SETS,
    STORAGE_CLASSES,
    VOLUMES,
)

Json = dict[str, Any]

_DRIVER = {
    "attachRequired": True,
    "podInfoOnMount": False,
    "storageCapacity": False,
    "fsGroupPolicy": "ReadWriteOnceWithFSType",
    "requiresRepublish": False,
    "seLinuxMount": False,
    "preventPodSchedulingIfMissing": False,
}
_SEEN_FROM_OUTSIDE = ("NodePort", "LoadBalancer")
_ROUTED = ("ClusterIP", *_SEEN_FROM_OUTSIDE)


def apply(key: str, obj: Json) -> None:
    """Fills in the defaults of these kinds; nothing for others."""
    match key:
        case SERVICES.key:
            _service(obj.setdefault("spec", {}))
        case REPLICATION_CONTROLLERS.key:
            _replication_controller(obj)
        case REPLICA_SETS.key:
            _set(obj.setdefault("spec", {}), "replicas", 1)
        case STATEFUL_SETS.key:
            _stateful_set(obj.setdefault("spec", {}))
        case STORAGE_CLASSES.key:
            _set(obj, "reclaimPolicy", "Delete")
            _set(obj, "volumeBindingMode", "Immediate")
        case VOLUMES.key:
            spec = obj.setdefault("spec", {})
            _set(spec, "persistentVolumeReclaimPolicy", "Retain")
            _set(spec, "volumeMode", "Filesystem")
        case CLAIMS.key:
            _set(obj.setdefault("spec", {}), "volumeMode", "Filesystem")
        case DEVICE_CLAIMS.key:
            _device_requests(obj.get("spec", {}))
        case DEVICE_CLAIM_TEMPLATES.key:
            _device_requests(obj.get("spec", {}).get("spec", {}))
        case CSI_DRIVERS.key:
            spec = obj.setdefault("spec", {})
            for field, value in _DRIVER.items():
                _set(spec, field, value)
            if not spec.get("volumeLifecycleModes"):
                spec["volumeLifecycleModes"] = ["Persistent"]


def _service(spec: Json) -> None:
    _set(spec, "sessionAffinity", "None")
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    else:
        config = spec.setdefault("sessionAffinityConfig", {}).setdefault("clientIP", {})
        _set(config, "timeoutSeconds", 10800)
    _set(spec, "type", "ClusterIP")
    for port in spec.get("ports") or ():
        _set(port, "protocol", "TCP")
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port", 0)
    if spec["type"] in _SEEN_FROM_OUTSIDE:
        _set(spec, "externalTrafficPolicy", "Cluster")
    if spec["type"] in _ROUTED:
        _set(spec, "internalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        _set(spec, "allocateLoadBalancerNodePorts", True)


def _replication_controller(controller: Json) -> None:
    spec = controller.setdefault("spec", {})
    _set(spec, "replicas", 1)
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if labels:
        if not spec.get("selector"):
            spec["selector"] = dict(labels)
        if not controller["metadata"].get("labels"):
            controller["metadata"]["labels"] = dict(labels)


def _stateful_set(spec: Json) -> None:
    _set(spec, "podManagementPolicy", "OrderedReady")
    strategy = spec.setdefault("updateStrategy", {})
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == "RollingUpdate" and strategy.get("rollingUpdate") is not None:
        _set(strategy["rollingUpdate"], "partition", 0)
        _set(strategy["rollingUpdate"], "maxUnavailable", 1)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    for moment in ("whenDeleted", "whenScaled"):
        if not retention.get(moment):
            retention[moment] = "Retain"
    _set(spec, "replicas", 1)
    _set(spec, "revisionHistoryLimit", 10)
    for claim in spec.get("volumeClaimTemplates") or ():
        _set(claim.setdefault("spec", {}), "volumeMode", "Filesystem")
        claim.setdefault("status", {}).setdefault("phase", "Pending")
        claim.setdefault("kind", "PersistentVolumeClaim")
        claim.setdefault("apiVersion", "v1")


def _device_requests(spec: Json) -> None:
    """One device where no number is asked for."""
    for request in spec.get("devices", {}).get("requests") or ():
        exact = request.get("exactly")
        for asked in (*(() if exact is None else (exact,)), *(request.get("firstAvailable") or ())):
            _set(asked, "allocationMode", "ExactCount")
            if asked["allocationMode"] == "ExactCount" and not asked.get("count"):
                asked["count"] = 1


def _set(obj: Json, name: str, value: Any) -> None:
    if obj.get(name) is None:
        obj[name] = value
