"""What is done about a CronJob."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec import structs

from tutti.api.batch import CronJob, CronJobSpec, CronJobStatus, Job, JobCondition, JobStatus
from tutti.api.core_v1 import ObjectReference
from tutti.api.meta import ObjectMeta
from tutti.controllers.cronjobs.plan import SCHEDULED_AT, News, Plan, plan

NOON = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
LATER = NOON + timedelta(minutes=1, seconds=2)
MINUTE = NOON + timedelta(minutes=1)


def cron(*active: Job, **spec: object) -> CronJob:
    given: dict[str, object] = {
        "schedule": "* * * * *",
        "concurrency_policy": "Allow",
        "successful_jobs_history_limit": 3,
        "failed_jobs_history_limit": 1,
        "job_template": {"metadata": {"labels": {"a": "b"}}, "spec": {"parallelism": 2}},
    }
    refs = tuple(
        ObjectReference(name=job.metadata.name, uid=job.metadata.uid, namespace="ns")
        for job in active
    )
    return CronJob(
        metadata=ObjectMeta(name="c", namespace="ns", uid="c-uid", creation_timestamp=NOON),
        spec=CronJobSpec(**{**given, **spec}),
        status=CronJobStatus(active=refs),
    )


def job(name: str, end: str | None = None, *, started: int = 0) -> Job:
    at = NOON + timedelta(seconds=started)
    conditions = (JobCondition(type=end, status="True"),) if end else ()
    done = at if end == "Complete" else None
    return Job(
        metadata=ObjectMeta(name=name, namespace="ns", uid=f"{name}-uid"),
        status=JobStatus(start_time=at, completion_time=done, conditions=conditions),
    )


def reasons(planned: Plan) -> list[str]:
    return [news.reason for news in planned.news]


def test_a_job_is_started_for_the_time_that_has_come():
    planned = plan(cron(), [], LATER)
    assert planned.start is not None
    assert planned.start.at == MINUTE
    made = planned.start.job
    assert made["metadata"]["name"] == f"c-{int(MINUTE.timestamp()) // 60}"
    assert made["metadata"]["labels"] == {"a": "b"}
    assert made["metadata"]["annotations"] == {SCHEDULED_AT: "2026-03-10T12:01:00Z"}
    assert made["spec"] == {"parallelism": 2}
    (owner,) = made["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("CronJob", "c-uid", True)


def test_the_time_is_written_in_the_crons_own_zone():
    planned = plan(cron(time_zone="Asia/Tokyo"), [], LATER)
    assert planned.start is not None
    annotations = planned.start.job["metadata"]["annotations"]
    assert annotations == {SCHEDULED_AT: "2026-03-10T21:01:00+09:00"}


def test_it_is_looked_at_again_at_the_next_time():
    wait = plan(cron(), [], LATER).look_again
    assert wait is not None
    assert timedelta(seconds=58) < wait < timedelta(seconds=59)


@pytest.mark.parametrize(
    ("policy", "starts", "makes_room"),
    [("Allow", True, False), ("Forbid", False, False), ("Replace", True, True)],
)
def test_a_job_that_still_runs(policy: str, starts: bool, makes_room: bool):
    running = job("old")
    planned = plan(cron(running, concurrency_policy=policy), [running], LATER)
    assert (planned.start is not None, planned.make_room) == (starts, makes_room)
    assert ("JobAlreadyActive" in reasons(planned)) == (policy == "Forbid")


def test_a_time_never_gets_two_jobs():
    started = structs.replace(cron(), status=CronJobStatus(last_schedule_time=MINUTE))
    assert plan(started, [], LATER).start is None
    running = job(f"c-{int(MINUTE.timestamp()) // 60}")
    assert plan(cron(running), [running], LATER).start is None


def test_a_suspended_one_starts_nothing_but_keeps_its_books():
    over = job("old", "Complete")
    planned = plan(cron(over, suspend=True), [over], LATER)
    assert planned.start is None
    assert planned.status.active == ()
    assert planned.status.last_successful_time == NOON
    assert planned.news == (News("SawCompletedJob", "Saw completed job: old, condition: Complete"),)


def test_jobs_that_come_and_go_without_it_are_said():
    stranger, gone = job("stranger"), job("gone")
    assert reasons(plan(cron(gone, suspend=True), [stranger], LATER)) == [
        "UnexpectedJob",
        "MissingJob",
    ]


def test_only_so_many_that_are_over_are_kept():
    good = [job(f"good-{n}", "Complete", started=n) for n in range(5)]
    bad = [job(f"bad-{n}", "Failed", started=n) for n in range(2)]
    planned = plan(cron(suspend=True), [*good, *bad], LATER)
    assert [one.metadata.name for one in planned.forget] == ["good-0", "good-1", "bad-0"]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"schedule": "61 * * * *"}, "UnparseableSchedule"),
        ({"time_zone": "Nowhere/Land"}, "UnknownTimeZone"),
        ({"schedule": "TZ=UTC * * * * *"}, "UnsupportedSchedule"),
    ],
)
def test_what_is_wrong_is_said(spec: dict[str, object], reason: str):
    assert reason in reasons(plan(cron(**spec), [], LATER))
