"""What it takes to hold a cluster: the most memory that a process of its own ever had.

`python -m benchmarks.memory WHAT` does the work and prints the bytes.
"""

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.report import Row

ROOT = Path(__file__).parents[1]


def rows() -> Iterator[Row]:
    for what, (title, limit_mb) in TITLES.items():
        command = [sys.executable, "-m", "benchmarks.memory", what]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        used = round(int(ran.stdout) / 1e6, 1)
        yield Row(
            name=title,
            value=used,
            unit="MB at most",
            better="lower",
            reference=limit_mb,
            ratio=round(used / limit_mb, 3),
        )


TITLES = {
    "objects": ("50,000 nodes and 150,000 pods, objects and columns", 1_000.0),
    "million": ("1,000,000 equal pods on 1,000,000 nodes", 2_000.0),
}


def _objects() -> None:
    from benchmarks.clusters import nodes
    from benchmarks.core import MANY, encoded, running_pods

    here, pods = nodes(MANY), running_pods()
    assert encoded(here, pods).snapshot().node_count == MANY


def _million() -> None:
    from benchmarks.core import million_on_a_million

    million_on_a_million(limit_ms=3_000)


WORK: dict[str, Callable[[], None]] = {"objects": _objects, "million": _million}

if __name__ == "__main__":
    WORK[sys.argv[1]]()
    print(1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
