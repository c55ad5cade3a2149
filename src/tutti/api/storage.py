"""Volumes, claims on them, and what nodes can attach, as far as placement depends on them."""

from __future__ import annotations

from typing import Final

from msgspec import field

from tutti.api.core_v1 import InlineVolume, NodeSelector, ObjectReference
from tutti.api.meta import ObjectMeta, Wire

BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
ONE_POD: Final = "ReadWriteOncePod"


class ClaimSpec(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "access_modes": "accessModes",
        "storage_class_name": "storageClassName",
        "volume_name": "volumeName",
    },
):
    access_modes: tuple[str, ...] = ()
    storage_class_name: str | None = None
    volume_name: str = ""


class ClaimStatus(Wire, frozen=True, kw_only=True):
    phase: str = ""


class PersistentVolumeClaim(Wire, frozen=True, kw_only=True):
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: ClaimSpec = field(default_factory=ClaimSpec)
    status: ClaimStatus = field(default_factory=ClaimStatus)

    @property
    def is_bound(self) -> bool:
        """Whether both sides are done with binding; a claim that only names a volume isn't yet."""
        return bool(self.spec.volume_name) and BIND_COMPLETED in self.metadata.annotations

    @property
    def storage_class(self) -> str:
        named = self.metadata.annotations.get(CLASS_ANNOTATION)
        return (self.spec.storage_class_name or "") if named is None else named


class CsiSource(Wire, frozen=True, kw_only=True, rename={"volume_handle": "volumeHandle"}):
    driver: str = ""
    volume_handle: str = ""


class VolumeNodeAffinity(Wire, frozen=True, kw_only=True):
    required: NodeSelector | None = None


class VolumeSpec(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "node_affinity": "nodeAffinity",
        "claim_ref": "claimRef",
        "gce_persistent_disk": "gcePersistentDisk",
        "aws_elastic_block_store": "awsElasticBlockStore",
        "azure_disk": "azureDisk",
        "azure_file": "azureFile",
        "portworx": "portworxVolume",
        "vsphere": "vsphereVolume",
    },
):
    """The sources are those that are attached under some limit; other kinds need none."""

    node_affinity: VolumeNodeAffinity | None = None
    claim_ref: ObjectReference | None = None
    csi: CsiSource | None = None
    gce_persistent_disk: InlineVolume | None = None
    aws_elastic_block_store: InlineVolume | None = None
    azure_disk: InlineVolume | None = None
    azure_file: InlineVolume | None = None
    cinder: InlineVolume | None = None
    portworx: InlineVolume | None = None
    vsphere: InlineVolume | None = None


class PersistentVolume(Wire, frozen=True, kw_only=True):
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: VolumeSpec = field(default_factory=VolumeSpec)


class StorageClass(
    Wire, frozen=True, kw_only=True, rename={"volume_binding_mode": "volumeBindingMode"}
):
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    volume_binding_mode: str = "Immediate"

    @property
    def waits_for_a_pod(self) -> bool:
        return self.volume_binding_mode == "WaitForFirstConsumer"


class DriverLimit(Wire, frozen=True, kw_only=True):
    count: int | None = None


class CSINodeDriver(Wire, frozen=True, kw_only=True):
    name: str = ""
    allocatable: DriverLimit | None = None


class CSINodeSpec(Wire, frozen=True, kw_only=True):
    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(Wire, frozen=True, kw_only=True):
    """What the drivers on the node of this name can do there."""

    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: CSINodeSpec = field(default_factory=CSINodeSpec)

    @property
    def limits(self) -> dict[str, int]:
        """How many volumes each driver attaches; a driver that sets no limit isn't named."""
        return {
            driver.name: driver.allocatable.count
            for driver in self.spec.drivers
            if driver.allocatable is not None and driver.allocatable.count is not None
        }
