"""Who is tried when, and which event wakes whom."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.engine.stage import Stage, basic, gang, node, pod
from tutti.api.core_v1 import Taint
from tutti.core.plan import Refusal
from tutti.core.reasons import Tally
from tutti.engine.messages import Bind, NodeSeen, SetPodCondition
from tutti.engine.queue import Entry, Phase, Queue
from tutti.engine.settings import Settings


def members(group: str, count: int, **more: object):
    return [pod(f"{group}-{i}", group, **more) for i in range(count)]  # type: ignore[arg-type]


def phase(stage: Stage, key: str) -> Phase:
    return stage.engine.queue.entries[key].phase


@pytest.fixture
def stage() -> Stage:
    return Stage()


def refusal(*, proved: bool) -> Refusal:
    return Refusal("Unschedulable", 0, 1, Tally(1, (), 0), proved, "no room")


@pytest.mark.parametrize(
    ("size", "pauses"),
    [
        (1, [1, 2, 4, 8, 10, 10]),
        (16, [1, 2, 4, 8, 16, 32, 40, 40]),
        (1000, [1, 2, 4, 8, 16, 32, 64, 128, 256, 316.227766]),
    ],
)
def test_back_off_doubles_up_to_a_bound_that_grows_with_the_group(size, pauses):
    """21, 22."""
    queue = Queue(Settings())
    entry = Entry("PodGroup/default/g", 0.0)
    queue.entries[entry.key] = entry
    seen = []
    for _ in pauses:
        queue.refuse(entry, refusal(proved=False), (True, 1, 0, frozenset()), size, 0.0)
        seen.append(entry.until)
    assert seen == pytest.approx(pauses)


def test_no_back_off_where_none_is_wanted():
    """24."""
    queue = Queue(Settings(max_backoff=0.0))
    entry = queue.enter("Pod/default/p", 5.0)
    queue.fail(entry, 1, 5.0)
    assert entry.until == 5.0


def test_what_is_proved_impossible_sleeps_until_something_can_help(stage):
    """21, 23: not by timer alone; 9.11, 9.27."""
    stage.add(node("n0", "2"), gang("g", 3), *members("g", 3))
    stage.play(3)
    assert phase(stage, "PodGroup/default/g") is Phase.UNSCHEDULABLE
    assert stage.engine.next_wake() is None
    stage.play(100)
    stage.add(node("n1", "1"))
    stage.play(0.0)
    assert stage.bound() == 3


def test_what_a_search_did_not_find_is_tried_again_by_time_with_a_wider_search():
    """9.30: no event is needed, and the same search isn't made again and again."""
    stage = Stage(settings=Settings(profile=replace(Settings().profile, search_steps=8)))
    stage.add(node("n0", "15"), node("n1", "10"), gang("g", 5))
    stage.add(*(pod(f"g-{i}", "g", cpu=str(cpu)) for i, cpu in enumerate((7, 2, 6, 5, 5))))
    stage.play(0.5)
    assert stage.satisfied("g") == "NotFound"
    assert phase(stage, "PodGroup/default/g") is Phase.BACKING_OFF
    stage.play(60)
    assert stage.bound() == 5


def test_a_large_gang_that_was_refused_is_bound_as_soon_as_it_fits(stage):
    """9.11."""
    stage.add(node("n0", "64"), gang("g", 100), *members("g", 100))
    for i in range(8):
        stage.play(1)
        stage.add(node(f"small-{i}", "2"))
    stage.play(1)
    stage.add(node("n1", "64"))
    stage.play(0.0)
    assert stage.bound() == 100


def test_what_was_waited_for_lets_a_gang_go_at_once_however_often_it_was_refused(stage):
    """30."""
    stage.add(node("n0", "1"), gang("g", 3), *members("g", 3, cpu="2"))
    for i in range(4):
        stage.play(3)
        stage.add(node(f"small-{i}", "3"))
        stage.remove(f"small-{i}")
    stage.remove("g-0")
    stage.play(1)
    assert stage.satisfied("g") == "WaitingForMembers"
    stage.add(node("n1", "6"))
    stage.play(1)
    stage.add(pod("late", "g", cpu="2"))
    stage.play(0.0)
    assert stage.bound() == 3


@pytest.mark.parametrize("priority", [0, 9], ids=["of equal priority", "of higher priority"])
def test_a_nomination_holds_no_room_so_its_end_wakes_nobody(stage, priority):
    """39, as long as nobody is evicted."""
    stage.add(node("n0", "2"), gang("g", 3), *members("g", 3))
    theirs = pod("theirs", scheduler="other", priority=priority)
    stage.add(theirs)
    stage.change("theirs", nominated_node_name="n0")
    stage.play(3)
    stage.change("theirs", nominated_node_name="")
    stage.play(3)
    stage.remove("theirs")
    stage.play(60)
    assert stage.engine.queue.entries["PodGroup/default/g"].refusals == 1


def test_a_node_that_can_take_no_member_wakes_nobody(stage):
    """29, 32."""
    stage.add(node("n0", "2"), gang("g", 3), *members("g", 3, cpu="2"))
    stage.play(3)
    tried = stage.engine.queue.entries["PodGroup/default/g"].refusals
    stage.add(node("n1", "1"), node("n2", "4", taints=[Taint(key="x", effect="NoSchedule")]))
    stage.play(60)
    assert stage.engine.queue.entries["PodGroup/default/g"].refusals == tried


def test_room_for_less_than_the_quorum_wakes_nobody(stage):
    stage.add(node("n0", "1"), gang("g", 3), *members("g", 3))
    stage.play(3)
    stage.add(node("n1", "1"))
    stage.play(60)
    assert stage.engine.queue.entries["PodGroup/default/g"].refusals == 1


def test_a_taint_that_goes_wakes_who_could_not_stand_it(stage):
    stage.add(
        node("n0", taints=[Taint(key="x", effect="NoSchedule")]), gang("g", 2), *members("g", 2)
    )
    stage.play(3)
    assert stage.bound() == 0
    stage.add(node("n0"))
    stage.play(0.0)
    assert stage.bound() == 2


def test_room_that_a_deleted_pod_leaves_wakes_a_gang(stage):
    stage.add(node("n0"), pod("blocker", cpu="2"))
    stage.play()
    stage.add(gang("g", 4), *members("g", 4))
    stage.play(3)
    assert stage.bound("g") == 0
    stage.remove("blocker")
    stage.play(0.0)
    assert stage.bound("g") == 4


def test_a_surplus_member_gets_the_room_that_comes(stage):
    """19."""
    stage.add(node("n0"), pod("blocker"))
    stage.play()
    stage.add(gang("g", 3), *members("g", 4))
    stage.play(3)
    assert stage.bound("g") == 3
    stage.remove("blocker")
    stage.play(1)
    assert stage.bound("g") == 4


def test_new_members_of_a_gang_that_runs_go_by_their_own_age(stage):
    """20: the older pod of equal priority goes first."""
    stage.add(node("n0", "3"), gang("g", 2, age=1), *members("g", 2, age=2))
    stage.play(3)
    stage.add(pod("late", "g", age=9), pod("older", age=5))
    stage.play(3)
    assert sorted(stage.places()) == ["g-0", "g-1", "older"]


def test_room_that_comes_while_a_gang_is_in_flight_is_not_missed(stage):
    """31."""
    stage.writes_intents = False
    stage.add(node("n0", "2"), gang("g", 2), *members("g", 3))
    [intent] = stage.turn()
    stage.add(node("n1", "1"))
    stage.turn()
    stage.writes_intents = True
    stage._carry_out(intent)
    stage.play(3)
    assert stage.bound() == 3


def test_a_refusal_leaves_no_trace(stage):
    """45, 56: what was only tried holds nothing, and what is assumed isn't tried again."""
    stage.add(node("n0"), gang("huge", 9, priority=9), *members("huge", 9, priority=9))
    stage.add(gang("g", 4), *members("g", 4))
    stage.play(3)
    assert stage.bound("g") == 4
    assert len(stage.logged(Bind)) == 4


def test_of_equal_sleepers_all_get_the_room_that_comes(stage):
    stage.add(node("n0", "1"))
    for name in ("a", "b", "c"):
        stage.add(gang(name, 2), *members(name, 2))
    stage.play(3)
    assert stage.bound() == 0
    stage.add(node("n1", "5"))
    stage.play(1)
    assert stage.bound() == 6


def test_the_first_of_equal_sleepers_is_tried_and_the_next_stands_in_for_it(stage):
    """A root that was woken for others and goes away doesn't take their chance with it."""
    stage.add(
        node("n0", "1"),
        gang("a", 2, age=1),
        gang("b", 2, age=2),
        *members("a", 2),
        *members("b", 2),
    )
    stage.play(3)
    stage.now = 1000.0
    stage.remove("a-0")
    stage.add(node("n1", "3"))
    stage.play(1)
    assert stage.bound("b") == 2


def test_room_that_comes_goes_to_the_gang_of_higher_priority(stage):
    """Also when the lower one may be tried again sooner."""
    stage.add(node("small", "1"), gang("low", 2, priority=10), *members("low", 2, priority=10))
    stage.play(0.01)
    stage.add(gang("high", 1, priority=1000), *members("high", 1, priority=1000, cpu="2"))
    stage.play(0.01)
    stage.add(node("large", "2"))
    stage.play(3)
    assert stage.places() == {"high-0": "large"}


def test_a_stuck_gang_does_not_hold_up_others(stage):
    stage.add(node("n0"), gang("huge", 10, priority=100), *members("huge", 10, priority=100))
    stage.add(*(pod(f"s-{i}", priority=10) for i in range(4)))
    stage.play(1)
    assert stage.bound("s-") == 4


def test_turns_are_bounded_by_work_and_go_on(stage):
    stage = Stage(settings=Settings(work_per_turn=50))
    stage.add(node("n0", "64"), *(pod(f"p-{i:02}", priority=i) for i in range(40)))
    first = [action.pod.name for action in stage.turn() if isinstance(action, Bind)]
    assert first == ["p-39", "p-38", "p-37", "p-36", "p-35"]
    assert stage.engine.next_wake() == stage.now
    stage.play()
    assert stage.bound() == 40


def test_a_widened_search_takes_more_of_a_turn():
    """9.18."""
    settings = Settings(profile=replace(Settings().profile, search_steps=1), work_per_turn=45)
    stage = Stage(settings=settings)
    stage.add(node("n0", "15"), node("n1", "10"))
    for name, cpus in (("a", (7, 2, 6, 5, 5)), ("b", (7, 2, 6, 5, 5, 30))):
        stage.add(gang(name, 5))
        stage.add(*(pod(f"{name}-{i}", name, cpu=str(cpu)) for i, cpu in enumerate(cpus)))
    entries = stage.engine.queue.entries
    stage.turn()
    assert [entry.refusals for entry in entries.values()] == [1, 1]
    stage.play(7.9)
    assert [entry.refusals for entry in entries.values()] == [4, 4]
    stage.now = 30.0
    stage.turn()
    assert [entry.refusals for entry in entries.values()] == [5, 4]


def test_seeing_the_same_again_changes_nothing(stage):
    """37, 38."""
    stage.add(node("n0", "2"), gang("g", 3), *members("g", 3))
    stage.play(3)
    before = len(stage.log)
    for known in list(stage.pods.values()):
        stage.add(known)
    stage.play(60)
    assert len(stage.log) == before


def test_a_condition_is_written_when_its_reason_changes_and_not_every_cycle(stage):
    """72."""
    stage.add(node("n0", "1"), basic("b"), *members("b", 3))
    stage.play(3)
    written = len(stage.logged(SetPodCondition))
    assert written == 2
    for i in range(5):
        stage.add(pod(f"blocker-{i}", on="n0", cpu="0"))
        stage.remove(f"blocker-{i}")
        stage.play(0.2)
    assert len(stage.logged(SetPodCondition)) == written


def test_the_order_of_arrival_and_hashes_changes_nothing():
    """P5."""

    def bindings(order: list[int]) -> dict[str, str]:
        stage = Stage()
        things = [
            *(node(f"n{i}", str(2 + i % 3)) for i in range(6)),
            *(gang(f"g{i}", 3) for i in range(3)),
            *(
                pod(f"g{i}-{j}", f"g{i}", cpu=str(1 + (i + j) % 2))
                for i in range(3)
                for j in range(4)
            ),
            *(pod(f"p{i}") for i in range(5)),
        ]
        stage.add(*(things[i] for i in order))
        stage.play(20)
        return stage.places()

    count = 6 + 3 + 12 + 5
    forward = list(range(count))
    shuffled = [(i * 7 + 3) % count for i in range(count)]
    assert sorted(shuffled) == forward
    assert bindings(forward) == bindings(list(reversed(forward))) == bindings(shuffled)


def test_a_restart_changes_nothing():
    """P5: who has just read the cluster decides as who has lived through it."""

    def bindings(*, restarts: bool) -> dict[str, str]:
        stage = Stage()
        stage.add(*(node(f"n{i}", "8") for i in range(6)))
        stage.add(gang("early", 4), *members("early", 4))
        stage.add(*(pod(f"p{i}", cpu=str(1 + i % 3)) for i in range(6)))
        stage.play(5)
        stage.remove("p1", "p4", "early-2", "n3")
        stage.add(node("n3", "8"), node("n9", "4"), pod("early-4", "early"))
        stage.play(5)
        if restarts:
            stage.restart()
        stage.add(gang("late", 5), *members("late", 7, cpu="2"), *(pod(f"q{i}") for i in range(4)))
        stage.play(20)
        return stage.places()

    assert bindings(restarts=True) == bindings(restarts=False)


def test_hopeless_roots_are_left_alone_while_nothing_changes(stage):
    stage.add(node("n0"))
    for i in range(300):
        stage.add(gang(f"g{i}", 2), *members(f"g{i}", 2, cpu="50"))
    stage.play(3)
    assert stage.engine.next_wake() is None
    stage.tell(NodeSeen(stage.nodes["n0"]))
    assert stage.turn() == []
    assert {entry.refusals for entry in stage.engine.queue.entries.values()} == {1}
