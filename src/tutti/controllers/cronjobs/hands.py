"""The CronJob controller's hands."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime

from msgspec import json

from tutti.api.batch import CronJob, CronJobStatus, Job
from tutti.api.core_v1 import ObjectReference
from tutti.api.errors import AlreadyExists, ApiError, Conflict, NotFound, Unanswered
from tutti.api.registry import CRONJOBS, JOBS
from tutti.controllers.cronjobs.plan import Plan, Start, plan, with_job
from tutti.controllers.jobs.statuses import change
from tutti.controllers.recorder import Recorder
from tutti.controllers.work import Work
from tutti.kube.client import Client
from tutti.kube.informer import Gone, Informer, Relisted, Seen

Key = tuple[str, str]


async def run(client: Client, ready: Callable[[], None]) -> None:
    crons = CronJobs(client)
    async with asyncio.TaskGroup() as group:
        group.create_task(crons.run())
        await crons.synced()
        ready()


class CronJobs:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._recorder = Recorder(client, "cronjob-controller")
        self._crons = Informer(client, CRONJOBS, CronJob)
        self._jobs = Informer(client, JOBS, Job)
        self._jobs_of: defaultdict[str, dict[str, Job]] = defaultdict(dict)
        self._written: dict[str, int] = {}
        self._alarms: dict[Key, asyncio.TimerHandle] = {}
        self._work: Work[Key] = Work(self._attend)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._crons.run(self._on_cron))
            group.create_task(self._jobs.run(self._on_job))
            group.create_task(self._recorder.run())
            await self.synced()
            group.create_task(self._work.run())

    async def synced(self) -> None:
        await self._crons.synced.wait()
        await self._jobs.synced.wait()

    def _on_cron(self, news: Seen[CronJob] | Gone[CronJob] | Relisted) -> None:
        match news:
            case Seen(cron):
                self._work.add(_key(cron))
            case Gone(cron):
                self._written.pop(cron.metadata.uid, None)
                if alarm := self._alarms.pop(_key(cron), None):
                    alarm.cancel()
            case Relisted():
                pass

    def _on_job(self, news: Seen[Job] | Gone[Job] | Relisted) -> None:
        match news:
            case Seen(job):
                self._keep(job, there=True)
            case Gone(job):
                self._keep(job, there=False)
            case Relisted():
                pass

    def _keep(self, job: Job, *, there: bool) -> None:
        owner = job.metadata.controller
        if owner is None or owner.kind != "CronJob":
            return
        known = self._jobs_of[owner.uid]
        if there:
            known[job.metadata.uid] = job
        else:
            known.pop(job.metadata.uid, None)
        if not known:
            del self._jobs_of[owner.uid]
        self._work.add((job.metadata.namespace, owner.name))

    async def _attend(self, key: Key) -> None:
        cron = self._crons.known.get(key)
        if cron is None:
            return
        uid = cron.metadata.uid
        if int(cron.metadata.resource_version) < self._written.get(uid, 0):
            return  # what we wrote is on its way
        await self._look_for_missing(cron)
        planned = plan(cron, list(self._jobs_of.get(uid, {}).values()), datetime.now(UTC))
        await self._carry_out(cron, planned)
        self._wake(key, planned)

    async def _look_for_missing(self, cron: CronJob) -> None:
        """A Job that was just made may not have been shown yet."""
        known = self._jobs_of.get(cron.metadata.uid, {})
        for ref in cron.status.active:
            if ref.uid not in known:
                try:
                    job = await self._client.get(JOBS, ref.namespace, ref.name, into=Job)
                except NotFound:
                    continue
                if job.metadata.uid == ref.uid:
                    self._jobs_of[cron.metadata.uid][ref.uid] = job

    async def _carry_out(self, cron: CronJob, planned: Plan) -> None:
        status = planned.status
        for news in planned.news:
            tell = self._recorder.warning if news.warning else self._recorder.normal
            tell(_about(cron), news.reason, news.message)
        if planned.start is not None:
            if planned.make_room:
                for ref in status.active:
                    await self._delete(cron, ref.namespace, ref.name, ref.uid)
                status = CronJobStatus(
                    last_schedule_time=status.last_schedule_time,
                    last_successful_time=status.last_successful_time,
                )
            made = await self._start(cron, planned.start)
            if made is not None:
                status = with_job(status, made, planned.start.at)
        await self._report(cron, status)
        for job in planned.forget:
            meta = job.metadata
            await self._delete(cron, meta.namespace, meta.name, meta.uid)

    async def _start(self, cron: CronJob, start: Start) -> Job | None:
        namespace, name = cron.metadata.namespace, start.job["metadata"]["name"]
        try:
            made = json.decode(await self._client.create(JOBS, start.job, namespace), type=Job)
        except AlreadyExists:
            there = await self._client.get(JOBS, namespace, name, into=Job)
            owner = there.metadata.controller
            return there if owner is not None and owner.uid == cron.metadata.uid else None
        except (ApiError, Unanswered) as error:
            self._recorder.warning(_about(cron), "FailedCreate", f"Error creating job: {error}")
            raise
        self._recorder.normal(_about(cron), "SuccessfulCreate", f"Created job {name}")
        self._jobs_of[cron.metadata.uid].setdefault(made.metadata.uid, made)
        return made

    async def _delete(self, cron: CronJob, namespace: str, name: str, uid: str) -> None:
        try:
            await self._client.delete(JOBS, namespace, name, uid=uid, propagation="Background")
        except (NotFound, Conflict):
            return
        except (ApiError, Unanswered) as error:
            self._recorder.warning(_about(cron), "FailedDelete", f"Deleted job: {error}")
            raise
        self._recorder.normal(_about(cron), "SuccessfulDelete", f"Deleted job {name}")

    async def _report(self, cron: CronJob, status: CronJobStatus) -> None:
        patch = change(cron.status, status)
        if not patch:
            return
        meta = cron.metadata
        as_read = {"uid": meta.uid, "resourceVersion": meta.resource_version}
        body = await self._client.patch(
            CRONJOBS, *_key(cron), {"metadata": as_read, "status": patch}, subresource="status"
        )
        written = json.decode(body, type=CronJob)
        self._written[meta.uid] = int(written.metadata.resource_version)

    def _wake(self, key: Key, planned: Plan) -> None:
        """One alarm for each CronJob, at its next time."""
        if alarm := self._alarms.pop(key, None):
            alarm.cancel()
        if planned.look_again is not None:
            loop = asyncio.get_running_loop()
            seconds = min(planned.look_again.total_seconds(), 3600.0)
            self._alarms[key] = loop.call_later(seconds, self._work.add, key)


def _about(cron: CronJob) -> ObjectReference:
    meta = cron.metadata
    return ObjectReference(
        api_version="batch/v1",
        kind="CronJob",
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        resource_version=meta.resource_version,
    )


def _key(cron: CronJob) -> Key:
    return cron.metadata.namespace, cron.metadata.name
