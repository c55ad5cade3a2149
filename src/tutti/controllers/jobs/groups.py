"""The hands that give a Job its Workload and its PodGroup before it has pods.

Order: Workload, PodGroup, pods. A Job that has pods (or had some) only looks for what is there. What
others made is used and never changed.
"""

import time
from collections import defaultdict
from typing import TypeVar

from msgspec import json

from tutti.api.batch import Job
from tutti.api.core_v1 import ObjectReference
from tutti.api.errors import AlreadyExists, ApiError, NotFound, Unanswered
from tutti.api.meta import ObjectMeta
from tutti.api.registry import POD_GROUPS, WORKLOADS, Storage
from tutti.api.scheduling import PodGroup, PodGroupTemplate, Workload
from tutti.controllers.jobs import gangs, names
from tutti.controllers.jobs.gangs import Fallback, Manifest, Missing, Ref, Role, Rule
from tutti.controllers.jobs.metrics import JobMetrics
from tutti.controllers.recorder import Recorder
from tutti.kube.client import Client

G = TypeVar("G", Workload, PodGroup)


class Groups:
    """All Workloads and PodGroups, found by what they refer to."""

    def __init__(self, client: Client, rule: Rule, recorder: Recorder, metrics: JobMetrics) -> None:
        self._client = client
        self._metrics = metrics
        self._rule = rule
        self._recorder = recorder
        self._workloads: dict[str, Workload] = {}
        self._by_controller: defaultdict[Ref, dict[str, Workload]] = defaultdict(dict)
        self._groups: dict[str, PodGroup] = {}
        self._by_workload: defaultdict[tuple[str, str], dict[str, PodGroup]] = defaultdict(dict)
        self._by_owner: defaultdict[str, dict[str, PodGroup]] = defaultdict(dict)

    def saw_workload(self, workload: Workload) -> Ref | None:
        """Which controller it is for."""
        self.lost_workload(workload)
        self._workloads[workload.metadata.uid] = workload
        ref = _controller(workload)
        if ref is not None:
            self._by_controller[ref][workload.metadata.uid] = workload
        return ref

    def lost_workload(self, workload: Workload) -> None:
        known = self._workloads.pop(workload.metadata.uid, None)
        if known is not None and (ref := _controller(known)) is not None:
            _drop(self._by_controller, ref, known.metadata.uid)

    def saw_group(self, group: PodGroup) -> None:
        self.lost_group(group)
        self._groups[group.metadata.uid] = group
        self._by_owner[_owner(group)][group.metadata.uid] = group
        if group.spec.workload_ref is not None:
            self._by_workload[_workload(group)][group.metadata.uid] = group

    def lost_group(self, group: PodGroup) -> None:
        known = self._groups.pop(group.metadata.uid, None)
        if known is None:
            return
        _drop(self._by_owner, _owner(known), known.metadata.uid)
        if known.spec.workload_ref is not None:
            _drop(self._by_workload, _workload(known), known.metadata.uid)

    async def of(self, job: Job, *, has_pods: bool) -> PodGroup | Missing | None:
        """The group that the Job's next pods join; made, with its Workload, if the Job is new."""
        if self._rule is Rule.OFF:
            return self._kept(job)
        may_make = gangs.is_new(job, has_pods=has_pods)
        match gangs.role(job):
            case Role.LEFT_ALONE:
                return None
            case Role.ROOT:
                return await self._root(job, may_make=may_make)
            case Role.DELEGATED:
                return await self._delegated(job, may_make=may_make)

    async def _root(self, job: Job, *, may_make: bool) -> PodGroup | None:
        meta = job.metadata
        named = self._by_controller.get((meta.namespace, "batch", "Job", meta.name), {})
        candidates = [w for w in named.values() if not _of_a_namesake(w, job)]
        workload = gangs.workload_of(job, candidates)
        if isinstance(workload, Fallback):
            self._falls_back(job, workload)
            return None
        if workload is None:
            if not may_make:
                return self._kept(job)
            workload = await self._make_workload(job)
        here = self._by_workload.get((meta.namespace, workload.metadata.name), {})
        group = gangs.group_of(workload, list(here.values()))
        if isinstance(group, Fallback):
            self._falls_back(job, group)
            return None
        if group is None:
            if not may_make:
                return None
            (template,) = gangs.templates(workload)
            group = await self._make_group(job, workload, template)
        if gangs.is_controlled(workload.metadata, job):
            (template,) = gangs.templates(workload)
            await self._follow(job, workload, template)
            await self._follow_group(job, group, gangs.follows(job, self._rule, group))
        return group

    async def _delegated(self, job: Job, *, may_make: bool) -> PodGroup | Missing | None:
        if kept := self._kept(job):
            return kept
        if not may_make:
            return None
        owner = job.metadata.controller
        assert owner is not None  # a delegated Job has one
        group, _, _ = owner.api_version.rpartition("/")
        ref = (job.metadata.namespace, group, owner.kind, owner.name)
        parents = self._by_controller.get(ref)
        name = job.metadata.annotations[gangs.TEMPLATE_NAME]
        if not parents:
            return self._waits(job, ref, f"for a Workload of {owner.kind} {owner.name}")
        parent = min(parents.values(), key=lambda workload: workload.metadata.name)
        template = gangs.delegated_template(parent, name)
        if template is None:
            where = f"Workload {parent.metadata.name}"
            return self._waits(job, ref, f"for a template {name} in {where}")
        return await self._make_group(job, parent, template)

    def _kept(self, job: Job) -> PodGroup | None:
        """The group that was made for it, whatever became of the Workload."""
        made = self._by_owner.get(job.metadata.uid, {})
        return next(iter(made.values())) if len(made) == 1 else None

    async def _make_workload(self, job: Job) -> Workload:
        manifest = gangs.workload(job, self._rule)
        began = time.monotonic()
        try:
            made = await self._make(WORKLOADS, manifest, Workload)
        except (ApiError, Unanswered) as error:
            text = f"Failed to create Workload for Job {job.metadata.name}: {error}"
            self._recorder.warning(about(job), "FailedWorkloadCreate", text)
            raise
        self._metrics.workload_made(time.monotonic() - began)
        self.saw_workload(made)
        text = f"Created Workload {made.metadata.name} for Job {job.metadata.name}"
        self._recorder.normal(about(job), "WorkloadCreated", text)
        return made

    async def _make_group(
        self, job: Job, workload: Workload, template: PodGroupTemplate
    ) -> PodGroup:
        version = self._client.path(WORKLOADS).removeprefix("/apis/").rpartition("/")[0]
        name = names.pod_group(workload.metadata.name, template.name)
        if any(
            (group.metadata.namespace, group.metadata.name) == (job.metadata.namespace, name)
            for group in self._by_workload.get(
                (job.metadata.namespace, workload.metadata.name), {}
            ).values()
        ):
            name = names.pod_group(workload.metadata.name, template.name, job.metadata.uid)
        manifest = gangs.pod_group(job, workload, template, name=name, api_version=version)
        try:
            made = await self._make(POD_GROUPS, manifest, PodGroup)
        except (ApiError, Unanswered) as error:
            text = f"Failed to create PodGroup for Job {job.metadata.name}: {error}"
            self._recorder.warning(about(job), "FailedPodGroupCreate", text)
            raise
        self.saw_group(made)
        text = f"Created PodGroup {made.metadata.name} for Job {job.metadata.name}"
        self._recorder.normal(about(job), "PodGroupCreated", text)
        return made

    async def _make(self, storage: Storage, manifest: Manifest, kind: type[G]) -> G:
        """Made now, or by ourselves a moment ago: then the watch just hasn't shown it."""
        meta = manifest["metadata"]
        try:
            body = await self._client.create(storage, manifest, meta["namespace"])
        except AlreadyExists:
            self._metrics.group_made(storage.kind, well=False)
            there = await self._client.get(storage, meta["namespace"], meta["name"], into=kind)
            if not _same_controller(there.metadata, meta):
                raise
            return there
        except (ApiError, Unanswered):
            self._metrics.group_made(storage.kind, well=False)
            raise
        self._metrics.group_made(storage.kind, well=True)
        return json.decode(body, type=kind)

    async def _follow(self, job: Job, workload: Workload, template: PodGroupTemplate) -> None:
        change = gangs.follows(job, self._rule, template)
        if change is None:
            return
        patch = {
            "metadata": {"uid": workload.metadata.uid},
            "spec": {"podGroupTemplates": [{"name": template.name, **change}]},
        }
        meta = workload.metadata
        try:
            body = await self._client.patch(
                WORKLOADS, meta.namespace, meta.name, patch, kind="strategic"
            )
        except NotFound:
            return
        self.saw_workload(json.decode(body, type=Workload))

    async def _follow_group(self, job: Job, group: PodGroup, change: Manifest | None) -> None:
        if change is None or not gangs.is_controlled(group.metadata, job):
            return
        meta = group.metadata
        patch = {"metadata": {"uid": meta.uid}, "spec": change}
        try:
            body = await self._client.patch(POD_GROUPS, meta.namespace, meta.name, patch)
        except NotFound:
            return
        self.saw_group(json.decode(body, type=PodGroup))

    def _falls_back(self, job: Job, fallback: Fallback) -> None:
        self._recorder.warning(about(job), "WorkloadIgnored", fallback.why)

    def _waits(self, job: Job, parent: Ref, what: str) -> Missing:
        text = f"Job {job.metadata.name} waits {what}"
        self._recorder.warning(about(job), "WaitingForWorkload", text)
        return Missing(parent, text)


def about(job: Job) -> ObjectReference:
    meta = job.metadata
    return ObjectReference(
        api_version="batch/v1",
        kind="Job",
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        resource_version=meta.resource_version,
    )


def _of_a_namesake(workload: Workload, job: Job) -> bool:
    """Whether it was made for another Job of this name."""
    owner = workload.metadata.controller
    return owner is not None and owner.kind == "Job" and owner.uid != job.metadata.uid


def _same_controller(there: ObjectMeta, wanted: Manifest) -> bool:
    owner = there.controller
    return owner is not None and owner.uid == wanted["ownerReferences"][0]["uid"]


def _controller(workload: Workload) -> Ref | None:
    ref = workload.spec.controller_ref
    if ref is None:
        return None
    return workload.metadata.namespace, ref.api_group, ref.kind, ref.name


def _owner(group: PodGroup) -> str:
    return group.metadata.controller.uid if group.metadata.controller else ""


def _workload(group: PodGroup) -> tuple[str, str]:
    ref = group.spec.workload_ref
    return group.metadata.namespace, ref.workload_name if ref else ""


K = TypeVar("K")
V = TypeVar("V")


def _drop(index: defaultdict[K, dict[str, V]], key: K, uid: str) -> None:
    index[key].pop(uid, None)
    if not index[key]:
        del index[key]
