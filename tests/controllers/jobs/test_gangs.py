"""Which Jobs become gangs, and what is made for them."""

from typing import Any

import msgspec
import pytest

from tests.controllers.jobs.world import START, indexed, job
from tutti.api.batch import (
    Job,
    JobCondition,
    JobGang,
    JobScheduling,
    JobSchedulingPolicy,
    JobStatus,
)
from tutti.api.meta import ObjectMeta, OwnerReference
from tutti.api.scheduling import (
    Basic,
    CompositePodGroupTemplate,
    DisruptionMode,
    Gang,
    GroupResourceClaim,
    PodGroupTemplate,
    SchedulingConstraints,
    SchedulingPolicy,
    TopologyConstraint,
    Workload,
    WorkloadSpec,
)
from tutti.controllers.jobs import gangs
from tutti.controllers.jobs.gangs import Fallback, Role, Rule

AUTO, ASK = Rule.AUTO, Rule.ASK


def on_the_wire(manifest: dict[str, Any]) -> dict[str, Any]:
    sent: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(manifest))
    return sent


def asking(policy: JobSchedulingPolicy | None) -> JobScheduling:
    return JobScheduling(scheduling_policy=policy)


def gang(count: int | None = None) -> JobScheduling:
    return asking(JobSchedulingPolicy(gang=JobGang(min_count=count)))


@pytest.mark.parametrize(
    ("asked", "auto", "ask"),
    [
        pytest.param(indexed(4), 4, None, id="all indexes at once: a gang, unless it must ask"),
        pytest.param(indexed(1), None, None, id="one pod is no gang"),
        pytest.param(indexed(4, parallelism=2), None, None, id="waves are none"),
        pytest.param(job(parallelism=4, completions=4), None, None, id="without indexes: none"),
        pytest.param(job(parallelism=4), None, None, id="a work queue is none"),
        pytest.param(job(parallelism=3, scheduling=gang()), 3, 3, id="who asks gets parallelism"),
        pytest.param(job(parallelism=0, scheduling=gang()), 1, 1, id="109: at least one"),
        pytest.param(indexed(4, scheduling=gang(2)), 2, 2, id="or the number that it says"),
        pytest.param(
            indexed(4, scheduling=asking(JobSchedulingPolicy(basic=Basic()))),
            None,
            None,
            id="who asks for none gets none",
        ),
        pytest.param(
            indexed(4, scheduling=asking(None)), 4, None, id="to ask for nothing is no ask"
        ),
    ],
)
def test_the_quorum_of_a_job_108_109(asked: Job, auto: int | None, ask: int | None):
    assert gangs.quorum(asked, AUTO) == auto
    assert gangs.quorum(asked, ASK) == ask


def owned(kind: str, **annotations: str) -> Job:
    ref = OwnerReference(api_version="x/v1", kind=kind, name="o", uid="o-uid", controller=True)
    meta = ObjectMeta(name="j", uid="u", owner_references=(ref,), annotations=annotations)
    return msgspec.structs.replace(job(), metadata=meta)


@pytest.mark.parametrize(
    ("asked", "role"),
    [
        pytest.param(job(), Role.ROOT, id="107: nobody's"),
        pytest.param(owned("CronJob"), Role.ROOT, id="a cron job's"),
        pytest.param(owned("JobSet"), Role.LEFT_ALONE, id="114: another controller's"),
        pytest.param(
            owned("JobSet", **{gangs.TEMPLATE_NAME: "t"}), Role.DELEGATED, id="115: that says which"
        ),
        pytest.param(
            job(template={"spec": {"schedulingGroup": {"podGroupName": "mine"}}}),
            Role.LEFT_ALONE,
            id="113: with a group of its own",
        ),
    ],
)
def test_who_looks_after_a_jobs_group(asked: Job, role: Role):
    assert gangs.role(asked) is role


SUSPENDED = JobCondition(type="Suspended", status="True", reason="JobSuspended")


@pytest.mark.parametrize(
    ("status", "has_pods", "new"),
    [
        pytest.param(JobStatus(), False, True, id="nothing of it ran"),
        pytest.param(JobStatus(), True, False, id="it has pods"),
        pytest.param(JobStatus(start_time=START), False, False, id="it has begun"),
        pytest.param(JobStatus(succeeded=1), False, False, id="a pod succeeded"),
        pytest.param(JobStatus(failed=1), False, False, id="a pod failed"),
        pytest.param(JobStatus(conditions=(SUSPENDED,)), False, True, id="it was suspended so far"),
    ],
)
def test_only_a_new_job_gets_objects_118(status: JobStatus, has_pods: bool, new: bool):
    assert gangs.is_new(msgspec.structs.replace(job(), status=status), has_pods=has_pods) is new


def test_a_workload_says_what_the_job_asks_110():
    asked = job(
        parallelism=3,
        template={"spec": {"priorityClassName": "high"}},
        scheduling=JobScheduling(
            scheduling_policy=JobSchedulingPolicy(gang=JobGang()),
            scheduling_constraints=SchedulingConstraints(
                topology=(TopologyConstraint(key="rack"),)
            ),
            disruption_mode=DisruptionMode(all=Basic()),
            resource_claims=(GroupResourceClaim(name="c", resource_claim_name="r"),),
        ),
    )
    assert on_the_wire(gangs.workload(asked, ASK))["spec"] == {
        "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "j"},
        "podGroupTemplates": [
            {
                "name": "j-pgt-0",
                "schedulingPolicy": {"gang": {"minCount": 3}},
                "schedulingConstraints": {"topology": [{"key": "rack"}]},
                "disruptionMode": {"all": {}},
                "resourceClaims": [{"name": "c", "resourceClaimName": "r"}],
                "priorityClassName": "high",
            }
        ],
    }


JOB_REFERENCE = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "name": "j",
    "uid": "job-uid",
    "controller": True,
    "blockOwnerDeletion": True,
}


def made(asked: Job) -> Workload:
    manifest = gangs.workload(asked, AUTO)
    manifest["metadata"]["uid"] = "w-uid"
    return msgspec.convert(manifest, Workload)


def group(asked: Job, workload: Workload) -> dict[str, Any]:
    (template,) = gangs.templates(workload)
    return gangs.pod_group(
        asked, workload, template, name="g", api_version="scheduling.k8s.io/v1beta1"
    )


def test_what_is_made_belongs_to_the_job_112():
    asked = indexed(3)
    workload = made(asked)
    assert gangs.workload(asked, AUTO)["metadata"]["ownerReferences"] == [JOB_REFERENCE]
    assert group(asked, workload)["metadata"]["ownerReferences"] == [
        JOB_REFERENCE,
        {
            "apiVersion": "scheduling.k8s.io/v1beta1",
            "kind": "Workload",
            "name": workload.metadata.name,
            "uid": "w-uid",
        },
    ]


def test_a_group_is_a_copy_of_its_template():
    asked = indexed(3)
    assert group(asked, made(asked))["spec"] == {
        "workloadRef": {"workloadName": made(asked).metadata.name, "templateName": "j-pgt-0"},
        "schedulingPolicy": {"gang": {"minCount": 3}},
    }


def test_a_group_of_a_foreign_workload_doesnt_outlive_its_job():
    asked = indexed(3)
    foreign = msgspec.structs.replace(made(asked), metadata=ObjectMeta(name="w", uid="w-uid"))
    assert group(asked, foreign)["metadata"]["ownerReferences"] == [JOB_REFERENCE]


def test_a_delegated_group_joins_its_parent():
    asked = indexed(3)
    annotated = ObjectMeta(name="j", uid="job-uid", annotations={gangs.PARENT_GROUP: "tree"})
    asked = msgspec.structs.replace(asked, metadata=annotated)
    assert group(asked, made(asked))["spec"]["parentCompositePodGroupName"] == "tree"


def test_a_template_is_found_anywhere_in_the_parents_tree():
    leaf = PodGroupTemplate(name="workers")
    inner = CompositePodGroupTemplate(name="inner", pod_group_templates=(leaf,))
    outer = CompositePodGroupTemplate(name="outer", composite_pod_group_templates=(inner,))
    parent = Workload(
        metadata=ObjectMeta(name="w"), spec=WorkloadSpec(composite_pod_group_templates=(outer,))
    )
    assert gangs.delegated_template(parent, "workers") == leaf
    assert gangs.delegated_template(parent, "inner") is None


def test_several_workloads_are_no_workload_120():
    asked = indexed(2)
    found = gangs.workload_of(asked, [made(asked), made(asked)])
    assert found == Fallback(
        "found 2 Workloads referencing Job ns/j, falling back to default scheduling"
    )


def test_a_workload_with_several_templates_is_not_used_121():
    two = WorkloadSpec(pod_group_templates=(PodGroupTemplate(name="a"), PodGroupTemplate(name="b")))
    found = gangs.workload_of(indexed(2), [Workload(metadata=ObjectMeta(name="w"), spec=two)])
    assert isinstance(found, Fallback)


@pytest.mark.parametrize(
    ("asked", "stored", "change"),
    [
        pytest.param(indexed(5), 4, 5, id="125: it grew"),
        pytest.param(indexed(4), 4, None, id="it is as it was"),
        pytest.param(indexed(4, parallelism=2), 4, None, id="it stopped to qualify: stays a gang"),
        pytest.param(indexed(4, scheduling=gang(3)), 4, 3, id="125: it asks for less"),
    ],
)
def test_a_gangs_quorum_follows_its_job(asked: Job, stored: int, change: int | None):
    policy = SchedulingPolicy(gang=Gang(min_count=stored))
    patch = gangs.follows(asked, AUTO, PodGroupTemplate(name="t", scheduling_policy=policy))
    assert patch == (change and {"schedulingPolicy": {"gang": {"minCount": change}}})


def test_a_basic_group_stays_basic_125():
    basic = PodGroupTemplate(name="t", scheduling_policy=SchedulingPolicy(basic=Basic()))
    assert gangs.follows(indexed(4), AUTO, basic) is None
