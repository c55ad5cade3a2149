"""The columns and the oracle agree: on masks, on scores, on choices."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core import clusters, disks
from tests.core.answers import answer, mutants
from tests.core.clusters import Situation
from tests.core.disks import Disks
from tests.core.oracle import Oracle
from tests.core.support import cluster, trial
from tutti.api.core_v1 import Node, Pod
from tutti.core.place import place
from tutti.core.reasons import tally
from tutti.engine.encode import Cluster

small_counts = st.integers(1, 24)


def both(
    nodes: list[Node], running: list[tuple[int, Pod]], pending: list[Pod], seed: int = 0
) -> tuple[Cluster, Oracle]:
    """The same cluster twice; pods run where they happen to be, even where they don't fit."""
    here = cluster(*nodes)
    snapshot = here.snapshot()
    order = snapshot.tie_order(seed)
    oracle = Oracle(nodes, tie=lambda name: int(order[snapshot.nodes.row_of[name]]))
    for pod in pending:
        here.class_of(pod)
    for again in (False, True):  # what the last pod asks may tell the first ones apart
        for number, (index, pod) in enumerate(running):
            name = nodes[index % len(nodes)].metadata.name
            here.hold(f"running-{number}", here.class_of(pod), name)
            if again:
                oracle.running.append((pod, name))
    return here, oracle


def names(here: Cluster, rows: list[int]) -> list[str]:
    return [here.snapshot().nodes.names[row] for row in rows]


any_pods = clusters.pods() | clusters.social_pods()
running_pods = st.lists(st.tuples(st.integers(0, 5), any_pods), max_size=5)


@given(clusters.nodes(), running_pods, any_pods)
def test_masks_and_reasons_agree(
    nodes: list[Node], running: list[tuple[int, Pod]], pod: Pod
) -> None:
    here, oracle = both(nodes, running, [pod])
    cls = here.class_of(pod)
    attempt = trial(here)

    reasons = {node.metadata.name: oracle.why_not(pod, node) for node in nodes}

    passing = {name for name, why in reasons.items() if not why}
    rows = attempt.ranking(cls).passing(cls).nonzero()[0].tolist()
    assert set(names(here, rows)) == passing
    counted = Counter(reason for why in reasons.values() for reason in why)
    found = tally(attempt.snapshot, attempt.used, attempt.profile, cls)
    assert dict(found.counts) == counted


@given(clusters.nodes(), running_pods, any_pods)
def test_scores_agree_up_to_what_is_the_same_for_all(
    nodes: list[Node], running: list[tuple[int, Pod]], pod: Pod
) -> None:
    here, oracle = both(nodes, running, [pod])
    cls = here.class_of(pod)
    ranking = trial(here).ranking(cls)

    passing = [node for node in nodes if not oracle.why_not(pod, node)]

    if passing:
        theirs = oracle.scores(pod, passing)
        mask = ranking.passing(cls)
        rows = mask.nonzero()[0].tolist()
        ours = dict(zip(names(here, rows), ranking.totals(cls, mask)[mask], strict=True))
        least = min(theirs.values()) - min(ours.values())
        assert {name: int(score) + least for name, score in ours.items()} == theirs


@given(
    clusters.nodes(),
    running_pods,
    st.lists(st.tuples(small_counts, any_pods), min_size=1, max_size=3),
    st.integers(0, 3),
)
def test_many_pods_at_once_go_where_they_would_go_one_by_one(
    nodes: list[Node],
    running: list[tuple[int, Pod]],
    wanted: list[tuple[int, Pod]],
    seed: int,
) -> None:
    here, oracle = both(nodes, running, [pod for _, pod in wanted], seed)
    known = [(count, pod, here.class_of(pod)) for count, pod in wanted]
    attempt = trial(here, seed)

    for count, pod, cls in known:
        chosen = names(here, place(attempt, cls, count).tolist())
        one_by_one = [oracle.place(pod) for _ in range(count)]
        assert chosen == [name for name in one_by_one if name is not None]


few = settings(max_examples=12, derandomize=True, database=None)


@pytest.mark.parametrize("what", clusters.situations())
def test_one_pod_goes_where_the_oracle_would_put_it(what: str) -> None:
    @few
    @given(clusters.situations()[what])
    def cases(situation: Situation) -> None:
        nodes, running, pending = situation
        here, oracle = both(nodes, running, [pending])
        best = answer((here, here.class_of(pending)))
        chosen = oracle.place(pending)
        assert chosen in best if chosen is not None else " nodes are available: " in best[0]

    cases()


def test_whatever_rule_is_left_out_some_situation_shows_it() -> None:
    unnoticed = mutants()

    @few
    @given(st.tuples(*clusters.situations().values()))
    def cases(situations: tuple[Situation, ...]) -> None:
        for nodes, running, pending in situations:
            here, _ = both(nodes, running, [pending])
            columns = here, here.class_of(pending)
            for name, profile in tuple(unnoticed.items()):
                if answer(columns, profile) != answer(columns):
                    del unnoticed[name]

    cases()

    assert list(unnoticed) == []


@given(
    disks.zoned_nodes(),
    disks.disks(),
    st.lists(st.tuples(st.integers(0, 5), disks.mounting_pods()), max_size=4),
    st.lists(disks.mounting_pods(), min_size=1, max_size=4),
)
def test_volumes_are_honoured_pod_by_pod(
    nodes: list[Node], known: Disks, running: list[tuple[int, Pod]], pending: list[Pod]
) -> None:
    """48: whoever comes later sees what those before it mounted, in one gang as anywhere."""
    here, oracle = cluster(*nodes), Oracle(nodes, tie=lambda name: 0, disks=known)
    known.show(here)
    runs = [(disks.named(pod, f"r{n}"), index) for n, (index, pod) in enumerate(running)]
    waits = [disks.named(pod, f"p{n}") for n, pod in enumerate(pending)]
    for pod in (*(pod for pod, _ in runs), *waits):
        here.volumes.mounted(pod)
    for pod, index in runs:
        name = nodes[index % len(nodes)].metadata.name
        here.hold(pod.metadata.uid, here.class_of(pod), name)
        oracle.running.append((pod, name))
    classes = [here.class_of(pod) for pod in waits]
    attempt = trial(here)
    order = attempt.snapshot.tie_order(0)
    oracle.tie = lambda name: int(order[attempt.snapshot.nodes.row_of[name]])

    for pod, cls in zip(waits, classes, strict=True):
        reasons = Counter(why for node in nodes for why in oracle.why_not(pod, node))
        found = tally(attempt.snapshot, attempt.used, attempt.profile, cls)
        assert dict(found.counts) == reasons
        chosen = names(here, place(attempt, cls, 1).tolist())
        assert chosen == [name for name in [oracle.place(pod)] if name is not None]
    assert here.check() == []
