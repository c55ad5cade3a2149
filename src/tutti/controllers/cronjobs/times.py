"""When a CronJob's next Job is due, and which of the times that have passed still counts."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tutti.api.batch import CronJob
from tutti.api.schedules import Schedule

MANY: Final = 100
"""Missed starts after which somebody is told."""
_FIRST_LOOK_BACK: Final = timedelta(minutes=10)


class Due(NamedTuple):
    at: datetime | None
    """The most recent time that has come and for which no Job was started yet."""
    missed_many: bool = False


def zone(cron: CronJob) -> tzinfo:
    """Raises ValueError for a zone that nobody knows. Without one: UTC."""
    prefix, _, _ = cron.spec.schedule.partition(" ")
    name = prefix.partition("=")[2] if "TZ=" in prefix else cron.spec.time_zone
    if not name:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise ValueError(f"unknown time zone {name}") from None


def due(cron: CronJob, schedule: Schedule, where: tzinfo, now: datetime) -> Due:
    since = cron.status.last_schedule_time or cron.metadata.creation_timestamp or now
    if cron.spec.starting_deadline_seconds is not None:
        since = max(since, now - timedelta(seconds=cron.spec.starting_deadline_seconds))
    since, now = since.astimezone(where), now.astimezone(where)
    first = schedule.after(since)
    if first is None or first > now:
        return Due(None)
    return Due(_latest(schedule, since, first, now), _are_many(schedule, first, now))


def next_one(schedule: Schedule, where: tzinfo, now: datetime) -> datetime | None:
    return schedule.after(now.astimezone(where))


def _latest(schedule: Schedule, since: datetime, first: datetime, now: datetime) -> datetime:
    """Looks back further and further: a schedule of minutes may have slept for years."""
    if schedule.every is not None:
        return first + (now - first) // schedule.every * schedule.every
    back = _FIRST_LOOK_BACK
    while now - back > since:
        found = schedule.after(now - back)
        if found is not None and found <= now:
            return _last(schedule, found, now)
        back *= 4
    return _last(schedule, first, now)


def _last(schedule: Schedule, found: datetime, now: datetime) -> datetime:
    while (later := schedule.after(found)) is not None and later <= now:
        found = later
    return found


def _are_many(schedule: Schedule, first: datetime, now: datetime) -> bool:
    at: datetime | None = first
    for _ in range(MANY):
        at = schedule.after(at) if at else None
        if at is None or at > now:
            return False
    return True
