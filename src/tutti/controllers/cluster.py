"""The cluster as the scheduler follows it: one informer for each kind that is served."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from tutti.api.batch import Job
from tutti.api.core_v1 import Node, Pod
from tutti.api.meta import Condition
from tutti.api.registry import (
    CLAIMS,
    COMPOSITE_POD_GROUPS,
    CSI_NODES,
    JOBS,
    NODES,
    POD_GROUPS,
    PODS,
    STORAGE_CLASSES,
    VOLUMES,
    WORKLOADS,
)
from tutti.api.scheduling import CompositePodGroup, PodGroup, Workload
from tutti.api.storage import CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass
from tutti.controllers import inbox
from tutti.controllers.jobs.gangs import Rule
from tutti.controllers.statuses import Ref
from tutti.engine.implied import GANG, is_job
from tutti.engine.messages import Edition, Event, GroupRef, OwnerRef, PodRef
from tutti.kube.client import Client
from tutti.kube.discovery import Discovery
from tutti.kube.informer import Informer

SCHEDULING = "scheduling.k8s.io"
GROUPS = frozenset({SCHEDULING, JOBS.group, STORAGE_CLASSES.group})
"""Those of which what is served is asked; the core group is always there."""


class Cluster:
    def __init__(
        self,
        client: Client,
        discovery: Discovery,
        put: Callable[[Event], None],
        job_gangs: Rule = Rule.AUTO,
    ) -> None:
        self._put = put
        self._job_gangs = job_gangs
        self._discovery = discovery
        self._pods = Informer(client, PODS, Pod)
        self._nodes = Informer(client, NODES, Node)
        self._groups = Informer(client, POD_GROUPS, PodGroup)
        self._composites = Informer(client, COMPOSITE_POD_GROUPS, CompositePodGroup)
        self._workloads = Informer(client, WORKLOADS, Workload)
        self._jobs = Informer(client, JOBS, Job)
        self._claims = Informer(client, CLAIMS, PersistentVolumeClaim)
        self._volumes = Informer(client, VOLUMES, PersistentVolume)
        self._storage_classes = Informer(client, STORAGE_CLASSES, StorageClass)
        self._csi_nodes = Informer(client, CSI_NODES, CSINode)

    @property
    def edition(self) -> Edition:
        return Edition(
            composites=self._serves("compositepodgroups"),
            group_status=self._serves("podgroups/status"),
            jobs=self._serves_jobs,
        )

    def follow(self, tasks: asyncio.TaskGroup) -> list[asyncio.Event]:
        """Start the informers; each of the events is set once its first list has been told."""
        put = self._put
        followed: list[tuple[Informer[Any], Any]] = [
            (self._nodes, inbox.of_nodes(put)),
            (self._pods, inbox.of_pods(put)),
        ]
        if self._serves("podgroups"):
            followed.append((self._groups, inbox.of_groups(put)))
        if self._serves("compositepodgroups"):
            followed.append((self._composites, inbox.of_composites(put)))
        if self._serves("workloads"):
            followed.append((self._workloads, inbox.of_workloads(put)))
        if self._serves_jobs:
            followed.append((self._jobs, inbox.of_jobs(put, self._job_gangs)))
        followed += self._storage()
        for informer, on in followed:
            tasks.create_task(informer.run(on))
        return [informer.synced for informer, _ in followed]

    def _storage(self) -> list[tuple[Informer[Any], Any]]:
        """What says where volumes are. Volumes and claims are served wherever pods are."""
        put = self._put
        followed: list[tuple[Informer[Any], Any]] = [
            (self._claims, inbox.of_claims(put)),
            (self._volumes, inbox.of_volumes(put)),
        ]
        if self._discovery.served(STORAGE_CLASSES.group, STORAGE_CLASSES.plural):
            followed.append((self._storage_classes, inbox.of_storage_classes(put)))
        if self._discovery.served(CSI_NODES.group, CSI_NODES.plural):
            followed.append((self._csi_nodes, inbox.of_csi_nodes(put)))
        return followed

    def conditions(self, ref: Ref) -> Iterable[Condition]:
        """Those that the cache shows; none of a namesake."""
        known = self._known(ref)
        return known.status.conditions if known and known.metadata.uid == ref.uid else ()

    def group_of(self, ref: PodRef) -> GroupRef | OwnerRef | None:
        """The group of a pod, or its Job, where that stands in for one."""
        pod = self._pods.known.get((ref.namespace, ref.name))
        if pod is None:
            return None
        named = pod.spec.scheduling_group
        if named is None or named.pod_group_name is None:
            owner = pod.metadata.controller
            if owner is None or not (is_job(owner) or GANG in pod.metadata.annotations):
                return None
            return OwnerRef(owner.api_version, owner.kind, ref.namespace, owner.name, owner.uid)
        group = self._groups.known.get((ref.namespace, named.pod_group_name))
        return inbox.group_ref(group, "PodGroup") if group else None

    def scheduler_of(self, ref: Ref | OwnerRef) -> str:
        """Whom a pod that is here named as its scheduler; of groups and owners nobody says."""
        known = None if isinstance(ref, OwnerRef) else self._known(ref)
        return known.spec.scheduler_name if isinstance(known, Pod) else ""

    @property
    def sizes(self) -> dict[str, int]:
        return {"pods": len(self._pods.known), "nodes": len(self._nodes.known)}

    def _known(self, ref: Ref) -> Pod | PodGroup | CompositePodGroup | None:
        key = (ref.namespace, ref.name)
        if isinstance(ref, PodRef):
            return self._pods.known.get(key)
        if ref.kind == "PodGroup":
            return self._groups.known.get(key)
        return self._composites.known.get(key)

    @property
    def _serves_jobs(self) -> bool:
        return bool(self._discovery.served(JOBS.group, JOBS.plural))

    def _serves(self, plural: str) -> bool:
        return bool(self._discovery.served(SCHEDULING, plural))
