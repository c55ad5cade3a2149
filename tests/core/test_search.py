"""Gangs whose members differ: placed wherever a placement exists, on clusters small enough to prove it."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.support import cluster, container, gang, node, pod, sized, trial
from tutti.core.decide import plan
from tutti.core.plan import Placed, Refusal
from tutti.core.profile import Profile
from tutti.core.search import Search


def test_members_that_fit_only_in_one_way_are_placed() -> None:
    """Weakness 9.2: spread or packed one by one, the fourth has no place."""
    here = cluster(node("a", "4", "4Gi"), node("b", "4", "4Gi"))

    decided = plan(trial(here), gang(here, (2, sized("2", "1Gi")), (2, sized("2", "3Gi"))))

    assert isinstance(decided, Placed)
    pairs = sorted(zip(sorted(node for _, node in decided.bindings), "aabb", strict=True))
    assert pairs == [("a", "a"), ("a", "a"), ("b", "b"), ("b", "b")]


def test_an_order_that_works_is_found() -> None:
    """Weakness 9.1: two pods of 2 and one of 4, whichever is listed first."""
    here = cluster(node("a", "4"), node("b", "4"))

    decided = plan(trial(here), gang(here, (2, sized("2", "1Gi")), (1, sized("4", "1Gi"))))

    assert isinstance(decided, Placed)


def test_when_the_search_ends_a_refusal_is_proved() -> None:
    here = cluster(node("a", "3"), node("b", "3"))

    decided = plan(trial(here), gang(here, (2, sized("2", "1Gi")), (2, sized("1500m", "1Gi"))))

    assert isinstance(decided, Refusal)
    assert decided.proved


def test_when_the_budget_ends_a_refusal_says_so() -> None:
    here = cluster(*(node(name, "7", "64Gi") for name in "abcdefgh"))
    hurried = Profile(search_steps=5)

    decided = plan(
        trial(here, profile=hurried),
        gang(here, (9, sized("3", "1Gi")), (8, sized("3500m", "1Gi"))),
    )

    assert isinstance(decided, Refusal)
    assert not decided.proved
    assert "not every arrangement was tried" in decided.message


def exists(free: list[int], members: list[tuple[int, int]], quorum: int) -> bool:
    """Whether any choice of nodes for any choice of members fits; every one is tried."""
    sizes = [size for count, size in members for _ in range(count)]
    for seats in product((None, *range(len(free))), repeat=len(sizes)):
        if sum(seat is not None for seat in seats) < quorum:
            continue
        if all(
            sum(size for size, seat in zip(sizes, seats, strict=True) if seat == at) <= room
            for at, room in enumerate(free)
        ):
            return True
    return False


@given(
    st.lists(st.integers(1, 7), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(1, 3), st.integers(1, 5)), min_size=1, max_size=3).filter(
        lambda members: sum(count for count, _ in members) <= 6
    ),
    st.data(),
)
def test_a_gang_is_placed_if_and_only_if_a_placement_exists(
    free: list[int], members: list[tuple[int, int]], data: st.DataObject
) -> None:
    here = cluster(*(node(f"n{i}", str(room), "64Gi") for i, room in enumerate(free)))
    kinds = [(count, pod(containers=[container(cpu=str(size))])) for count, size in members]
    quorum = data.draw(st.integers(1, sum(count for count, _ in members)))

    decided = plan(trial(here), gang(here, *kinds, quorum=quorum))

    possible = exists(free, members, quorum)
    assert isinstance(decided, Placed) is possible
    assert possible or decided.proved  # type: ignore[union-attr]


@pytest.mark.parametrize("orders", [((2, "4"), (4, "2")), ((4, "2"), (2, "4"))])
def test_what_is_listed_first_decides_nothing(orders: tuple[tuple[int, str], ...]) -> None:
    here = cluster(*(node(name, "8", "64Gi") for name in "ab"))

    decided = plan(trial(here), gang(here, *((count, sized(cpu, "1Gi")) for count, cpu in orders)))

    assert isinstance(decided, Placed)


def test_a_search_over_many_nodes_does_not_run_out_of_stack() -> None:
    here = cluster(*(node(f"n{i}", cpu="5", memory=f"{64 + i}Gi") for i in range(199)))
    wanted = gang(here, (190, sized("3", "0")), (209, sized("2", "0")))

    assert Search(trial(here), wanted.batches, 100_000).find(398) is None
