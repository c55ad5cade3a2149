"""When a CronJob is due."""

from datetime import UTC, datetime, timedelta

import pytest

from tutti.api import schedules
from tutti.api.batch import CronJob, CronJobSpec, CronJobStatus
from tutti.api.meta import ObjectMeta
from tutti.controllers.cronjobs import times
from tutti.controllers.cronjobs.times import Due

NOON = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


def cron(
    schedule: str, *, since: datetime, last: datetime | None = None, **spec: object
) -> CronJob:
    return CronJob(
        metadata=ObjectMeta(name="c", creation_timestamp=since),
        spec=CronJobSpec(schedule=schedule, **spec),
        status=CronJobStatus(last_schedule_time=last),
    )


def due(one: CronJob, now: datetime) -> Due:
    return times.due(one, schedules.parse(one.spec.schedule), times.zone(one), now)


@pytest.mark.parametrize(
    ("one", "now", "at"),
    [
        pytest.param(
            cron("0 * * * *", since=NOON), NOON + timedelta(minutes=59), None, id="not yet"
        ),
        pytest.param(
            cron("0 * * * *", since=NOON),
            NOON + timedelta(minutes=61),
            NOON + timedelta(hours=1),
            id="a minute ago",
        ),
        pytest.param(
            cron("*/5 * * * *", since=NOON, last=NOON + timedelta(minutes=10)),
            NOON + timedelta(minutes=14),
            None,
            id="the last one was started",
        ),
        pytest.param(
            cron("*/5 * * * *", since=NOON),
            NOON + timedelta(days=400, minutes=7),
            NOON + timedelta(days=400, minutes=5),
            id="of many that were missed the latest counts",
        ),
        pytest.param(
            cron("0 * * * *", since=NOON, starting_deadline_seconds=60),
            NOON + timedelta(minutes=65),
            None,
            id="too late for its deadline",
        ),
        pytest.param(
            cron("@every 90s", since=NOON),
            NOON + timedelta(seconds=200),
            NOON + timedelta(seconds=180),
            id="every so often since it was made",
        ),
        pytest.param(
            cron("0 9 * * *", since=NOON, time_zone="Asia/Tokyo"),
            NOON + timedelta(hours=13),
            NOON + timedelta(hours=12),
            id="nine in Tokyo",
        ),
    ],
)
def test_the_latest_time_that_has_come_is_due(one: CronJob, now: datetime, at: datetime | None):
    assert due(one, now).at == at


def test_many_missed_times_are_said():
    every_minute = cron("* * * * *", since=NOON)
    assert not due(every_minute, NOON + timedelta(minutes=100)).missed_many
    assert due(every_minute, NOON + timedelta(minutes=101)).missed_many


def test_a_zone_that_nobody_knows_is_refused():
    with pytest.raises(ValueError, match="Nowhere/Land"):
        times.zone(cron("@daily", since=NOON, time_zone="Nowhere/Land"))
