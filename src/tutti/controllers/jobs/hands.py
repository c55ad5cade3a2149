"""The Job controller's hands: watches in, one plan for a Job at a time, requests out."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from tutti.api.batch import Job
from tutti.api.core_v1 import Pod
from tutti.api.errors import Conflict, NotFound
from tutti.api.registry import JOBS, POD_GROUPS, PODS, WORKLOADS
from tutti.api.scheduling import PodGroup, Workload
from tutti.controllers.jobs import facts, unseen
from tutti.controllers.jobs.gangs import Missing, Ref, Rule
from tutti.controllers.jobs.groups import Groups
from tutti.controllers.jobs.metrics import JobMetrics
from tutti.controllers.jobs.plan import Plan, plan
from tutti.controllers.jobs.requests import Key, Requests, key_of
from tutti.controllers.recorder import Recorder
from tutti.controllers.work import Work
from tutti.kube.client import Client
from tutti.kube.discovery import Discovery
from tutti.kube.informer import Gone, Informer, Relisted, Seen

WORKERS: Final = 16
SOON_S: Final = 0.02
"""How long news of pods are gathered before their Job is looked at."""
LATER_S: Final = 1.0
"""The same for news that change nothing but how many pods are ready: as long as in Kubernetes."""
OURSELVES: Final = "kubernetes.io/job-controller"


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
        self._owner_of: dict[str, str] = {}
        self._requests = Requests(
            client, self._recorder, metrics, self._jobs.known, self._pods.known
        )
        self._unseen = self._requests.unseen
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
                self._work.add(key_of(job))
            case Gone(job):
                self._unseen.lost(job.metadata.uid)
                self._requests.forget(job)
                for pod in self._pods_of.get(job.metadata.uid, {}).values():
                    self._orphans.add(key_of(pod))
            case Relisted():
                pass

    def _on_pod(self, news: Seen[Pod] | Gone[Pod] | Relisted) -> None:
        match news:
            case Seen(pod):
                self._keep(pod)
                if facts.is_tracked(pod):
                    self._orphans.add(key_of(pod))
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

    def _keep(self, pod: Pod) -> None:
        """File the pod under the Job that controls it now."""
        self._forget(pod)
        owner = pod.metadata.controller
        if owner is not None and owner.kind == "Job":
            self._owner_of[pod.metadata.uid] = owner.uid
            self._pods_of[owner.uid][pod.metadata.uid] = pod

    def _forget(self, pod: Pod) -> None:
        owner = self._owner_of.pop(pod.metadata.uid, None)
        if owner is not None:
            del self._pods_of[owner][pod.metadata.uid]
            if not self._pods_of[owner]:
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
        await self._requests.ask_about_unsure(key)
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
            self._waiting[group.parent].add(key_of(job))
            return Plan(status=job.status)
        planned = plan(job, pods, _now())
        await self._requests.carry_out(job, planned, group)
        if planned.look_again is not None:
            self._work.add(key_of(job), after=max(planned.look_again.total_seconds(), 0.05))
        return planned

    # What is left of one that is over

    async def _clear_away(self, job: Job) -> None:
        ttl, end = job.spec.ttl_seconds_after_finished, job.ending
        if ttl is None or end is None or end.last_transition_time is None:
            return
        if job.metadata.deletion_timestamp is not None:
            return
        left = ttl - (datetime.now(UTC) - end.last_transition_time).total_seconds()
        if left > 0:
            self._work.add(key_of(job), after=left)
            return
        try:
            await self._client.delete(
                JOBS, *key_of(job), uid=job.metadata.uid, propagation="Foreground"
            )
        except (NotFound, Conflict):
            return

    async def _attend_orphan(self, key: Key) -> None:
        """A pod that nobody will count any more is let go."""
        pod = self._pods.known.get(key)
        if pod is None or not facts.is_tracked(pod) or await self._is_awaited(pod):
            return
        await self._requests.untrack(("", ""), pod)

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


def _now() -> datetime:
    """Kubernetes' times have whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)
