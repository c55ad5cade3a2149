"""What a pod tells about its part in a Job."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from tutti.api.batch import Job
from tutti.api.core_v1 import ContainerStatus, Pod

FINALIZER: Final = "batch.kubernetes.io/job-tracking"
INDEX: Final = "batch.kubernetes.io/job-completion-index"
FAILURES: Final = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURES: Final = "batch.kubernetes.io/job-index-ignored-failure-count"
LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)


def is_tracked(pod: Pod) -> bool:
    """Whether its end is still to be counted."""
    return FINALIZER in pod.metadata.finalizers


def has_succeeded(pod: Pod) -> bool:
    return pod.status.phase == "Succeeded"


def has_ended(pod: Pod) -> bool:
    return pod.status.phase in ("Succeeded", "Failed")


def is_active(pod: Pod) -> bool:
    return not has_ended(pod) and pod.metadata.deletion_timestamp is None


def is_terminating(pod: Pod) -> bool:
    return not has_ended(pod) and pod.metadata.deletion_timestamp is not None


def is_ready(pod: Pod) -> bool:
    return any(c.type == "Ready" and c.status == "True" for c in pod.status.conditions)


def waits_for_its_end(job: Job) -> bool:
    """Whether a pod that is being deleted is neither lost nor replaced before it has ended."""
    return job.spec.pod_replacement_policy == "Failed"


def has_failed(pod: Pod, job: Job) -> bool:
    """A pod that is being deleted may never get to say how it ended: it counts as failed."""
    if pod.status.phase == "Failed":
        return True
    return is_terminating(pod) and not waits_for_its_end(job)


def index_of(pod: Pod) -> int | None:
    text = pod.metadata.annotations.get(INDEX, "")
    return int(text) if text.isdecimal() else None


def belongs(pod: Pod, job: Job) -> bool:
    """Whether its end counts: an Indexed Job knows only the indexes that it has now."""
    if not job.spec.is_indexed:
        return True
    index = index_of(pod)
    return index is not None and index < (job.spec.completions or 0)


def failures(pod: Pod) -> int:
    """How often its index had failed when it was made."""
    return _count(pod, FAILURES)


def ignored_failures(pod: Pod) -> int:
    return _count(pod, IGNORED_FAILURES)


def finished_at(pod: Pod) -> datetime:
    """When it ended, as well as anybody knows."""
    ends = [_end_of(status) for status in _lasting(pod)]
    if ends and all(ends):
        return max(end for end in ends if end)
    for condition in pod.status.conditions:
        if condition.type == "Ready" and condition.status == "False":
            if condition.last_transition_time:
                return condition.last_transition_time
            break
    if pod.metadata.deletion_timestamp:
        grace = pod.metadata.deletion_grace_period_seconds or 0
        return pod.metadata.deletion_timestamp - timedelta(seconds=grace)
    return pod.metadata.creation_timestamp or LONG_AGO


def restarts(pods: Iterable[Pod]) -> int:
    return sum(
        status.restart_count
        for pod in pods
        if pod.status.phase in ("Running", "Pending")
        for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)
    )


def least_lost_first(pods: Iterable[Pod]) -> list[Pod]:
    """The pods in the order in which a Job that has too many gives them up."""
    return sorted(pods, key=_loss)


def _loss(pod: Pod) -> tuple[bool, int, bool, float, int, float]:
    """What is lost with it: little for a pod without a node, most for one that is ready for long."""
    stage = {"Pending": 0, "": 1, "Unknown": 1, "Running": 2}.get(pod.status.phase, 1)
    ready_at = next(
        (
            c.last_transition_time
            for c in pod.status.conditions
            if c.type == "Ready" and c.status == "True" and c.last_transition_time
        ),
        None,
    )
    restarted = max((s.restart_count for s in pod.status.container_statuses), default=0)
    made = pod.metadata.creation_timestamp or LONG_AGO
    ready_for = -ready_at.timestamp() if ready_at else 0.0
    return (
        bool(pod.spec.node_name),
        stage,
        is_ready(pod),
        ready_for,
        -restarted,
        -made.timestamp(),
    )


def _count(pod: Pod, annotation: str) -> int:
    text = pod.metadata.annotations.get(annotation, "")
    return int(text) if text.isdecimal() else 0


def _lasting(pod: Pod) -> list[ContainerStatus]:
    sidecars = {c.name for c in pod.spec.init_containers if c.restart_policy == "Always"}
    beside = [status for status in pod.status.init_container_statuses if status.name in sidecars]
    return [*pod.status.container_statuses, *beside]


def _end_of(status: ContainerStatus) -> datetime | None:
    return status.state.terminated.finished_at if status.state.terminated else None
