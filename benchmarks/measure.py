"""How a figure is taken: CPU time of this process, the best of a few runs."""

import gc
import time
from collections.abc import Callable
from typing import Any

from benchmarks.report import Row


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
        better="lower",
        cpu_s=round(cpu_s, 6),
        wall_s=round(wall_s, 6),
        reference=limit_ms,
        ratio=None if limit_ms is None else round(value / limit_ms, 3),
    )
