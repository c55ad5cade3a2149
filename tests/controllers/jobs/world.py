"""A small world in which Jobs run: what an API server keeps, and how the controller's plans change it.

Plans are carried out in the order of the hands, step by step; a step may be the last one before the
controller dies. What it then knew is lost; what stands in the world stays.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

from msgspec import structs

from tutti.api.batch import Job, JobSpec
from tutti.api.core_v1 import (
    ContainerState,
    ContainerStateTerminated,
    ContainerStatus,
    Pod,
    PodStatus,
)
from tutti.api.meta import Condition, ObjectMeta
from tutti.controllers.jobs import facts
from tutti.controllers.jobs.managing import New
from tutti.controllers.jobs.plan import Plan, plan

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
_numbers = count()


def job(**spec: object) -> Job:
    given: dict[str, object] = {
        "parallelism": 1,
        "backoff_limit": 6,
        "completion_mode": "NonIndexed",
    }
    meta = ObjectMeta(name="j", namespace="ns", uid="job-uid", resource_version="1")
    return Job(metadata=meta, spec=JobSpec(**{**given, **spec}))


def indexed(completions: int, **spec: object) -> Job:
    at_once = {"parallelism": completions, **spec}
    return job(completions=completions, completion_mode="Indexed", **at_once)


def pod(
    index: int | None = None,
    phase: str = "Pending",
    *,
    failures: int | None = None,
    exit_code: int | None = None,
    tracked: bool = True,
    deleted: bool = False,
    at: datetime = START,
    condition: str | None = None,
    number: int | None = None,
) -> Pod:
    annotations = {} if index is None else {facts.INDEX: str(index)}
    if failures is not None:
        annotations[facts.FAILURES] = str(failures)
    ended = phase in ("Succeeded", "Failed")
    code = exit_code if exit_code is not None else int(phase == "Failed")
    state = ContainerState(
        terminated=ContainerStateTerminated(exit_code=code, finished_at=at) if ended else None
    )
    number = next(_numbers) if number is None else number
    return Pod(
        metadata=ObjectMeta(
            name=f"j-{number}",
            namespace="ns",
            uid=f"pod-{number}",
            annotations=annotations,
            creation_timestamp=at,
            deletion_timestamp=at if deleted else None,
            finalizers=(facts.FINALIZER,) if tracked else (),
        ),
        status=PodStatus(
            phase=phase,
            container_statuses=(ContainerStatus(name="c", state=state),),
            conditions=(Condition(type=condition, status="True"),) if condition else (),
        ),
    )


@dataclass
class World:
    job: Job
    now: datetime = START
    pods: dict[str, Pod] = field(default_factory=dict)
    ended: dict[str, tuple[int | None, str]] = field(default_factory=dict)
    """Every pod that ever ended: its index, and how."""
    made: int = 0
    deleted: set[str] = field(default_factory=set)
    """Every pod that ever was deleted, by whomever."""

    def plan(self) -> Plan:
        return plan(self.job, list(self.pods.values()), self.now)

    def steps(self, planned: Plan) -> Iterator[None]:
        """Carry it out; after each step the controller may die."""
        for new in planned.make:
            self._make(new)
            yield
        for given_up in planned.give_up:
            self._untrack(given_up)
            yield
            self.delete(given_up.metadata.uid)
            yield
        for stopped in planned.stop:
            self.delete(stopped.metadata.uid)
            yield
        self.job = structs.replace(self.job, status=planned.status)
        yield
        for released in planned.release:
            self._untrack(released)
            yield

    def settle(self, rounds: int = 50) -> None:
        """Let the controller work until it has nothing more to do."""
        for _ in range(rounds):
            if self.job.ending:
                return
            planned = self.plan()
            before = self.job, dict(self.pods)
            for _ in self.steps(planned):
                pass
            self._let_go()
            if (self.job, self.pods) == before:
                return
        raise AssertionError("the controller never comes to rest")

    def end(self, uid: str, phase: str, code: int | None = None) -> None:
        pod = self.pods[uid]
        exit_code = code if code is not None else int(phase == "Failed")
        state = ContainerState(
            terminated=ContainerStateTerminated(exit_code=exit_code, finished_at=self.now)
        )
        status = PodStatus(
            phase=phase, container_statuses=(ContainerStatus(name="c", state=state),)
        )
        self.pods[uid] = structs.replace(pod, status=status)
        self.ended[uid] = facts.index_of(pod), phase
        self._let_go()

    def delete(self, uid: str) -> None:
        pod = self.pods.get(uid)
        if pod is not None and pod.metadata.deletion_timestamp is None:
            self.deleted.add(uid)
            meta = structs.replace(pod.metadata, deletion_timestamp=self.now)
            self.pods[uid] = structs.replace(pod, metadata=meta)

    def active(self) -> list[Pod]:
        return [pod for pod in self.pods.values() if facts.is_active(pod)]

    def pass_time(self, seconds: float = 3600) -> None:
        self.now += timedelta(seconds=seconds)

    def stop_what_is_deleted(self) -> None:
        """The kubelets' part: what was deleted ends by the signal."""
        for uid, pod in list(self.pods.items()):
            if facts.is_terminating(pod):
                self.end(uid, "Failed", 143)

    def _make(self, new: New) -> None:
        self.made += 1
        number = 1_000_000 + self.made  # apart from those of tests, and the same in every run
        made = pod(new.index, failures=new.failures, at=self.now, number=number)
        self.pods[made.metadata.uid] = made

    def _untrack(self, which: Pod) -> None:
        known = self.pods.get(which.metadata.uid)
        if known is not None:
            kept = tuple(name for name in known.metadata.finalizers if name != facts.FINALIZER)
            meta = structs.replace(known.metadata, finalizers=kept)
            self.pods[which.metadata.uid] = structs.replace(known, metadata=meta)

    def _let_go(self) -> None:
        """What is deleted, has ended and has no finalizer is gone."""
        for uid, pod in list(self.pods.items()):
            deleted = pod.metadata.deletion_timestamp is not None
            if deleted and facts.has_ended(pod) and not pod.metadata.finalizers:
                del self.pods[uid]
