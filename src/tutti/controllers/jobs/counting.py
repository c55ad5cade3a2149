"""A Job's counters: which pods' ends are in them, which are on the way, and which are new."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import structs

from tutti.api import indexes
from tutti.api.batch import Job, JobCondition, JobStatus, UncountedPods
from tutti.api.core_v1 import Pod
from tutti.controllers.jobs import facts
from tutti.controllers.jobs.policies import verdict

MOST_AT_ONCE: Final = 500
"""Ends that one status write takes in, so that the list of uids stays short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How a Job stands, ends that no counter has yet included."""

    active: tuple[Pod, ...]
    terminating: int
    succeeded: int
    failed: int
    succeeded_indexes: frozenset[int] = frozenset()
    failed_indexes: frozenset[int] | None = None
    """None where indexes have no limit of their own."""
    retried: dict[int, Pod]
    """By index, the failed pod that is kept until its index runs again: it remembers how often."""


@dataclass(frozen=True, slots=True)
class Counted:
    status: JobStatus
    release: tuple[Pod, ...]


def moved(status: JobStatus, pods: Sequence[Pod]) -> JobStatus:
    """What the status names and nobody tracks any more goes into the counters."""
    uncounted = status.uncounted_terminated_pods
    if uncounted is None:
        return structs.replace(status, uncounted_terminated_pods=UncountedPods())
    tracked = {pod.metadata.uid for pod in pods if facts.is_tracked(pod)}
    succeeded = tuple(uid for uid in uncounted.succeeded if uid in tracked)
    failed = tuple(uid for uid in uncounted.failed if uid in tracked)
    return structs.replace(
        status,
        succeeded=status.succeeded + len(uncounted.succeeded) - len(succeeded),
        failed=status.failed + len(uncounted.failed) - len(failed),
        uncounted_terminated_pods=UncountedPods(succeeded=succeeded, failed=failed),
    )


def tally(job: Job, pods: Sequence[Pod]) -> Tally:
    uncounted = _uncounted(job.status)
    fresh = [pod for pod in pods if facts.is_tracked(pod) and facts.belongs(pod, job)]
    active = tuple(pod for pod in pods if facts.is_active(pod))
    failed = sum(
        1
        for pod in fresh
        if facts.has_failed(pod, job)
        and pod.metadata.uid not in uncounted.failed
        and verdict(job, pod).counts
    )
    counters = job.status.failed + len(uncounted.failed) + failed
    terminating = sum(map(facts.is_terminating, pods))
    if not job.spec.is_indexed:
        succeeded = sum(
            1
            for pod in fresh
            if facts.has_succeeded(pod) and pod.metadata.uid not in uncounted.succeeded
        )
        return Tally(
            active=active,
            terminating=terminating,
            succeeded=job.status.succeeded + len(uncounted.succeeded) + succeeded,
            failed=counters,
            retried={},
        )
    done = _completed(job) | {
        i for pod in fresh if facts.has_succeeded(pod) and (i := _index(pod)) >= 0
    }
    lost = _failed_indexes(job, fresh)
    return Tally(
        active=active,
        terminating=terminating,
        succeeded=len(done),
        failed=counters,
        succeeded_indexes=done,
        failed_indexes=lost,
        retried={} if lost is None else _retried(job, fresh, active, done | lost),
    )


def has_enough(job: Job, tally: Tally) -> bool:
    """Whether enough pods succeeded; a work queue is empty as soon as one pod says so."""
    if job.spec.completions is None:
        return tally.succeeded > 0
    return tally.succeeded >= job.spec.completions


def counted(
    status: JobStatus, job: Job, tally: Tally, pods: Sequence[Pod], end: JobCondition | None
) -> Counted:
    """The status with the ends that are new in it, and the pods that need no tracking after that."""
    before = _uncounted(status)
    succeeded, failed = list(before.succeeded), list(before.failed)
    known = _completed(job)
    done = set(known)
    release: list[Pod] = []
    for pod in sorted(pods, key=_index):
        if not facts.is_tracked(pod) or not _may_go(job, tally, pod, end):
            continue
        if len(done) - len(known) + len(succeeded) + len(failed) >= MOST_AT_ONCE:
            break
        release.append(pod)
        uid = pod.metadata.uid
        if facts.has_succeeded(pod) and uid not in failed:
            if job.spec.is_indexed:
                done |= {_index(pod)} if facts.belongs(pod, job) else set()
            elif uid not in succeeded:
                succeeded.append(uid)
        elif uid not in failed and _counts_as_failed(job, pod, end):
            failed.append(uid)
    after = structs.replace(
        status,
        uncounted_terminated_pods=UncountedPods(succeeded=tuple(succeeded), failed=tuple(failed)),
    )
    if job.spec.is_indexed:
        after = structs.replace(
            after,
            succeeded=len(done),
            completed_indexes=indexes.written(done),
            failed_indexes=None
            if tally.failed_indexes is None
            else indexes.written(tally.failed_indexes),
        )
    return Counted(after, tuple(release))


def _may_go(job: Job, tally: Tally, pod: Pod, end: JobCondition | None) -> bool:
    if job.metadata.deletion_timestamp is not None or end is not None or facts.has_succeeded(pod):
        return True
    if not facts.has_failed(pod, job):
        return False
    kept = tally.retried.get(_index(pod))
    return kept is None or kept.metadata.uid != pod.metadata.uid


def _counts_as_failed(job: Job, pod: Pod, end: JobCondition | None) -> bool:
    """When a Job has failed, so has every pod of it that hasn't succeeded."""
    job_failed = end is not None and end.type != "SuccessCriteriaMet"
    lost = facts.has_failed(pod, job) or job_failed
    return lost and facts.belongs(pod, job) and verdict(job, pod).counts


def _retried(
    job: Job, fresh: Sequence[Pod], active: Sequence[Pod], settled: frozenset[int]
) -> dict[int, Pod]:
    closed = settled | {_index(pod) for pod in active}
    latest: dict[int, Pod] = {}
    for pod in fresh:
        index = _index(pod)
        if not facts.has_failed(pod, job) or index in closed:
            continue
        known = latest.get(index)
        if known is None or _attempt(known) <= _attempt(pod):
            latest[index] = pod
    return latest


def _attempt(pod: Pod) -> tuple[int, float]:
    tries = facts.failures(pod) + facts.ignored_failures(pod)
    return tries, facts.finished_at(pod).timestamp()


def _failed_indexes(job: Job, fresh: Sequence[Pod]) -> frozenset[int] | None:
    limit = job.spec.backoff_limit_per_index
    if limit is None:
        return None
    known = indexes.read(job.status.failed_indexes or "", below=job.spec.completions or 0)
    return known | {_index(pod) for pod in fresh if _fails_its_index(job, pod, limit)}


def _fails_its_index(job: Job, pod: Pod, limit: int) -> bool:
    if not facts.has_failed(pod, job):
        return False
    ruling = verdict(job, pod)
    return ruling.action == "FailIndex" or (ruling.counts and facts.failures(pod) >= limit)


def _completed(job: Job) -> frozenset[int]:
    return indexes.read(job.status.completed_indexes, below=job.spec.completions or 0)


def _index(pod: Pod) -> int:
    index = facts.index_of(pod)
    return -1 if index is None else index


def _uncounted(status: JobStatus) -> UncountedPods:
    return status.uncounted_terminated_pods or UncountedPods()
