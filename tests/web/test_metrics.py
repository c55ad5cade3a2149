"""What is counted, and how Prometheus reads it."""

import pytest

from tutti.web.metrics import Metrics, exponential


def test_everything_is_shown_in_the_text_format() -> None:
    metrics = Metrics()
    attempts = metrics.counter(
        "scheduler_schedule_attempts_total", "Attempts, by result.", ["result", "profile"]
    )
    pending = metrics.gauge("scheduler_pending_pods", "Pods that wait.", ["queue"])
    metrics.gauge("scheduler_cache_size", "Nodes.", read=lambda: 5000)
    seconds = metrics.histogram("seconds", "How long.", ["verb"], bounds=[0.1, 1])
    metrics.counter("never_total", "Nothing yet.")

    attempts.inc("scheduled", "tutti")
    attempts.inc("scheduled", "tutti", by=2)
    attempts.inc("unschedulable", "tutti")
    pending.set(3, "active")
    for value in (0.1, 0.5, 2):
        seconds.observe(value, "GET")

    assert metrics.exposition().decode() == (
        "# HELP never_total Nothing yet.\n"
        "# TYPE never_total counter\n"
        "never_total 0\n"
        "# HELP scheduler_cache_size Nodes.\n"
        "# TYPE scheduler_cache_size gauge\n"
        "scheduler_cache_size 5000\n"
        "# HELP scheduler_pending_pods Pods that wait.\n"
        "# TYPE scheduler_pending_pods gauge\n"
        'scheduler_pending_pods{queue="active"} 3\n'
        "# HELP scheduler_schedule_attempts_total Attempts, by result.\n"
        "# TYPE scheduler_schedule_attempts_total counter\n"
        'scheduler_schedule_attempts_total{result="scheduled",profile="tutti"} 3\n'
        'scheduler_schedule_attempts_total{result="unschedulable",profile="tutti"} 1\n'
        "# HELP seconds How long.\n"
        "# TYPE seconds histogram\n"
        'seconds_bucket{verb="GET",le="0.1"} 1\n'
        'seconds_bucket{verb="GET",le="1"} 2\n'
        'seconds_bucket{verb="GET",le="+Inf"} 3\n'
        'seconds_sum{verb="GET"} 2.6\n'
        'seconds_count{verb="GET"} 3\n'
    )


def test_a_label_can_hold_anything() -> None:
    metrics = Metrics()
    metrics.counter("odd_total", "A \\ and\na new line.", ["what"]).inc('a "b"\n\\')

    assert metrics.exposition().decode().splitlines() == [
        "# HELP odd_total A \\\\ and\\na new line.",
        "# TYPE odd_total counter",
        'odd_total{what="a \\"b\\"\\n\\\\"} 1',
    ]


def test_a_name_is_given_once() -> None:
    metrics = Metrics()
    metrics.counter("a_total", "One.")
    with pytest.raises(ValueError, match="a_total"):
        metrics.gauge("a_total", "Another.")


def test_labels_are_as_many_as_their_names() -> None:
    metrics = Metrics()
    metrics.counter("a_total", "One.", ["verb"]).inc("GET", "pods")
    with pytest.raises(ValueError, match="zip"):
        metrics.exposition()


def test_what_was_counted_can_be_read_back() -> None:
    metrics = Metrics()
    counter = metrics.counter("a_total", "One.", ["verb"])
    histogram = metrics.histogram("b", "Two.", bounds=exponential(0.001, 2, 3))
    counter.inc("GET")
    histogram.observe(0.003)
    histogram.observe(9)

    assert (counter.value("GET"), counter.value("PUT"), histogram.count()) == (1, 0, 2)
    assert metrics.names() == ["a_total", "b"]
