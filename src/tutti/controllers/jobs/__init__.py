"""Jobs run to their completion: batch/v1, and the groups that their pods are scheduled in."""

from tutti.controllers.jobs.hands import Jobs, run

__all__ = ["Jobs", "run"]
