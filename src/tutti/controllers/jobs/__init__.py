"""Jobs run to their completion: batch/v1, and the groups that their pods are scheduled in."""

from tutti.controllers.jobs.gangs import Rule
from tutti.controllers.jobs.hands import Jobs, run
from tutti.controllers.jobs.metrics import JobMetrics

__all__ = ["JobMetrics", "Jobs", "Rule", "run"]
