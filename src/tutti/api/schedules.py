"""Cron schedules: five fields or a word like `@daily`, as CronJobs have them.

What is wrong with a schedule is said in the words of the parser that Kubernetes uses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

_MONTHS: Final = [
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
]
_DAYS: Final = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_WORDS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY: Final = "@every "
_DURATION: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")
_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_YEARS_AHEAD: Final = 5


@dataclass(frozen=True, slots=True)
class _Range:
    lowest: int
    highest: int
    names: dict[str, int]


_FIELDS: Final = (
    _Range(0, 59, {}),
    _Range(0, 23, {}),
    _Range(1, 31, {}),
    _Range(1, 12, {name: number for number, name in enumerate(_MONTHS, start=1)}),
    _Range(0, 6, {name: number for number, name in enumerate(_DAYS)}),
)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The moments that a schedule names; `every` stands for the `@every` form, which has no fields."""

    minutes: frozenset[int] = frozenset()
    hours: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    weekdays: frozenset[int] = frozenset()
    any_day: bool = False
    any_weekday: bool = False
    every: timedelta | None = None

    def after(self, moment: datetime) -> datetime | None:
        """The first moment later than this one, in its time zone; None if there is none in years.

        Hours and minutes pass as they really do: a time that a clock leaps over isn't named on that
        day, and one that it shows twice is named twice.
        """
        zone = moment.tzinfo
        if self.every is not None:
            return (moment.replace(microsecond=0).astimezone(UTC) + self.every).astimezone(zone)
        time = moment.astimezone(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
        last_year = time.year + _YEARS_AHEAD
        while time.year <= last_year:
            local = time.astimezone(zone)
            if local.month not in self.months or not self._names_day(local):
                midnight = local.replace(hour=0, minute=0, fold=0) + timedelta(days=1)
                time = midnight.astimezone(UTC)
            elif local.hour not in self.hours:
                time += timedelta(minutes=60 - local.minute)
            elif local.minute not in self.minutes:
                time += timedelta(minutes=1)
            else:
                return local
        return None

    def _names_day(self, time: datetime) -> bool:
        """Day of month and of week must both fit, but where both are limited one is enough."""
        day = time.day in self.days
        weekday = time.isoweekday() % 7 in self.weekdays
        return day and weekday if self.any_day or self.any_weekday else day or weekday


def parse(text: str) -> Schedule:
    """Raises ValueError with the reason."""
    if not text:
        raise ValueError("empty spec string")
    if text.startswith(("TZ=", "CRON_TZ=")):
        text = text.partition(" ")[2].strip()
    if text.startswith(_EVERY):
        return Schedule(every=_every(text))
    if text.startswith("@"):
        if text not in _WORDS:
            raise ValueError(f"unrecognized descriptor: {text}")
        text = _WORDS[text]
    fields = text.split()
    if len(fields) != len(_FIELDS):
        found = " ".join(fields)
        raise ValueError(f"expected exactly 5 fields, found {len(fields)}: [{found}]")
    minutes, hours, days, months, weekdays = (
        _values(field, within) for field, within in zip(fields, _FIELDS, strict=True)
    )
    any_day, any_weekday = (_is_open(fields[2]), _is_open(fields[4]))
    return Schedule(minutes, hours, days, months, weekdays, any_day, any_weekday)


def _is_open(field: str) -> bool:
    """Whether a part of the field is a star that leaves nothing out."""
    return any(part in ("*", "?", "*/1", "?/1") for part in field.split(","))


def _values(field: str, within: _Range) -> frozenset[int]:
    parts = filter(None, field.split(","))
    return frozenset().union(*(_part(part, within) for part in parts))


def _part(text: str, within: _Range) -> range:
    """One of `*`, `5`, `1-5`, `*/2`, `1-5/2`, `5/2`; names stand for numbers."""
    low_and_high, *steps = text.split("/")
    low, *high = low_and_high.split("-")
    if low in ("*", "?"):
        first, last = within.lowest, within.highest
    else:
        first = last = _number(low, within.names)
        if len(high) == 1:
            last = _number(high[0], within.names)
        elif high:
            raise ValueError(f"too many hyphens: {text}")
    step = 1
    if len(steps) == 1:
        step = _number(steps[0], {})
        last = last if high else within.highest
    elif steps:
        raise ValueError(f"too many slashes: {text}")
    if first < within.lowest:
        raise ValueError(f"beginning of range ({first}) below minimum ({within.lowest}): {text}")
    if last > within.highest:
        raise ValueError(f"end of range ({last}) above maximum ({within.highest}): {text}")
    if first > last:
        raise ValueError(f"beginning of range ({first}) beyond end of range ({last}): {text}")
    if step == 0:
        raise ValueError(f"step of range should be a positive number: {text}")
    return range(first, last + 1, step)


def _number(text: str, names: dict[str, int]) -> int:
    if text.lower() in names:
        return names[text.lower()]
    if not re.fullmatch(r"[-+]?[0-9]+", text):
        raise ValueError(
            f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax'
        )
    number = int(text)
    if number < 0:
        raise ValueError(f"negative number ({number}) not allowed: {text}")
    return number


def _every(text: str) -> timedelta:
    """At least a second, and whole seconds."""
    written = text.removeprefix(_EVERY)
    if not re.fullmatch(f"(?:{_DURATION.pattern})+", written):
        raise ValueError(f'failed to parse duration {text}: time: invalid duration "{written}"')
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _DURATION.findall(written))
    return timedelta(seconds=max(1, int(seconds)))
