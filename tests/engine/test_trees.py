"""Trees of groups from events to bindings. Numbers are of the checklist of behaviours in
Kubernetes' own scheduler that Tutti keeps, and of its weaknesses (9.x) that Tutti doesn't share."""

from __future__ import annotations

import msgspec
import pytest

from tests.engine.stage import Stage, basic, composite, gang, node, pod
from tutti.api.meta import ObjectMeta
from tutti.api.scheduling import (
    Basic,
    CompositeGang,
    CompositePodGroupTemplate,
    CompositeSchedulingPolicy,
    Gang,
    PodGroupTemplate,
    SchedulingConstraints,
    SchedulingPolicy,
    TopologyConstraint,
    Workload,
    WorkloadSpec,
)
from tutti.engine.messages import (
    Bind,
    Edition,
    Note,
    UndoBind,
    WorkloadGone,
    WorkloadSeen,
)


def members(group: str, count: int, **more: object):
    return [pod(f"{group}-{i}", group, **more) for i in range(count)]  # type: ignore[arg-type]


@pytest.fixture
def stage() -> Stage:
    return Stage()


def two_children(stage: Stage, *, cpu: str = "1") -> None:
    stage.add(composite("top", 2), gang("a", 2, parent="top"), gang("b", 2, parent="top"))
    stage.add(*members("a", 2), *members("b", 2, cpu=cpu))


def test_a_tree_that_fits_is_bound_whole_and_every_group_says_so(stage):
    """91, and the composite's own condition, which upstream doesn't write."""
    stage.add(node("n0"))
    two_children(stage)
    stage.play(3)
    assert stage.bound() == 4
    assert [stage.initially(name) for name in ("top", "a", "b")] == ["True/Scheduled"] * 3
    assert stage.satisfied("top") == "Bound"


def test_one_unit_stands_for_the_whole_tree(stage):
    stage.writes_intents = False
    stage.add(node("n0"))
    two_children(stage)
    [intent] = stage.turn()
    assert [(unit.kind, unit.name) for unit in intent.units] == [("CompositePodGroup", "top")]


def test_one_child_without_a_place_keeps_all_from_being_bound(stage):
    """78, 82, 83."""
    stage.add(node("n0", "20"))
    two_children(stage, cpu="100")
    stage.play(3)
    assert stage.bound() == 0
    assert stage.initially("top") == "False/Unschedulable"
    assert stage.initially("a") == "False/Unschedulable"
    said = stage.condition("top", "CompositePodGroupInitiallyScheduled").message
    assert said == "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining"
    assert stage.said("a-0") == f"Unschedulable: pod group is unschedulable, {said}"
    assert stage.said("b-0") == "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu."
    assert stage.satisfied("b") == "ProvedImpossible"
    assert stage.condition("a", "tutti.dev/Satisfied").message.startswith(
        'CompositePodGroup "top" needs 2 groups, 1 fit: b: '
    )


def test_enough_children_are_enough(stage):
    """77: the third stays pending, with a reason of its own."""
    stage.add(node("n0"), composite("top", 2))
    for name in "abc":
        stage.add(gang(name, 2, parent="top"), *members(name, 2))
    stage.play(3)
    assert stage.bound() == 4
    assert stage.initially("top") == "True/Scheduled"
    assert stage.initially("c") == "False/Unschedulable"
    assert stage.said("c-1").startswith("Unschedulable: 0/1 nodes")
    stage.add(node("n1"))
    stage.play(1)
    assert stage.bound() == 6


def test_a_basic_composite_takes_the_children_that_fit(stage):
    """79."""
    stage.add(node("n0", "3"), composite("top"))
    stage.add(gang("a", 2, parent="top"), gang("b", 2, parent="top"))
    stage.add(*members("a", 2), *members("b", 2))
    stage.play(3)
    assert stage.bound() == 2
    assert stage.initially("top") == "True/Scheduled"


def test_a_gang_of_basic_children(stage):
    stage.add(node("n0", "8"), composite("top", 2))
    stage.add(*(basic(name, parent="top") for name in "abc"))
    stage.add(*members("a", 3), *members("b", 3), *members("c", 3, cpu="10"))
    stage.play(3)
    assert (stage.bound("a"), stage.bound("b"), stage.bound("c")) == (3, 3, 0)


def test_members_wait_for_the_last_missing_ancestor_and_say_so(stage):
    """5."""
    stage.add(
        node("n0"), gang("a", 1, parent="mid"), composite("mid", 1, parent="top"), *members("a", 1)
    )
    stage.play(3)
    assert stage.said("a-0") == (
        'NotReadyForScheduling: waiting for CompositePodGroup "top" to be created'
    )
    assert stage.satisfied("a") == "WaitingForObject"
    stage.add(composite("top", 1))
    stage.play()
    assert stage.bound() == 1


def test_a_tree_waits_for_enough_complete_children_and_says_so(stage):
    """85."""
    stage.add(node("n0"), composite("top", 2), gang("a", 2, parent="top"))
    stage.add(*members("a", 2), *members("b", 2))
    stage.play(3)
    assert stage.bound() == 0
    assert stage.satisfied("top") == "WaitingForMembers"
    assert stage.said("a-0") == (
        'NotReadyForScheduling: CompositePodGroup "top" needs 2 groups, 1 is complete'
    )
    stage.add(gang("b", 2, parent="top"))
    stage.play()
    assert stage.bound() == 4


@pytest.mark.parametrize("what", ["a pod", "a lower minCount", "a group"])
def test_whatever_completes_the_tree_wakes_it(stage, what):
    """87."""
    stage.add(node("n0"), composite("top", 2), gang("a", 1, parent="top"), *members("a", 1))
    if what != "a group":
        stage.add(gang("b", 2, parent="top"))
    stage.add(*members("b", 1))
    stage.play(3)
    assert stage.bound() == 0
    match what:
        case "a pod":
            stage.add(pod("b-1", "b"))
        case _:
            stage.add(gang("b", 1, parent="top"))
    stage.play()
    assert stage.bound() >= 2


def test_a_gated_member_holds_the_tree_that_needs_it(stage):
    stage.add(node("n0", "8"), composite("top", 2), gang("a", 2, parent="top"))
    stage.add(
        gang("b", 2, parent="top"), *members("a", 2), pod("b-0", "b"), pod("b-1", "b", gates=["x"])
    )
    stage.play(3)
    assert stage.bound() == 0
    assert stage.satisfied("b") == "Gated"
    stage.change("b-1", scheduling_gates=())
    stage.play()
    assert stage.bound() == 4


def test_children_that_come_later_join_the_tree_that_runs(stage):
    """86: each with its own quorum, and as a unit of its own."""
    stage.add(node("n0", "20"), composite("top"), gang("a", 2, parent="top"), *members("a", 2))
    stage.play(3)
    assert stage.bound() == 2
    stage.add(composite("mid", 2, parent="top"), gang("m1", 2, parent="mid"), *members("m1", 2))
    stage.play(3)
    assert stage.bound("m1") == 0
    stage.add(gang("m2", 2, parent="mid"), *members("m2", 2))
    stage.writes_intents = False
    [intent] = stage.turn()
    assert [unit.name for unit in intent.units] == ["mid"]
    stage.writes_intents = True
    stage._carry_out(intent)
    stage.play(3)
    assert (stage.bound("m1"), stage.bound("m2")) == (2, 2)


def test_a_child_that_runs_counts_and_one_without_members_does_not(stage):
    """84."""
    stage.add(node("n0", "20"), composite("top", 2), gang("a", 1, parent="top"))
    stage.add(
        gang("b", 1, parent="top"),
        gang("empty", 1, parent="top"),
        *members("a", 1),
        *members("b", 1),
    )
    stage.play(3)
    assert stage.bound() == 2
    stage.remove("b-0")
    stage.add(pod("b-new", "b"))
    stage.play(3)
    assert stage.bound() == 2


def test_of_equal_children_the_older_gets_the_room(stage):
    """81, as a tie-break."""
    stage.add(node("n0", "2"), composite("top", 1), gang("a", 2, parent="top", age=9))
    stage.add(gang("b", 2, parent="top", age=1), *members("a", 2), *members("b", 2))
    stage.play(3)
    assert (stage.bound("a"), stage.bound("b")) == (0, 2)


def test_surplus_waits_for_every_quorum(stage):
    """9.5."""
    stage.add(node("n0"), composite("top", 2), gang("a", 2, parent="top", age=1))
    stage.add(gang("b", 2, parent="top", age=2), *members("a", 4), *members("b", 4))
    stage.play(3)
    assert (stage.bound("a"), stage.bound("b")) == (2, 2)


def test_a_composite_and_a_group_of_one_name_are_two(stage):
    """9.28."""
    stage.add(node("n0"), composite("x", 1), gang("x", 2), gang("child", 1, parent="x"))
    stage.add(*members("x", 2), *members("child", 1))
    stage.play(3)
    assert stage.bound() == 3


def test_a_leaf_turns_true_only_with_its_tree(stage):
    stage.add(node("n0", "8"))
    stage.answer = lambda bind: "refused" if bind.pod.name.startswith("b") else "yes"
    two_children(stage)
    stage.play(4)
    assert stage.bound("a") == 2
    assert stage.initially("a") == ""
    stage.answer = lambda bind: "yes"
    stage.play(3)
    assert stage.initially("a") == "True/Scheduled"
    assert stage.logged(UndoBind) == []


def test_a_tree_that_cannot_be_completed_is_undone_whole(stage):
    stage.add(node("n0", "8"))
    stage.answer = lambda bind: "refused" if bind.pod.name == "b-1" else "yes"
    two_children(stage)
    stage.play(12)
    assert stage.bound() == 0
    assert len(stage.logged(UndoBind)) == 3
    assert stage.units == ()


def test_of_a_tree_that_stands_only_the_broken_child_is_undone(stage):
    stage.add(node("n0", "8"), composite("top", 1))
    stage.answer = lambda bind: "refused" if bind.pod.name == "b-1" else "yes"
    stage.add(
        gang("a", 2, parent="top"), gang("b", 2, parent="top"), *members("a", 2), *members("b", 2)
    )
    stage.play(12)
    assert sorted(stage.places()) == ["a-0", "a-1"]
    assert stage.initially("top") == "True/Scheduled"


def test_a_tree_that_a_dead_scheduler_left_half_is_completed(stage):
    stage.add(node("n0", "8"))
    left = [3]

    def answer(_: Bind) -> str:
        left[0] -= 1
        return "yes" if left[0] >= 0 else "never"

    stage.answer = answer
    two_children(stage)
    stage.play(0.1)
    assert stage.bound() == 3
    stage.answer = lambda bind: "yes"
    stage.restart()
    stage.play(3)
    assert stage.bound() == 4
    assert stage.logged(UndoBind) == []
    assert stage.initially("top") == "True/Scheduled"


def test_a_tree_that_changes_its_shape_in_flight_is_decided_by_the_new_one_and_says_so(stage):
    """54, but for the silence: nothing is bound by a plan for the tree that was."""
    stage.writes_intents = False
    stage.add(node("n0", "3"), composite("top", 1), gang("a", 2, parent="top"), *members("a", 2))
    [intent] = stage.turn()
    stage.add(composite("top", 2), gang("b", 2, parent="top"), *members("b", 2))
    stage.writes_intents = True
    stage._carry_out(intent)
    stage.play(3)
    assert stage.bound() == 0
    assert [stage.initially(name) for name in ("top", "a", "b")] == ["False/Unschedulable"] * 3
    stage.add(node("n1", "1"))
    stage.play(1)
    assert stage.bound() == 4


def test_the_bindings_of_a_tree_go_out_together(stage):
    """88: its plan is committed as one, nobody waits on the way to a node."""
    stage.writes_intents = False
    stage.add(node("n0"))
    two_children(stage)
    [intent] = stage.turn()
    stage.writes_intents = True
    stage._carry_out(intent)
    sent = [action.pod.name for action in stage.turn() if isinstance(action, Bind)]
    assert sorted(sent) == ["a-0", "a-1", "b-0", "b-1"]


# --- layouts that can't be -------------------------------------------------------------------


def invalid(stage: Stage, *groups: str) -> str:
    """Every group of the tree says the same; nothing is bound, and nothing retried by time."""
    sentences = set()
    for name in groups:
        assert stage.satisfied(name) == "Invalid", name
        is_leaf = f"PodGroup/{name}" in stage.groups
        assert stage.initially(name) == f"False/{'SchedulerError' if is_leaf else 'Invalid'}"
        sentences.add(stage.condition(name, "tutti.dev/Satisfied").message)
    assert stage.bound() == 0
    assert stage.engine.next_wake() is None
    [sentence] = sentences
    return sentence


def test_a_ring_of_parents(stage):
    """6, 90."""
    stage.add(node("n0"), composite("x", 1, parent="y"), composite("y", 1, parent="x"))
    stage.add(gang("g", 1, parent="x"), *members("g", 1))
    stage.play(5)
    assert invalid(stage, "x", "y", "g") == (
        'the parents of CompositePodGroup "x" form a cycle: x -> y -> x'
    )
    stage.remove("y")
    stage.add(composite("y", 1))
    stage.play(3)
    assert stage.bound() == 1


def test_more_than_four_levels(stage):
    """90."""
    stage.add(node("n0"), composite("l1", 1))
    stage.add(*(composite(f"l{i}", 1, parent=f"l{i - 1}") for i in (2, 3, 4)))
    stage.add(gang("g", 1, parent="l4"), *members("g", 1))
    stage.play(5)
    assert invalid(stage, "l1", "l4", "g") == (
        'PodGroup "g" is 5 levels deep, at most 4 are allowed'
    )


def test_two_workloads_in_one_tree(stage):
    """90."""
    stage.add(node("n0"), composite("top", 1, template="t", workload="one"))
    stage.add(gang("g", 1, parent="top", template="u", workload="two"), *members("g", 1))
    stage.play(5)
    assert invalid(stage, "top", "g") == (
        'PodGroup "g" belongs to Workload "two", CompositePodGroup "top" to Workload "one"'
    )


def test_mixed_priorities_of_groups(stage):
    stage.add(node("n0"), composite("top", 1, priority=7), gang("g", 1, parent="top", priority=5))
    stage.add(*members("g", 1, priority=5))
    stage.play(5)
    assert invalid(stage, "top", "g").startswith(
        'all groups of a tree must have the same priority and priorityClassName: PodGroup "g" has 5'
    )


def test_members_of_another_priority_than_the_root(stage):
    """52."""
    stage.add(
        node("n0"), composite("top", 1, priority=100), gang("g", 1, parent="top", priority=100)
    )
    stage.add(*members("g", 1, priority=10))
    stage.play(5)
    assert "got 10 and 100" in invalid(stage, "top", "g")
    assert stage.said("g-0").startswith("SchedulerError: ")


def test_a_child_that_cannot_be_scheduled_at_all_holds_its_whole_tree(stage):
    """89."""
    stage.add(node("n0", "20"), composite("top", 1))
    stage.add(gang("a", 2, parent="top"), gang("b", 2, parent="top"), *members("a", 2))
    stage.add(*members("b", 2), pod("odd", "b", scheduler="other"))
    stage.play(3)
    assert invalid(stage, "top", "a", "b") == (
        'PodGroup "b": all pods in a single pod group should have the same .spec.schedulerName '
        'set, got: "other" and "tutti"'
    )
    assert stage.said("a-0").startswith('SchedulerError: PodGroup "b": ')
    stage.remove("odd")
    stage.play(1)
    assert stage.bound() == 4


def a_workload(*, gangs: bool = True) -> Workload:
    policy = SchedulingPolicy(gang=Gang(min_count=1)) if gangs else SchedulingPolicy(basic=Basic())
    leaf = PodGroupTemplate(name="leaf", scheduling_policy=policy)
    other = PodGroupTemplate(name="other", scheduling_policy=policy)
    top = CompositePodGroupTemplate(
        name="top",
        scheduling_policy=CompositeSchedulingPolicy(gang=CompositeGang(min_group_count=1)),
        pod_group_templates=(leaf, other),
    )
    return Workload(
        metadata=ObjectMeta(name="w", namespace="default", uid="w"),
        spec=WorkloadSpec(composite_pod_group_templates=(top,)),
    )


@pytest.mark.parametrize(
    ("top", "leaf", "parent", "gangs", "says"),
    [
        ("top", "gone", "top", True, 'has no template "gone"'),
        ("leaf", "leaf", "top", True, "is for a PodGroup"),
        ("top", "leaf", None, True, 'is under template "top"'),
        ("top", "leaf", "top", False, "has policy basic"),
    ],
    ids=["missing", "of the other kind", "under another parent", "of the other policy"],
)
def test_a_group_unlike_its_template(stage, top, leaf, parent, gangs, says):
    stage.tell(WorkloadSeen(a_workload(gangs=gangs)))
    stage.add(node("n0"), composite("top", 1, template=top))
    stage.add(gang("g", 1, parent=parent, template=leaf), *members("g", 1))
    stage.play(5)
    assert says in invalid(stage, "g")
    stage.tell(WorkloadGone("default", "w"))
    stage.play(3)
    assert stage.bound() == 1


def test_a_workload_made_anew_does_not_touch_what_runs(stage):
    stage.tell(WorkloadSeen(a_workload()))
    stage.add(node("n0"), composite("top", 1, template="top"))
    stage.add(gang("g", 1, parent="top", template="leaf"), *members("g", 2))
    stage.play(3)
    stage.tell(WorkloadSeen(a_workload(gangs=False)))
    stage.add(pod("late", "g"))
    stage.play(3)
    assert stage.bound() == 3
    stage.remove("g-0", "g-1", "late")
    stage.add(pod("again", "g"))
    stage.play(3)
    assert stage.satisfied("g") == "Invalid"


def test_a_tree_says_which_template_has_no_group_yet(stage):
    stage.tell(WorkloadSeen(a_workload()))
    stage.add(node("n0"), composite("top", 2, template="top"))
    stage.add(gang("g", 1, parent="top", template="leaf"), *members("g", 1))
    stage.play(3)
    assert stage.condition("top", "tutti.dev/Satisfied").message == (
        'needs 2 groups, 1 is complete; there is no group of template "other" yet'
    )


def test_a_group_that_asks_for_topology_waits_and_says_so(stage):
    """Until it is supported."""
    made = gang("g", 1)
    constraints = SchedulingConstraints(topology=(TopologyConstraint(key="rack"),))
    spec = msgspec.structs.replace(made.spec, scheduling_constraints=constraints)
    stage.add(node("n0"), msgspec.structs.replace(made, spec=spec), *members("g", 1))
    stage.play(3)
    assert stage.bound() == 0
    assert "doesn't support yet" in stage.said("g-0")


def test_where_composites_are_not_served_a_parent_means_nothing(stage):
    stage.tell(Edition(composites=False, group_status=True))
    stage.add(node("n0"), gang("g", 1, parent="left-over"), *members("g", 1))
    stage.play(60)
    assert stage.bound() == 1
    [warning] = [note for note in stage.logged(Note) if note.type == "Warning"]
    assert warning.message == (
        'parent "left-over" is ignored: this API server serves no CompositePodGroups'
    )


def test_a_composite_that_goes_leaves_its_children_waiting(stage):
    stage.add(node("n0", "1"))
    two_children(stage)
    stage.play(3)
    stage.remove("top")
    stage.play(12)
    assert stage.said("a-0") == (
        'NotReadyForScheduling: waiting for CompositePodGroup "top" to be created'
    )
