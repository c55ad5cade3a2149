"""What a server fills in where an object says nothing.

Applied in place to an object that its schema has been checked; doing it twice changes nothing. What
depends on other objects (priorities, namespaces' labels, tolerations) is admission's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from tutti.api import owner_defaults
from tutti.api.gates import ALL_OPEN, PREEMPTION_POLICY, Gates
from tutti.api.registry import (
    COMPOSITE_POD_GROUPS,
    CRONJOBS,
    JOBS,
    NAMESPACES,
    NODES,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
    VOLUMES,
    Storage,
)

Json = dict[str, Any]

NAME_LABEL: Final = "kubernetes.io/metadata.name"
_FILE_MODE: Final = 0o644
_MOST: Final = 2**31 - 1
_PROBE: Final = {
    "timeoutSeconds": 1,
    "periodSeconds": 10,
    "successThreshold": 1,
    "failureThreshold": 3,
}


def apply(storage: Storage, version: str, obj: Json, gates: Gates = ALL_OPEN) -> None:
    """Fills in the defaults of this kind."""
    match storage.key:
        case PODS.key:
            _pod(obj.setdefault("spec", {}))
        case NODES.key:
            _node(obj)
        case NAMESPACES.key:
            if name := obj["metadata"].get("name"):
                obj["metadata"].setdefault("labels", {}).setdefault(NAME_LABEL, name)
        case JOBS.key:
            _job(obj)
        case CRONJOBS.key:
            _cron_job(obj.setdefault("spec", {}))
        case PRIORITY_CLASSES.key:
            _set(obj, "preemptionPolicy", "PreemptLowerPriority")
        case POD_GROUPS.key | COMPOSITE_POD_GROUPS.key:
            spec = obj.setdefault("spec", {})
            if spec.get("disruptionMode") is None:
                spec["disruptionMode"] = {"single": {}}
            if gates.on(PREEMPTION_POLICY):
                _set(spec, "preemptionPolicy", "PreemptLowerPriority")
        case REPLICATION_CONTROLLERS.key | REPLICA_SETS.key | STATEFUL_SETS.key:
            owner_defaults.apply(storage.key, obj)
            if (template := obj["spec"].get("template")) is not None:
                pod_template(template.setdefault("spec", {}))
        case VOLUMES.key:
            owner_defaults.apply(storage.key, obj)
            _disks(obj["spec"])
        case key:
            owner_defaults.apply(key, obj)


def _set(obj: Json, name: str, value: Any) -> None:
    if obj.get(name) is None:
        obj[name] = value


def _node(node: Json) -> None:
    status = node.get("status") or {}
    if status.get("capacity") and not status.get("allocatable"):
        status["allocatable"] = dict(status["capacity"])


def _pod(spec: Json) -> None:
    """A pod's own defaults, which the pod templates of other kinds do not have."""
    pod_template(spec)
    if spec["terminationGracePeriodSeconds"] < 0:  # once a way to say "at once"
        spec["terminationGracePeriodSeconds"] = 1
    _set(spec, "enableServiceLinks", True)
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            _requests_from_limits(container.get("resources") or {})
            for port in container.get("ports") or () if spec.get("hostNetwork") else ():
                if not port.get("hostPort"):
                    port["hostPort"] = port.get("containerPort", 0)
    if spec.get("resources"):
        _pod_resources(spec)


def pod_template(spec: Json) -> None:
    """What every spec of pods has, in a pod and in a template."""
    _set(spec, "restartPolicy", "Always")
    _set(spec, "terminationGracePeriodSeconds", 30)
    _set(spec, "dnsPolicy", "ClusterFirst")
    _set(spec, "securityContext", {})
    _set(spec, "schedulerName", "default-scheduler")
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:  # the older field mirrors the newer
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for field in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(field) or ():
            _container(container)
    for volume in spec.get("volumes") or ():
        _volume(volume)


def _job(job: Json) -> None:
    spec = job.setdefault("spec", {})
    if spec.get("parallelism") is None and spec.get("completions") is None:
        spec["completions"] = 1
    _set(spec, "parallelism", 1)
    unlimited = spec.get("backoffLimitPerIndex") is not None
    _set(spec, "backoffLimit", _MOST if unlimited else 6)
    template = spec.setdefault("template", {})
    labels = (template.get("metadata") or {}).get("labels")
    if labels and not job["metadata"].get("labels"):
        job["metadata"]["labels"] = dict(labels)
    _set(spec, "completionMode", "NonIndexed")
    _set(spec, "suspend", False)
    judged = spec.get("podFailurePolicy") is not None
    _set(spec, "podReplacementPolicy", "Failed" if judged else "TerminatingOrFailed")
    _set(spec, "manualSelector", False)
    _job_template(spec)


def _cron_job(spec: Json) -> None:
    _set(spec, "concurrencyPolicy", "Allow")
    _set(spec, "suspend", False)
    _set(spec, "successfulJobsHistoryLimit", 3)
    _set(spec, "failedJobsHistoryLimit", 1)
    _job_template(spec.setdefault("jobTemplate", {}).setdefault("spec", {}))


def _job_template(spec: Json) -> None:
    """What the spec of a Job has also in the template of a CronJob."""
    pod_template(spec.setdefault("template", {}).setdefault("spec", {}))
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            if not pattern.get("status"):
                pattern["status"] = "True"


def _container(container: Json) -> None:
    _set(container, "terminationMessagePath", "/dev/termination-log")
    _set(container, "terminationMessagePolicy", "File")
    if not container.get("imagePullPolicy"):
        latest = _tag(container.get("image") or "") == "latest"
        container["imagePullPolicy"] = "Always" if latest else "IfNotPresent"
    for port in container.get("ports") or ():
        _set(port, "protocol", "TCP")
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe := container.get(name):
            for field, value in _PROBE.items():
                if not probe.get(field):
                    probe[field] = value
            _handler(probe)
    for hook in (container.get("lifecycle") or {}).values():
        if isinstance(hook, dict):
            _handler(hook)
    for variable in container.get("env") or ():
        _reference(variable.get("valueFrom") or {})


def _handler(handler: Json) -> None:
    if get := handler.get("httpGet"):
        _set(get, "path", "/")
        _set(get, "scheme", "HTTP")
    if grpc := handler.get("grpc"):
        _set(grpc, "service", "")


def _reference(source: Json) -> None:
    if field := source.get("fieldRef"):
        _set(field, "apiVersion", "v1")
    if resource := source.get("resourceFieldRef"):
        _set(resource, "divisor", "0")


def _requests_from_limits(resources: Json) -> None:
    """Who says only the most that is used has asked for that much."""
    if limits := resources.get("limits"):
        requests = resources.setdefault("requests", {})
        for name, amount in limits.items():
            requests.setdefault(name, amount)


def _pod_resources(spec: Json) -> None:
    """Limits of the whole pod become its requests, but where containers ask for themselves."""
    resources = spec["resources"]
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    asked = {
        name
        for container in containers
        for name in (container.get("resources") or {}).get("requests") or ()
    }
    limits = resources.get("limits") or {}
    unasked = {name: amount for name, amount in limits.items() if name not in asked}
    if unasked:
        resources["requests"] = {**unasked, **(resources.get("requests") or {})}


def _volume(volume: Json) -> None:
    if all(value is None for name, value in volume.items() if name != "name"):
        volume["emptyDir"] = {}
    for name in ("secret", "configMap", "downwardAPI", "projected"):
        if (source := volume.get(name)) is not None:
            _set(source, "defaultMode", _FILE_MODE)
            _files(source.get("items") or ())
    for source in (volume.get("projected") or {}).get("sources") or ():
        if token := source.get("serviceAccountToken"):
            _set(token, "expirationSeconds", 3600)
        _files((source.get("downwardAPI") or {}).get("items") or ())
    if claim := (volume.get("ephemeral") or {}).get("volumeClaimTemplate"):
        _set(claim.setdefault("spec", {}), "volumeMode", "Filesystem")
    if (image := volume.get("image")) is not None:
        latest = _tag(image.get("reference") or "") == "latest"
        _set(image, "pullPolicy", "Always" if latest else "IfNotPresent")
    _disks(volume)


def _disks(volume: Json) -> None:
    """What a pod's volume and a PersistentVolume have in common."""
    for name, fields in _DISKS.items():
        if (disk := volume.get(name)) is not None:
            for field, value in fields.items():
                _set(disk, field, value)


_DISKS: Final[dict[str, dict[str, Any]]] = {
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {
        "cachingMode": "ReadWrite",
        "fsType": "ext4",
        "kind": "Shared",
        "readOnly": False,
    },
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}


def _files(items: Iterable[Json]) -> None:
    for item in items:
        _reference(item)


def _tag(image: str) -> str:
    """The tag of an image reference: `latest` where there is neither tag nor digest."""
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return tag or ("" if digest else "latest")
