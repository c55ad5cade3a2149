"""The columns of volumes, claims, storage classes and drivers."""

from collections.abc import Iterable
from datetime import datetime

from tutti.server.columns import AGE, NAME, NONE, Cells, Column, Object, Printer, age, wide

_UNSET = "<unset>"
_SHORT = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def _volume(volume: Object, now: datetime) -> Cells:
    spec, status = volume.get("spec", {}), volume.get("status", {})
    claim = spec.get("claimRef")
    return [
        volume["metadata"]["name"],
        spec.get("capacity", {}).get("storage", "0"),
        _modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        _phase(volume),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        spec.get("storageClassName", ""),
        spec.get("volumeAttributesClassName", _UNSET),
        status.get("reason", ""),
        age(volume, now),
        spec.get("volumeMode", _UNSET),
    ]


def _claim(claim: Object, now: datetime) -> Cells:
    spec, status = claim.get("spec", {}), claim.get("status", {})
    volume = spec.get("volumeName", "")
    return [
        claim["metadata"]["name"],
        _phase(claim),
        volume,
        status.get("capacity", {}).get("storage", "0") if volume else "",
        _modes(status.get("accessModes")) if volume else "",
        spec.get("storageClassName", ""),
        spec.get("volumeAttributesClassName", _UNSET),
        age(claim, now),
        spec.get("volumeMode", _UNSET),
    ]


def _phase(found: Object) -> str:
    if found["metadata"].get("deletionTimestamp"):
        return "Terminating"
    phase: str = found.get("status", {}).get("phase", "")
    return phase


def _modes(modes: Iterable[str] | None) -> str:
    return ",".join(short for mode, short in _SHORT.items() if mode in (modes or ()))


def _storage_class(found: Object, now: datetime) -> Cells:
    metadata = found["metadata"]
    annotations = metadata.get("annotations", {})
    name = metadata["name"]
    if annotations.get("storageclass.kubernetes.io/is-default-class") == "true":
        name += " (default)"
    return [
        name,
        found.get("provisioner", ""),
        found.get("reclaimPolicy", "Delete"),
        found.get("volumeBindingMode", "Immediate"),
        found.get("allowVolumeExpansion", False),
        age(found, now),
    ]


def _csi_node(node: Object, now: datetime) -> Cells:
    drivers = node.get("spec", {}).get("drivers") or ()
    return [node["metadata"]["name"], len(drivers), age(node, now)]


def _csi_driver(driver: Object, now: datetime) -> Cells:
    spec = driver.get("spec", {})
    requests = spec.get("tokenRequests")
    audiences = ",".join(one.get("audience", "") for one in requests or ())
    return [
        driver["metadata"]["name"],
        spec.get("attachRequired", True),
        spec.get("podInfoOnMount", False),
        spec.get("storageCapacity", False),
        _UNSET if requests is None else audiences,
        spec.get("requiresRepublish", False),
        ",".join(spec.get("volumeLifecycleModes") or ()) or NONE,
        age(driver, now),
    ]


def _csi_capacity(found: Object, now: datetime) -> Cells:
    return [
        found["metadata"]["name"],
        found.get("storageClassName", ""),
        found.get("capacity", _UNSET),
    ]


def _attachment(found: Object, now: datetime) -> Cells:
    spec = found.get("spec", {})
    return [
        found["metadata"]["name"],
        spec.get("attacher", ""),
        spec.get("source", {}).get("persistentVolumeName", ""),
        spec.get("nodeName", ""),
        found.get("status", {}).get("attached", False),
        age(found, now),
    ]


PRINTERS = {
    "persistentvolumes": Printer(
        (
            NAME,
            Column("Capacity"),
            Column("Access Modes"),
            Column("Reclaim Policy"),
            Column("Status"),
            Column("Claim"),
            Column("StorageClass"),
            Column("VolumeAttributesClass"),
            Column("Reason"),
            AGE,
            wide("VolumeMode"),
        ),
        _volume,
    ),
    "persistentvolumeclaims": Printer(
        (
            NAME,
            Column("Status"),
            Column("Volume"),
            Column("Capacity"),
            Column("Access Modes"),
            Column("StorageClass"),
            Column("VolumeAttributesClass"),
            AGE,
            wide("VolumeMode"),
        ),
        _claim,
    ),
    "storageclasses.storage.k8s.io": Printer(
        (
            NAME,
            Column("Provisioner"),
            Column("ReclaimPolicy"),
            Column("VolumeBindingMode"),
            Column("AllowVolumeExpansion"),
            AGE,
        ),
        _storage_class,
    ),
    "csinodes.storage.k8s.io": Printer((NAME, Column("Drivers", "integer"), AGE), _csi_node),
    "csidrivers.storage.k8s.io": Printer(
        (
            NAME,
            Column("AttachRequired", "boolean"),
            Column("PodInfoOnMount", "boolean"),
            Column("StorageCapacity", "boolean"),
            Column("TokenRequests"),
            Column("RequiresRepublish", "boolean"),
            Column("Modes"),
            AGE,
        ),
        _csi_driver,
    ),
    "csistoragecapacities.storage.k8s.io": Printer(
        (NAME, Column("StorageClassName"), Column("Capacity")), _csi_capacity
    ),
    "volumeattachments.storage.k8s.io": Printer(
        (
            NAME,
            Column("Attacher", format="name"),
            Column("PV"),
            Column("Node"),
            Column("Attached", "boolean"),
            AGE,
        ),
        _attachment,
    ),
}
