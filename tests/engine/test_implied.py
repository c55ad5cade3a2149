"""Gangs of pods whose owner has no PodGroup: Jobs that qualify, and whoever is annotated."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.stage import Stage, gang, node, pod
from tutti.api.core_v1 import Pod
from tutti.api.meta import ObjectMeta, OwnerReference
from tutti.api.scheduling import (
    ControllerReference,
    PodGroupTemplate,
    SchedulingPolicy,
    Workload,
    WorkloadSpec,
)
from tutti.engine import implied
from tutti.engine.implied import GANG, Asked
from tutti.engine.messages import (
    Bind,
    Edition,
    JobGone,
    JobSeen,
    LeaseHeld,
    Note,
    OwnerRef,
    Synced,
    UndoBind,
    WorkloadGone,
    WorkloadSeen,
)


class Jobs(Stage):
    """A cluster in which Jobs are told of; what was told last is told again after a restart."""

    def __init__(self, **more: object) -> None:
        self.jobs: dict[str, JobSeen] = {}
        super().__init__(**more)  # type: ignore[arg-type]

    def sync(self) -> None:
        self.tell(Edition(composites=True, group_status=True, jobs=True))
        for job in self.jobs.values():
            self.tell(job)
        self.tell(Synced())
        self.tell(LeaseHeld(self.units))

    def job(self, uid: str, wanted: int, gang: int | None = None, wrong: str = "") -> None:
        self.jobs[uid] = JobSeen(uid, wanted, gang, wrong)
        self.tell(self.jobs[uid])

    def notes(self, owner: str) -> list[str]:
        return [
            f"{note.reason}: {note.message}"
            for note in self.logged(Note)
            if isinstance(note, Note)
            and isinstance(note.about, OwnerRef)
            and note.about.name == owner
        ]


@pytest.fixture
def stage() -> Jobs:
    return Jobs()


def test_a_job_without_room_for_all_its_pods_starts_none_and_says_why(stage: Jobs):
    stage.add(node("n", cpu="2"))
    stage.job("j", 3, gang=3)
    stage.add(*pods("train", 3))
    stage.play(3)
    assert stage.bound() == 0
    assert "pod group is unschedulable, minCount (3)" in stage.said("train-0")
    (note,) = stage.notes("train")
    assert note.startswith("FailedScheduling: ")
    stage.add(node("m", cpu="2"))
    stage.play(3)
    assert stage.bound() == 3
    assert stage.notes("train")[-1] == "Scheduled: needs 3, 3 bound"


def test_pods_wait_for_a_word_of_their_job(stage: Jobs):
    stage.add(node("n"), *pods("train", 2))
    stage.play(3)
    assert stage.bound() == 0
    assert stage.said("train-0") == 'NotReadyForScheduling: waiting for Job "train" to be created'
    stage.job("j", 2, gang=2)
    stage.play(3)
    assert stage.bound() == 2


def test_a_gang_of_a_job_waits_for_its_last_pod(stage: Jobs):
    stage.add(node("n"))
    stage.job("j", 3, gang=3)
    stage.add(*pods("train", 2))
    stage.play(3)
    assert stage.bound() == 0
    assert stage.notes("train") == ["WaitingForMembers: needs 3 members, 2 are here"]
    stage.add(pods("train", 3)[2])
    stage.play()
    assert stage.bound() == 3


def test_a_job_that_asks_nothing_is_scheduled_pod_by_pod(stage: Jobs):
    stage.add(node("n", cpu="2"))
    stage.add(pods("train", 3)[0])
    stage.job("j", 3)
    stage.add(*pods("train", 3)[1:])
    stage.play(3)
    assert stage.bound() == 2
    assert stage.units == ()


def test_pods_of_another_scheduler_are_none_of_ours(stage: Jobs):
    stage.add(node("n"))
    stage.job("j", 2, gang=2)
    stage.add(*(owned("train", n, scheduler="default-scheduler") for n in range(2)))
    stage.play(3)
    assert stage.bound() == 0
    assert stage.logged(Note) == []


def test_the_replacement_of_a_failed_pod_joins_the_gang_that_runs(stage: Jobs):
    stage.add(node("n", cpu="3"))
    stage.job("j", 3, gang=3)
    stage.add(*pods("train", 3))
    stage.play()
    stage.finish("train-1", phase="Failed")
    stage.add(owned("train", 9))
    stage.play(3)
    assert stage.places()["train-9"] == "n"


def test_the_last_pods_of_a_job_dont_wait_for_those_that_are_done(stage: Jobs):
    stage.add(node("n", cpu="3"))
    stage.job("j", 3, gang=3)
    stage.add(*pods("train", 3))
    stage.play()
    stage.finish("train-0", "train-1")
    stage.job("j", 1, gang=3)
    stage.finish("train-2", phase="Failed")
    stage.add(owned("train", 9))
    stage.play(3)
    assert stage.places()["train-9"] == "n"


def test_a_job_that_stops_qualifying_stays_a_gang(stage: Jobs):
    stage.add(node("n", cpu="2"))
    stage.job("j", 3, gang=3)
    stage.add(*pods("train", 3))
    stage.play()
    stage.job("j", 3)
    stage.play(3)
    assert stage.bound() == 0


def test_a_waiting_job_that_opts_out_starts_what_has_room(stage: Jobs):
    stage.add(node("n", cpu="2"))
    stage.job("j", 3, gang=3)
    stage.add(*pods("train", 3))
    stage.play(3)
    stage.job("j", 3, gang=0)
    stage.play(30)
    assert stage.bound() == 2


def test_a_waiting_job_that_is_annotated_becomes_a_gang(stage: Jobs):
    stage.job("j", 3)
    stage.add(*pods("train", 3))
    stage.play(3)
    stage.job("j", 3, gang=3)
    stage.play()
    stage.add(node("n", cpu="2"))
    stage.play(3)
    assert stage.bound() == 0
    stage.add(node("m", cpu="1"))
    stage.play(3)
    assert stage.bound() == 3


def test_an_annotation_that_says_no_number_is_said_to_be_wrong(stage: Jobs):
    wrong = implied.read("eight").wrong
    stage.add(node("n"))
    stage.job("j", 2, wrong=wrong)
    stage.add(*pods("train", 2))
    stage.play(3)
    assert stage.bound() == 0
    assert stage.said("train-0") == f"SchedulerError: {wrong}"
    stage.job("j", 2)
    stage.play(3)
    assert stage.bound() == 2


def test_a_job_of_which_somebody_else_bound_a_pod_is_left_alone(stage: Jobs):
    stage.add(node("n", cpu="2"))
    stage.job("j", 3, gang=3)
    stage.add(owned("train", 0, on="n"), *pods("train", 3)[1:])
    stage.play(30)
    assert stage.bound() == 2
    assert stage.notes("train") == [
        'GangLeftAlone: a pod of Job "train" was bound by somebody else: '
        "its pods are no gang, and are scheduled one by one"
    ]


def test_a_pod_that_somebody_binds_later_makes_its_job_be_left_alone(stage: Jobs):
    stage.add(node("n", cpu="2"))
    stage.job("j", 3, gang=3)
    stage.add(*pods("train", 3))
    stage.play(3)
    assert stage.bound() == 0
    stage.change("train-0", node_name="n")
    stage.play(30)
    assert stage.bound() == 2


def test_a_gang_that_runs_stays_one_when_somebody_binds_a_pod_of_it(stage: Jobs):
    stage.add(node("n", cpu="3"))
    stage.job("j", 2, gang=2)
    stage.add(*pods("train", 2))
    stage.play()
    stage.add(owned("train", 7, on="n"))
    stage.play()
    assert stage.notes("train") == []


def test_a_pod_with_a_scheduling_group_is_in_no_implied_group(stage: Jobs):
    stage.add(node("n"))
    stage.job("j", 8, gang=8)
    grouped = [
        msgspec.structs.replace(pod(f"train-{n}", "g"), metadata=owned("train", n).metadata)
        for n in range(2)
    ]
    stage.add(gang("g", 2), *grouped)
    stage.play()
    assert stage.bound() == 2


@pytest.mark.parametrize("templates", [(1, 1), (2,), (0,)])
def test_a_job_whose_workloads_dont_say_which_group_is_meant_is_left_alone(
    stage: Jobs, templates: tuple[int, ...]
):
    stage.add(node("n", cpu="1"))
    stage.job("j", 2, gang=2)
    stage.add(*pods("train", 2))
    stage.play(3)
    assert stage.bound() == 0
    for number, count in enumerate(templates):
        stage.tell(WorkloadSeen(workload(f"w{number}", count)))
    stage.play(30)
    assert stage.bound() == 1


def test_a_job_with_one_workload_of_one_template_is_a_gang(stage: Jobs):
    stage.add(node("n", cpu="1"))
    stage.job("j", 2, gang=2)
    for number in range(2):
        stage.tell(WorkloadSeen(workload(f"w{number}", 1)))
    stage.tell(WorkloadGone("default", "w1"))
    stage.add(*pods("train", 2))
    stage.play(30)
    assert stage.bound() == 0


def test_pods_of_any_owner_are_a_gang_by_their_annotation(stage: Jobs):
    stage.add(node("n", cpu="2"))
    members = [owned("workers", n, kind="StatefulSet", gang="3") for n in range(3)]
    stage.add(*members)
    stage.play(3)
    assert stage.bound() == 0
    stage.add(node("m", cpu="1"))
    stage.play(3)
    assert stage.bound() == 3


def test_of_annotations_that_differ_the_larger_number_counts(stage: Jobs):
    stage.add(node("n", cpu="9"))
    stage.add(owned("w", 0, kind="Trainer", gang="2"), owned("w", 1, kind="Trainer", gang="3"))
    stage.play(3)
    assert stage.bound() == 0
    stage.add(owned("w", 2, kind="Trainer", gang="2"))
    stage.play()
    assert stage.bound() == 3


def test_annotated_pods_that_finished_count(stage: Jobs):
    stage.add(node("n", cpu="9"))
    stage.add(*(owned("w", n, kind="Trainer", gang="2", restart="Never") for n in range(2)))
    stage.play()
    stage.finish("w-0")
    stage.finish("w-1", phase="Failed")
    stage.add(owned("w", 9, kind="Trainer", gang="2", restart="Never"))
    stage.play(3)
    assert stage.places()["w-9"] == "n"
    stage.restart()
    stage.play(3)
    assert "w-9" in stage.places()


def test_pods_that_their_owner_lets_go_are_on_their_own(stage: Jobs):
    stage.add(node("n", cpu="1"))
    stage.job("j", 2, gang=2)
    stage.add(*pods("train", 2))
    stage.play(3)
    stage.tell(JobGone("j"))
    for number in range(2):
        stage.change(f"train-{number}", owner_references=())
    stage.play(30)
    assert stage.bound() == 1


def test_two_jobs_of_one_name_are_two_gangs(stage: Jobs):
    stage.add(node("n", cpu="3"))
    stage.job("old", 2, gang=2)
    stage.job("new", 2, gang=2)
    stage.add(owned("train", 0, uid="old"), owned("train", 1, uid="new"))
    stage.play(3)
    assert stage.bound() == 0
    stage.add(owned("train", 2, uid="new"))
    stage.play()
    assert list(stage.places()) == ["train-1", "train-2"]


def test_the_unit_on_the_lease_names_the_owner(stage: Jobs):
    stage.add(node("n"))
    stage.job("j", 2, gang=2)
    stage.add(*pods("train", 2))
    stage.answer = lambda bind: "never"
    stage.play()
    (unit,) = stage.units
    assert (unit.kind, unit.uid, unit.namespace, unit.name) == (
        "Implied",
        "j",
        "default",
        "train.j",
    )


def test_a_scheduler_killed_amid_a_job_completes_it_when_it_comes_back(stage: Jobs):
    stage.add(node("n", cpu="3"))
    stage.job("j", 3, gang=3)
    stage.add(*pods("train", 3))
    stage.answer = lambda bind: "yes" if bind.pod.name == "train-1" else "never"
    stage.play()
    assert stage.bound() == 1
    stage.answer = lambda bind: "yes"
    stage.restart()
    stage.play(3)
    assert stage.bound() == 3
    stage.play(3)
    assert stage.units == ()


def test_a_job_that_cant_be_completed_after_a_kill_is_undone(stage: Jobs):
    stage.add(node("n", cpu="3"))
    stage.job("j", 3, gang=3)
    stage.add(*pods("train", 3))
    stage.answer = lambda bind: "yes" if bind.pod.name == "train-1" else "never"
    stage.play()
    stage.answer = lambda bind: "yes"
    stage.change("train-1", node_name="lost")
    stage.remove("n")
    stage.restart()
    stage.play(20)
    undone = [action for action in stage.log if isinstance(action, UndoBind)]
    assert [action.pod.name for action in undone] == ["train-1"]
    assert stage.bound() == 0
    assert any(note.startswith("GangUndone: needs 3, 1 bound") for note in stage.notes("train"))


def test_an_owner_can_be_asked_about_by_name(stage: Jobs):
    stage.add(node("n", cpu="2"))
    stage.job("j", 3, gang=3)
    stage.add(*pods("train", 3))
    stage.play(3)
    report = stage.engine.explain("Job/default/train")
    assert report is not None
    (line,) = report.groups
    assert (line.kind, line.name, line.needs, line.has, line.bound) == ("Job", "train", 3, 3, 0)
    assert stage.engine.explain("Job/default/other") is None


@pytest.mark.parametrize(
    ("text", "asked"),
    [("8", Asked(8)), ("none", Asked(0)), ("1000000", Asked(1_000_000))],
)
def test_the_annotation_is_a_number_or_none(text: str, asked: Asked):
    assert implied.read(text) == asked


@pytest.mark.parametrize("text", ["", "0", "-1", "8.0", "eight", "1000001", "٣", "None"])
def test_what_is_no_number_is_named(text: str):
    assert f'not "{text}"' in implied.read(text).wrong


@given(st.data())
def test_no_job_is_ever_bound_in_part(data: st.DataObject):
    """In whatever order Jobs, pods, nodes, answers and restarts come; nobody opts out here."""
    stage = Jobs()
    stage.graceful = data.draw(st.booleans())
    sizes = data.draw(st.lists(st.integers(2, 4), min_size=1, max_size=3))
    steps = [("job", number, 0) for number in range(len(sizes))]
    steps += [("pod", number, index) for number, size in enumerate(sizes) for index in range(size)]
    steps += [("node", number, 0) for number in range(data.draw(st.integers(1, 3)))]
    steps += [("restart", number, 0) for number in range(data.draw(st.integers(0, 2)))]
    answers = st.sampled_from(["yes", "yes", "yes", "refused", "lost", "late"])
    stage.answer = lambda bind: data.draw(answers)
    for what, number, index in data.draw(st.permutations(steps)):
        match what:
            case "job":
                stage.job(f"j{number}", sizes[number], gang=sizes[number])
            case "pod":
                stage.add(owned(f"train{number}", index, uid=f"j{number}"))
            case "node":
                stage.add(node(f"n{number}", cpu="3"))
            case "restart":
                stage.restart()
        stage.turn()
    stage.answer = lambda bind: "yes"
    stage.play(60)
    for number, size in enumerate(sizes):
        alive = [
            known
            for known in stage.pods.values()
            if known.metadata.name.startswith(f"train{number}-")
            and known.spec.node_name
            and known.metadata.deletion_timestamp is None
        ]
        assert len(alive) in (0, size)


def test_nothing_is_bound_by_a_plan_of_pods_that_went_elsewhere(stage: Jobs):
    """An opt-out amid a commit waits for its end."""
    stage.add(node("n", cpu="3"))
    stage.job("j", 3, gang=3)
    stage.add(*pods("train", 3))
    answers = {"train-0": "yes", "train-1": "refused", "train-2": "yes"}
    stage.answer = lambda bind: answers[bind.pod.name]
    stage.turn()
    stage.job("j", 3, gang=0)
    answers["train-1"] = "yes"
    stage.play(5)
    assert stage.bound() == 3
    assert not any(isinstance(action, UndoBind) for action in stage.log)
    assert sum(isinstance(action, Bind) for action in stage.log) <= 4


def pods(job: str, count: int) -> list[Pod]:
    return [owned(job, number) for number in range(count)]


def owned(
    name: str,
    number: int,
    *,
    kind: str = "Job",
    uid: str = "j",
    gang: str | None = None,
    on: str = "",
    scheduler: str = "tutti",
    restart: str = "Never",
) -> Pod:
    plain = pod(f"{name}-{number}", on=on, scheduler=scheduler, restart=restart)
    owner = OwnerReference(
        api_version="batch/v1" if kind == "Job" else "apps/v1",
        kind=kind,
        name=name,
        uid=uid,
        controller=True,
    )
    meta = msgspec.structs.replace(
        plain.metadata,
        owner_references=(owner,),
        annotations={} if gang is None else {GANG: gang},
    )
    return msgspec.structs.replace(plain, metadata=meta)


def workload(name: str, templates: int) -> Workload:
    return Workload(
        metadata=ObjectMeta(name=name, namespace="default", uid=name),
        spec=WorkloadSpec(
            controller_ref=ControllerReference(api_group="batch", kind="Job", name="train"),
            pod_group_templates=tuple(
                PodGroupTemplate(name=f"t{number}", scheduling_policy=SchedulingPolicy())
                for number in range(templates)
            ),
        ),
    )
