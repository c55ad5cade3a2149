"""What the engine has yet to hear: news of the informers and answers of the hands, in one line."""

import asyncio
from collections import deque
from collections.abc import Callable

from tutti.api.batch import Job
from tutti.api.core_v1 import Node, Pod
from tutti.api.scheduling import CompositePodGroup, PodGroup, Workload
from tutti.api.storage import CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass
from tutti.controllers.asking import as_seen
from tutti.controllers.jobs.gangs import Rule
from tutti.engine.messages import (
    ClaimGone,
    ClaimSeen,
    CompositeGone,
    CompositeSeen,
    CsiNodeGone,
    CsiNodeSeen,
    Event,
    GroupGone,
    GroupKind,
    GroupRef,
    GroupSeen,
    JobGone,
    JobSeen,
    NodeGone,
    NodeSeen,
    PodGone,
    PodRef,
    PodSeen,
    StorageClassGone,
    StorageClassSeen,
    VolumeGone,
    VolumeSeen,
    WorkloadGone,
    WorkloadSeen,
)
from tutti.kube.informer import Gone, Relisted, Seen


class Inbox:
    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._arrived = asyncio.Event()

    def put(self, event: Event) -> None:
        self._events.append(event)
        self._arrived.set()

    def some(self, most: int) -> list[Event]:
        """The oldest that are here, which then no longer are."""
        count = min(most, len(self._events))
        taken = [self._events.popleft() for _ in range(count)]
        if not self._events:
            self._arrived.clear()
        return taken

    async def wait(self, seconds: float | None) -> None:
        """Until something is here, or the time is up."""
        if self._events:
            return
        if seconds is None:
            await self._arrived.wait()
            return
        timer = asyncio.get_running_loop().call_later(seconds, self._arrived.set)
        try:
            await self._arrived.wait()
        finally:
            timer.cancel()


def of_jobs(
    put: Callable[[Event], None], rule: Rule
) -> Callable[[Seen[Job] | Gone[Job] | Relisted], None]:
    """Only what its groups count by: most of what happens to a Job doesn't change that."""
    told: dict[str, JobSeen] = {}

    def on(news: Seen[Job] | Gone[Job] | Relisted) -> None:
        match news:
            case Seen(job):
                seen = as_seen(job, rule)
                if told.get(seen.uid) != seen:
                    told[seen.uid] = seen
                    put(seen)
            case Gone(job):
                told.pop(job.metadata.uid, None)
                put(JobGone(job.metadata.uid))
            case Relisted():
                pass

    return on


def of_pods(put: Callable[[Event], None]) -> Callable[[Seen[Pod] | Gone[Pod] | Relisted], None]:
    def on(news: Seen[Pod] | Gone[Pod] | Relisted) -> None:
        match news:
            case Seen(pod):
                put(PodSeen(pod))
            case Gone(pod):
                put(PodGone(pod_ref(pod)))

    return on


def of_nodes(put: Callable[[Event], None]) -> Callable[[Seen[Node] | Gone[Node] | Relisted], None]:
    def on(news: Seen[Node] | Gone[Node] | Relisted) -> None:
        match news:
            case Seen(node):
                put(NodeSeen(node))
            case Gone(node):
                put(NodeGone(node.metadata.name))

    return on


def of_groups(
    put: Callable[[Event], None],
) -> Callable[[Seen[PodGroup] | Gone[PodGroup] | Relisted], None]:
    def on(news: Seen[PodGroup] | Gone[PodGroup] | Relisted) -> None:
        match news:
            case Seen(group):
                put(GroupSeen(group))
            case Gone(group):
                put(GroupGone(group_ref(group, "PodGroup")))

    return on


def of_composites(
    put: Callable[[Event], None],
) -> Callable[[Seen[CompositePodGroup] | Gone[CompositePodGroup] | Relisted], None]:
    def on(news: Seen[CompositePodGroup] | Gone[CompositePodGroup] | Relisted) -> None:
        match news:
            case Seen(group):
                put(CompositeSeen(group))
            case Gone(group):
                put(CompositeGone(group_ref(group, "CompositePodGroup")))

    return on


def of_workloads(
    put: Callable[[Event], None],
) -> Callable[[Seen[Workload] | Gone[Workload] | Relisted], None]:
    def on(news: Seen[Workload] | Gone[Workload] | Relisted) -> None:
        match news:
            case Seen(workload):
                put(WorkloadSeen(workload))
            case Gone(workload):
                put(WorkloadGone(workload.metadata.namespace, workload.metadata.name))

    return on


def of_claims(
    put: Callable[[Event], None],
) -> Callable[[Seen[PersistentVolumeClaim] | Gone[PersistentVolumeClaim] | Relisted], None]:
    def on(news: Seen[PersistentVolumeClaim] | Gone[PersistentVolumeClaim] | Relisted) -> None:
        match news:
            case Seen(claim):
                put(ClaimSeen(claim))
            case Gone(claim):
                put(ClaimGone(claim.metadata.namespace, claim.metadata.name))

    return on


def of_volumes(
    put: Callable[[Event], None],
) -> Callable[[Seen[PersistentVolume] | Gone[PersistentVolume] | Relisted], None]:
    def on(news: Seen[PersistentVolume] | Gone[PersistentVolume] | Relisted) -> None:
        match news:
            case Seen(volume):
                put(VolumeSeen(volume))
            case Gone(volume):
                put(VolumeGone(volume.metadata.name))

    return on


def of_storage_classes(
    put: Callable[[Event], None],
) -> Callable[[Seen[StorageClass] | Gone[StorageClass] | Relisted], None]:
    def on(news: Seen[StorageClass] | Gone[StorageClass] | Relisted) -> None:
        match news:
            case Seen(storage_class):
                put(StorageClassSeen(storage_class))
            case Gone(storage_class):
                put(StorageClassGone(storage_class.metadata.name))

    return on


def of_csi_nodes(
    put: Callable[[Event], None],
) -> Callable[[Seen[CSINode] | Gone[CSINode] | Relisted], None]:
    def on(news: Seen[CSINode] | Gone[CSINode] | Relisted) -> None:
        match news:
            case Seen(node):
                put(CsiNodeSeen(node))
            case Gone(node):
                put(CsiNodeGone(node.metadata.name))

    return on


def pod_ref(pod: Pod) -> PodRef:
    meta = pod.metadata
    return PodRef(meta.namespace, meta.name, meta.uid)


def group_ref(group: PodGroup | CompositePodGroup, kind: GroupKind) -> GroupRef:
    meta = group.metadata
    return GroupRef(kind, meta.namespace, meta.name, meta.uid)
