"""CronJobs start Jobs by the clock: batch/v1."""

from tutti.controllers.cronjobs.hands import CronJobs, run

__all__ = ["CronJobs", "run"]
