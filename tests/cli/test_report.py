"""What `tutti why` makes of the objects."""

from datetime import UTC, datetime, timedelta

from tutti.api.batch import Job, JobCondition, JobSpec, JobStatus
from tutti.api.core_v1 import Pod, PodSpec, PodStatus, SchedulingGroup
from tutti.api.meta import Condition, ObjectMeta
from tutti.api.scheduling import (
    CompositeGang,
    CompositePodGroup,
    CompositePodGroupSpec,
    CompositeSchedulingPolicy,
    Gang,
    PodGroup,
    PodGroupSpec,
    PodGroupStatus,
    SchedulingPolicy,
)
from tutti.cli import report, why
from tutti.cli.report import Family
from tutti.engine.implied import Asked, read

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def pod(name: str, *, group: str | None = "train", node: str = "", why: str = "") -> Pod:
    said = Condition(type="PodScheduled", status="False", reason="Unschedulable", message=why)
    return Pod(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=PodSpec(
            node_name=node,
            scheduling_group=SchedulingGroup(pod_group_name=group) if group else None,
        ),
        status=PodStatus(phase="Running" if node else "Pending", conditions=(said,) if why else ()),
    )


def gang(
    name: str, of: int, *, parent: str | None = None, said: Condition | None = None
) -> PodGroup:
    return PodGroup(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=PodGroupSpec(
            scheduling_policy=SchedulingPolicy(gang=Gang(min_count=of)),
            parent_composite_pod_group_name=parent,
        ),
        status=PodGroupStatus(conditions=(said,) if said else ()),
    )


def composite(name: str, of: int, *, parent: str | None = None) -> CompositePodGroup:
    return CompositePodGroup(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=CompositePodGroupSpec(
            scheduling_policy=CompositeSchedulingPolicy(gang=CompositeGang(min_group_count=of)),
            parent_composite_pod_group_name=parent,
        ),
    )


def told(one: report.Report) -> str:
    return "\n".join(why.told(one, NOW))


def test_a_gang_that_waits_says_what_it_needs_has_and_why():
    said = Condition(
        type=report.SATISFIED,
        status="False",
        reason="NotFound",
        message="3 fit, 4 are needed",
        last_transition_time=NOW - timedelta(seconds=7),
    )
    train = gang("train", 4, said=said)
    family = Family.of([train], [], [pod("a"), pod("b", why="0/3 nodes are available")])
    assert told(report.of_group(train, family)) == (
        "podgroup/train in default waits (NotFound) since 7 s\n"
        "  needs 4 members, has 2, 0 of them bound\n"
        "  3 fit, 4 are needed\n"
        "\n"
        "POD   STATE     NODE     WHY\n"
        "a     Pending   <none>\n"
        "b     Pending   <none>   0/3 nodes are available"
    )


def test_a_gang_whose_quorum_is_bound_runs():
    train = gang("train", 2)
    family = Family.of([train], [], [pod("a", node="n1"), pod("b", node="n2"), pod("c")])
    found = report.of_group(train, family)
    assert (found.state, found.needs, found.has, found.bound) == ("runs", 2, 3, 2)


def test_many_members_that_are_alike_take_one_line():
    train = gang("train", 40)
    family = Family.of([train], [], [pod(f"p-{n:02}", why="no room") for n in range(40)])
    lines = told(report.of_group(train, family)).splitlines()
    assert lines[-1] == "p-00 … p-39   Pending   40      no room"


def test_a_tree_is_shown_from_its_root():
    leaf = gang("workers", 1, parent="job")
    root = composite("job", 1)
    family = Family.of([leaf], [root], [pod("w", group="workers", node="n")])
    assert family.root_of(leaf) == root
    found = report.of_group(root, family)
    assert found.state == "runs"
    assert [child.name for child in found.children] == ["workers"]


def test_a_tree_has_a_line_for_each_group_and_its_pods_below():
    leaves = [gang("leader", 1, parent="job"), gang("workers", 2, parent="job")]
    family = Family.of(
        leaves,
        [composite("job", 2)],
        [pod("l", group="leader", node="n1"), pod("w", group="workers", why="no room")],
    )
    assert told(report.of_group(family.root_of(leaves[0]), family)) == (
        "compositepodgroup/job in default waits\n"
        "  needs 2 groups, has 2, 1 of them run\n"
        "  no scheduler has said anything about it yet\n"
        "\n"
        "GROUP       NEEDS   HAS   BOUND   STATE   WHY\n"
        "job         2       2     1       waits\n"
        "  leader    1       1     1       runs    no scheduler has said anything about it yet\n"
        "  workers   2       1     0       waits   no scheduler has said anything about it yet\n"
        "\n"
        "POD   STATE     NODE     WHY\n"
        "l     Running   n1\n"
        "w     Pending   <none>   no room"
    )


def test_groups_in_a_circle_are_shown_once_around():
    one, other = composite("one", 1, parent="other"), composite("other", 1, parent="one")
    family = Family.of([], [one, other], [])
    found = report.of_group(family.root_of(one), family)
    assert [child.name for child in found.children[0].children] == []


def test_a_pod_whose_group_is_not_there_says_so():
    found = report.of_absent_group(pod("a", group="nobody"))
    assert found.name == "nobody"
    assert found.state == "is not there"


def test_a_lone_pod_speaks_for_itself():
    assert "0/3 nodes are available" in told(
        report.of_pod(pod("a", group=None, why="0/3 nodes are available"))
    )
    assert "it is on node n1" in told(report.of_pod(pod("a", group=None, node="n1")))


def job(*, succeeded: int = 0, done: bool = False) -> Job:
    ending = JobCondition(type="Complete", status="True")
    return Job(
        metadata=ObjectMeta(name="train", namespace="default", uid="j"),
        spec=JobSpec(parallelism=3, completions=3, completion_mode="Indexed"),
        status=JobStatus(succeeded=succeeded, conditions=(ending,) if done else ()),
    )


def test_a_job_that_is_a_gang_by_itself_says_what_it_needs_and_why_it_waits():
    pods = [pod("b", group=None, why="2 fit, 3 are needed"), pod("a", group=None)]
    assert told(report.of_job(job(), pods, Asked(3))).startswith(
        "job/train in default waits\n  needs 3 members, has 2, 0 of them bound\n"
    )


def test_a_job_needs_no_more_than_it_still_wants():
    waits = report.of_job(job(succeeded=2), [pod("c", group=None)], Asked(3))
    runs = report.of_job(job(succeeded=2), [pod("c", group=None, node="n")], Asked(3))
    assert (waits.state, waits.needs, runs.state) == ("waits", 1, "runs")
    assert report.of_job(job(succeeded=3, done=True), [], Asked(3)).state == "ended"


def test_a_job_that_is_no_gang_says_so():
    alone = report.of_job(job(), [pod("a", group=None, node="n")], Asked())
    assert (alone.state, alone.message) == ("runs", "it is no gang: its pods start one by one")
    assert "needs" not in told(alone)


def test_a_job_that_asks_wrongly_waits_and_says_why():
    wrong = report.of_job(job(), [pod("a", group=None)], read("eight"))
    assert (wrong.state, wrong.message) == ("waits", read("eight").wrong)
