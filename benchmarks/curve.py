"""How the cost grows with the cluster: `python -m benchmarks.curve` draws docs/benchmarks/growth.svg."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.clusters import half_full, pod
from benchmarks.core import fresh_trial
from benchmarks.measure import timed
from tutti.core.place import place
from tutti.core.pods import PodClass
from tutti.core.trial import Trial
from tutti.engine.encode import Cluster

SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
PICTURE = Path(__file__).parents[1] / "docs" / "benchmarks" / "growth.svg"
WIDTH, HEIGHT, LEFT, BOTTOM = 720, 420, 70, 60
COLOURS = ("#1f6feb", "#d1480f", "#1a7f37")

Work = Callable[[Trial, PodClass, int], object]
Curve = list[tuple[int, float]]

LINES: dict[str, Work] = {
    "masks and scores of a class never seen before": lambda trial, cls, _: trial.ranking(cls),
    "a pod for every fifth node, all of one class": lambda trial, cls, size: place(
        trial, cls, size // 5
    ),
    "100 gangs of 3, one after the other": lambda trial, cls, _: [
        place(trial, cls, 3) for _ in range(100)
    ],
}


def main() -> None:
    curves: dict[str, Curve] = {name: [] for name in LINES}
    for size in SIZES:
        cluster = half_full(size)
        cls = cluster.class_of(pod("pending"))
        for name, work in LINES.items():
            spent = _milliseconds(name, work, cluster, cls, size)
            curves[name].append((size, spent))
            print(f"{size:>7,} nodes  {spent:9.2f} ms  {name}", flush=True)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text("\n".join(_drawn(curves)) + "\n")
    for name, curve in curves.items():
        print(f"exponent {_exponent(curve):.2f}  {name}")
    print(f"drawn to {PICTURE}")


def _milliseconds(name: str, work: Work, cluster: Cluster, cls: PodClass, size: int) -> float:
    return timed(
        name,
        lambda trial: work(trial, cls, size),
        prepare=lambda: fresh_trial(cluster),
        runs=5,
    ).value


def _exponent(curve: Curve) -> float:
    """Of the growth over the upper half, where what is fixed no longer counts."""
    (small, before), (large, after) = curve[len(curve) // 2 - 1], curve[-1]
    return math.log(after / before) / math.log(large / small)


def _drawn(curves: dict[str, Curve]) -> Iterator[str]:
    """Both axes are logarithmic: a straight line at 45 degrees is linear growth."""
    most = max(spent for curve in curves.values() for _, spent in curve)
    least = min(spent for curve in curves.values() for _, spent in curve)
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))

    def x(size: float) -> float:
        first, last = math.log10(SIZES[0]), math.log10(SIZES[-1])
        return LEFT + (WIDTH - LEFT - 30) * (math.log10(size) - first) / (last - first)

    def y(spent: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - 90) * (math.log10(spent) - low) / (high - low)

    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">'
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
    for size in SIZES:
        yield f'<line x1="{x(size):.1f}" y1="90" x2="{x(size):.1f}" y2="{HEIGHT - BOTTOM}" stroke="#ddd"/>'
        yield f'<text x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{size:,}</text>'
    for power in range(low, high + 1):
        spent = 10.0**power
        yield f'<line x1="{LEFT}" y1="{y(spent):.1f}" x2="{WIDTH - 30}" y2="{y(spent):.1f}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 8}" y="{y(spent) + 4:.1f}" text-anchor="end">{spent:g} ms</text>'
    yield f'<text x="{WIDTH / 2}" y="{HEIGHT - 15}" text-anchor="middle">nodes, half full (CPU time, both axes logarithmic)</text>'
    for number, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[number]
        points = " ".join(f"{x(size):.1f},{y(spent):.1f}" for size, spent in curve)
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        for size, spent in curve:
            yield f'<circle cx="{x(size):.1f}" cy="{y(spent):.1f}" r="3" fill="{colour}"/>'
        label = f"{name} (exponent {_exponent(curve):.2f})"
        yield f'<rect x="{LEFT}" y="{12 + 22 * number}" width="14" height="14" fill="{colour}"/>'
        yield f'<text x="{LEFT + 22}" y="{24 + 22 * number}">{label}</text>'
    yield "</svg>"


if __name__ == "__main__":
    main()
