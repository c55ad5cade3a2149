"""Bindings that fail, answers that never come, restarts in the middle: whole, or not at all (P1)."""

from __future__ import annotations

import pytest

from tests.engine.stage import Stage, gang, node, pod
from tutti.engine.messages import (
    Bind,
    IntentRefused,
    LeaseHeld,
    LeaseLost,
    Note,
    PodSeen,
    UndoBind,
    WriteIntent,
)
from tutti.engine.settings import Settings


def members(group: str, count: int, **more: object):
    return [pod(f"{group}-{i}", group, **more) for i in range(count)]  # type: ignore[arg-type]


def refuse(*names: str, times: int = 1):
    """Bindings of these pods are refused this often, then taken."""
    left = dict.fromkeys(names, times)

    def answer(bind: Bind) -> str:
        if left.get(bind.pod.name, 0):
            left[bind.pod.name] -= 1
            return "refused"
        return "yes"

    return answer


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_a_member_whose_binding_fails_is_planned_again_around_those_that_hold(stage):
    stage.answer = refuse("g-1")
    stage.add(node("n0"), gang("g", 3), *members("g", 3))
    stage.play(2)
    assert stage.bound() == 3
    assert stage.initially("g") == "True/Scheduled"
    assert stage.logged(UndoBind) == []
    marks = {known.metadata.annotations["tutti.dev/commit"] for known in stage.pods.values()}
    assert len(marks) == 1


def test_the_condition_turns_true_only_when_the_quorum_is_bound(stage):
    stage.answer = refuse("g-1", times=3)
    stage.add(node("n0"), gang("g", 3), *members("g", 3))
    stage.play(0.9)
    assert stage.bound() == 2
    assert stage.initially("g") == ""
    stage.play(2)
    assert stage.initially("g") == "True/Scheduled"


def test_a_gang_that_cannot_be_completed_is_undone_and_nothing_else_is(stage):
    """9.13."""
    stage.answer = refuse("g-1", times=999)
    stage.add(node("n0", "8"), gang("g", 4), *members("g", 3), pod("foreign", "g", on="n0"))
    stage.play(12)
    assert sorted(stage.places()) == ["foreign"]
    undone = sorted(action.pod.name for action in stage.logged(UndoBind))
    assert undone == ["g-0", "g-2"]
    assert stage.units == ()
    assert stage.initially("g") == ""
    assert [note for note in stage.logged(Note) if note.reason == "GangUndone"]


def test_an_undo_that_fails_is_tried_until_it_is_done(stage):
    stage.answer = refuse("g-1", times=999)
    stage.deleting = False
    stage.add(node("n0"), gang("g", 3), *members("g", 3))
    stage.play(12)
    assert stage.bound() == 2
    assert [unit.name for unit in stage.units] == ["g"]
    stage.deleting = True
    stage.play(3)
    assert stage.bound() == 0
    assert stage.units == ()


def test_failed_bindings_are_said(stage):
    """Which member, which node, what answer."""
    stage.answer = refuse("g-1")
    stage.add(node("n0"), gang("g", 2), *members("g", 2))
    stage.play(2)
    [note] = [note for note in stage.logged(Note) if note.type == "Warning"]
    assert note.about.name == "g-1"
    assert note.message == "binding to node n0 failed: Forbidden: a webhook says no"


def test_an_extra_whose_binding_fails_backs_off_and_the_gang_stays(stage):
    """69, 9.12: the counters survive, there is no hot loop."""
    stage.answer = refuse("g-2", times=999)
    stage.add(node("n0"), gang("g", 2), *members("g", 3))
    stage.play(60)
    assert sorted(stage.places()) == ["g-0", "g-1"]
    assert stage.logged(UndoBind) == []
    tries = [bind for bind in stage.logged(Bind) if bind.pod.name == "g-2"]
    assert 5 <= len(tries) <= 12


def test_a_lone_pod_whose_binding_fails_backs_off(stage):
    """22, 9.12."""
    stage.answer = refuse("p", times=999)
    stage.add(node("n0"), pod("p"))
    stage.play(60)
    assert 5 <= len(stage.logged(Bind)) <= 10


@pytest.mark.parametrize("fate", ["lost", "late"])
def test_a_binding_without_an_answer_is_looked_at(stage, fate):
    fates = {"g-1": fate}
    stage.answer = lambda bind: fates.pop(bind.pod.name, "yes")
    stage.add(node("n0"), gang("g", 2), *members("g", 2))
    stage.play(2)
    assert stage.bound() == 2
    assert stage.initially("g") == "True/Scheduled"
    assert stage.units != () or stage.engine.flights.units() == ()


def test_a_binding_that_never_gets_an_answer_is_given_up(stage):
    stage.answer = lambda bind: "lost" if bind.pod.name == "g-1" else "yes"
    stage.add(node("n0"), gang("g", 2), *members("g", 2))
    stage.play(12)
    assert stage.bound() == 0
    assert stage.units == ()


def test_a_pod_that_somebody_else_binds_meanwhile_is_theirs(stage):
    def answer(bind: Bind) -> str:
        if bind.pod.name == "g-1":
            stage.change("g-1", node_name="n1")
        return "yes"

    stage.answer = answer
    stage.add(node("n0", "2"), node("n1", "2"), gang("g", 3), *members("g", 3))
    stage.play(12)
    assert stage.bound() == 3
    assert "tutti.dev/commit" not in stage.pod("g-1").metadata.annotations
    assert stage.logged(UndoBind) == []


def test_a_node_that_is_lost_between_plan_and_binding_gets_nothing(stage):
    stage.writes_intents = False
    stage.add(node("n0", "2"), gang("g", 2), *members("g", 2))
    [intent] = stage.turn()
    stage.remove("n0")
    stage.add(node("n1", "2"))
    stage.writes_intents = True
    stage._carry_out(intent)
    stage.play(3)
    assert stage.places() == {"g-0": "n1", "g-1": "n1"}
    assert {bind.node for bind in stage.logged(Bind)} == {"n1"}


def test_a_member_that_is_deleted_before_its_binding_keeps_all_from_being_bound(stage):
    stage.writes_intents = False
    stage.add(node("n0"), gang("g", 2), *members("g", 2))
    [intent] = stage.turn()
    stage.remove("g-1")
    stage._carry_out(intent)
    stage.writes_intents = True
    stage._carry_out(intent)
    stage.play(3)
    assert stage.logged(Bind) == []
    assert stage.satisfied("g") == "WaitingForMembers"


def test_a_refused_intent_binds_nothing_and_is_tried_again(stage):
    stage.writes_intents = False
    stage.add(node("n0"), gang("g", 2), *members("g", 2))
    [intent] = stage.turn()
    stage.tell(IntentRefused(intent.number, "conflict"))
    stage.writes_intents = True
    stage.play(3)
    assert stage.bound() == 2
    assert len(stage.logged(WriteIntent)) >= 2


def half_bound(stage: Stage, *, bound: int, of: int, **more: object) -> None:
    """The scheduler dies when so many bindings of a gang are done; the others never began."""
    left = [bound]

    def answer(bind: Bind) -> str:
        if left[0]:
            left[0] -= 1
            return "yes"
        return "never"

    stage.answer = answer
    stage.add(gang("g", of), *members("g", of, **more))
    stage.play(0.1)
    assert stage.bound("g") == bound
    stage.answer = lambda bind: "yes"


def test_a_gang_that_a_dead_scheduler_left_half_is_completed(stage):
    stage.add(node("n0", "8"), node("n1", "8"))
    half_bound(stage, bound=2, of=5)
    stage.restart()
    stage.play(5)
    assert stage.bound() == 5
    assert stage.units == ()
    assert stage.logged(UndoBind) == []


def test_a_gang_that_cannot_be_completed_after_a_restart_is_undone(stage):
    stage.add(node("n0", "3"), node("n1", "3"), pod("foreign", "g", on="n1", cpu="0"))
    half_bound(stage, bound=2, of=6)
    assert stage.bound("foreign") == 1
    lost = "n1" if "n0" in stage.places("g").values() else "n0"
    del stage.nodes[lost]
    stage.restart()
    stage.play(20)
    assert stage.places() == {"foreign": "n1"}
    assert stage.units == ()


def test_a_second_run_of_a_group_that_was_true_once_is_no_exception(stage):
    stage.add(node("n0", "8"))
    stage.add(gang("g", 3), *members("g", 3))
    stage.play(2)
    stage.remove("g-0", "g-1", "g-2")
    left = [1]

    def answer(bind: Bind) -> str:
        left[0] -= 1
        return "yes" if left[0] >= 0 else "never"

    stage.answer = answer
    stage.add(*[pod(f"again-{i}", "g") for i in range(3)])
    stage.play(0.1)
    assert stage.bound("again") == 1
    stage.answer = lambda bind: "yes"
    stage.nodes["n0"] = node("n0", "2")
    stage.restart()
    stage.play(20)
    assert stage.bound("again") == 0
    assert stage.initially("g") == "True/Scheduled"


def test_a_group_that_is_not_on_the_lease_is_never_undone(stage):
    stage.add(node("n0", "2"), gang("g", 3), pod("a", "g", on="n0"), *members("g", 2))
    stage.play(30)
    assert stage.logged(UndoBind) == []
    assert stage.places() == {"a": "n0"}
    stage.restart()
    stage.play(30)
    assert stage.places() == {"a": "n0"}


def test_what_lands_after_the_restart_belongs_to_its_commit(stage):
    stage.add(node("n0", "8"))
    half_bound(stage, bound=1, of=3)
    [bound] = stage.places("g")
    late = next(name for name in ("g-0", "g-1", "g-2") if name != bound)
    stage.restart()
    mark = stage.pod(bound).metadata.annotations
    stage.change(late, node_name="n0", annotations=mark)
    stage.play(5)
    assert stage.bound() == 3
    assert stage.units == ()


def test_what_lands_while_its_commit_is_being_undone_is_undone_too(stage):
    stage.add(node("n0", "8"))
    half_bound(stage, bound=1, of=3)
    [bound] = stage.places("g")
    late = next(name for name in ("g-0", "g-1", "g-2") if name != bound)
    mark = stage.pod(bound).metadata.annotations
    stage.nodes["n0"] = node("n0", "1")
    stage.deleting = False
    stage.restart()
    stage.play(10)
    stage.change(late, node_name="n0", annotations=mark)
    stage.deleting = True
    stage.play(10)
    assert stage.bound() == 0
    assert stage.units == ()


def test_who_has_lost_the_lease_binds_nothing(stage):
    stage.writes_intents = False
    stage.add(node("n0"), gang("g", 2), *members("g", 2), pod("p"))
    stage.answer = lambda bind: "never"
    actions = stage.turn()
    assert [type(action).__name__ for action in actions] == ["Bind", "WriteIntent"]
    stage.tell(LeaseLost())
    stage.add(pod("q"))
    stage.play(20)
    assert [bind.pod.name for bind in stage.logged(Bind)] == ["p"]
    stage.answer = lambda bind: "yes"
    stage.writes_intents = True
    stage.tell(PodSeen(stage.pod("p")))
    stage.tell(LeaseHeld(()))
    stage.play(20)
    assert stage.bound("g") == 2
    assert stage.bound("q") == 1


def test_many_gangs_share_one_intent(stage):
    stage.add(node("n0", "64"))
    for i in range(10):
        stage.add(gang(f"g{i}", 2), *members(f"g{i}", 2))
    stage.play()
    assert len(stage.logged(WriteIntent)) == 1
    assert stage.bound() == 20


def test_what_does_not_fit_on_the_lease_waits_for_what_does():
    stage = Stage(settings=Settings(intent_bytes=1000))
    stage.add(node("n0", "64"))
    for i in range(20):
        stage.add(gang(f"g{i:02}", 2), *members(f"g{i:02}", 2))
    stage.add(pod("lone"))
    stage.play(1)
    assert stage.bound() == 41
    assert max(len(intent.units) for intent in stage.logged(WriteIntent)) < 10
