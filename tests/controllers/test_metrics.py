from pathlib import Path

from tutti.controllers.jobs.metrics import JobMetrics
from tutti.controllers.metrics import SchedulerMetrics
from tutti.controllers.runner import RESTARTS
from tutti.engine.messages import BindRefused, BindUnknown, Bound, PodRef
from tutti.web.metrics import Metrics

PAGE = Path(__file__).parents[2] / "docs/metrics.md"
POD = PodRef("blue", "p", "u")


def test_every_metric_has_its_line_in_the_docs() -> None:
    metrics = SchedulerMetrics(lambda: False)
    of_jobs = Metrics()
    JobMetrics(of_jobs)
    ours = PAGE.read_text().partition("## The embedded server")[0]
    rows = {line.split("`")[1] for line in ours.splitlines() if line.startswith("| `")}
    assert rows == {*metrics.all.names(), *of_jobs.names(), RESTARTS}


def test_bindings_are_counted_by_what_came_of_them() -> None:
    metrics = SchedulerMetrics(lambda: True)
    metrics.answered(Bound(POD, "n", "c"))
    metrics.answered(Bound(POD, "n", "c"))
    metrics.answered(BindRefused(POD, "n", "c", "Conflict", "no"))
    metrics.answered(BindUnknown(POD, "n", "c", "silence"))
    text = metrics.all.exposition()
    assert b'scheduler_schedule_attempts_total{result="scheduled",profile="default"} 2' in text
    assert b'scheduler_schedule_attempts_total{result="error",profile="default"} 2' in text
    assert b"tutti_lease_held 1" in text
