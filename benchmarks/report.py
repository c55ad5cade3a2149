"""What a benchmark run writes down: where it ran, and a row for each figure."""

import json
import os
import platform
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

SCHEMA = 1


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One figure. `reference` is what it is to be compared with, measured in the same run."""

    name: str
    value: float
    unit: str
    better: Literal["lower", "higher"]
    cpu_s: float | None = None
    wall_s: float | None = None
    reference: float | None = None
    ratio: float | None = None

    def beside(self, reference: float) -> "Row":
        return msgspec.structs.replace(
            self, reference=reference, ratio=self.value / reference if reference else None
        )


def write(path: Path, rows: Sequence[Row]) -> None:
    header = {
        "schema": SCHEMA,
        "commit": _commit(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "calibration_s": calibration(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    content = header | {"rows": [msgspec.to_builtins(row) for row in rows]}
    path.write_text(json.dumps(content, indent=1) + "\n")


def table(rows: Sequence[Row]) -> str:
    """For people; a ratio is to the reference beside it."""
    lines = [("figure", "value", "", "reference", "ratio", "cpu s", "wall s")]
    lines += [
        (
            row.name,
            _number(row.value),
            row.unit,
            _number(row.reference),
            _number(row.ratio),
            _number(row.cpu_s),
            _number(row.wall_s),
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place in (0, 2) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def calibration() -> float:
    """CPU seconds of a fixed piece of plain Python: how fast this machine is just now."""
    best = float("inf")
    for _ in range(5):
        started = time.process_time()
        total = 0
        for number in range(1_000_000):
            total += number & 7
        best = min(best, time.process_time() - started)
    return best


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}" if value < 1000 else f"{value:.0f}"


def _commit() -> str | None:
    try:
        asked = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return asked.stdout.strip()


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
