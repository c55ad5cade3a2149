"""What is to be done about a CronJob now: a function of it, its Jobs and the time."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from msgspec import structs

from tutti.api import schedules
from tutti.api.batch import CronJob, CronJobStatus, Job
from tutti.api.core_v1 import ObjectReference
from tutti.controllers.cronjobs import times

SCHEDULED_AT: Final = "batch.kubernetes.io/cronjob-scheduled-timestamp"
IN_TIME: Final = timedelta(milliseconds=100)
"""So that a time has certainly come when it is looked at again."""

Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True)
class News:
    reason: str
    message: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Start:
    """A Job to be started for a time of the schedule."""

    at: datetime
    job: Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    status: CronJobStatus
    news: tuple[News, ...] = ()
    make_room: bool = False
    """What is active is deleted first: the new Job takes its place."""
    start: Start | None = None
    forget: tuple[Job, ...] = ()
    """Deleted: the history is long enough without them."""
    look_again: timedelta | None = None


def plan(cron: CronJob, jobs: Sequence[Job], now: datetime) -> Plan:
    """`jobs`: all that it controls, whoever made them."""
    status, news = _caught_up(cron, jobs)
    forget = _past(cron, jobs)
    still = Plan(status=status, news=news, forget=forget)
    if cron.metadata.deletion_timestamp is not None or cron.spec.suspend:
        return still
    try:
        where = times.zone(cron)
    except ValueError as error:
        text = f'invalid timeZone: "{cron.spec.time_zone}": {error}'
        return _with(still, News("UnknownTimeZone", text, warning=True))
    try:
        schedule = schedules.parse(cron.spec.schedule)
    except ValueError as error:
        text = f'unparseable schedule: "{cron.spec.schedule}" : {error}'
        return _with(still, News("UnparseableSchedule", text, warning=True))
    if "TZ" in cron.spec.schedule:
        still = _with(still, _unsupported(cron))
    due = times.due(cron, schedule, where, now)
    coming = times.next_one(schedule, where, now)
    wait = None if coming is None else coming - now + IN_TIME
    still = replace(still, look_again=wait)
    if due.missed_many:
        text = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
        still = _with(still, News("TooManyMissedTimes", text, warning=True))
    if due.at is None or _was_started(cron, status, due.at):
        return still
    return _started(cron, status, still, due.at)


def _started(cron: CronJob, status: CronJobStatus, still: Plan, at: datetime) -> Plan:
    if cron.spec.concurrency_policy == "Forbid" and status.active:
        text = (
            "Not starting job because prior execution is running and concurrency policy is Forbid"
        )
        return _with(still, News("JobAlreadyActive", text))
    in_their_place = cron.spec.concurrency_policy == "Replace"
    return replace(still, start=Start(at, job(cron, at)), make_room=in_their_place)


def job(cron: CronJob, at: datetime) -> Manifest:
    """The Job for this time: its name says which, so that no time gets two."""
    template = copy.deepcopy(cron.spec.job_template)
    meta = template.get("metadata") or {}
    written = at.isoformat(timespec="seconds")
    when = written.removesuffix("+00:00") + "Z" if at.tzinfo is UTC else written
    return {
        "metadata": {
            "name": name(cron, at),
            "namespace": cron.metadata.namespace,
            "labels": dict(meta.get("labels") or {}),
            "annotations": {**(meta.get("annotations") or {}), SCHEDULED_AT: when},
            "ownerReferences": [
                {
                    "apiVersion": "batch/v1",
                    "kind": "CronJob",
                    "name": cron.metadata.name,
                    "uid": cron.metadata.uid,
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": template.get("spec") or {},
    }


def name(cron: CronJob, at: datetime) -> str:
    return f"{cron.metadata.name}-{int(at.timestamp()) // 60}"


def reference(job: Job) -> ObjectReference:
    return ObjectReference(
        api_version="batch/v1",
        kind="Job",
        namespace=job.metadata.namespace,
        name=job.metadata.name,
        uid=job.metadata.uid,
        resource_version=job.metadata.resource_version,
    )


def with_job(status: CronJobStatus, job: Job, at: datetime) -> CronJobStatus:
    """The status once this Job was started for this time."""
    known = any(ref.uid == job.metadata.uid for ref in status.active)
    active = status.active if known else (*status.active, reference(job))
    return structs.replace(status, active=active, last_schedule_time=at.astimezone(UTC))


def _caught_up(cron: CronJob, jobs: Sequence[Job]) -> tuple[CronJobStatus, tuple[News, ...]]:
    """The Jobs that are over, or gone, are active no more."""
    news: list[News] = []
    by_uid = {job.metadata.uid: job for job in jobs}
    listed = {ref.uid for ref in cron.status.active}
    last = cron.status.last_successful_time
    for job in jobs:
        end = job.ending
        if end is None and job.metadata.uid not in listed:
            text = f"Saw a job that the controller did not create or forgot: {job.metadata.name}"
            news.append(News("UnexpectedJob", text, warning=True))
        elif end is not None and job.metadata.uid in listed:
            text = f"Saw completed job: {job.metadata.name}, condition: {end.type}"
            news.append(News("SawCompletedJob", text))
        done = job.status.completion_time
        if end is not None and end.type == "Complete" and done and (last is None or done > last):
            last = done
    active = []
    for ref in cron.status.active:
        known = by_uid.get(ref.uid)
        if known is None:
            news.append(News("MissingJob", f"Active job went missing: {ref.name}"))
        elif known.ending is None:
            active.append(ref)
    status = structs.replace(cron.status, active=tuple(active), last_successful_time=last)
    return status, tuple(news)


def _past(cron: CronJob, jobs: Sequence[Job]) -> tuple[Job, ...]:
    """What is over and more than is to be kept, the oldest first."""
    forget: list[Job] = []
    for kind, limit in (
        ("Complete", cron.spec.successful_jobs_history_limit),
        ("Failed", cron.spec.failed_jobs_history_limit),
    ):
        if limit is None:
            continue
        over = [job for job in jobs if job.ending is not None and job.ending.type == kind]
        over.sort(key=_age)
        forget += over[: max(0, len(over) - limit)]
    return tuple(job for job in forget if job.metadata.deletion_timestamp is None)


def _age(job: Job) -> tuple[float, str]:
    started = job.status.start_time
    return started.timestamp() if started else float("inf"), job.metadata.name


def _was_started(cron: CronJob, status: CronJobStatus, at: datetime) -> bool:
    last = status.last_schedule_time
    return last == at or any(ref.name == name(cron, at) for ref in status.active)


def _unsupported(cron: CronJob) -> News:
    text = (
        f'CRON_TZ or TZ used in schedule "{cron.spec.schedule}" is not officially supported, see '
        "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
    )
    return News("UnsupportedSchedule", text, warning=True)


def _with(planned: Plan, news: News) -> Plan:
    return replace(planned, news=(*planned.news, news))
