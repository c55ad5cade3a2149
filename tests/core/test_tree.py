"""A tree of groups starts with enough whole groups, or waits."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.support import cluster, node, sized, trial
from tutti.core.decide import plan
from tutti.core.groups import Batch, Leaf, Tree, leaves_of
from tutti.core.plan import Placed, Refusal
from tutti.engine.encode import Cluster


def leaf(here: Cluster, name: str, *cpus: str, quorum: int | None = None, **more: object) -> Leaf:
    """A gang of one pod for each size; all of them are its quorum unless it says otherwise."""
    known = {"counted": 0, "gang": True, "selector": None, **more}
    batches = tuple(
        Batch(
            here.class_of(sized(cpu, "0", node_selector=known["selector"] or {})),
            tuple(f"{name}-{index}" for index, size in enumerate(cpus) if size == cpu),
        )
        for cpu in dict.fromkeys(cpus)
    )
    return Leaf(
        name,
        batches,
        len(cpus) if quorum is None else quorum,
        known["counted"],  # type: ignore[arg-type]
        known["gang"],  # type: ignore[arg-type]
    )


def nodes(*cpus: int) -> Cluster:
    return cluster(*(node(f"n{i}", cpu=str(cpu), memory="64Gi") for i, cpu in enumerate(cpus)))


def placed(decided: object) -> dict[str, int]:
    """How many of each group have a place."""
    assert isinstance(decided, Placed), decided
    counts: dict[str, int] = {}
    for pod, _ in (*decided.bindings, *decided.extras):
        group = pod.rpartition("-")[0]
        counts[group] = counts.get(group, 0) + 1
    return counts


def test_surplus_of_one_child_does_not_take_the_quorum_of_another():
    """9.5."""
    here = nodes(4)
    tree = Tree("top", (leaf(here, "a", *"1111", quorum=2), leaf(here, "b", *"11")), 2)
    assert placed(plan(trial(here), tree)) == {"a": 2, "b": 2}


def test_the_most_constrained_child_goes_first():
    """9.6."""
    here = cluster(node("g", cpu="2", labels={"hw": "gpu"}), node("c", cpu="2"))
    picky = leaf(here, "picky", *"11", selector={"hw": "gpu"})
    tree = Tree("top", (leaf(here, "any", *"11"), picky), 2)
    assert placed(plan(trial(here), tree)) == {"any": 2, "picky": 2}


def test_which_children_make_the_quorum_is_searched():
    here = nodes(6)
    tree = Tree(
        "top",
        tuple(leaf(here, n, *("1" * c)) for n, c in (("a", 4), ("b", 2), ("c", 2), ("d", 2))),
        3,
    )
    assert placed(plan(trial(here), tree)) == {"b": 2, "c": 2, "d": 2}


@pytest.mark.parametrize(
    ("slots", "expected"),
    [(4, {"a": 2, "b": 2}), (3, None), (6, {"a": 2, "b": 2, "c": 2})],
)
def test_enough_children_stand_or_none(slots, expected):
    """77, 78, 11.3."""
    here = nodes(slots)
    tree = Tree("top", tuple(leaf(here, n, *"11") for n in "abc"), 2)
    decided = plan(trial(here), tree)
    assert (placed(decided) if expected else isinstance(decided, Refusal)) == (expected or True)


def test_children_that_differ_are_packed_as_one():
    """Each child alone spreads; all of them fit in one way only."""
    here = nodes(4, 4)
    tree = Tree("top", (leaf(here, "a", "2", "2"), leaf(here, "b", "4")), 2)
    assert placed(plan(trial(here), tree)) == {"a": 2, "b": 1}
    here = nodes(6, 5)
    tree = Tree(
        "top", (leaf(here, "a", "3", "2"), leaf(here, "b", "3", "2"), leaf(here, "c", "1")), 3
    )
    assert placed(plan(trial(here), tree)) == {"a": 2, "b": 2, "c": 1}


def test_three_levels():
    """80."""
    here = nodes(8)
    tree = Tree(
        "top",
        (
            Tree("gangs", (leaf(here, "g1", *"11"), leaf(here, "g2", *"11")), 2),
            Tree("some", (leaf(here, "s1", *"111", quorum=1, gang=False),), 1),
            Tree("hopeless", (leaf(here, "h", "50"), leaf(here, "i", "1")), 2),
        ),
        2,
    )
    assert placed(plan(trial(here), tree)) == {"g1": 2, "g2": 2, "s1": 3}


def test_children_that_stand_count_and_their_extras_come_last():
    """84, 86."""
    here = nodes(3)
    tree = Tree(
        "top",
        (leaf(here, "old", *"111", quorum=2, counted=2), leaf(here, "new", *"11")),
        3,
        counted=1,
    )
    assert placed(plan(trial(here), tree)) == {"new": 2, "old": 1}


def test_a_refusal_says_which_group_has_no_place_and_leaves_no_trace():
    here = nodes(4)
    attempt = trial(here)
    tree = Tree("ns/top", (leaf(here, "ns/a", *"11"), leaf(here, "ns/b", "9")), 2)
    decided = plan(attempt, tree)
    assert isinstance(decided, Refusal)
    assert decided.proved
    assert (decided.fits, decided.needs) == (1, 2)
    assert [key for key, _ in decided.below] == ["ns/b"]
    assert decided.message.startswith("needs 2 groups, 1 fit: b: 0/1 nodes are available")
    assert decided.status == "UnschedulableAndUnresolvable"
    assert (attempt.used == here.snapshot().used).all()


def test_who_fits_alone_but_not_beside_the_others_is_told_so():
    here = nodes(3)
    tree = Tree("top", (leaf(here, "a", *"11"), leaf(here, "b", *"11")), 2)
    decided = plan(trial(here), tree)
    assert isinstance(decided, Refusal)
    assert decided.proved
    assert decided.status == "Unschedulable"
    [(key, why)] = decided.below
    assert key == "b"
    assert why.message.startswith("fits alone, but not beside the others: needs 2, 1 fit")


def test_a_tree_of_very_many_groups_is_refused_without_going_too_deep():
    here = nodes(*([3] * 60), 1)
    wide = Tree("top", tuple(leaf(here, f"g{i}", "2", "2") for i in range(1500)), 40)
    assert isinstance(plan(trial(here), wide), Refusal)


# --- against every assignment there is -------------------------------------------------------


@st.composite
def small_trees(draw: st.DrawFn) -> tuple[list[int], list[list[list[int]]], int]:
    """Free cpus by node, members by child and group, and how many children have to stand."""
    free = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    sizes = st.lists(st.integers(1, 3), min_size=1, max_size=2)
    children = draw(st.lists(sizes, min_size=1, max_size=3))
    return free, [children], draw(st.integers(1, len(children)))


@given(small_trees())
def test_a_place_that_exists_is_found_and_none_is_overfull(case):
    free, [children], quorum = case
    here = nodes(*free)
    leaves = tuple(leaf(here, f"g{i}", *map(str, sizes)) for i, sizes in enumerate(children))
    decided = plan(trial(here), Tree("top", leaves, quorum))
    exists = any(
        _fits(
            free,
            [
                size
                for chosen, sizes in zip(pick, children, strict=True)
                if chosen
                for size in sizes
            ],
        )
        for pick in product((False, True), repeat=len(children))
        if sum(pick) >= quorum
    )
    assert isinstance(decided, Placed) == exists
    if isinstance(decided, Placed):
        used = dict.fromkeys((f"n{i}" for i in range(len(free))), 0)
        sizes = {f"g{i}-{j}": s for i, c in enumerate(children) for j, s in enumerate(c)}
        for pod, name in (*decided.bindings, *decided.extras):
            used[name] += sizes[pod]
        assert all(used[f"n{i}"] <= cpu for i, cpu in enumerate(free))
        counts = placed(decided)
        assert all(
            counts.get(one.key, 0) in (0, one.quorum) for one in leaves_of(Tree("t", leaves, 1))
        )
    else:
        assert decided.proved or len({s for c in children for s in c}) > 1 or quorum < len(children)


def _fits(free: list[int], sizes: list[int]) -> bool:
    if not sizes:
        return True
    first, rest = sizes[0], sizes[1:]
    return any(
        _fits([*free[:i], cpu - first, *free[i + 1 :]], rest)
        for i, cpu in enumerate(free)
        if cpu >= first
    )
