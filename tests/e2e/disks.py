"""Volumes, claims on them, and what nodes can attach: as the differential test shows them to both.

All are bound by hand, before anybody schedules: no controller is there to do it.
"""

from typing import Any, Final

import msgspec

from tutti.api.registry import CLAIMS, CSI_NODES, STORAGE_CLASSES, VOLUMES
from tutti.api.storage import (
    BIND_COMPLETED,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from tutti.engine.encode import Cluster
from tutti.kube.client import Client

Json = dict[str, Any]

ZONE: Final = "topology.kubernetes.io/zone"
DRIVER: Final = "disk.example"
BY_HAND: Final = "by-hand"
LATER: Final = "later"
CLASS: Final[Json] = {
    "metadata": {"name": LATER},
    "provisioner": "kubernetes.io/no-provisioner",
    "volumeBindingMode": "WaitForFirstConsumer",
}
SOLE: Final = "sole"
HANDLES: Final = ("csi-1", "csi-2", "csi-3")
BOUND: Final = ("anywhere", "in-zones", "labelled", SOLE, *HANDLES)
UNBOUND: Final = ("unbound", "lost")


class Disks(msgspec.Struct, frozen=True):
    """As the server shows them."""

    claims: list[PersistentVolumeClaim]
    volumes: list[PersistentVolume]
    classes: list[StorageClass]
    nodes: list[CSINode]

    def show(self, cluster: Cluster) -> None:
        for storage_class in self.classes:
            cluster.volumes.class_seen(storage_class)
        for volume in self.volumes:
            cluster.volumes.volume_seen(volume)
        for claim in self.claims:
            cluster.volumes.claim_seen(claim)
        for node in self.nodes:
            cluster.limits_seen(node.metadata.name, node.limits)


async def make(client: Client, namespaces: tuple[str, ...], limits: dict[str, int]) -> Disks:
    """Every claim in every namespace; `limits` are by node."""
    await client.create(STORAGE_CLASSES, CLASS)
    for node, count in limits.items():
        driver = {"name": DRIVER, "nodeID": node, "allocatable": {"count": count}}
        await client.create(CSI_NODES, {"metadata": {"name": node}, "spec": {"drivers": [driver]}})
    for namespace in namespaces:
        for name in BOUND:
            await _bind(client, namespace, name)
        await client.create(CLAIMS, _claim("unbound", storageClassName=""), namespace)
        await client.create(CLAIMS, _claim("waiting", storageClassName=LATER), namespace)
        await client.create(
            CLAIMS, _claim("lost", storageClassName="", volumeName="gone"), namespace
        )
        await _say(client, namespace, "lost", "Lost")
    return Disks(
        (await client.list(CLAIMS, into=PersistentVolumeClaim)).items,
        (await client.list(VOLUMES, into=PersistentVolume)).items,
        (await client.list(STORAGE_CLASSES, into=StorageClass)).items,
        (await client.list(CSI_NODES, into=CSINode)).items,
    )


async def _bind(client: Client, namespace: str, name: str) -> None:
    volume = f"{namespace}-{name}"
    modes = ["ReadWriteOncePod" if name == SOLE else "ReadWriteOnce"]
    claim = _claim(name, storageClassName=BY_HAND, volumeName=volume, accessModes=modes)
    claim["metadata"]["annotations"] = {BIND_COMPLETED: "yes"}
    made = msgspec.json.decode(await client.create(CLAIMS, claim, namespace))
    await _say(client, namespace, name, "Bound")
    source = (
        {"csi": {"driver": DRIVER, "volumeHandle": volume}}
        if name in HANDLES
        else {"hostPath": {"path": f"/{name}"}}
    )
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [IN_ZONES]}]}}
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": modes,
        "storageClassName": BY_HAND,
        "claimRef": {"namespace": namespace, "name": name, "uid": made["metadata"]["uid"]},
        **source,
        **({"nodeAffinity": affinity} if name == "in-zones" else {}),
    }
    labels = {ZONE: "b__c"} if name == "labelled" else {}
    await client.create(VOLUMES, {"metadata": {"name": volume, "labels": labels}, "spec": spec})
    await client.patch(VOLUMES, None, volume, {"status": {"phase": "Bound"}}, subresource="status")


IN_ZONES: Final = {"key": ZONE, "operator": "In", "values": ["a", "b"]}


async def _say(client: Client, namespace: str, name: str, phase: str) -> None:
    await client.patch(CLAIMS, namespace, name, {"status": {"phase": phase}}, subresource="status")


def _claim(name: str, **spec: object) -> Json:
    resources = {"requests": {"storage": "1Gi"}}
    return {
        "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec},
    }
