"""Schedules are read, refused and followed as CronJobs have them."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutti.api import schedules

START = datetime(2026, 1, 1, 10, 30, 15, tzinfo=UTC)  # a Thursday
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "next_time"),
    [
        ("* * * * *", datetime(2026, 1, 1, 10, 31, tzinfo=UTC)),
        ("*/5 * * * *", datetime(2026, 1, 1, 10, 35, tzinfo=UTC)),
        ("0 9 * * *", datetime(2026, 1, 2, 9, 0, tzinfo=UTC)),
        ("0 0 1 feb *", datetime(2026, 2, 1, tzinfo=UTC)),
        ("0 0 * * mon-fri", datetime(2026, 1, 2, tzinfo=UTC)),
        ("0 0 13 * 5", datetime(2026, 1, 2, tzinfo=UTC)),
        ("0 0 13 * *", datetime(2026, 1, 13, tzinfo=UTC)),
        ("30 10 29 2 *", datetime(2028, 2, 29, 10, 30, tzinfo=UTC)),
        ("45/5 10 * * ?", datetime(2026, 1, 1, 10, 45, tzinfo=UTC)),
        ("@weekly", datetime(2026, 1, 4, tzinfo=UTC)),
        ("@every 1h30m", datetime(2026, 1, 1, 12, 0, 15, tzinfo=UTC)),
    ],
)
def test_a_schedule_names_its_next_moment(text: str, next_time: datetime) -> None:
    assert schedules.parse(text).after(START) == next_time


def test_a_schedule_goes_by_the_clock_of_its_time_zone() -> None:
    berlin = START.astimezone(ZoneInfo("Europe/Berlin"))
    assert schedules.parse("0 12 * * *").after(berlin) == datetime(2026, 1, 1, 11, tzinfo=UTC)


def test_a_schedule_that_never_comes_has_no_next_moment() -> None:
    assert schedules.parse("0 0 30 2 *").after(START) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty spec string"),
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
        ("@often", "unrecognized descriptor: @often"),
        ("@every x", 'failed to parse duration @every x: time: invalid duration "x"'),
    ],
)
def test_what_is_no_schedule_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=".") as refused:  # noqa: RUF043
        schedules.parse(text)
    assert str(refused.value) == why


@given(
    st.tuples(
        st.sampled_from(["*", "*/7", "3,50", "10-20"]),
        st.sampled_from(["*", "0", "*/5"]),
        st.sampled_from(["*", "31", "1-3"]),
        st.sampled_from(["*", "2", "jun"]),
        st.sampled_from(["*", "sun", "1-5/2"]),
    ),
    st.integers(0, 3_000_000),
)
def test_the_next_moment_is_later_and_of_a_full_minute(
    fields: tuple[str, ...], minutes: int
) -> None:
    moment = START + timedelta(minutes=minutes)
    found = schedules.parse(" ".join(fields)).after(moment)
    if found is not None:
        assert found > moment
        assert (found.second, found.microsecond) == (0, 0)
        earlier = schedules.parse(" ".join(fields)).after(found - timedelta(minutes=1))
        assert earlier == found


@pytest.mark.parametrize(
    ("text", "since", "times"),
    [
        pytest.param(
            "30 2 * * *",
            datetime(2026, 3, 28, 12, tzinfo=BERLIN),
            ["2026-03-30T02:30:00+02:00", "2026-03-31T02:30:00+02:00"],
            id="a time that the clock leaps over isn't there that day",
        ),
        pytest.param(
            "30 2 * * *",
            datetime(2026, 10, 24, 12, tzinfo=BERLIN),
            ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"],
            id="a time that the clock shows twice is there twice",
        ),
    ],
)
def test_hours_pass_as_they_do_when_clocks_change(text: str, since: datetime, times: list[str]):
    schedule = schedules.parse(text)
    first = schedule.after(since)
    assert first is not None
    second = schedule.after(first)
    assert second is not None
    assert [first.isoformat(), second.isoformat()] == times
