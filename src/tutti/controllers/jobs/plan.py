"""What is to be done about a Job now: a function of the Job, its pods and the time.

    pods made ──> they end ──> their uids (or indexes) stand in the status ──> finalizers go
                                                                   │
              counters, conditions  <── without finalizer: counted ┘

A pod's end is counted exactly once, whenever the controller dies: while the pod has its finalizer it
can't vanish, and it loses the finalizer only after the status names it; what the status names and
has no finalizer any more is moved into the counters. The hands carry out a plan in one order: pods
made and deleted, then the status, then finalizers; and plan again when they see what they did.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from msgspec import structs

from tutti.api.batch import Job, JobCondition, JobStatus
from tutti.api.core_v1 import Pod
from tutti.controllers.jobs import counting, ending, facts, managing
from tutti.controllers.jobs.managing import New


@dataclass(frozen=True, slots=True)
class News:
    """An event to be told about the Job."""

    reason: str
    message: str
    warning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    make: tuple[New, ...] = ()
    give_up: tuple[Pod, ...] = ()
    """Deleted, and not counted: the Job has no use for them."""
    stop: tuple[Pod, ...] = ()
    """Deleted, and counted: the Job is over."""
    status: JobStatus
    release: tuple[Pod, ...] = ()
    """They lose their finalizer once the status stands."""
    news: tuple[News, ...] = ()
    """Told once the status stands."""
    look_again: timedelta | None = None


def plan(job: Job, pods: Sequence[Pod], now: datetime) -> Plan:
    """`pods`: all that the Job controls, as they are after all that was done to them so far."""
    status = counting.moved(job.status, pods)
    if status.start_time is None and not job.spec.suspend:
        status = structs.replace(status, start_time=now)
    standing = structs.replace(job, status=status)
    tally = counting.tally(standing, pods)
    end = ending.end(standing, tally, pods, now)
    if end is not None:
        return _finish(standing, tally, pods, end, now)
    if job.metadata.deletion_timestamp is not None:
        return _with_counts(Plan(status=status), standing, tally, pods)
    work = managing.work(standing, tally, pods, now)
    done = counting.has_enough(standing, tally) and not tally.active and not work.make
    if done:
        return _finish(standing, tally, pods, ending.completed(now), now)
    status, news = _suspended_or_not(status, suspend=bool(job.spec.suspend), now=now)
    planned = Plan(
        make=work.make,
        give_up=work.give_up,
        status=status,
        news=news,
        look_again=_sooner(work.look_again, ending.deadline(standing, now)),
    )
    return _with_counts(planned, standing, tally, pods)


def _finish(
    job: Job,
    tally: counting.Tally,
    pods: Sequence[Pod],
    end: JobCondition,
    now: datetime,
) -> Plan:
    """Everything stops; once all is counted and gone, the Job is told to be over."""
    stop = tuple(pod for pod in pods if facts.is_active(pod))
    told = _told(job.status, end)
    planned = _with_counts(Plan(stop=stop, status=told), job, tally, pods, end)
    status = planned.status
    left = status.uncounted_terminated_pods
    if planned.release or stop or status.terminating or (left and (left.succeeded or left.failed)):
        return planned
    last = ending.last(end, now)
    over = structs.replace(_told(status, last), active=0, ready=0, terminating=0)
    if last.type == "Complete":
        over = structs.replace(over, completion_time=now)
    return replace(planned, status=over, news=_farewell(job, over, last))


def _with_counts(
    planned: Plan,
    job: Job,
    tally: counting.Tally,
    pods: Sequence[Pod],
    end: JobCondition | None = None,
) -> Plan:
    """The plan with its counters, as they are once it is carried out, and the pods that it counts."""
    counted = counting.counted(planned.status, job, tally, pods, end)
    going = (*planned.give_up, *planned.stop)
    status = structs.replace(
        counted.status,
        active=len(tally.active) + len(planned.make) - len(going),
        ready=sum(map(facts.is_ready, tally.active)) - sum(map(facts.is_ready, going)),
        terminating=tally.terminating + len(going),
    )
    return replace(planned, status=status, release=counted.release)


def _suspended_or_not(
    status: JobStatus, *, suspend: bool, now: datetime
) -> tuple[JobStatus, tuple[News, ...]]:
    """A Job that is resumed starts its time anew."""
    said = next((c for c in status.conditions if c.type == "Suspended"), None)
    if suspend:
        if said and said.status == "True":
            return status, ()
        condition = _condition("True", "JobSuspended", "Job suspended", now)
        return (
            structs.replace(_told(status, condition), start_time=None),
            (News("Suspended", "Job suspended"),),
        )
    if said is None or said.status == "False":
        return status, ()
    condition = _condition("False", "JobResumed", "Job resumed", now)
    resumed = structs.replace(_told(status, condition), start_time=now)
    return resumed, (News("Resumed", "Job resumed"),)


def _condition(status: str, reason: str, message: str, now: datetime) -> JobCondition:
    return JobCondition(
        type="Suspended",
        status=status,
        reason=reason,
        message=message,
        last_probe_time=now,
        last_transition_time=now,
    )


def _told(status: JobStatus, condition: JobCondition) -> JobStatus:
    """The status with this condition in its place; one that says the same already stays as it is."""
    there = next((c for c in status.conditions if c.type == condition.type), None)
    if there is None:
        return structs.replace(status, conditions=(*status.conditions, condition))
    if (there.status, there.reason, there.message) == (
        condition.status,
        condition.reason,
        condition.message,
    ):
        return status
    conditions = tuple(condition if c is there else c for c in status.conditions)
    return structs.replace(status, conditions=conditions)


def _farewell(job: Job, status: JobStatus, last: JobCondition) -> tuple[News, ...]:
    if last.type == "Failed":
        return (News(last.reason, last.message, warning=True),)
    done = News("Completed", "Job completed")
    if job.spec.completions is not None and status.succeeded > job.spec.completions:
        text = "Too many succeeded pods running after completion count reached"
        return News("TooManySucceededPods", text, warning=True), done
    return (done,)


def _sooner(one: timedelta | None, other: timedelta | None) -> timedelta | None:
    there = [wait for wait in (one, other) if wait is not None]
    return min(there, default=None)
