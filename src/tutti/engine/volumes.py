"""Volumes and claims as the API shows them, and what they make of a pod's placement.

What is bound already is honoured. A claim that waits for its first pod, to be provisioned or to be
given one of several volumes, keeps the pod waiting with a sentence that says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from tutti.api.core_v1 import Pod
from tutti.api.storage import ONE_POD, PersistentVolume, PersistentVolumeClaim, StorageClass
from tutti.core.filters.volumes import ZONE_LABELS
from tutti.core.pods import Requirement, Term
from tutti.core.volumes import NO_MOUNTS, Attached, Disk, Mounts
from tutti.engine.asks import terms_of

ClaimKey: TypeAlias = tuple[str, str]
UNBOUND: Final = "pod has unbound immediate PersistentVolumeClaims"


class DiskRows(Protocol):
    """The owner of the table, as far as volumes need rows of it."""

    def disk_row(self, disk: Disk) -> int: ...

    def driver_row(self, driver: str) -> int: ...


@dataclass(frozen=True, slots=True)
class Mounted:
    """One claim that a pod mounts; an ephemeral one is made for the pod, and belongs to it."""

    key: ClaimKey
    ephemeral: bool

    @property
    def name(self) -> str:
        return self.key[1]


def claims_of(pod: Pod) -> tuple[Mounted, ...]:
    """The claims of a pod in the order of its volumes, each once."""
    return tuple(dict.fromkeys(_claims(pod)))


def _claims(pod: Pod) -> Iterator[Mounted]:
    namespace = pod.metadata.namespace
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            yield Mounted((namespace, volume.persistent_volume_claim.claim_name), ephemeral=False)
        elif volume.ephemeral is not None:
            yield Mounted((namespace, f"{pod.metadata.name}-{volume.name}"), ephemeral=True)


class Volumes:
    """What is known of volumes, and which pods mount which claims.

    `changed` names the claims whose pods have to be classed again.
    """

    def __init__(self) -> None:
        self.claims: dict[ClaimKey, PersistentVolumeClaim] = {}
        self.volumes: dict[str, PersistentVolume] = {}
        self.classes: dict[str, StorageClass] = {}
        self.changed: dict[ClaimKey, None] = {}
        self._claims_of: dict[str, dict[ClaimKey, None]] = {}
        self._users: dict[ClaimKey, dict[str, None]] = {}
        self._limited: dict[str, None] = {}

    # --- what the API shows -------------------------------------------------------------------

    def claim_seen(self, claim: PersistentVolumeClaim) -> None:
        key = (claim.metadata.namespace, claim.metadata.name)
        if self.claims.get(key) == claim:
            return
        self.claim_gone(*key)
        self.claims[key] = claim
        if claim.spec.volume_name:
            self._claims_of.setdefault(claim.spec.volume_name, {})[key] = None

    def claim_gone(self, namespace: str, name: str) -> None:
        key = (namespace, name)
        claim = self.claims.pop(key, None)
        if claim is not None and (named := self._claims_of.get(claim.spec.volume_name)):
            named.pop(key)
            if not named:
                del self._claims_of[claim.spec.volume_name]
        self.changed[key] = None

    def volume_seen(self, volume: PersistentVolume) -> None:
        self.volumes[volume.metadata.name] = volume
        self.changed.update(self._claims_of.get(volume.metadata.name, {}))

    def volume_gone(self, name: str) -> None:
        self.volumes.pop(name, None)
        self.changed.update(self._claims_of.get(name, {}))

    def class_seen(self, storage_class: StorageClass) -> None:
        self.classes[storage_class.metadata.name] = storage_class
        self._all_changed()

    def class_gone(self, name: str) -> None:
        self.classes.pop(name, None)
        self._all_changed()

    def limited(self, drivers: Iterable[str]) -> None:
        """Some node limits these drivers: from now on their volumes are counted."""
        fresh = [driver for driver in drivers if driver not in self._limited]
        if fresh:
            self._limited.update(dict.fromkeys(fresh))
            self._all_changed()

    def _all_changed(self) -> None:
        self.changed.update(dict.fromkeys(self._users))

    # --- who mounts what ----------------------------------------------------------------------

    def mounted(self, pod: Pod) -> None:
        """The pod is one that counts. A second pod on a claim changes what the first one holds."""
        for claim in claims_of(pod):
            users = self._users.setdefault(claim.key, {})
            users[pod.metadata.uid] = None
            if len(users) == 2:
                self.changed[claim.key] = None

    def unmounted(self, pod: Pod) -> None:
        for claim in claims_of(pod):
            users = self._users.get(claim.key, {})
            users.pop(pod.metadata.uid, None)
            if not users:
                self._users.pop(claim.key, None)
            elif len(users) == 1:
                self.changed[claim.key] = None

    def take_changed(self) -> list[str]:
        """The uids of the pods that mount a claim which changed since the last call."""
        changed, self.changed = self.changed, {}
        return list(dict.fromkeys(uid for key in changed for uid in self._users.get(key, ())))

    # --- what that means for a pod ------------------------------------------------------------

    def mounts_of(self, pod: Pod, rows: DiskRows) -> Mounts:
        """What the claims of a pod ask of nodes; the same value for pods that ask for the same."""
        mounted = claims_of(pod)
        if not mounted:
            return NO_MOUNTS
        known = [(m, self.claims[m.key]) for m in mounted if m.key in self.claims]
        volumes = [
            (m, self.volumes[claim.spec.volume_name])
            for m, claim in known
            if claim.is_bound and claim.spec.volume_name in self.volumes
        ]
        topology = (_topology(volume) for _, volume in volumes)
        zones = (zone for m, volume in volumes if not m.ephemeral for zone in _zones(volume))
        exclusive = (
            rows.disk_row(Disk("", "/".join(m.key)))
            for m, claim in known
            if ONE_POD in claim.spec.access_modes and not m.ephemeral and self._is_shared(m)
        )
        return Mounts(
            verdict=next(self._verdicts(pod, mounted), ""),
            topology=tuple(dict.fromkeys(terms for terms in topology if terms is not None)),
            zones=tuple(dict.fromkeys(zones)),
            exclusive=tuple(exclusive),
            attached=tuple(self._attached(volumes, rows)),
        )

    def _is_shared(self, mounted: Mounted) -> bool:
        return len(self._users.get(mounted.key, ())) > 1

    def _attached(
        self, volumes: list[tuple[Mounted, PersistentVolume]], rows: DiskRows
    ) -> Iterator[Attached]:
        by_driver: dict[str, list[tuple[Mounted, str]]] = {}
        for m, volume in volumes:
            source = volume.spec.csi
            if source is not None and source.driver in self._limited:
                by_driver.setdefault(source.driver, []).append((m, source.volume_handle))
        for driver, disks in sorted(by_driver.items()):
            shared = [handle for m, handle in disks if self._is_shared(m)]
            yield Attached(
                driver,
                rows.driver_row(driver),
                own=len(disks) - len(shared),
                shared=tuple(sorted(rows.disk_row(Disk(driver, handle)) for handle in shared)),
            )

    def _verdicts(self, pod: Pod, mounted: tuple[Mounted, ...]) -> Iterator[str]:
        """What is wrong, in the order in which kube-scheduler's plugins look."""
        for m in mounted:
            if m.key not in self.claims and not m.ephemeral:
                yield f'persistentvolumeclaim "{m.name}" not found'
        for m in mounted:
            yield from self._wrong_with(pod, m)
        unbound = [claim for m in mounted if not (claim := self.claims[m.key]).is_bound]
        if any(not self._waits_for_a_pod(claim) for claim in unbound):
            yield UNBOUND
        for claim in unbound:
            yield (
                f'persistentvolumeclaim "{claim.metadata.name}" waits for its first consumer: '
                "choosing or provisioning volumes is not supported by Tutti yet"
            )
        for m in mounted:
            yield from self._wrong_with_volume(self.claims[m.key].spec.volume_name)

    def _wrong_with(self, pod: Pod, m: Mounted) -> Iterator[str]:
        claim = self.claims.get(m.key)
        if claim is None:
            yield (
                "waiting for ephemeral volume controller to create "
                f'the persistentvolumeclaim "{m.name}"'
            )
        elif claim.status.phase == "Lost":
            yield (
                f'persistentvolumeclaim "{m.name}" bound to non-existent '
                f'persistentvolume "{claim.spec.volume_name}"'
            )
        elif claim.metadata.deletion_timestamp is not None:
            yield f'persistentvolumeclaim "{m.name}" is being deleted'
        elif m.ephemeral and not _is_owned(claim, pod):
            where = pod.metadata.namespace
            yield (
                f"PVC {where}/{m.name} was not created for pod {where}/{pod.metadata.name} "
                "(pod is not owner)"
            )

    def _waits_for_a_pod(self, claim: PersistentVolumeClaim) -> bool:
        """A claim that names its volume doesn't wait: somebody is about to bind it."""
        storage_class = self.classes.get(claim.storage_class)
        return (
            storage_class is not None
            and storage_class.waits_for_a_pod
            and not claim.spec.volume_name
        )

    def _wrong_with_volume(self, name: str) -> Iterator[str]:
        volume = self.volumes.get(name)
        if volume is None:
            yield f'persistentvolume "{name}" not found'
        elif self._limited:
            for source in _uncounted(volume):
                yield f'not supported by Tutti yet: persistentvolume "{name}" with spec.{source}'


def _topology(volume: PersistentVolume) -> tuple[Term, ...] | None:
    affinity = volume.spec.node_affinity
    return terms_of(affinity.required) if affinity and affinity.required else None


def _zones(volume: PersistentVolume) -> Iterator[Requirement]:
    """The zones and regions of a volume's labels, each a list; one with an empty part is ignored."""
    for key in ZONE_LABELS:
        values = [part.strip() for part in volume.metadata.labels.get(key, "").split("__")]
        if all(values):
            yield Requirement(key, "In", tuple(sorted(values)))


def _is_owned(claim: PersistentVolumeClaim, pod: Pod) -> bool:
    owners = claim.metadata.owner_references
    return any(owner.controller and owner.uid == pod.metadata.uid for owner in owners)


_UNCOUNTED: Final = {
    "gce_persistent_disk": "gcePersistentDisk",
    "aws_elastic_block_store": "awsElasticBlockStore",
    "azure_disk": "azureDisk",
    "azure_file": "azureFile",
    "cinder": "cinder",
    "portworx": "portworxVolume",
    "vsphere": "vsphereVolume",
}


def _uncounted(volume: PersistentVolume) -> Iterator[str]:
    """Sources of old, which CSI drivers attach today under limits that nobody here counts yet."""
    for attribute, name in _UNCOUNTED.items():
        if getattr(volume.spec, attribute) is not None:
            yield name
