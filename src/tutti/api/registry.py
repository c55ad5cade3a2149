"""One row per storage: what is served, under which names.

A storage is a group and a resource; its objects are kept once, whatever version writes or reads them,
and a watch on any version sees every write. Routes, discovery, tables, client paths and the command
line are all derived from these rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

VERBS: Final = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
)


@dataclass(frozen=True, slots=True)
class Storage:
    """The first version is the one objects are stored in, and the one clients prefer."""

    group: str
    versions: tuple[str, ...]
    kind: str
    plural: str
    singular: str
    short_names: tuple[str, ...] = ()
    namespaced: bool = True
    subresources: tuple[str, ...] = ()
    verbs: tuple[str, ...] = VERBS
    categories: tuple[str, ...] = ()
    also: tuple[tuple[str, str], ...] = ()
    """Further (group, version) pairs that serve the same objects: events are in two groups."""
    selectable: tuple[str, ...] = ()
    """What a field selector may name, beside metadata.name and metadata.namespace."""

    @property
    def key(self) -> str:
        """The resource's name in the store and in error texts."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def qualified_kind(self) -> str:
        """The kind's name in error texts."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    @property
    def served(self) -> tuple[tuple[str, str], ...]:
        """Every (group, version) under which this is found."""
        return (*((self.group, version) for version in self.versions), *self.also)

    @property
    def api_version(self) -> str:
        """`apiVersion` of the stored form."""
        return api_version(self.group, self.versions[0])

    def path(
        self,
        version: str | None = None,
        namespace: str | None = None,
        name: str | None = None,
        subresource: str | None = None,
        *,
        group: str | None = None,
    ) -> str:
        """The URL path of a collection, an object or a subresource of it."""
        group = self.group if group is None else group
        version = version or self.versions[0]
        parts = ["/apis", group, version] if group else ["/api", version]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts.append(self.plural)
        parts += [part for part in (name, subresource) if part]
        return "/".join(parts)


def api_version(group: str, version: str) -> str:
    return f"{group}/{version}" if group else version


PODS: Final = Storage(
    group="",
    versions=("v1",),
    kind="Pod",
    plural="pods",
    singular="pod",
    short_names=("po",),
    categories=("all",),
    subresources=("binding", "eviction", "status"),
    selectable=(
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ),
)
NODES: Final = Storage(
    group="",
    versions=("v1",),
    kind="Node",
    plural="nodes",
    singular="node",
    short_names=("no",),
    namespaced=False,
    subresources=("status",),
    selectable=("spec.unschedulable",),
)
NAMESPACES: Final = Storage(
    group="",
    versions=("v1",),
    kind="Namespace",
    plural="namespaces",
    singular="namespace",
    short_names=("ns",),
    namespaced=False,
    subresources=("finalize", "status"),
    verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
    selectable=("name", "status.phase"),
)
CONFIG_MAPS: Final = Storage(
    group="",
    versions=("v1",),
    kind="ConfigMap",
    plural="configmaps",
    singular="configmap",
    short_names=("cm",),
)
SERVICE_ACCOUNTS: Final = Storage(
    group="",
    versions=("v1",),
    kind="ServiceAccount",
    plural="serviceaccounts",
    singular="serviceaccount",
    short_names=("sa",),
)
EVENTS: Final = Storage(
    group="",
    versions=("v1",),
    also=(("events.k8s.io", "v1"),),
    kind="Event",
    plural="events",
    singular="event",
    short_names=("ev",),
    selectable=(
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
)
JOBS: Final = Storage(
    group="batch",
    versions=("v1",),
    kind="Job",
    plural="jobs",
    singular="job",
    categories=("all",),
    subresources=("status",),
    selectable=("status.successful",),
)
CRONJOBS: Final = Storage(
    group="batch",
    versions=("v1",),
    kind="CronJob",
    plural="cronjobs",
    singular="cronjob",
    short_names=("cj",),
    categories=("all",),
    subresources=("status",),
)
LEASES: Final = Storage(
    group="coordination.k8s.io",
    versions=("v1",),
    kind="Lease",
    plural="leases",
    singular="lease",
)
PRIORITY_CLASSES: Final = Storage(
    group="scheduling.k8s.io",
    versions=("v1",),
    kind="PriorityClass",
    plural="priorityclasses",
    singular="priorityclass",
    short_names=("pc",),
    namespaced=False,
)
WORKLOADS: Final = Storage(
    group="scheduling.k8s.io",
    versions=("v1beta1", "v1alpha3"),
    kind="Workload",
    plural="workloads",
    singular="workload",
)
POD_GROUPS: Final = Storage(
    group="scheduling.k8s.io",
    versions=("v1beta1", "v1alpha3"),
    kind="PodGroup",
    plural="podgroups",
    singular="podgroup",
    subresources=("status",),
)
COMPOSITE_POD_GROUPS: Final = Storage(
    group="scheduling.k8s.io",
    versions=("v1alpha3",),
    kind="CompositePodGroup",
    plural="compositepodgroups",
    singular="compositepodgroup",
    subresources=("status",),
)

SERVICES: Final = Storage(
    group="",
    versions=("v1",),
    kind="Service",
    plural="services",
    singular="service",
    short_names=("svc",),
    categories=("all",),
    subresources=("status",),
    selectable=("spec.clusterIP", "spec.type"),
)
REPLICATION_CONTROLLERS: Final = Storage(
    group="",
    versions=("v1",),
    kind="ReplicationController",
    plural="replicationcontrollers",
    singular="replicationcontroller",
    short_names=("rc",),
    categories=("all",),
    subresources=("status",),
    selectable=("status.replicas",),
)
VOLUMES: Final = Storage(
    group="",
    versions=("v1",),
    kind="PersistentVolume",
    plural="persistentvolumes",
    singular="persistentvolume",
    short_names=("pv",),
    namespaced=False,
    subresources=("status",),
)
CLAIMS: Final = Storage(
    group="",
    versions=("v1",),
    kind="PersistentVolumeClaim",
    plural="persistentvolumeclaims",
    singular="persistentvolumeclaim",
    short_names=("pvc",),
    subresources=("status",),
)
REPLICA_SETS: Final = Storage(
    group="apps",
    versions=("v1",),
    kind="ReplicaSet",
    plural="replicasets",
    singular="replicaset",
    short_names=("rs",),
    categories=("all",),
    subresources=("status",),
)
STATEFUL_SETS: Final = Storage(
    group="apps",
    versions=("v1",),
    kind="StatefulSet",
    plural="statefulsets",
    singular="statefulset",
    short_names=("sts",),
    categories=("all",),
    subresources=("status",),
)
STORAGE_CLASSES: Final = Storage(
    group="storage.k8s.io",
    versions=("v1",),
    kind="StorageClass",
    plural="storageclasses",
    singular="storageclass",
    short_names=("sc",),
    namespaced=False,
)
CSI_DRIVERS: Final = Storage(
    group="storage.k8s.io",
    versions=("v1",),
    kind="CSIDriver",
    plural="csidrivers",
    singular="csidriver",
    namespaced=False,
)
CSI_NODES: Final = Storage(
    group="storage.k8s.io",
    versions=("v1",),
    kind="CSINode",
    plural="csinodes",
    singular="csinode",
    namespaced=False,
    subresources=("status",),
)
CSI_CAPACITIES: Final = Storage(
    group="storage.k8s.io",
    versions=("v1",),
    kind="CSIStorageCapacity",
    plural="csistoragecapacities",
    singular="csistoragecapacity",
)
ATTACHMENTS: Final = Storage(
    group="storage.k8s.io",
    versions=("v1",),
    kind="VolumeAttachment",
    plural="volumeattachments",
    singular="volumeattachment",
    namespaced=False,
    subresources=("status",),
)

BUDGETS: Final = Storage(
    group="policy",
    versions=("v1",),
    kind="PodDisruptionBudget",
    plural="poddisruptionbudgets",
    singular="poddisruptionbudget",
    short_names=("pdb",),
    subresources=("status",),
)
DEVICE_CLASSES: Final = Storage(
    group="resource.k8s.io",
    versions=("v1",),
    kind="DeviceClass",
    plural="deviceclasses",
    singular="deviceclass",
    namespaced=False,
)
DEVICE_TAINTS: Final = Storage(
    group="resource.k8s.io",
    versions=("v1",),
    kind="DeviceTaintRule",
    plural="devicetaintrules",
    singular="devicetaintrule",
    namespaced=False,
    subresources=("status",),
)
DEVICE_CLAIMS: Final = Storage(
    group="resource.k8s.io",
    versions=("v1",),
    kind="ResourceClaim",
    plural="resourceclaims",
    singular="resourceclaim",
    subresources=("status",),
)
DEVICE_CLAIM_TEMPLATES: Final = Storage(
    group="resource.k8s.io",
    versions=("v1",),
    kind="ResourceClaimTemplate",
    plural="resourceclaimtemplates",
    singular="resourceclaimtemplate",
)
DEVICE_SLICES: Final = Storage(
    group="resource.k8s.io",
    versions=("v1",),
    kind="ResourceSlice",
    plural="resourceslices",
    singular="resourceslice",
    namespaced=False,
    selectable=("spec.driver", "spec.nodeName", "spec.pool.name"),
)

STORAGES: Final = (
    CONFIG_MAPS,
    EVENTS,
    NAMESPACES,
    NODES,
    CLAIMS,
    VOLUMES,
    PODS,
    REPLICATION_CONTROLLERS,
    SERVICE_ACCOUNTS,
    SERVICES,
    REPLICA_SETS,
    STATEFUL_SETS,
    CRONJOBS,
    JOBS,
    LEASES,
    BUDGETS,
    DEVICE_CLASSES,
    DEVICE_TAINTS,
    DEVICE_CLAIMS,
    DEVICE_CLAIM_TEMPLATES,
    DEVICE_SLICES,
    COMPOSITE_POD_GROUPS,
    POD_GROUPS,
    PRIORITY_CLASSES,
    WORKLOADS,
    CSI_DRIVERS,
    CSI_NODES,
    CSI_CAPACITIES,
    STORAGE_CLASSES,
    ATTACHMENTS,
)


@dataclass(frozen=True, slots=True)
class Subresource:
    """What goes over the wire under `/name`, where that is not the object itself."""

    group: str
    version: str
    kind: str


SUBRESOURCE_KINDS: Final[Mapping[tuple[str, str], Subresource]] = {
    ("pods", "binding"): Subresource("", "v1", "Binding"),
    ("pods", "eviction"): Subresource("policy", "v1", "Eviction"),
}

_SUBRESOURCE_VERBS: Final = {
    "binding": ("create",),
    "eviction": ("create",),
    "finalize": ("update",),
    "status": ("get", "patch", "update"),
}


def subresource_kind(storage: Storage, name: str) -> Subresource | None:
    """The kind of the bodies of a subresource; None where it is the storage's own."""
    return SUBRESOURCE_KINDS.get((storage.key, name))


def subresource_verbs(name: str) -> tuple[str, ...]:
    return _SUBRESOURCE_VERBS[name]


def by_path(group: str, version: str, plural: str) -> Storage | None:
    """The storage at /apis/GROUP/VERSION/PLURAL; the core group is empty."""
    return _BY_PATH.get((group, version, plural))


def by_kind(group: str, kind: str) -> Storage | None:
    return _BY_KIND.get((group, kind))


def named(text: str) -> Storage | None:
    """What a person means by `pods`, `pod`, `po`, `Pod` or `podgroups.scheduling.k8s.io`."""
    name, _, group = text.lower().partition(".")
    return next(
        (
            storage
            for storage in STORAGES
            if name in (storage.plural, storage.singular, *storage.short_names)
            and (not group or any(_is_in(group, *place) for place in storage.served))
        ),
        None,
    )


def _is_in(text: str, group: str, version: str) -> bool:
    return text in (group, f"{version}.{group}")


_BY_PATH: Final = {
    (group, version, storage.plural): storage
    for storage in STORAGES
    for group, version in storage.served
}
_BY_KIND: Final = {
    (group, storage.kind): storage for storage in STORAGES for group, _ in storage.served
}
