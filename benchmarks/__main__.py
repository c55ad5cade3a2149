"""`make bench`: print a table, write build/bench.json; `--short` guards against accidents.

The short run compares figures as shares of a calibration loop of the same run with the stored ones,
and fails when one is more than twice as large. It is a guard, not a timed test: `--store` takes the
present figures as the ones to compare with.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import msgspec

from benchmarks import core, engine, jobs, memory, report, server, store
from benchmarks.report import Row

ROOT = Path(__file__).parents[1]
REPORT = ROOT / "build" / "bench.json"
STORED = Path(__file__).with_name("short.json")
WORST = 2.0


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    arguments.add_argument(
        "--short", action="store_true", help="few rows, compared with the stored"
    )
    arguments.add_argument("--store", action="store_true", help="store the short run's figures")
    asked = arguments.parse_args()
    short = asked.short or asked.store
    unit_ms = 1000 * report.calibration()
    rooms = [room.rows(short=short) for room in (core, engine, store)]
    if not short:
        rooms.extend((memory.rows(), server.rows(), jobs.rows()))
    rows = list(_shown(chain.from_iterable(rooms), unit_ms))
    report.write(REPORT, rows)
    print(f"\nwritten to {REPORT.relative_to(ROOT)}")
    shares = {row.name: round(row.value / unit_ms, 3) for row in rows if row.unit == "ms CPU"}
    if asked.store:
        STORED.write_bytes(msgspec.json.format(msgspec.json.encode(shares)) + b"\n")
        return 0
    return _compared(shares) if short else 0


def _shown(rows: Iterable[Row], unit_ms: float) -> Iterator[Row]:
    print(f"{'':80} {'measured':>12}   {'asked for':>12}   (calibration {unit_ms:.1f} ms)")
    for row in rows:
        asked = "" if row.reference is None else f"{row.reference:12,.1f}"
        over = "  over" if row.ratio is not None and row.ratio > 1 else ""
        print(f"{row.name:80} {row.value:12,.1f}   {asked:>12} {row.unit}{over}", flush=True)
        yield row


def _compared(shares: dict[str, float]) -> int:
    stored = msgspec.json.decode(STORED.read_bytes(), type=dict[str, float])
    slower = [
        f"{name}: {share:.2f} of the calibration, stored {stored[name]:.2f}"
        for name, share in shares.items()
        if name in stored and share > WORST * stored[name]
    ]
    unknown = [f"{name}: not stored yet" for name in shares if name not in stored]
    for line in slower + unknown:
        print(line, file=sys.stderr)
    if not (slower or unknown):
        print(f"no figure is more than {WORST:g} times the stored one")
    return 1 if slower or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
