"""A group starts whole or waits."""

import pytest

from tests.core.support import basic, cluster, gang, node, sized, trial
from tutti.core.decide import plan
from tutti.core.plan import Placed, Refusal


@pytest.mark.parametrize(
    ("free", "members", "quorum", "started"),
    [
        pytest.param((4, 4), [(2, "4")], 2, 2, id="exact fit"),
        pytest.param((4, 3), [(2, "4")], 2, 0, id="one short, none starts"),
        pytest.param((4, 3), [(2, "4")], 1, 1, id="an elastic gang starts with one"),
        pytest.param((4, 4), [(2, "2"), (1, "4")], 3, 3, id="the large one goes first"),
        pytest.param((4,), [(1, "4"), (3, "1")], 3, 3, id="the three small ones make the quorum"),
        pytest.param((4, 1), [(1, "4"), (3, "1")], 2, 2, id="hardest first while both fit"),
    ],
)
def test_a_gang_starts_whole_or_waits(
    free: tuple[int, ...], members: list[tuple[int, str]], quorum: int, started: int
) -> None:
    here = cluster(*(node(f"n{i}", cpu=str(cpu), memory="64Gi") for i, cpu in enumerate(free)))
    root = gang(here, *((count, sized(cpu)) for count, cpu in members), quorum=quorum)

    decided = plan(trial(here), root)

    bound = len(decided.bindings) + len(decided.extras) if isinstance(decided, Placed) else 0
    assert bound == started


def test_a_refused_gang_leaves_nothing_behind() -> None:
    here = cluster(node("n0"), node("n1"))
    attempt = trial(here)

    assert isinstance(plan(attempt, gang(here, (9, sized("1")))), Refusal)

    assert (attempt.used == here.snapshot().used).all()


def test_the_quorum_comes_first_and_extras_after() -> None:
    here = cluster(node("n0", cpu="4"))

    decided = plan(trial(here), gang(here, (6, sized("1")), quorum=3))

    assert isinstance(decided, Placed)
    assert [pod for pod, _ in decided.bindings] == ["0-0", "0-1", "0-2"]
    assert [pod for pod, _ in decided.extras] == ["0-3"]
    assert decided.short is not None
    assert (
        decided.short.message == "4 of 6 members fit: 0/1 nodes are available: 1 Insufficient cpu."
    )


def test_members_that_are_bound_count_towards_the_quorum() -> None:
    here = cluster(node("n0", cpu="2"))

    decided = plan(trial(here), gang(here, (3, sized("1")), quorum=5, counted=3))

    assert isinstance(decided, Placed)
    assert (len(decided.bindings), len(decided.extras)) == (2, 0)


def test_a_basic_group_takes_as_many_as_fit() -> None:
    here = cluster(node("n0", cpu="2"))

    decided = plan(trial(here), basic(here, (3, sized("1"))))

    assert isinstance(decided, Placed)
    assert (len(decided.bindings), len(decided.extras)) == (0, 2)


def test_a_basic_group_of_which_nothing_fits_is_refused() -> None:
    here = cluster(node("n0", cpu="1"))

    decided = plan(trial(here), basic(here, (3, sized("2"))))

    assert isinstance(decided, Refusal)
    assert decided.status == "UnschedulableAndUnresolvable"


def test_a_refusal_says_what_was_needed_and_what_fits() -> None:
    here = cluster(node("n0", cpu="4"), node("n1", cpu="1"))

    decided = plan(trial(here), gang(here, (8, sized("1"))))

    assert decided == Refusal(
        status="Unschedulable",
        fits=5,
        needs=8,
        tally=decided.tally,  # type: ignore[union-attr]
        proved=True,
        message="needs 8, 5 fit: 0/2 nodes are available: 2 Insufficient cpu.",
    )


def test_a_lone_pod_is_refused_in_kube_schedulers_words() -> None:
    here = cluster(
        node("n0", cpu="1"),
        node("n1", cpu="8", memory="1Gi"),
        node("n2", taints=["gpu=yes:NoSchedule"]),
        node("n3", unschedulable=True),
    )

    decided = plan(trial(here), gang(here, (1, sized("2", "2Gi"))))

    assert isinstance(decided, Refusal)
    assert decided.message == (
        "0/4 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, "
        "1 node(s) had untolerated taint(s), 1 node(s) were unschedulable."
    )


def test_later_roots_of_a_turn_see_what_earlier_ones_took() -> None:
    here = cluster(node("n0", cpu="2"), node("n1", cpu="2"))
    turn = trial(here)

    assert isinstance(plan(turn, gang(here, (3, sized("1")))), Placed)
    assert isinstance(plan(turn, gang(here, (2, sized("1")))), Refusal)
    assert isinstance(plan(turn, gang(here, (1, sized("1")))), Placed)


def test_fewer_members_than_the_quorum_misses_is_a_callers_mistake() -> None:
    here = cluster(node("n0"))

    with pytest.raises(ValueError, match="gang misses 3 members, 1 are pending"):
        plan(trial(here), gang(here, (1, sized()), quorum=3))
