"""Scores by kube-scheduler's formulas (spec/scheduler.md 11.1; behaviours 106, 107, 110, 111)."""

import pytest

from tests.core.support import cluster, container, node, pod, sized, trial
from tutti.api import core_v1 as api
from tutti.core import columns
from tutti.core.place import place
from tutti.core.pods import PodClass
from tutti.core.scores.load import Load
from tutti.core.scores.nodes import PreferredAffinity, images_at_hand, unwelcome_taints
from tutti.core.scores.resources import (
    BalancedAllocation,
    LeastAllocated,
    MostAllocated,
    RequestedToCapacityRatio,
)


def load(*, running: api.Pod, pending: api.Pod, cpu: str = "4", memory: str = "8Gi") -> Load:
    """One node with one pod on it, as another pod sees it."""
    here = cluster(node("n0", cpu=cpu, memory=memory))
    here.hold("running", here.class_of(running), "n0")
    cls = here.class_of(pending)
    snapshot = here.snapshot()
    return Load(snapshot, snapshot.used, cls, columns.rows([0]))


@pytest.mark.parametrize(
    ("pending", "score"),
    [
        pytest.param(sized("500m", "1Gi"), 62, id="half a cpu and a gibibyte"),
        pytest.param(pod(containers=[container()]), 72, id="nothing, which counts 100m and 200Mi"),
        pytest.param(sized("4", "1Gi"), 31, id="more cpu than is left"),
    ],
)
def test_106_least_allocated(pending: api.Pod, score: int) -> None:
    assert LeastAllocated()(load(running=sized("1", "2Gi"), pending=pending)) == [[score]]


def test_106_a_resource_that_the_node_has_none_of_is_left_out() -> None:
    assert LeastAllocated()(
        load(running=pod(containers=[]), pending=sized("0", "2Gi"), cpu="0")
    ) == [[75]]


@pytest.mark.parametrize(
    ("pending", "score"),
    [(sized("500m", "1Gi"), 37), (pod(containers=[container()]), 27), (sized("4", "1Gi"), 68)],
)
def test_106_most_allocated(pending: api.Pod, score: int) -> None:
    assert MostAllocated()(load(running=sized("1", "2Gi"), pending=pending)) == [[score]]


def test_106_requested_to_capacity_ratio() -> None:
    asking = load(running=sized("1", "2Gi"), pending=sized("500m", "1Gi"))

    assert RequestedToCapacityRatio(shape=((0, 0), (100, 100)))(asking) == [[37]]


@pytest.mark.parametrize(
    ("cpu", "score"), [("0", 0), ("1", 50), ("2", 100), ("3", 60), ("4", 20), ("5", 20)]
)
def test_106_the_line_may_rise_and_fall(cpu: str, score: int) -> None:
    ratio = RequestedToCapacityRatio(shape=((0, 0), (50, 100), (100, 20)), resources=(("cpu", 1),))

    assert ratio(load(running=sized("0", "1Gi"), pending=sized(cpu, "1Gi"))) == [[score]]


def test_106_an_extended_resource_counts_for_pods_that_ask_for_it() -> None:
    weighed = LeastAllocated((("cpu", 1), ("example.com/gpu", 3)))
    here = cluster(node("n0", example_com__gpu="4"))
    learner = here.class_of(pod(containers=[container(cpu="2", example_com__gpu="1")]))
    plain = here.class_of(sized("2"))
    snapshot = here.snapshot()

    def score(cls: PodClass) -> int:
        return int(weighed(Load(snapshot, snapshot.used, cls, columns.rows([0])))[0, 0])

    assert score(learner) == (50 + 3 * 75) // 4
    assert score(plain) == 50


@pytest.mark.parametrize(
    ("running", "pending", "score"),
    [
        pytest.param(sized("1", "2Gi"), sized("500m", "1Gi"), 75, id="as even as before"),
        pytest.param(sized("1", "2Gi"), sized("2", "1Gi"), 65, id="less even"),
        pytest.param(sized("1", "4Gi"), sized("1", "0"), 81, id="more even"),
    ],
)
def test_107_balanced_allocation(running: api.Pod, pending: api.Pod, score: int) -> None:
    assert BalancedAllocation()(load(running=running, pending=pending)) == [[score]]


def test_107_a_pod_that_asks_for_nothing_is_not_balanced() -> None:
    assert (
        BalancedAllocation()(load(running=sized(), pending=pod(containers=[container()]))) is None
    )


def test_110_preferred_taints_are_counted_unless_tolerated() -> None:
    here = cluster(node("n0", taints=["a=:PreferNoSchedule", "b=:PreferNoSchedule"]))
    tolerant = pod(tolerations=(api.Toleration(key="a", operator="Exists"),))
    strict = pod(
        tolerations=(api.Toleration(key="a", operator="Exists", effect="NoSchedule"),),
    )

    counts = [unwelcome_taints(here.snapshot().nodes, here.class_of(p)) for p in (tolerant, strict)]

    assert [None if c is None else int(c[0]) for c in counts] == [1, 2]


def test_111_preferred_terms_add_up() -> None:
    here = cluster(node("n0", labels={"zone": "a", "disk": "ssd"}))
    preferred = tuple(
        api.PreferredSchedulingTerm(
            weight=weight,
            preference=api.NodeSelectorTerm(
                match_expressions=(
                    api.NodeSelectorRequirement(key=key, operator="In", values=(value,)),
                )
            ),
        )
        for weight, key, value in ((10, "zone", "a"), (5, "disk", "ssd"), (80, "zone", "b"))
    )
    wishes = pod(affinity=api.Affinity(node_affinity=api.NodeAffinity(preferred=preferred)))

    worth = PreferredAffinity()(here.snapshot().nodes, here.class_of(wishes))

    assert worth is not None
    assert int(worth[0]) == 15


def test_the_scale_of_a_score_moves_when_its_best_node_is_full() -> None:
    """Once the preferred node is full, the next best counts 100, and outweighs what is free."""
    here = cluster(
        node("small-and-best", cpu="1", memory="1Gi", labels={"rank": "2"}),
        node("used-and-good", cpu="8", memory="8Gi", labels={"rank": "1"}),
        node("empty", cpu="64", memory="64Gi"),
    )
    here.hold("running", here.class_of(sized("4", "4Gi")), "used-and-good")
    preferred = tuple(
        api.PreferredSchedulingTerm(
            weight=weight,
            preference=api.NodeSelectorTerm(
                match_expressions=(
                    api.NodeSelectorRequirement(key="rank", operator="In", values=(rank,)),
                )
            ),
        )
        for weight, rank in ((100, "2"), (10, "1"))
    )
    wishes = pod(affinity=api.Affinity(node_affinity=api.NodeAffinity(preferred=preferred)))
    cls = here.class_of(wishes)
    attempt = trial(here)

    names = [attempt.snapshot.nodes.names[row] for row in place(attempt, cls, 3)]

    assert names == ["small-and-best", "used-and-good", "used-and-good"]


@pytest.mark.parametrize(
    ("size_mib", "nodes_with_it", "score"),
    [(500, 1, 23), (500, 2, 48), (20, 2, 0), (4000, 2, 100)],
)
def test_115_images_at_hand(size_mib: int, nodes_with_it: int, score: int) -> None:
    """Large images count, in the share of nodes that have them, between two thresholds."""
    image = {"web:latest": size_mib << 20}
    here = cluster(node("a", images=image), node("b", images=image if nodes_with_it == 2 else {}))
    cls = here.class_of(pod(containers=[container(image="web")]))

    worth = images_at_hand(here.snapshot().nodes, cls)

    assert (0 if worth is None else int(worth[0])) == score


def test_115_an_image_that_a_node_lists_without_a_tag_is_never_found() -> None:
    here = cluster(node("a", images={"web": 900 << 20}), node("b"))
    cls = here.class_of(pod(containers=[container(image="web")]))

    assert images_at_hand(here.snapshot().nodes, cls) is None
