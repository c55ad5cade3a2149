"""Flat groups from events to bindings: whole, or not at all. Numbers are of the checklist of
behaviours in Kubernetes' own scheduler that Tutti keeps (or, where it says so, does better)."""

from __future__ import annotations

import msgspec
import pytest

from tests.engine.stage import Stage, basic, gang, node, pod
from tutti.api.core_v1 import ContainerPort, PodResourceClaim
from tutti.engine.messages import (
    Bind,
    JobSeen,
    Note,
    SetGroupCondition,
    SetPodCondition,
    WriteIntent,
)
from tutti.engine.words import _cut


def members(group: str, count: int, **more: object):
    return [pod(f"{group}-{i}", group, **more) for i in range(count)]  # type: ignore[arg-type]


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_a_gang_that_fits_is_bound_whole_and_says_so(stage):
    """40."""
    stage.add(node("n0"), gang("g", 3), *members("g", 3))
    stage.play()
    assert stage.places() == {"g-0": "n0", "g-1": "n0", "g-2": "n0"}
    assert stage.initially("g") == "True/Scheduled"
    assert stage.satisfied("g") == "Bound"


def test_no_binding_goes_out_before_its_unit_stands_on_the_lease(stage):
    stage.writes_intents = False
    stage.add(node("n0"), gang("g", 2), *members("g", 2))
    [intent] = stage.turn()
    assert isinstance(intent, WriteIntent)
    assert [unit.name for unit in intent.units] == ["g"]
    stage.play(30)
    assert stage.logged(Bind) == []


def test_a_unit_leaves_the_lease_when_its_quorum_is_bound(stage):
    stage.add(node("n0"), gang("g", 2), *members("g", 2))
    stage.play(5)
    assert stage.units == ()


def test_a_gang_that_lacks_one_place_gets_none(stage):
    """41, 42, 43."""
    stage.add(node("n0", "2"), gang("g", 3), *members("g", 3))
    stage.play(5)
    assert stage.bound() == 0
    assert stage.initially("g") == "False/Unschedulable"
    condition = stage.condition("g", "PodGroupInitiallyScheduled")
    assert condition.message == "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining"
    assert stage.satisfied("g") == "ProvedImpossible"
    assert stage.said("g-0") == (
        "Unschedulable: pod group is unschedulable, "
        "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining"
    )
    assert stage.said("g-2") == "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu."


def test_in_a_mixed_gang_the_member_without_a_place_is_named(stage):
    """42: the others speak of their group."""
    stage.add(node("n0"), gang("g", 3), *members("g", 2), pod("big", "g", cpu="9"))
    stage.play(3)
    assert stage.said("big") == "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu."
    assert stage.said("g-0").startswith("Unschedulable: pod group is unschedulable, minCount (3)")


def test_members_beyond_the_quorum_are_bound_where_they_fit(stage):
    """44, 11.2: four members of which three fit."""
    stage.add(node("n0", "3"), gang("g", 2), *members("g", 4))
    stage.play(5)
    assert stage.bound() == 3
    assert stage.initially("g") == "True/Scheduled"
    assert stage.said("g-3").startswith("Unschedulable: 0/1 nodes")
    assert "1 more waits" in stage.condition("g", "tutti.dev/Satisfied").message


def test_a_gang_waits_for_its_quorum_and_says_so(stage):
    """7, 8; silent waiting (9.26) is not kept."""
    stage.add(node("n0"), gang("g", 3), *members("g", 2))
    stage.play(3)
    assert stage.bound() == 0
    assert stage.satisfied("g") == "WaitingForMembers"
    assert stage.said("g-0") == "NotReadyForScheduling: needs 3 members, 2 are here"
    stage.add(pod("g-2", "g"))
    stage.play()
    assert stage.bound() == 3


def test_pods_wait_for_their_group_and_say_so(stage):
    """3, 4, 11.5."""
    stage.add(node("n0"), *members("g", 2))
    stage.play(3)
    assert stage.said("g-0") == ('NotReadyForScheduling: waiting for PodGroup "g" to be created')
    stage.add(gang("g", 2))
    stage.play()
    assert stage.bound() == 2


def test_waiting_that_passes_in_a_moment_is_not_said(stage):
    stage.add(node("n0"), *members("g", 2))
    stage.play(0.5)
    stage.add(gang("g", 2))
    stage.play(5)
    assert not [note for note in stage.logged(Note) if note.type == "Warning"]


def test_a_member_that_somebody_else_bound_counts(stage):
    """9."""
    stage.add(node("n0"), gang("g", 3), *members("g", 2), pod("other", "g", on="n0"))
    stage.play()
    assert stage.bound("g-") == 2


@pytest.mark.parametrize(("count", "bound"), [(4, 4), (6, 0)], ids=["lowered", "raised"])
def test_a_new_min_count_holds_at_once(stage, count, bound):
    """10."""
    stage.add(node("n0", "8"), gang("g", 5), *members("g", 4))
    stage.play(3)
    stage.add(gang("g", count))
    stage.play(3)
    assert stage.bound() == bound


def test_a_gang_goes_without_its_gated_member(stage):
    """11, but for a gang with enough others (9.9)."""
    stage.add(node("n0"), gang("g", 2), *members("g", 2), pod("late", "g", gates=["hold"]))
    stage.play(3)
    assert sorted(stage.places()) == ["g-0", "g-1"]
    assert stage.said("late").startswith("SchedulingGated: ")
    stage.change("late", scheduling_gates=())
    stage.play()
    assert stage.bound() == 3


def test_a_gate_holds_a_gang_that_needs_the_member(stage):
    """11, 12, 13, 9.10: deleting the gated member and making another lets it go at once."""
    stage.add(node("n0"), gang("g", 2), pod("g-0", "g"), pod("g-1", "g", gates=["hold"]))
    stage.play(3)
    assert stage.bound() == 0
    assert stage.satisfied("g") == "Gated"
    stage.remove("g-1")
    stage.add(pod("g-2", "g"))
    stage.play()
    assert sorted(stage.places()) == ["g-0", "g-2"]


def test_a_gated_member_holds_a_basic_group_back(stage):
    """11."""
    stage.add(node("n0"), basic("b"), pod("b-0", "b"), pod("b-1", "b", gates=["hold"]))
    stage.play(3)
    assert stage.bound() == 0
    assert stage.satisfied("b") == "Gated"
    stage.change("b-1", scheduling_gates=())
    stage.play()
    assert stage.bound() == 2


def test_groups_of_other_schedulers_are_left_alone(stage):
    stage.add(node("n0"), gang("empty", 2), gang("theirs", 2), basic("running"))
    stage.add(
        *members("theirs", 1, scheduler="other"), pod("r", "running", scheduler="other", on="n0")
    )
    stage.play(60)
    assert stage.log == []


def test_a_group_that_was_ours_is_still_spoken_of_when_its_members_are_gone(stage):
    stage.add(node("n0"), gang("g", 1), *members("g", 1))
    stage.play(3)
    stage.remove("g-0")
    stage.play(3)
    assert stage.satisfied("g") == "WaitingForMembers"


def test_losing_a_member_makes_the_gang_wait_again(stage):
    """14, 15."""
    stage.add(node("n0", "1"), gang("g", 2), *members("g", 2))
    stage.play(3)
    assert stage.satisfied("g") == "ProvedImpossible"
    stage.remove("g-0")
    stage.play(3)
    assert stage.satisfied("g") == "WaitingForMembers"
    stage.remove("g-1")
    stage.play(3)
    assert stage.condition("g", "tutti.dev/Satisfied").message == "needs 2 members, 0 are here"


def test_a_group_that_is_deleted_leaves_its_members_waiting(stage):
    """16."""
    stage.add(node("n0", "1"), gang("g", 2), *members("g", 2))
    stage.play(3)
    stage.remove("g")
    stage.play(12)
    assert stage.said("g-1") == ('NotReadyForScheduling: waiting for PodGroup "g" to be created')


def test_a_group_made_anew_goes_by_its_new_policy(stage):
    stage.add(node("n0", "2"), gang("g", 4), *members("g", 4))
    stage.play(3)
    stage.remove("g")
    stage.add(basic("g", uid="other"))
    stage.play(3)
    assert stage.bound() == 2


def test_a_member_that_comes_while_the_gang_is_in_flight_joins_after_it(stage):
    """17, 18, 75."""
    stage.writes_intents = False
    stage.add(node("n0"), gang("g", 2), *members("g", 2))
    [intent] = stage.turn()
    stage.add(pod("late", "g"))
    assert stage.turn() == []
    stage.writes_intents = True
    stage._carry_out(intent)
    stage.play()
    assert stage.bound() == 3
    assert stage.engine.queue.entries == {}


def test_the_condition_never_goes_back(stage):
    """49, P7: a gang that was bound once, and lost everything, is a fresh gang again."""
    stage.add(node("n0"), gang("g", 3), *members("g", 3))
    stage.play(3)
    stage.remove("g-0", "g-1", "g-2", "n0")
    stage.add(*[pod(f"g-{i}", "g", uid=f"again-{i}") for i in range(3)])
    stage.play(3)
    assert stage.initially("g") == "True/Scheduled"
    assert stage.satisfied("g") == "ProvedImpossible"
    stage.add(node("n1", "2"))
    stage.play(3)
    assert stage.bound() == 0


def test_a_replacement_waits_when_the_gang_is_below_its_quorum(stage):
    """76."""
    stage.add(node("n0"), gang("g", 3), *members("g", 3))
    stage.play(3)
    stage.remove("g-0", "g-1")
    stage.add(pod("r1", "g"))
    stage.play(3)
    assert stage.bound("r") == 0
    assert stage.satisfied("g") == "BelowQuorum"
    stage.add(pod("r2", "g"))
    stage.play()
    assert stage.bound() == 3
    assert stage.satisfied("g") == "Bound"


def test_terminating_members_do_not_count(stage):
    """9.14: one slot, one member on its way out; its replacement doesn't run alone."""
    stage.add(node("n0", "2"), gang("g", 2), *members("g", 2))
    stage.play()
    stage.terminate("g-0")
    stage.remove("g-1")
    stage.add(pod("new", "g"))
    stage.play(3)
    assert stage.bound("new") == 0


def test_finished_members_count_where_they_will_not_run_again(stage):
    """9.15."""
    stage.add(node("n0"), gang("g", 4), *members("g", 4, restart="Never"))
    stage.play()
    stage.finish("g-0", "g-1", "g-2")
    stage.finish("g-3", phase="Failed")
    stage.add(pod("retry", "g", restart="Never"))
    stage.play()
    assert stage.places("retry") == {"retry": "n0"}


def test_the_last_pods_of_a_job_need_no_more_than_the_job_wants(stage):
    """9.15, for Jobs: only pods that live count, and the quorum shrinks with what is left to do."""
    stage.tell(JobSeen("j", 4))
    stage.add(node("n0"), gang("g", 4), *members("g", 4, restart="Never", job="j"))
    stage.play()
    assert stage.bound() == 4
    stage.finish("g-0", "g-1", "g-2")
    stage.finish("g-3", phase="Failed")
    stage.tell(JobSeen("j", 1))
    stage.add(pod("retry", "g", restart="Never", job="j"))
    stage.play(2)
    assert stage.places("retry") == {"retry": "n0"}
    assert stage.condition("g", "tutti.dev/Satisfied").message == "needs 1, 1 bound"
    stage.finish("retry")
    stage.tell(JobSeen("j", 0))
    stage.play(2)
    assert stage.satisfied("g") == "Bound"


def test_every_wave_of_a_job_is_a_gang_again(stage):
    """A Job with more completions than parallelism."""
    stage.add(node("n0"), gang("g", 4), *members("g", 4, restart="Never", job="j"))
    stage.play()
    stage.finish("g-0", "g-1", "g-2", "g-3")
    stage.tell(JobSeen("j", 4))
    stage.add(*(pod(f"next-{i}", "g", restart="Never", job="j") for i in range(3)))
    stage.play(2)
    assert stage.bound("next") == 0
    stage.add(pod("next-3", "g", restart="Never", job="j"))
    stage.play(2)
    assert stage.bound("next") == 4


def test_the_room_of_finished_pods_is_free_again(stage):
    stage.add(node("n0", "2"), pod("done-0", restart="Never"), pod("done-1", restart="Never"))
    stage.play()
    stage.add(gang("g", 2), *members("g", 2))
    stage.play(3)
    assert stage.bound("g") == 0
    stage.finish("done-0", "done-1")
    stage.play(3)
    assert stage.bound("g") == 2


def test_a_basic_group_takes_what_fits(stage):
    """66."""
    stage.add(node("n0", "2"), basic("b"), *members("b", 3))
    stage.play(3)
    assert stage.bound() == 2
    assert stage.initially("b") == "True/Scheduled"
    assert stage.said("b-2").startswith("Unschedulable: 0/1 nodes")


def test_a_basic_group_without_a_place_says_so(stage):
    """66."""
    stage.add(node("n0", "1"), basic("b"), *members("b", 2, cpu="2"))
    stage.play(3)
    assert stage.bound() == 0
    assert stage.initially("b") == "False/Unschedulable"


def test_mixed_scheduler_names_are_refused_once_and_looked_at_again_on_a_change(stage):
    """51; not retried by timer (9.27)."""
    stage.add(node("n0"), gang("g", 2), *members("g", 2), pod("odd", "g", scheduler="other"))
    stage.play(3)
    assert stage.bound() == 0
    assert stage.initially("g") == "False/SchedulerError"
    assert stage.said("g-0") == (
        "SchedulerError: all pods in a single pod group should have the same "
        '.spec.schedulerName set, got: "other" and "tutti"'
    )
    assert stage.engine.next_wake() is None
    stage.remove("odd")
    stage.play()
    assert stage.bound() == 2


def test_a_refusal_of_another_kind_changes_the_words_and_not_the_status(stage):
    """50: `lastTransitionTime` moves only with the status, see tests/controllers/test_conditions."""
    stage.add(node("n0", "1"), gang("g", 2), *members("g", 2))
    stage.play(3)
    stage.add(pod("odd", "g", scheduler="other"))
    stage.play(3)
    stage.remove("odd")
    stage.play(3)
    said = [
        (action.condition.status, action.condition.reason)
        for action in stage.logged(SetGroupCondition)
        if action.condition.type == "PodGroupInitiallyScheduled"
    ]
    assert said == [
        ("False", "Unschedulable"),
        ("False", "SchedulerError"),
        ("False", "Unschedulable"),
    ]


def test_members_of_another_priority_are_refused(stage):
    """52."""
    stage.add(node("n0"), gang("g", 2, priority=2), *members("g", 2, priority=1))
    stage.play(3)
    assert stage.bound() == 0
    assert stage.said("g-1") == (
        "SchedulerError: all pods in a single pod group should have the same priority as the "
        "pod group's priority, got 1 and 2"
    )


@pytest.mark.parametrize(
    ("own", "policies", "says"),
    [
        (
            "Never",
            (None, None),
            "as the pod group's preemption policy, got PreemptLowerPriority and Never",
        ),
        (None, ("Never", None), "the same preemption policy, got Never and PreemptLowerPriority"),
    ],
    ids=["unlike the group's", "unlike each other's"],
)
def test_members_of_other_preemption_policies_are_refused(stage, own, policies, says):
    """53."""
    made = gang("g", 2)
    spec = msgspec.structs.replace(made.spec, preemption_policy=own)
    stage.add(node("n0"), msgspec.structs.replace(made, spec=spec))
    for member, policy in zip(members("g", 2), policies, strict=True):
        its = msgspec.structs.replace(member.spec, preemption_policy=policy)
        stage.add(msgspec.structs.replace(member, spec=its))
    stage.play(3)
    assert stage.bound() == 0
    assert says in stage.said("g-0")


def test_members_see_what_is_placed_before_them(stage):
    """47, 48: two that want the same port of the host don't share a node."""
    stage.add(node("n0"), gang("g", 2))
    for member in members("g", 2):
        port = ContainerPort(container_port=80, host_port=80)
        containers = tuple(
            msgspec.structs.replace(container, ports=(port,))
            for container in member.spec.containers
        )
        spec = msgspec.structs.replace(member.spec, containers=containers)
        stage.add(msgspec.structs.replace(member, spec=spec))
    stage.play(3)
    assert stage.bound() == 0
    stage.add(node("n1"))
    stage.play(1)
    assert sorted(stage.places().values()) == ["n0", "n1"]


def test_a_refusal_clears_old_nominations(stage):
    """61, 9.29: of all members."""
    stage.add(node("n0", "1"), gang("g", 2))
    for member in members("g", 2):
        status = msgspec.structs.replace(member.status, nominated_node_name="n0")
        stage.add(msgspec.structs.replace(member, status=status))
    stage.play(3)
    written = stage.logged(SetPodCondition)
    assert [action.nominated for action in written] == ["", ""]


def test_extras_that_have_no_place_are_refused_and_the_gang_stays_scheduled(stage):
    """65, 49."""
    stage.add(node("n0", "2"), gang("g", 2), *members("g", 2))
    stage.play(3)
    stage.add(pod("extra", "g"))
    stage.play(3)
    assert stage.said("extra").startswith("Unschedulable: 0/1 nodes")
    assert stage.initially("g") == "True/Scheduled"
    assert stage.satisfied("g") == "Bound"


def test_events_are_cut_to_what_the_api_takes(stage):
    """71."""
    sentence = "x" * 2000
    assert len(_cut(sentence)) == 1024
    assert _cut(sentence).endswith(" ...")


def test_a_namesake_made_during_a_commit_is_another_pod(stage):
    """74."""
    stage.writes_intents = False
    stage.add(node("n0"), gang("g", 2), *members("g", 2))
    [intent] = stage.turn()
    stage.remove("g-1")
    stage.add(pod("g-1", "g", uid="another"))
    stage.writes_intents = True
    stage._carry_out(intent)
    stage.play(3)
    assert {bind.pod.uid for bind in stage.logged(Bind)} == {"pod-g-0", "another"}
    assert stage.bound() == 2


def test_a_deleting_member_is_left_out(stage):
    """55."""
    stage.add(node("n0"), gang("g", 2), *members("g", 3))
    stage.terminate("g-1")
    stage.play(3)
    assert sorted(stage.places()) == ["g-0", "g-2"]


def test_two_gangs_of_which_one_fits_one_runs_whole(stage):
    stage.add(node("n0"), gang("a", 3), gang("b", 3), *members("b", 3), *members("a", 3))
    stage.play(5)
    assert stage.places() == {"a-0": "n0", "a-1": "n0", "a-2": "n0"}
    assert stage.satisfied("b") == "ProvedImpossible"


def test_priority_goes_before_age_and_age_before_name(stage):
    """1, 2."""
    stage.add(
        gang("a", 1, priority=0, age=2),
        gang("b", 1, priority=0, age=1),
        gang("c", 1, priority=9, age=3),
        pod("d", priority=5, age=9),
    )
    stage.add(*(pod(f"{g}-0", g, priority=9 if g == "c" else 0) for g in "abc"))
    stage.add(node("n0"))
    stage.turn()
    stage.play()
    bound = [note.about.name for note in stage.logged(Note) if note.reason == "Scheduled"]
    assert bound == ["c-0", "d", "b-0", "a-0"]


def test_a_pod_that_asks_for_what_is_not_supported_is_told_so_once(stage):
    claims = (PodResourceClaim(name="gpu"),)
    odd = pod("odd")
    odd = msgspec.structs.replace(
        odd, spec=msgspec.structs.replace(odd.spec, resource_claims=claims)
    )
    stage.add(node("n0"), odd)
    stage.play(30)
    assert stage.bound() == 0
    assert stage.said("odd").startswith("Unschedulable: ")
    assert "resourceClaims" in stage.said("odd")
    assert len(stage.logged(Note)) == 1


def test_a_member_that_cannot_be_tried_has_words_of_its_own_and_the_others_speak_of_the_group(
    stage,
):
    """57."""
    odd = pod("odd", "g")
    claims = (PodResourceClaim(name="gpu"),)
    odd = msgspec.structs.replace(
        odd, spec=msgspec.structs.replace(odd.spec, resource_claims=claims)
    )
    stage.add(node("n0"), gang("g", 3), *members("g", 2), odd)
    stage.play(3)
    assert stage.bound() == 0
    assert "resourceClaims" in stage.said("odd")
    assert stage.said("g-0") == (
        "NotReadyForScheduling: needs 3 members, 3 are here: 1 ask for what is not supported yet"
    )


def test_the_bindings_of_a_gang_go_out_together_and_wait_for_nobody(stage):
    """67: there is no waiting on the way to a node, the room is held from the plan on."""
    stage.writes_intents = False
    stage.add(node("n0", "3"), gang("g", 3), *members("g", 3))
    [intent] = stage.turn()
    stage.add(pod("eager", priority=9))
    stage.play(400)
    assert stage.logged(Bind) == []
    stage.writes_intents = True
    stage._carry_out(intent)
    sent = [action.pod.name for action in stage.turn() if isinstance(action, Bind)]
    assert sorted(sent) == ["g-0", "g-1", "g-2"]


def test_a_member_that_is_deleted_in_flight_leaves_its_room_to_others(stage):
    """68."""
    stage.writes_intents = False
    stage.add(node("n0", "2"), gang("g", 2), *members("g", 2))
    [intent] = stage.turn()
    stage.add(gang("next", 2), *members("next", 2))
    stage.play(3)
    stage.remove("g-1")
    stage.writes_intents = True
    stage._carry_out(intent)
    stage.play(3)
    assert (stage.bound("g"), stage.bound("next")) == (0, 2)


def test_nothing_is_decided_without_the_lease():
    stage = Stage(lease=False)
    stage.add(node("n0"), pod("p"))
    stage.play(5)
    assert stage.log == []
    stage.sync()
    stage.play()
    assert stage.bound() == 1
