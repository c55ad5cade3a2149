"""Jobs on a running control plane, without a scheduler: what is made for them, and what becomes of it."""

from typing import Any

import pytest

from tests.controllers.space import Json, Space
from tutti.api.batch import CronJob, Job
from tutti.api.core_v1 import Event, Pod
from tutti.api.registry import CRONJOBS, EVENTS, JOBS, POD_GROUPS, PODS, WORKLOADS
from tutti.api.scheduling import PodGroup, Workload
from tutti.controllers.jobs import facts, gangs

Names = dict[str, Pod]


def job(completions: int = 3, *, runs_for: str | None = None, **spec: Any) -> Json:
    annotations = {"tutti.dev/runs-for": runs_for} if runs_for else {}
    template = {
        "metadata": {"annotations": annotations},
        "spec": {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "c", "image": "i"}],
        },
    }
    given = {"parallelism": completions, "completions": completions, "completionMode": "Indexed"}
    return {"spec": {**given, "template": template, **spec}}


async def pods(space: Space, count: int) -> list[Pod]:
    there = await space.until(PODS, Pod, lambda there: len(there) == count)
    return sorted(there.values(), key=lambda pod: facts.index_of(pod) or 0)


async def one(space: Space, storage: Any, kind: Any) -> Any:
    (found,) = (await space.until(storage, kind, lambda there: len(there) == 1)).values()
    return found


async def told(space: Space, reason: str) -> str:
    def so(there: dict[str, Event]) -> bool:
        return any(event.reason == reason for event in there.values())

    events = await space.until(EVENTS, Event, so)
    return next(event.message for event in events.values() if event.reason == reason)


async def bind(space: Space, pod: Pod) -> None:
    meta = pod.metadata
    await space.client.bind(space.name, meta.name, meta.uid, "node-1", {})


async def test_a_job_gets_its_workload_then_its_group_then_its_pods_107_112(space: Space):
    made = await space.create(JOBS, "train", job(3))
    first, *_ = await pods(space, 3)
    workload: Workload = await one(space, WORKLOADS, Workload)
    group: PodGroup = await one(space, POD_GROUPS, PodGroup)
    made_in_order = [workload.metadata.creation_timestamp, first.metadata.creation_timestamp]
    assert made_in_order == sorted(made_in_order)
    assert [ref.uid for ref in workload.metadata.owner_references] == [made.uid]
    assert [ref.uid for ref in group.metadata.owner_references] == [made.uid, workload.metadata.uid]
    assert [ref.uid for ref in first.metadata.owner_references] == [made.uid, group.metadata.uid]
    assert first.spec.scheduling_group is not None
    assert first.spec.scheduling_group.pod_group_name == group.metadata.name
    assert group.metadata.labels == {gangs.MANAGED_BY: "tutti"}
    assert group.spec.scheduling_policy.gang is not None
    assert group.spec.scheduling_policy.gang.min_count == 3
    said = await told(space, "PodGroupCreated")
    assert said == f"Created PodGroup {group.metadata.name} for Job train"


async def test_a_job_runs_to_its_completion(space: Space):
    await space.create(JOBS, "train", job(2, runs_for="0"))
    for pod in await pods(space, 2):
        await bind(space, pod)

    def so(there: dict[str, Job]) -> bool:
        return there["train"].ending is not None

    done = (await space.until(JOBS, Job, so))["train"]
    assert (done.status.succeeded, done.status.completed_indexes) == (2, "0,1")
    assert not any(facts.is_tracked(pod) for pod in await pods(space, 2))
    assert await told(space, "Completed") == "Job completed"


@pytest.mark.parametrize("name", ["a.b", "j" * 63], ids=["with a dot", "too long for a label"])
async def test_a_job_whose_name_is_no_label_still_gets_a_group_126(space: Space, name: str):
    await space.create(JOBS, name, job(2, completionMode="NonIndexed"))
    assert all(pod.spec.scheduling_group for pod in await pods(space, 2))


async def test_a_job_with_a_group_of_its_own_gets_none_113(space: Space):
    own = job(2)
    own["spec"]["template"]["spec"]["schedulingGroup"] = {"podGroupName": "mine"}
    await space.create(JOBS, "train", own)
    for pod in await pods(space, 2):
        assert pod.spec.scheduling_group is not None
        assert pod.spec.scheduling_group.pod_group_name == "mine"
    await space.until_left(WORKLOADS)


async def test_a_job_of_another_controller_is_left_alone_114_127(space: Space):
    ref = {"apiVersion": "x/v1", "kind": "Robot", "name": "r", "uid": "r-uid", "controller": True}
    await space.create(JOBS, "owned", {**job(2), "metadata": {"ownerReferences": [ref]}})
    await space.create(JOBS, "managed", job(2, managedBy="example.com/robot"))
    assert not any(pod.spec.scheduling_group for pod in await pods(space, 2))
    await space.until_left(WORKLOADS)


def foreign(*templates: str, kind: str = "Job", group: str = "batch", name: str = "train") -> Json:
    return {
        "spec": {
            "controllerRef": {"apiGroup": group, "kind": kind, "name": name},
            "podGroupTemplates": [
                {"name": template, "schedulingPolicy": {"gang": {"minCount": 2}}}
                for template in templates
            ],
        }
    }


async def test_a_workload_that_others_made_is_used_and_stays_as_it_is(space: Space):
    before = await space.create(WORKLOADS, "theirs", foreign("workers"))
    await space.create(JOBS, "train", job(3, suspend=True))
    group: PodGroup = await one(space, POD_GROUPS, PodGroup)
    assert group.spec.workload_ref is not None
    assert group.spec.workload_ref.workload_name == "theirs"
    assert group.spec.scheduling_policy.gang is not None
    assert group.spec.scheduling_policy.gang.min_count == 2
    after: Workload = await one(space, WORKLOADS, Workload)
    assert after.metadata.resource_version == before.resource_version


@pytest.mark.parametrize(
    "workloads",
    [
        pytest.param([["a"], ["b"]], id="120: several"),
        pytest.param([["a", "b"]], id="121: of several templates"),
    ],
)
async def test_a_workload_that_is_not_clear_is_no_workload(
    space: Space, workloads: list[list[str]]
):
    for number, templates in enumerate(workloads):
        await space.create(WORKLOADS, f"w{number}", foreign(*templates))
    await space.create(JOBS, "train", job(2))
    assert not any(pod.spec.scheduling_group for pod in await pods(space, 2))
    assert "falling back to default scheduling" in await told(space, "WorkloadIgnored")


DELEGATED = {
    "annotations": {gangs.TEMPLATE_NAME: "workers"},
    "ownerReferences": [
        {"apiVersion": "x/v1", "kind": "Robot", "name": "r", "uid": "r-uid", "controller": True}
    ],
}


async def test_a_delegated_job_waits_for_its_parent_and_says_so_116(space: Space):
    await space.create(JOBS, "left", {**job(2), "metadata": DELEGATED})
    assert await told(space, "WaitingForWorkload") == "Job left waits for a Workload of Robot r"
    await space.create(WORKLOADS, "pw", foreign("workers", kind="Robot", group="x", name="r"))
    await pods(space, 2)
    group: PodGroup = await one(space, POD_GROUPS, PodGroup)
    assert group.metadata.name == "pw-workers-66c586db7"
    assert [ref.name for ref in group.metadata.owner_references] == ["left"]


async def test_two_jobs_of_one_template_both_get_a_group_127a(space: Space):
    await space.create(WORKLOADS, "pw", foreign("workers", kind="Robot", group="x", name="r"))
    for name in ("left", "right"):
        await space.create(JOBS, name, {**job(2), "metadata": DELEGATED})
    assert len({pod.spec.scheduling_group for pod in await pods(space, 4)}) == 2


async def test_a_group_stays_through_suspension_124(space: Space):
    await space.create(JOBS, "train", job(2, suspend=True))
    group: PodGroup = await one(space, POD_GROUPS, PodGroup)
    for suspend, count in ((False, 2), (True, 0), (False, 2)):
        change = {"spec": {"suspend": suspend}}
        await space.client.patch(JOBS, space.name, "train", change)
        for pod in await pods(space, count):
            assert pod.spec.scheduling_group is not None
            assert pod.spec.scheduling_group.pod_group_name == group.metadata.name
    assert (await one(space, POD_GROUPS, PodGroup)).metadata.uid == group.metadata.uid


async def test_the_quorum_of_a_gang_follows_its_job_125(space: Space):
    await space.create(JOBS, "train", job(2))
    await pods(space, 2)
    grown = {"spec": {"parallelism": 4, "completions": 4}}
    await space.client.patch(JOBS, space.name, "train", grown)
    await pods(space, 4)

    def so(there: dict[str, PodGroup]) -> bool:
        return [g.spec.scheduling_policy.gang.min_count for g in there.values()] == [4]  # type: ignore[union-attr]

    await space.until(POD_GROUPS, PodGroup, so)


async def test_newcomers_join_the_group_though_the_workload_is_gone_134(space: Space):
    await space.create(JOBS, "train", job(2))
    await pods(space, 2)
    workload: Workload = await one(space, WORKLOADS, Workload)
    await space.delete(WORKLOADS, workload.metadata.name)
    await space.until_left(WORKLOADS)
    grown = {"spec": {"parallelism": 3, "completions": 3}}
    await space.client.patch(JOBS, space.name, "train", grown)
    assert len({pod.spec.scheduling_group for pod in await pods(space, 3)}) == 1
    await space.until_left(WORKLOADS)


@pytest.mark.parametrize("how", ["Background", "Foreground"])
async def test_a_deleted_job_takes_everything_along_133(space: Space, how: Any):
    await space.create(JOBS, "train", job(2))
    for pod in await pods(space, 2):
        await bind(space, pod)
    await space.delete(JOBS, "train", how)
    for storage in (PODS, POD_GROUPS, WORKLOADS, JOBS):
        await space.until_left(storage)


async def test_a_job_that_leaves_its_pods_tracks_them_no_more_133(space: Space):
    await space.create(JOBS, "train", job(2))
    await pods(space, 2)
    await space.delete(JOBS, "train", "Orphan")

    def let_go(there: Names) -> bool:
        return len(there) == 2 and not any(facts.is_tracked(pod) for pod in there.values())

    await space.until(PODS, Pod, let_go)


async def test_a_job_goes_after_its_time_to_live(space: Space):
    await space.create(JOBS, "train", job(1, runs_for="0", ttlSecondsAfterFinished=0))
    (pod,) = await pods(space, 1)
    await bind(space, pod)
    for storage in (JOBS, PODS, POD_GROUPS, WORKLOADS):
        await space.until_left(storage)


async def test_the_jobs_of_a_cron_job_are_gangs_too(space: Space):
    due = {"schedule": "@every 1s", "concurrencyPolicy": "Forbid", "jobTemplate": job(2)}
    await space.create(CRONJOBS, "tick", {"spec": due})
    group: PodGroup = await one(space, POD_GROUPS, PodGroup)
    assert group.spec.scheduling_policy.gang is not None

    def so(there: dict[str, CronJob]) -> bool:
        return len(there["tick"].status.active) == 1

    await space.until(CRONJOBS, CronJob, so)
    await space.delete(CRONJOBS, "tick")
    for storage in (JOBS, PODS, POD_GROUPS, WORKLOADS):
        await space.until_left(storage)


async def test_what_the_server_refuses_is_said_123(space: Space):
    too_much = job(2, scheduling={"schedulingPolicy": {"gang": {}}})
    too_much["spec"]["template"]["spec"]["priorityClassName"] = "system-cluster-critical"
    await space.create(JOBS, "train", too_much)
    said = await told(space, "FailedPodGroupCreate")
    assert said.startswith("Failed to create PodGroup for Job train: ")
    await space.until_left(PODS)
