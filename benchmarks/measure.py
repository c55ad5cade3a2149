"""Rows, and how they are taken: CPU time of this process, the best of a few runs."""

import gc
import time
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One figure. `reference` is what it is compared with, `ratio` the figure as a share of that."""

    name: str
    value: float
    unit: str
    better: str = "lower"
    cpu_s: float | None = None
    wall_s: float | None = None
    reference: float | None = None
    ratio: float | None = None


def timed(
    name: str,
    work: Callable[[Any], object],
    *,
    prepare: Callable[[], Any] = lambda: None,
    runs: int = 3,
    limit_ms: float | None = None,
) -> Row:
    """The least CPU time of some runs, in milliseconds; preparing is not counted."""
    best: tuple[float, float] | None = None
    for _ in range(runs):
        prepared = prepare()
        gc.collect()
        gc.disable()
        wall, cpu = time.perf_counter(), time.process_time()
        work(prepared)
        spent = time.process_time() - cpu, time.perf_counter() - wall
        gc.enable()
        best = spent if best is None else min(best, spent)
    assert best is not None
    cpu_s, wall_s = best
    value = round(cpu_s * 1000, 3)
    return Row(
        name=name,
        value=value,
        unit="ms CPU",
        cpu_s=round(cpu_s, 6),
        wall_s=round(wall_s, 6),
        reference=limit_ms,
        ratio=None if limit_ms is None else round(value / limit_ms, 3),
    )


def calibration() -> float:
    """CPU milliseconds of a fixed piece of work, half plain Python and half NumPy."""
    return timed("calibration", _fixed_work, runs=5).value


def _fixed_work(_: object) -> None:
    total = 0
    counts: dict[int, int] = {}
    for number in range(100_000):
        counts[number % 977] = counts.get(number % 977, 0) + number
        total += number * number % 7
    amounts = np.arange(200_000)
    for divisor in range(1, 21):
        amounts = (amounts * 3 + divisor) // (divisor % 5 + 1)
        amounts %= 1_000_003
    assert total > 0
    assert len(amounts) == 200_000
