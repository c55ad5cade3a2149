"""A Job that is a gang, from its first pod to its end: its controller and the scheduler's engine together.

Whatever comes (pods that end, fail or are deleted, the Job grows, shrinks, is suspended and resumed,
controller and scheduler die), a gang that has started can finish, and never starts in part.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from tests.controllers.jobs.world import World, indexed
from tests.engine.stage import Stage, gang, node
from tests.engine.stage import pod as staged
from tutti.api.batch import Job, JobGang, JobScheduling, JobSchedulingPolicy
from tutti.api.core_v1 import Pod, PodSpec
from tutti.api.meta import OwnerReference
from tutti.api.scheduling import PodGroup
from tutti.controllers.jobs import facts, gangs
from tutti.controllers.jobs.gangs import Rule
from tutti.controllers.jobs.managing import New
from tutti.engine.messages import GroupSeen, JobSeen, PodGone, PodRef, PodSeen

ROOM = 6
"""Places in the cluster; Jobs want at most as many pods at once."""


class Life(World):
    """The world of a Job whose pods are scheduled: what one of the two does, the other one sees."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.stage = Stage()
        self.stage.add(*(node(f"node-{n}", cpu="1") for n in range(ROOM)))
        quorum = gangs.quorum(job, Rule.AUTO)
        assert quorum is not None
        self.stage.add(gang("g", quorum))
        self.told: int | None = None

    def attend(self, dies_after: int | None = None) -> None:
        """One look of the Job controller, of which the end may be missing."""
        if self.job.ending:
            return
        self.follow_quorum()
        for step, _ in enumerate(self.steps(self.plan())):
            if dies_after is not None and step >= dies_after:
                break
        self._let_go()

    def follow_quorum(self) -> None:
        group = self.stage.groups["PodGroup/g"]
        assert isinstance(group, PodGroup)
        change = gangs.follows(self.job, Rule.AUTO, group)
        if change is not None:
            count = change["schedulingPolicy"]["gang"]["minCount"]
            self.stage.add(gang("g", count))
            self.stage.tell(GroupSeen(self.stage.groups["PodGroup/g"]))  # type: ignore[arg-type]

    def schedule(self) -> None:
        before = {uid for uid, pod in self.pods.items() if lives(pod)}
        self.tell()
        wanted, quorum = self.job.wanted_at_once, self.quorum
        self.stage.play(seconds=600)
        for uid in list(self.pods):
            if uid in self.stage.pods:
                self.pods[uid] = self.stage.pods[uid]
        after = {uid for uid, pod in self.pods.items() if lives(pod)}
        if after - before and not before:
            assert len(after) >= min(quorum, max(1, wanted)), "a gang was started in part"

    @property
    def quorum(self) -> int:
        group = self.stage.groups["PodGroup/g"]
        assert isinstance(group, PodGroup)
        assert group.spec.scheduling_policy.gang is not None
        return group.spec.scheduling_policy.gang.min_count

    def tell(self) -> None:
        """What changed is seen by the scheduler."""
        for uid, known in list(self.stage.pods.items()):
            if uid not in self.pods:
                del self.stage.pods[uid]
                self.stage.tell(PodGone(PodRef("default", known.metadata.name, uid)))
        for uid, pod in self.pods.items():
            if self.stage.pods.get(uid) != pod:
                self.stage.pods[uid] = pod
                self.stage.tell(PodSeen(pod))
        if self.told != self.job.wanted_at_once:
            self.told = self.job.wanted_at_once
            self.stage.tell(JobSeen(self.job.metadata.uid, self.told))

    def restart_scheduler(self) -> None:
        self.tell()
        self.stage.restart()
        self.told = None
        self.tell()

    def _make(self, new: New) -> None:
        before = set(self.pods)
        super()._make(new)
        (uid,) = set(self.pods) - before
        made = self.pods[uid]
        likeness = staged(made.metadata.name, "g", uid=uid, restart="Never", job="job-uid")
        owner = OwnerReference(kind="Job", uid=self.job.metadata.uid, controller=True)
        meta = structs.replace(made.metadata, namespace="default", owner_references=(owner,))
        spec: PodSpec = likeness.spec
        self.pods[uid] = structs.replace(made, metadata=meta, spec=spec)


def lives(pod: Pod) -> bool:
    return bool(pod.spec.node_name) and facts.is_active(pod)


def running(life: Life) -> list[Pod]:
    return [pod for pod in life.active() if pod.spec.node_name]


ASKS = JobScheduling(scheduling_policy=JobSchedulingPolicy(gang=JobGang()))
JOBS = st.one_of(
    st.integers(2, ROOM).map(lambda size: indexed(size, backoff_limit=10**6)),
    st.builds(
        lambda completions, parallelism, limit: indexed(
            completions,
            parallelism=parallelism,
            backoff_limit=10**6,
            backoff_limit_per_index=limit,
            scheduling=ASKS,
        ),
        st.integers(2, 9),
        st.integers(1, ROOM),
        st.sampled_from([None, 0, 1]),
    ),
)
HAPPENS = st.sampled_from(
    ["succeed", "fail", "delete", "stop", "resize", "suspend", "resume", "scheduler dies", "time"]
)


@settings(max_examples=60)
@given(JOBS, st.data())
def test_a_gang_that_has_started_can_always_finish(asked: Job, data: st.DataObject):
    life = Life(asked)
    for _ in range(data.draw(st.integers(1, 15), label="rounds")):
        life.attend(data.draw(st.none() | st.integers(0, 8), label="the controller dies after"))
        life.schedule()
        happen(life, data)
    finish(life)
    assert life.job.ending is not None


def happen(life: Life, data: st.DataObject) -> None:
    match data.draw(HAPPENS):
        case "succeed" if there := running(life):
            life.end(data.draw(st.sampled_from(there)).metadata.uid, "Succeeded")
        case "fail" if there := running(life):
            life.end(data.draw(st.sampled_from(there)).metadata.uid, "Failed")
        case "delete" if there := life.active():
            life.delete(data.draw(st.sampled_from(there)).metadata.uid)
        case "resize":
            resize(life, data.draw(st.integers(1, ROOM), label="parallelism"))
        case "suspend" | "resume" as what:
            change(life, suspend=what == "suspend")
        case "scheduler dies":
            life.restart_scheduler()
        case "stop":
            life.stop_what_is_deleted()
        case _:
            life.pass_time()


def resize(life: Life, parallelism: int) -> None:
    """A Job that never asked is resized whole, as elastic Jobs are; one that asked as it likes."""
    if life.job.ending is None and life.job.spec.scheduling is not None:
        change(life, parallelism=parallelism)
    elif life.job.ending is None and parallelism > 1:
        change(life, parallelism=parallelism, completions=parallelism)


def change(life: Life, **spec: object) -> None:
    life.job = structs.replace(life.job, spec=structs.replace(life.job.spec, **spec))


def finish(life: Life) -> None:
    """From here on nothing goes wrong: pods run, and succeed."""
    change(life, suspend=False)
    for _ in range(200):
        life.pass_time()
        life.stop_what_is_deleted()
        life.attend()
        life.schedule()
        if life.job.ending:
            return
        for pod in running(life):
            life.end(pod.metadata.uid, "Succeeded")
    stuck = [(pod.metadata.name, bool(pod.spec.node_name)) for pod in life.active()]
    said = life.stage.condition("g", "tutti.dev/Satisfied")
    raise AssertionError(f"the Job never ends: {stuck}, {said}, wanted {life.job.wanted_at_once}")
