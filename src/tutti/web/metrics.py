"""Counters, gauges and histograms, and how Prometheus reads them.

Labels are given by position, in the order of the names that the metric was made with. Everything
is counted on one thread.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

from tutti.web.app import Response

EXPOSITION: Final = (b"content-type", b"text/plain; version=0.0.4; charset=utf-8")

Labels = tuple[str, ...]
_Metric = TypeVar("_Metric", "Counter", "Gauge", "Histogram")


class Counter:
    """Only ever goes up."""

    kind: Final = "counter"

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self._values: dict[Labels, float] = {} if labels else {(): 0}

    def inc(self, *labels: str, by: float = 1) -> None:
        self._values[labels] = self._values.get(labels, 0) + by

    def value(self, *labels: str) -> float:
        return self._values.get(labels, 0)

    def samples(self, name: str) -> Iterator[str]:
        for labels, value in self._values.items():
            yield _sample(name, self.labels, labels, value)


class Gauge:
    """Goes up and down, or is asked of `read` when somebody looks."""

    kind: Final = "gauge"

    def __init__(self, labels: Labels, read: Callable[[], float] | None = None) -> None:
        self.labels = labels
        self._read = read
        self._values: dict[Labels, float] = {}

    def set(self, value: float, *labels: str) -> None:
        self._values[labels] = value

    def value(self, *labels: str) -> float:
        return self._values.get(labels, 0) if self._read is None else self._read()

    def samples(self, name: str) -> Iterator[str]:
        if self._read is not None:
            yield _sample(name, (), (), self._read())
        for labels, value in self._values.items():
            yield _sample(name, self.labels, labels, value)


class Histogram:
    """Counts what was observed by upper bounds, which include their value."""

    kind: Final = "histogram"

    def __init__(self, labels: Labels, bounds: Sequence[float]) -> None:
        self.labels = labels
        self._bounds = sorted(bounds)
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def observe(self, value: float, *labels: str) -> None:
        counts = self._counts.get(labels)
        if counts is None:
            counts = self._counts[labels] = [0] * (len(self._bounds) + 1)
        counts[bisect_left(self._bounds, value)] += 1
        self._sums[labels] = self._sums.get(labels, 0) + value

    def count(self, *labels: str) -> int:
        return sum(self._counts.get(labels, ()))

    def samples(self, name: str) -> Iterator[str]:
        names = (*self.labels, "le")
        for labels, counts in self._counts.items():
            total = 0
            for bound, count in zip([*self._bounds, float("inf")], counts, strict=True):
                total += count
                yield _sample(f"{name}_bucket", names, (*labels, _number(bound)), total)
            yield _sample(f"{name}_sum", self.labels, labels, self._sums[labels])
            yield _sample(f"{name}_count", self.labels, labels, total)


class Metrics:
    """What one process counts."""

    def __init__(self) -> None:
        self._metrics: dict[str, tuple[str, Counter | Gauge | Histogram]] = {}

    def counter(self, name: str, about: str, labels: Iterable[str] = ()) -> Counter:
        return self._added(name, about, Counter(tuple(labels)))

    def gauge(
        self,
        name: str,
        about: str,
        labels: Iterable[str] = (),
        *,
        read: Callable[[], float] | None = None,
    ) -> Gauge:
        return self._added(name, about, Gauge(tuple(labels), read))

    def histogram(
        self, name: str, about: str, labels: Iterable[str] = (), *, bounds: Sequence[float]
    ) -> Histogram:
        return self._added(name, about, Histogram(tuple(labels), bounds))

    def names(self) -> list[str]:
        return sorted(self._metrics)

    def exposition(self) -> bytes:
        lines: list[str] = []
        for name, (about, metric) in sorted(self._metrics.items()):
            lines += (f"# HELP {name} {_escaped(about)}", f"# TYPE {name} {metric.kind}")
            lines += metric.samples(name)
        return ("\n".join(lines) + "\n").encode()

    def response(self) -> Response:
        return Response(200, self.exposition(), (EXPOSITION,))

    def _added(self, name: str, about: str, metric: _Metric) -> _Metric:
        if name in self._metrics:
            raise ValueError(f"there is a metric {name} already")
        self._metrics[name] = (about, metric)
        return metric


def exponential(start: float, factor: float, count: int) -> list[float]:
    """Bounds that grow by a factor, as Kubernetes' components choose them."""
    return [start * factor**step for step in range(count)]


def _sample(name: str, names: Labels, values: Labels, number: float) -> str:
    pairs = ",".join(
        f'{label}="{_escaped(value, quotes=True)}"'
        for label, value in zip(names, values, strict=True)
    )
    return f"{name}{{{pairs}}} {_number(number)}" if pairs else f"{name} {_number(number)}"


def _number(value: float) -> str:
    if value == float("inf"):
        return "+Inf"
    return str(int(value)) if value == int(value) else repr(value)


def _escaped(text: str, *, quotes: bool = False) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quotes else text
