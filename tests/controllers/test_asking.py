"""What a Job asks of the gang of its pods, where it has no PodGroup."""

import pytest
from msgspec import structs

from tests.controllers.jobs.world import indexed, job
from tutti.api.batch import Job, JobGang, JobScheduling, JobSchedulingPolicy
from tutti.api.meta import ObjectMeta, OwnerReference
from tutti.api.scheduling import Basic
from tutti.controllers.asking import as_seen, asked_by
from tutti.controllers.jobs.gangs import Rule
from tutti.engine.implied import GANG, Asked
from tutti.engine.messages import JobSeen

SINGLY = JobScheduling(scheduling_policy=JobSchedulingPolicy(basic=Basic()))
TOGETHER = JobScheduling(scheduling_policy=JobSchedulingPolicy(gang=JobGang(min_count=3)))


def annotated(on: Job, value: str) -> Job:
    meta = structs.replace(on.metadata, annotations={GANG: value})
    return structs.replace(on, metadata=meta)


@pytest.mark.parametrize(
    ("asks", "auto", "ask"),
    [
        (indexed(8), 8, None),
        (indexed(8, parallelism=4), None, None),
        (indexed(1), None, None),
        (job(parallelism=8, completions=8), None, None),
        (indexed(8, scheduling=SINGLY), None, None),
        (indexed(8, scheduling=TOGETHER), 3, 3),
    ],
    ids=["whole", "in waves", "one pod", "without indexes", "basic", "gang"],
)
def test_the_rule_is_that_of_the_job_controller(asks: Job, auto: int | None, ask: int | None):
    assert asked_by(asks, Rule.AUTO) == Asked(auto)
    assert asked_by(asks, Rule.ASK) == Asked(ask)


@pytest.mark.parametrize("rule", Rule)
def test_an_annotation_is_stronger_than_any_rule(rule: Rule):
    assert asked_by(annotated(job(), "4"), rule) == Asked(4)
    assert asked_by(annotated(indexed(8, scheduling=TOGETHER), "none"), rule) == Asked(0)
    assert asked_by(annotated(indexed(8), "many"), rule).wrong


def test_the_annotation_may_be_on_the_template_but_that_of_the_job_comes_first():
    on_template = job(template={"metadata": {"annotations": {GANG: "4"}}})
    assert asked_by(on_template, Rule.ASK) == Asked(4)
    assert asked_by(annotated(on_template, "2"), Rule.ASK) == Asked(2)


def test_a_job_of_another_controller_asks_only_by_annotation():
    owner = OwnerReference(api_version="x/v1", kind="JobSet", name="s", uid="s", controller=True)
    owned = structs.replace(
        indexed(8), metadata=ObjectMeta(name="j", uid="u", owner_references=(owner,))
    )
    assert asked_by(owned, Rule.AUTO) == Asked()
    assert asked_by(annotated(owned, "8"), Rule.AUTO) == Asked(8)


def test_the_engine_hears_what_is_asked_and_what_is_wanted():
    assert as_seen(indexed(8), Rule.AUTO) == JobSeen("job-uid", 8, 8)
