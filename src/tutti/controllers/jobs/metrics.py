"""What the Job controller counts: under Kubernetes' names where it has them."""

from tutti.api.batch import INDEXED, Job
from tutti.controllers.jobs.plan import Plan
from tutti.web.metrics import Metrics, exponential


class JobMetrics:
    def __init__(self, all_: Metrics) -> None:
        self._syncs = all_.histogram(
            "job_controller_job_sync_duration_seconds",
            "How long one look at a Job took, requests included.",
            ("completion_mode", "result", "action"),
            bounds=exponential(0.004, 2, 15),
        )
        self._pods = all_.counter(
            "job_controller_job_pods_creation_total",
            "Pods that were to be made, by why and by what came of it.",
            ("reason", "status"),
        )
        self._finished = all_.counter(
            "job_controller_jobs_finished_total",
            "Jobs that are over, by how and why.",
            ("completion_mode", "result", "reason"),
        )
        self._workload_seconds = all_.histogram(
            "workload_creation_duration_seconds",
            "How long it took to make a Workload.",
            bounds=exponential(0.001, 2, 14),
        )
        self._groups = all_.counter(
            "tutti_group_creations_total",
            "Workloads and PodGroups that were to be made for Jobs, by what came of it.",
            ("kind", "result"),
        )

    def looked_at(self, job: Job, planned: Plan | None, seconds: float) -> None:
        """Without a plan it went wrong."""
        result = "error" if planned is None else "success"
        self._syncs.observe(seconds, _mode(job), result, _action(planned))

    def pod_made(self, *, again: bool, well: bool) -> None:
        reason = "recreate_terminating_or_failed" if again else "new"
        self._pods.inc(reason, "succeeded" if well else "failed")

    def finished(self, job: Job) -> None:
        end = job.ending
        if end is not None:
            result = "succeeded" if end.type == "Complete" else "failed"
            self._finished.inc(_mode(job), result, end.reason)

    def workload_made(self, seconds: float) -> None:
        self._workload_seconds.observe(seconds)

    def group_made(self, kind: str, *, well: bool) -> None:
        self._groups.inc(kind, "success" if well else "error")


def _mode(job: Job) -> str:
    return INDEXED if job.spec.is_indexed else "NonIndexed"


def _action(planned: Plan | None) -> str:
    if planned is None:
        return "reconciling"
    if planned.make:
        return "pods_created"
    return "pods_deleted" if planned.give_up or planned.stop else "tracking"
