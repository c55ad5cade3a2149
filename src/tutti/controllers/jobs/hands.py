"""The Job controller's hands: watches in, one plan for a Job at a time, requests out."""

import asyncio
import contextlib
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import json

from tutti.api.batch import Job
from tutti.api.core_v1 import Pod
from tutti.api.errors import ApiError, Conflict, NotFound, Unanswered
from tutti.api.registry import JOBS, POD_GROUPS, PODS, WORKLOADS
from tutti.api.scheduling import PodGroup, Workload
from tutti.controllers.jobs import facts, making, unseen
from tutti.controllers.jobs.gangs import Missing, Ref, Rule
from tutti.controllers.jobs.groups import Groups, about
from tutti.controllers.jobs.managing import New
from tutti.controllers.jobs.metrics import JobMetrics
from tutti.controllers.jobs.plan import Plan, plan
from tutti.controllers.jobs.statuses import change
from tutti.controllers.jobs.unseen import Unseen
from tutti.controllers.recorder import Recorder
from tutti.controllers.work import Work
from tutti.kube.client import Client
from tutti.kube.discovery import Discovery
from tutti.kube.informer import Gone, Informer, Relisted, Seen

Key = tuple[str, str]

WORKERS: Final = 16
SOON_S: Final = 0.02
"""How long news of pods are gathered before their Job is looked at."""
LATER_S: Final = 1.0
"""The same for news that change nothing but how many pods are ready: as long as in Kubernetes."""
OURSELVES: Final = "kubernetes.io/job-controller"
UNTRACK: Final = {"$deleteFromPrimitiveList/finalizers": [facts.FINALIZER]}


async def run(
    client: Client, ready: Callable[[], None], *, rule: Rule, metrics: JobMetrics
) -> None:
    jobs = Jobs(client, await client.discover(), rule, metrics)
    async with asyncio.TaskGroup() as group:
        group.create_task(jobs.run())
        await jobs.synced()
        ready()


class Jobs:
    def __init__(
        self, client: Client, discovery: Discovery, rule: Rule, metrics: JobMetrics
    ) -> None:
        self._client = client
        self._metrics = metrics
        self._recorder = Recorder(client, "job-controller")
        self._groups = Groups(client, rule, self._recorder, metrics)
        self._jobs = Informer(client, JOBS, Job)
        self._pods = Informer(client, PODS, Pod)
        grouped = all(discovery.served(s.group, s.plural) for s in (WORKLOADS, POD_GROUPS))
        self._workloads = Informer(client, WORKLOADS, Workload) if grouped else None
        self._pod_groups = Informer(client, POD_GROUPS, PodGroup) if grouped else None
        self._pods_of: defaultdict[str, dict[str, Pod]] = defaultdict(dict)
        self._unseen = Unseen()
        self._unsure: defaultdict[Key, set[str]] = defaultdict(set)
        self._soon: dict[Key, asyncio.TimerHandle] = {}
        self._waiting: defaultdict[Ref, set[Key]] = defaultdict(set)
        self._work: Work[Key] = Work(self._attend, workers=WORKERS)
        self._orphans: Work[Key] = Work(self._attend_orphan)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._jobs.run(self._on_job))
            group.create_task(self._pods.run(self._on_pod))
            if self._workloads and self._pod_groups:
                group.create_task(self._workloads.run(self._on_workload))
                group.create_task(self._pod_groups.run(self._on_group))
            group.create_task(self._recorder.run())
            await self.synced()  # before that a Job may look as if it had no pods
            group.create_task(self._work.run())
            group.create_task(self._orphans.run())
            group.create_task(self._give_up_waiting())

    async def synced(self) -> None:
        for informer in (self._jobs, self._pods, self._workloads, self._pod_groups):
            if informer is not None:
                await informer.synced.wait()

    # What the watches tell

    def _on_job(self, news: Seen[Job] | Gone[Job] | Relisted) -> None:
        match news:
            case Seen(job):
                self._unseen.saw(job.metadata)
                self._work.add(_key(job))
            case Gone(job):
                self._unseen.lost(job.metadata.uid)
                self._unsure.pop(_key(job), None)
                for pod in self._pods_of.get(job.metadata.uid, {}).values():
                    self._orphans.add(_key(pod))
            case Relisted():
                pass

    def _on_pod(self, news: Seen[Pod] | Gone[Pod] | Relisted) -> None:
        match news:
            case Seen(pod):
                self._forget(pod)
                owner = _job_of(pod)
                if owner is not None:
                    self._pods_of[owner][pod.metadata.uid] = pod
                if facts.is_tracked(pod):
                    self._orphans.add(_key(pod))
                self._pod_news(pod, self._unseen.saw(pod.metadata))
            case Gone(pod):
                self._forget(pod)
                self._pod_news(pod, self._unseen.lost(pod.metadata.uid), gone=True)
            case Relisted():
                pass

    def _pod_news(self, pod: Pod, settled: Key | None, *, gone: bool = False) -> None:
        owner = pod.metadata.controller
        if settled is not None:
            self._look_soon(settled, SOON_S)
        if owner is not None and owner.kind == "Job":
            quick = gone or facts.has_ended(pod) or facts.is_terminating(pod)
            key = (pod.metadata.namespace, owner.name)
            self._look_soon(key, SOON_S if quick else LATER_S)

    def _forget(self, pod: Pod) -> None:
        owner = _job_of(pod)
        known = self._pods_of.get(owner) if owner else None
        if owner and known is not None:
            known.pop(pod.metadata.uid, None)
            if not known:
                del self._pods_of[owner]

    def _on_workload(self, news: Seen[Workload] | Gone[Workload] | Relisted) -> None:
        match news:
            case Seen(workload):
                ref = self._groups.saw_workload(workload)
                if ref is not None:
                    for job in self._waiting.pop(ref, ()):
                        self._work.add(job)
            case Gone(workload):
                self._groups.lost_workload(workload)
            case Relisted():
                pass

    def _on_group(self, news: Seen[PodGroup] | Gone[PodGroup] | Relisted) -> None:
        match news:
            case Seen(group):
                self._groups.saw_group(group)
            case Gone(group):
                self._groups.lost_group(group)
            case Relisted():
                pass

    def _look_soon(self, job: Key, seconds: float) -> None:
        """At the earliest of the times that were asked for."""
        if job not in self._jobs.known:
            return
        loop = asyncio.get_running_loop()
        timer = self._soon.get(job)
        if timer is None or timer.when() > loop.time() + seconds:
            if timer is not None:
                timer.cancel()
            self._soon[job] = loop.call_later(seconds, self._look, job)

    def _look(self, job: Key) -> None:
        del self._soon[job]
        self._work.add(job)

    async def _give_up_waiting(self) -> None:
        while True:
            await asyncio.sleep(unseen.LAPSE_S)
            for job in self._unseen.lapse():
                self._work.add(job)

    # What is done about a Job

    async def _attend(self, key: Key) -> None:
        job = self._jobs.known.get(key)
        if job is None or job.spec.managed_by not in (None, OURSELVES):
            return
        await self._ask_about_unsure(key)
        if self._unseen.waits(key):
            return
        if job.ending is not None:
            await self._clear_away(job)
            return
        began, done = time.monotonic(), None
        try:
            done = await self._look_at(job)
        finally:
            self._metrics.looked_at(job, done, time.monotonic() - began)

    async def _look_at(self, job: Job) -> Plan:
        pods = list(self._pods_of.get(job.metadata.uid, {}).values())
        group = None
        if self._workloads is not None and job.metadata.deletion_timestamp is None:
            group = await self._groups.of(job, has_pods=bool(pods))
        if isinstance(group, Missing):
            self._waiting[group.parent].add(_key(job))
            return Plan(status=job.status)
        planned = plan(job, pods, _now())
        await self._carry_out(job, planned, group)
        return planned

    async def _carry_out(self, job: Job, planned: Plan, group: PodGroup | None) -> None:
        await self._make(job, planned.make, group)
        await self._each(self._give_up(job, pod) for pod in planned.give_up)
        await self._each(self._stop(job, pod) for pod in planned.stop)
        await self._report(job, planned)
        await self._each(self._untrack(_key(job), pod) for pod in planned.release)
        for news in planned.news:
            tell = self._recorder.warning if news.warning else self._recorder.normal
            tell(about(job), news.reason, news.message)
        if planned.look_again is not None:
            self._work.add(_key(job), after=max(planned.look_again.total_seconds(), 0.05))

    async def _make(self, job: Job, wanted: Sequence[New], group: PodGroup | None) -> None:
        """One, two, four and so on: what can't be made fails early (decision 0091)."""
        manifests = [making.pod(job, new, group, random.choice) for new in wanted]
        at_once = 1
        while manifests:
            await self._each(self._make_pod(job, manifest) for manifest in manifests[:at_once])
            manifests, at_once = manifests[at_once:], at_once * 2

    async def _make_pod(self, job: Job, manifest: dict[str, Any]) -> None:
        namespace, name = _key(job)[0], manifest["metadata"]["name"]
        try:
            made = json.decode(await self._client.create(PODS, manifest, namespace), type=Pod)
        except Unanswered:
            self._unsure[_key(job)].add(name)
            raise
        except ApiError as error:
            self._recorder.warning(about(job), "FailedCreate", f"Error creating: {error}")
            self._metrics.pod_made(again=_is_again(job), well=False)
            raise
        self._expect(_key(job), made)
        self._recorder.normal(about(job), "SuccessfulCreate", f"Created pod: {name}")
        self._metrics.pod_made(again=_is_again(job), well=True)

    async def _ask_about_unsure(self, job: Key) -> None:
        """Pods that nobody knows whether they were made: the server knows by now."""
        for name in list(self._unsure.get(job, ())):
            with contextlib.suppress(NotFound):
                self._expect(job, await self._client.get(PODS, job[0], name, into=Pod))
            self._unsure[job].discard(name)
        self._unsure.pop(job, None)

    def _expect(self, job: Key, made: Pod) -> None:
        known = self._pods.known.get(_key(made))
        shows = unseen.at_least(made.metadata.resource_version)
        self._unseen.wrote(job, made.metadata.uid, shows, known.metadata if known else None)

    async def _give_up(self, job: Job, pod: Pod) -> None:
        await self._untrack(_key(job), pod)
        await self._stop(job, pod)

    async def _stop(self, job: Job, pod: Pod) -> None:
        name = pod.metadata.name
        try:
            await self._client.delete(PODS, *_key(pod), uid=pod.metadata.uid)
        except (NotFound, Conflict):
            return
        except (ApiError, Unanswered) as error:
            self._recorder.warning(about(job), "FailedDelete", f"Error deleting: {error}")
            raise
        self._wrote(_key(job), pod.metadata.uid, _key(pod), unseen.being_deleted)
        self._recorder.normal(about(job), "SuccessfulDelete", f"Deleted pod: {name}")

    async def _untrack(self, job: Key, pod: Pod) -> None:
        if not facts.is_tracked(pod):
            return
        patch = {"metadata": {"uid": pod.metadata.uid, **UNTRACK}}
        try:
            body = await self._client.patch(PODS, *_key(pod), patch, kind="strategic")
        except (NotFound, Conflict):
            return  # it is gone, or another pod has its name by now
        version = json.decode(body, type=Pod).metadata.resource_version
        self._wrote(job, pod.metadata.uid, _key(pod), unseen.at_least(version))

    async def _report(self, job: Job, planned: Plan) -> None:
        patch = change(job.status, planned.status)
        if not patch:
            return
        meta = job.metadata
        as_read = {"uid": meta.uid, "resourceVersion": meta.resource_version}
        body = await self._client.patch(
            JOBS, *_key(job), {"metadata": as_read, "status": patch}, subresource="status"
        )
        written = json.decode(body, type=Job)
        self._metrics.finished(written)
        version = written.metadata.resource_version
        known = self._jobs.known.get(_key(job))
        self._unseen.wrote(
            _key(job), meta.uid, unseen.at_least(version), known.metadata if known else None
        )

    def _wrote(self, job: Key, uid: str, pod: Key, shows: unseen.Shows) -> None:
        """What was known and isn't any more is gone: there is nothing to wait for."""
        known = self._pods.known.get(pod)
        if known is not None and known.metadata.uid == uid:
            self._unseen.wrote(job, uid, shows, known.metadata)

    async def _each(self, requests: Iterable[Any]) -> None:
        """All of them, whatever becomes of one; then the first failure is raised."""
        done = await asyncio.gather(*requests, return_exceptions=True)
        for failure in done:
            if isinstance(failure, BaseException):
                raise failure

    # What is left of one that is over

    async def _clear_away(self, job: Job) -> None:
        ttl, end = job.spec.ttl_seconds_after_finished, job.ending
        if ttl is None or end is None or end.last_transition_time is None:
            return
        if job.metadata.deletion_timestamp is not None:
            return
        left = ttl - (datetime.now(UTC) - end.last_transition_time).total_seconds()
        if left > 0:
            self._work.add(_key(job), after=left)
            return
        try:
            await self._client.delete(
                JOBS, *_key(job), uid=job.metadata.uid, propagation="Foreground"
            )
        except (NotFound, Conflict):
            return

    async def _attend_orphan(self, key: Key) -> None:
        """A pod that nobody will count any more is let go."""
        pod = self._pods.known.get(key)
        if pod is None or not facts.is_tracked(pod) or await self._is_awaited(pod):
            return
        await self._untrack(("", ""), pod)

    async def _is_awaited(self, pod: Pod) -> bool:
        owner = pod.metadata.controller
        if owner is None:
            return False
        if owner.kind != "Job" or not owner.api_version.startswith("batch/"):
            return True
        key = (pod.metadata.namespace, owner.name)
        job = self._jobs.known.get(key)
        if job is None or job.metadata.uid != owner.uid:
            try:
                job = await self._client.get(JOBS, *key, into=Job)
            except NotFound:
                return False
        if job.metadata.uid != owner.uid:
            return False
        return job.ending is None or job.spec.managed_by not in (None, OURSELVES)


def _key(thing: Job | Pod) -> Key:
    return thing.metadata.namespace, thing.metadata.name


def _job_of(pod: Pod) -> str | None:
    owner = pod.metadata.controller
    return owner.uid if owner is not None and owner.kind == "Job" else None


def _is_again(job: Job) -> bool:
    """Whether a pod that is made now takes the place of another one."""
    return bool(job.status.failed or job.status.terminating)


def _now() -> datetime:
    """Kubernetes' times have whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)
