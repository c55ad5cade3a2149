"""How many pods a Job should have now, and which ones come or go for that."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from tutti.api.batch import Job
from tutti.api.core_v1 import Pod
from tutti.controllers.jobs import facts
from tutti.controllers.jobs.counting import Tally
from tutti.controllers.jobs.policies import verdict
from tutti.controllers.undone import was_undone

MOST_AT_ONCE: Final = 500
"""Pods made or deleted in one go, so that one large Job doesn't keep the others waiting."""
FIRST_PAUSE: Final = timedelta(seconds=10)
LONGEST_PAUSE: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class New:
    """A pod to be made: its index, and how often that failed before, where that is kept."""

    index: int | None = None
    failures: int | None = None
    ignored_failures: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    make: tuple[New, ...] = ()
    give_up: tuple[Pod, ...] = ()
    look_again: timedelta | None = None


def work(job: Job, tally: Tally, pods: Sequence[Pod], now: datetime) -> Work:
    """Pods come or go, never both at once; that some must go comes first."""
    if job.spec.suspend:
        return Work(give_up=tally.active)
    wanted = _wanted(job, tally)
    surplus = _surplus(job, tally, max(0, len(tally.active) - wanted))
    if surplus:
        return Work(give_up=tuple(surplus[:MOST_AT_ONCE]))
    ending = tally.terminating if facts.waits_for_its_end(job) else 0
    missing = min(wanted - ending - len(tally.active), MOST_AT_ONCE)
    if missing <= 0:
        return Work()
    if job.spec.backoff_limit_per_index is None:
        pause = _pause(pods, job, now)
        if pause > timedelta():
            return Work(look_again=pause)
    if not job.spec.is_indexed:
        return Work(make=(New(),) * missing)
    return _indexed(job, tally, pods, missing, now)


def _wanted(job: Job, tally: Tally) -> int:
    if job.spec.completions is None:  # after the first success nobody joins any more
        return len(tally.active) if tally.succeeded else job.spec.pods_at_once
    return max(0, min(job.spec.completions - tally.succeeded, job.spec.pods_at_once))


def _surplus(job: Job, tally: Tally, at_least: int) -> list[Pod]:
    """Second pods of one index always go; then those with which least is lost."""
    going: list[Pod] = []
    staying = list(tally.active)
    if job.spec.is_indexed:
        by_index: defaultdict[int, list[Pod]] = defaultdict(list)
        for pod in tally.active:
            index = facts.index_of(pod)
            if index is None or not facts.belongs(pod, job):
                going.append(pod)
            else:
                by_index[index].append(pod)
        ranked = [facts.least_lost_first(by_index[index]) for index in sorted(by_index)]
        going += [pod for same in ranked for pod in same[:-1]]
        staying = [same[-1] for same in ranked]
    if len(going) < at_least:
        going += facts.least_lost_first(staying)[: at_least - len(going)]
    return going


def _indexed(job: Job, tally: Tally, pods: Sequence[Pod], missing: int, now: datetime) -> Work:
    taken = {facts.index_of(pod) for pod in tally.active} | tally.succeeded_indexes
    taken |= tally.failed_indexes or frozenset()
    if facts.waits_for_its_end(job):
        taken |= {facts.index_of(pod) for pod in pods if facts.is_terminating(pod)}
    free = (index for index in range(job.spec.completions or 0) if index not in taken)
    first = list(islice(free, missing))
    if job.spec.backoff_limit_per_index is None:
        return Work(make=tuple(New(index=index) for index in first))
    pauses = {index: _pause_of(tally.retried.get(index), now) for index in first}
    make = tuple(
        _again(job, index, tally.retried.get(index)) for index in first if not pauses[index]
    )
    if make or not pauses:
        return Work(make=make)
    return Work(look_again=min(pauses.values()))


def _again(job: Job, index: int, failed: Pod | None) -> New:
    """A pod for this index; it is told how often the index failed, the last time included."""
    if failed is None:
        return New(index=index, failures=0)
    counts = verdict(job, failed).counts
    return New(
        index=index,
        failures=facts.failures(failed) + (1 if counts else 0),
        ignored_failures=facts.ignored_failures(failed) + (0 if counts else 1),
    )


def _pause(pods: Sequence[Pod], job: Job, now: datetime) -> timedelta:
    """How long to wait since the last failure: longer with each one since the last success."""
    successes = [facts.finished_at(pod) for pod in pods if facts.has_succeeded(pod)]
    since = max(successes, default=facts.LONG_AGO)
    failures = [facts.finished_at(pod) for pod in pods if _was_lost(pod, job)]
    later = [at for at in failures if at > since]
    return _left(len(later), max(later, default=now), now)


def _was_lost(pod: Pod, job: Job) -> bool:
    """It failed, and wasn't given up (such a pod is untracked before it is deleted) or undone."""
    given_up = pod.metadata.deletion_timestamp is not None and not facts.is_tracked(pod)
    return (
        facts.has_failed(pod, job)
        and facts.belongs(pod, job)
        and not given_up
        and not was_undone(pod)
    )


def _pause_of(failed: Pod | None, now: datetime) -> timedelta:
    if failed is None:
        return timedelta()
    tries = facts.failures(failed) + facts.ignored_failures(failed) + 1
    return _left(tries, facts.finished_at(failed), now)


def _left(failures: int, last: datetime, now: datetime) -> timedelta:
    if failures == 0:
        return timedelta()
    pause = min(FIRST_PAUSE * 2 ** min(failures - 1, 10), LONGEST_PAUSE)
    return max(pause - (now - last), timedelta())
