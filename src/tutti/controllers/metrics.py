"""What the scheduler counts: under kube-scheduler's names where they mean the same."""

from collections.abc import Callable

from tutti.engine.messages import BindRefused, BindUnknown, Bound
from tutti.web.metrics import Metrics, exponential

PROFILE = "default"


class SchedulerMetrics:
    """Lives as long as the process; terms come and go below it."""

    def __init__(self, is_held: Callable[[], bool]) -> None:
        self.all = Metrics()
        self.attempts = self.all.counter(
            "scheduler_schedule_attempts_total",
            "Bindings by what came of them: scheduled, or error.",
            ("result", "profile"),
        )
        self.turn_seconds = self.all.histogram(
            "tutti_turn_duration_seconds",
            "How long the engine took to take in what was new and to decide.",
            bounds=exponential(0.0001, 2, 16),
        )
        self.events = self.all.counter(
            "tutti_events_total", "Events by what became of them: sent, or dropped.", ("result",)
        )
        self.terms = self.all.counter("tutti_terms_total", "How often the Lease was taken.")
        self.all.gauge(
            "tutti_lease_held",
            "1 while something may be bound: the Lease is held and was renewed in time.",
            read=is_held,
        )

    def turned(self, seconds: float) -> None:
        self.turn_seconds.observe(seconds)

    def answered(self, answer: Bound | BindRefused | BindUnknown) -> None:
        self.attempts.inc("scheduled" if isinstance(answer, Bound) else "error", PROFILE)
