"""What a trial takes can be undone without a trace (P4), and no node is ever overfilled (P2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core import clusters
from tests.core.support import cluster, container, gang, node, pod, sized, trial
from tutti.api.core_v1 import ContainerPort, Node, Pod
from tutti.core import columns
from tutti.core.decide import plan
from tutti.core.place import place
from tutti.core.plan import Placed

PORT = ContainerPort(host_port=80)


@given(
    clusters.nodes(),
    st.lists(st.tuples(st.integers(1, 9), clusters.pods()), min_size=1, max_size=3),
)
def test_a_rollback_leaves_no_trace(nodes: list[Node], wanted: list[tuple[int, Pod]]) -> None:
    here = cluster(*nodes)
    classes = [(count, here.class_of(pod)) for count, pod in wanted]
    attempt, untouched = trial(here), trial(here)

    start = attempt.checkpoint()
    for count, cls in classes:
        place(attempt, cls, count)
        attempt.rollback(attempt.checkpoint())
        place(attempt, cls, count)
    attempt.rollback(start)

    assert (attempt.used == untouched.used).all()
    for _, cls in classes:
        assert (attempt.ranking(cls).keys == untouched.ranking(cls).keys).all()


@given(
    clusters.nodes(),
    st.lists(st.tuples(st.integers(1, 9), clusters.pods()), min_size=1, max_size=4),
)
def test_no_node_is_ever_overfilled(nodes: list[Node], wanted: list[tuple[int, Pod]]) -> None:
    here = cluster(*nodes)
    roots = [gang(here, (count, pod), quorum=1) for count, pod in wanted]
    attempt = trial(here)

    for root in roots:
        plan(attempt, root)

    snapshot = attempt.snapshot
    for name in ("cpu", "memory", "pods"):
        row = snapshot.table.resources[name]
        assert (attempt.used[row] <= snapshot.nodes.allocatable[row]).all()
    for row in snapshot.table.ports.values():
        assert (attempt.used[row] <= 1).all()


def test_what_is_given_back_can_be_taken_again() -> None:
    here = cluster(node("n0", cpu="1"))
    cls = here.class_of(sized("1"))
    attempt = trial(here)

    (row,) = place(attempt, cls, 1)
    assert not len(place(attempt, cls, 1))
    attempt.give_back(cls, columns.rows([row]))

    assert len(place(attempt, cls, 1)) == 1


def test_a_gang_on_one_port_needs_a_node_for_each_member() -> None:
    here = cluster(node("n0"), node("n1"))
    server = pod(containers=[container(cpu="1", ports=[PORT])])

    decided = plan(trial(here), gang(here, (3, server), quorum=2))

    assert isinstance(decided, Placed)
    assert sorted(node for _, node in decided.bindings) == ["n0", "n1"]
    assert decided.extras == ()


def test_a_class_that_is_newer_than_the_snapshot_asks_for_what_nobody_had() -> None:
    here = cluster(node("n0"))
    attempt = trial(here)
    server = here.class_of(pod(containers=[container(cpu="1", ports=[PORT])]))
    learner = here.class_of(pod(containers=[container(example_com__gpu="1")]))

    assert len(place(attempt, server, 2)) == 1
    assert not len(place(attempt, learner, 1))


def test_a_checkpoint_of_the_future_is_a_mistake() -> None:
    here = cluster(node("n0"))
    cls = here.class_of(sized())
    attempt = trial(here)
    start = attempt.checkpoint()
    place(attempt, cls, 1)
    later = attempt.checkpoint()
    attempt.rollback(start)

    with pytest.raises(ValueError, match="ahead of the log"):
        attempt.rollback(later)


@given(
    clusters.nodes(),
    st.data(),
    st.lists(clusters.pods() | clusters.social_pods(), min_size=1, max_size=3),
)
def test_a_trial_that_caught_up_is_as_good_as_a_new_one(
    nodes: list[Node], data: st.DataObject, pods: list[Pod]
) -> None:
    here = cluster(*nodes)
    for one in pods:
        here.class_of(one)
    classes = [here.class_of(one) for one in pods]
    here.take_changes()
    old = trial(here)
    for turn in range(3):
        for cls in classes:
            place(old, cls, data.draw(st.integers(0, 3)))
        for number, cls in enumerate(classes):
            name = data.draw(st.sampled_from([node.metadata.name for node in nodes]))
            here.hold(f"{turn}-{number}", cls, name)
        here.release(f"{turn - 1}-0")
        changed = here.take_changes()
        assert changed is not None

        old.catch_up(here.snapshot(), changed)
        new = trial(here)

        assert (old.used == new.used).all()
        for cls in classes:
            assert (old.ranking(cls).keys == new.ranking(cls).keys).all()
            assert (old.ranking(cls).passing(cls) == new.ranking(cls).passing(cls)).all()


def test_a_trial_does_not_outlive_its_nodes() -> None:
    here = cluster(node("n0"))
    attempt = trial(here)
    here.node_seen(node("n1"))

    assert here.take_changes() is None
    with pytest.raises(ValueError, match="make another trial"):
        attempt.catch_up(here.snapshot(), columns.rows(()))
