"""What the Job controller asks of the API server: pods made, deleted and let go, statuses written.

Every write is noted until the watches show it.
"""

import asyncio
import contextlib
import random
from collections import defaultdict
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import json

from tutti.api.batch import Job
from tutti.api.core_v1 import Pod
from tutti.api.errors import ApiError, Conflict, NotFound, Unanswered
from tutti.api.registry import JOBS, PODS
from tutti.api.scheduling import PodGroup
from tutti.controllers.jobs import facts, making, unseen
from tutti.controllers.jobs.groups import about
from tutti.controllers.jobs.managing import New
from tutti.controllers.jobs.metrics import JobMetrics
from tutti.controllers.jobs.plan import Plan
from tutti.controllers.jobs.statuses import change
from tutti.controllers.jobs.unseen import Unseen
from tutti.controllers.recorder import Recorder
from tutti.kube.client import Client

Key = tuple[str, str]

UNTRACK: Final = {"$deleteFromPrimitiveList/finalizers": [facts.FINALIZER]}


class Requests:
    """`jobs` and `pods` are what the watches have shown so far."""

    def __init__(
        self,
        client: Client,
        recorder: Recorder,
        metrics: JobMetrics,
        jobs: Mapping[Key, Job],
        pods: Mapping[Key, Pod],
    ) -> None:
        self._client = client
        self._recorder = recorder
        self._metrics = metrics
        self._jobs = jobs
        self._pods = pods
        self._unsure: defaultdict[Key, set[str]] = defaultdict(set)
        self.unseen = Unseen()

    def forget(self, job: Job) -> None:
        self._unsure.pop(key_of(job), None)

    async def carry_out(self, job: Job, planned: Plan, group: PodGroup | None) -> None:
        await self._make(job, planned.make, group)
        await _each(self._give_up(job, pod) for pod in planned.give_up)
        await _each(self._stop(job, pod) for pod in planned.stop)
        await self._report(job, planned)
        await _each(self.untrack(key_of(job), pod) for pod in planned.release)
        for news in planned.news:
            tell = self._recorder.warning if news.warning else self._recorder.normal
            tell(about(job), news.reason, news.message)

    async def _make(self, job: Job, wanted: Sequence[New], group: PodGroup | None) -> None:
        """One, two, four and so on: what can't be made fails early (decision 0091)."""
        manifests = [making.pod(job, new, group, random.choice) for new in wanted]
        at_once = 1
        while manifests:
            await _each(self._make_pod(job, manifest) for manifest in manifests[:at_once])
            manifests, at_once = manifests[at_once:], at_once * 2

    async def _make_pod(self, job: Job, manifest: dict[str, Any]) -> None:
        namespace, name = key_of(job)[0], manifest["metadata"]["name"]
        try:
            made = json.decode(await self._client.create(PODS, manifest, namespace), type=Pod)
        except Unanswered:
            self._unsure[key_of(job)].add(name)
            raise
        except ApiError as error:
            self._recorder.warning(about(job), "FailedCreate", f"Error creating: {error}")
            self._metrics.pod_made(again=_is_again(job), well=False)
            raise
        self._expect(key_of(job), made)
        self._recorder.normal(about(job), "SuccessfulCreate", f"Created pod: {name}")
        self._metrics.pod_made(again=_is_again(job), well=True)

    async def ask_about_unsure(self, job: Key) -> None:
        """Pods that nobody knows whether they were made: the server knows by now."""
        for name in list(self._unsure.get(job, ())):
            with contextlib.suppress(NotFound):
                self._expect(job, await self._client.get(PODS, job[0], name, into=Pod))
            self._unsure[job].discard(name)
        self._unsure.pop(job, None)

    def _expect(self, job: Key, made: Pod) -> None:
        known = self._pods.get(key_of(made))
        shows = unseen.at_least(made.metadata.resource_version)
        self.unseen.wrote(job, made.metadata.uid, shows, known.metadata if known else None)

    async def _give_up(self, job: Job, pod: Pod) -> None:
        await self.untrack(key_of(job), pod)
        await self._stop(job, pod)

    async def _stop(self, job: Job, pod: Pod) -> None:
        name = pod.metadata.name
        try:
            await self._client.delete(PODS, *key_of(pod), uid=pod.metadata.uid)
        except (NotFound, Conflict):
            return
        except (ApiError, Unanswered) as error:
            self._recorder.warning(about(job), "FailedDelete", f"Error deleting: {error}")
            raise
        self._wrote(key_of(job), pod.metadata.uid, key_of(pod), unseen.being_deleted)
        self._recorder.normal(about(job), "SuccessfulDelete", f"Deleted pod: {name}")

    async def untrack(self, job: Key, pod: Pod) -> None:
        if not facts.is_tracked(pod):
            return
        patch = {"metadata": {"uid": pod.metadata.uid, **UNTRACK}}
        try:
            body = await self._client.patch(PODS, *key_of(pod), patch, kind="strategic")
        except (NotFound, Conflict):
            return  # it is gone, or another pod has its name by now
        version = json.decode(body, type=Pod).metadata.resource_version
        self._wrote(job, pod.metadata.uid, key_of(pod), unseen.at_least(version))

    async def _report(self, job: Job, planned: Plan) -> None:
        patch = change(job.status, planned.status)
        if not patch:
            return
        meta = job.metadata
        as_read = {"uid": meta.uid, "resourceVersion": meta.resource_version}
        body = await self._client.patch(
            JOBS, *key_of(job), {"metadata": as_read, "status": patch}, subresource="status"
        )
        written = json.decode(body, type=Job)
        self._metrics.finished(written)
        version = written.metadata.resource_version
        known = self._jobs.get(key_of(job))
        self.unseen.wrote(
            key_of(job), meta.uid, unseen.at_least(version), known.metadata if known else None
        )

    def _wrote(self, job: Key, uid: str, pod: Key, shows: unseen.Shows) -> None:
        """What was known and isn't any more is gone: there is nothing to wait for."""
        known = self._pods.get(pod)
        if known is not None and known.metadata.uid == uid:
            self.unseen.wrote(job, uid, shows, known.metadata)


async def _each(requests: Iterable[Awaitable[None]]) -> None:
    """All of them, whatever becomes of one; then the first failure is raised."""
    done = await asyncio.gather(*requests, return_exceptions=True)
    for failure in done:
        if isinstance(failure, BaseException):
            raise failure


def key_of(thing: Job | Pod) -> Key:
    return thing.metadata.namespace, thing.metadata.name


def _is_again(job: Job) -> bool:
    """Whether a pod that is made now takes the place of another one."""
    return bool(job.status.failed or job.status.terminating)
