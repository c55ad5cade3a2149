"""When a Job is over, and why: the condition that says so, in Kubernetes' words.

FailureTarget ──all pods counted and gone──> Failed
SuccessCriteriaMet ──────────────────────────> Complete
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import structs

from tutti.api.batch import Job, JobCondition
from tutti.api.core_v1 import Pod
from tutti.controllers.jobs import facts, policies
from tutti.controllers.jobs.counting import Tally

LAST = {"FailureTarget": "Failed", "SuccessCriteriaMet": "Complete"}


def end(job: Job, tally: Tally, pods: Sequence[Pod], now: datetime) -> JobCondition | None:
    """What was decided stays decided; then failures are looked for, then success by policy."""
    for kind in ("SuccessCriteriaMet", "FailureTarget"):
        for condition in job.status.conditions:
            if (condition.type, condition.status) == (kind, "True"):
                return condition
    failure = _failure(job, tally, pods, now)
    if failure is not None:
        return _condition("FailureTarget", *failure, now)
    rule = policies.success(job, tally.succeeded_indexes) if job.spec.is_indexed else None
    return None if rule is None else _condition("SuccessCriteriaMet", "SuccessPolicy", rule, now)


def completed(now: datetime) -> JobCondition:
    text = "Reached expected number of succeeded pods"
    return _condition("SuccessCriteriaMet", "CompletionsReached", text, now)


def last(interim: JobCondition, now: datetime) -> JobCondition:
    """The condition that follows once everything is counted."""
    return structs.replace(
        interim, type=LAST[interim.type], last_probe_time=now, last_transition_time=now
    )


def deadline(job: Job, now: datetime) -> timedelta | None:
    """How long the Job may still be active; None: as long as it takes."""
    seconds, since = job.spec.active_deadline_seconds, job.status.start_time
    if seconds is None or since is None or job.spec.suspend:
        return None
    return max(timedelta(seconds=seconds) - (now - since), timedelta())


def _failure(job: Job, tally: Tally, pods: Sequence[Pod], now: datetime) -> tuple[str, str] | None:
    """Reason and message."""
    for pod in pods:
        if facts.has_failed(pod, job):
            ruling = policies.verdict(job, pod)
            if ruling.action == "FailJob":
                return "PodFailurePolicy", ruling.why
    if tally.failed > _limit(job) or _restarted_too_often(job, pods):
        return "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    left = deadline(job, now)
    if left is not None and not left:
        return "DeadlineExceeded", "Job was active longer than specified deadline"
    return _failed_indexes(job, tally)


def _failed_indexes(job: Job, tally: Tally) -> tuple[str, str] | None:
    if not tally.failed_indexes:
        return None
    lost = len(tally.failed_indexes)
    if job.spec.max_failed_indexes is not None and lost > job.spec.max_failed_indexes:
        text = "Job has exceeded the specified maximal number of failed indexes"
        return "MaxFailedIndexesExceeded", text
    if lost + len(tally.succeeded_indexes) >= (job.spec.completions or 0):
        return "FailedIndexes", "Job has failed indexes"
    return None


def _limit(job: Job) -> int:
    if job.spec.backoff_limit is not None:
        return job.spec.backoff_limit
    return 6 if job.spec.backoff_limit_per_index is None else 2**31 - 1


def _restarted_too_often(job: Job, pods: Sequence[Pod]) -> bool:
    if job.spec.pod.get("restartPolicy") != "OnFailure":
        return False
    return facts.restarts(pods) >= max(_limit(job), 1)


def _condition(kind: str, reason: str, message: str, now: datetime) -> JobCondition:
    return JobCondition(
        type=kind,
        status="True",
        reason=reason,
        message=message,
        last_probe_time=now,
        last_transition_time=now,
    )
