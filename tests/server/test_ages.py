"""Ages as Kubernetes' tables say them."""

import pytest

from tests.server.door import NOON
from tutti.server import ages

MINUTE, HOUR, DAY = 60, 3600, 86400


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-2, "<invalid>"),
        (-1.5, "0s"),
        (0, "0s"),
        (119.9, "119s"),
        (2 * MINUTE, "2m"),
        (2 * MINUTE + 1, "2m1s"),
        (10 * MINUTE + 5, "10m"),
        (3 * HOUR - 1, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + 5 * MINUTE, "3h5m"),
        (8 * HOUR + 5 * MINUTE, "8h"),
        (48 * HOUR, "2d"),
        (48 * HOUR + HOUR, "2d1h"),
        (8 * DAY + HOUR, "8d"),
        (2 * 365 * DAY, "2y"),
        (2 * 365 * DAY + DAY, "2y1d"),
        (8 * 365 * DAY + DAY, "8y"),
    ],
)
def test_two_units_at_most(seconds: float, said: str) -> None:
    assert ages.human(seconds) == said


def test_the_age_of_a_time_stamp() -> None:
    assert ages.since("2026-11-19T11:58:30Z", NOON) == "90s"
    assert ages.since("2026-11-19T12:58:30.250000+01:00", NOON) == "89s"
    assert ages.since(None, NOON) == "<unknown>"


def test_a_stamp_is_read_back() -> None:
    assert ages.parse(ages.stamp(NOON)) == NOON
