"""The same cluster gives the same plan (P5): not by row, not by arrival, not by hash seed."""

import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.core import clusters
from tests.core.support import cluster, gang, node, sized, trial
from tutti.api.core_v1 import Node, Pod
from tutti.core.decide import plan

ROOT = Path(__file__).parents[2]
PLAN = """
from tests.core.support import cluster, gang, node, sized, trial
from tutti.core.decide import plan
here = cluster(*(node(f"n{i}", cpu=str(4 + i % 3), labels={"zone": str(i % 2)}) for i in range(40)))
small, large = sized("1"), sized("3", tolerations=())
print(plan(trial(here, seed=7), gang(here, (30, small), (20, large), quorum=45)))
"""


@given(
    clusters.nodes(),
    st.data(),
    st.lists(st.tuples(st.integers(1, 6), clusters.pods()), min_size=1, max_size=3),
    st.integers(0, 5),
)
def test_the_order_of_arrival_decides_nothing(
    nodes: list[Node], data: st.DataObject, wanted: list[tuple[int, Pod]], seed: int
) -> None:
    shuffled = data.draw(st.permutations(nodes))
    plans = []
    for arrived in (nodes, shuffled):
        here = cluster(*arrived)
        here.node_gone(arrived[0].metadata.name)
        here.node_seen(arrived[0])
        roots = [gang(here, (count, pod)) for count, pod in wanted]
        turn = trial(here, seed)
        plans.append([plan(turn, root) for root in roots])

    assert plans[0] == plans[1]


def test_equal_nodes_are_told_apart_by_their_names_alone() -> None:
    names = [f"n{i}" for i in range(12)]

    def planned(arrived: list[str]) -> str:
        here = cluster(*(node(name) for name in arrived))
        return str(plan(trial(here), gang(here, (5, sized()))))

    assert planned(names) == planned(names[::-1]) == planned(sorted(names, key=lambda n: n[::-1]))


def test_the_hash_seed_decides_nothing() -> None:
    answers = {_planned(hash_seed) for hash_seed in ("0", "1")}

    assert len(answers) == 1
    assert "Placed" in answers.pop()


def test_another_seed_breaks_ties_otherwise() -> None:
    here = cluster(*(node(f"n{i}") for i in range(30)))
    root = gang(here, (1, sized()))

    assert len({str(plan(trial(here, seed), root)) for seed in range(5)}) > 1


def _planned(hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", PLAN],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout
