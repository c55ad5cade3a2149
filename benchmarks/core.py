"""The core alone: placing, masks and scores, updates of the columns."""

from collections.abc import Iterator
from functools import cache

import msgspec
import numpy as np

from benchmarks.clusters import SIZES, half_full, node, nodes, pod
from benchmarks.measure import timed
from benchmarks.report import Row
from tutti.api import core_v1 as api
from tutti.api.meta import LabelSelector, ObjectMeta
from tutti.core.decide import plan
from tutti.core.groups import Batch, Leaf
from tutti.core.place import place
from tutti.core.plan import Placed
from tutti.core.pods import PodClass, Taint
from tutti.core.profile import DEFAULT
from tutti.core.resources import FIXED, Table
from tutti.core.snapshot import Label, Nodes, Snapshot
from tutti.core.trial import Trial
from tutti.engine.encode import Cluster

FEW, MANY, MILLION = 5_000, 50_000, 1_000_000


def rows(*, short: bool) -> Iterator[Row]:
    yield equal_pods(1_000, FEW, limit_ms=5)
    yield new_class(FEW, limit_ms=3)
    yield gangs_of_three(1, limit_ms=100)
    yield gangs_of_three(4, limit_ms=100)
    yield hopeless_gang(limit_ms=5)
    for what, asking in ASKING.items():
        yield neighbours(what, asking, limit_ms=150)
    yield node_updates(limit_ms=20)
    yield pod_updates(limit_ms=20)
    if not short:
        yield equal_pods(10_000, MANY, limit_ms=60)
        yield new_class(MANY, limit_ms=30)
        yield from objects_to_columns()
        yield million_on_a_million(limit_ms=3_000)


@cache
def cluster_of(count: int) -> Cluster:
    return half_full(count)


def fresh_trial(cluster: Cluster) -> Trial:
    """A trial on a cluster of which the rules have yet to be asked."""
    snapshot = cluster.snapshot()
    for known in (snapshot.memo.allowed, snapshot.memo.worth):
        known.clear()
    return Trial(snapshot, DEFAULT, seed=1)


def equal_pods(count: int, on: int, *, limit_ms: float) -> Row:
    cluster = cluster_of(on)
    cls = cluster.class_of(pod("pending"))
    attempt = fresh_trial(cluster)
    chosen = place(attempt, cls, count)
    assert len(chosen) == count
    assert (attempt.used[0] <= attempt.snapshot.nodes.allocatable[0]).all()
    return timed(
        f"{count:,} equal pods on {on:,} nodes",
        lambda trial: place(trial, cls, count),
        prepare=lambda: fresh_trial(cluster),
        runs=5,
        limit_ms=limit_ms,
    )


def new_class(on: int, *, limit_ms: float) -> Row:
    cluster = cluster_of(on)
    cls = cluster.class_of(pod("pending", "1", "3Gi"))
    assert fresh_trial(cluster).ranking(cls).open.sum() > on // 2
    return timed(
        f"a class never seen before on {on:,} nodes",
        lambda trial: trial.ranking(cls),
        prepare=lambda: fresh_trial(cluster),
        runs=5,
        limit_ms=limit_ms,
    )


def gangs_of_three(classes: int, *, limit_ms: float) -> Row:
    cluster = cluster_of(FEW)
    kinds = [cluster.class_of(pod("member", *size)) for size in SIZES[:classes]]

    def all_of_them(trial: Trial) -> int:
        return sum(isinstance(plan(trial, _three(kinds, g)), Placed) for g in range(1_000))

    assert all_of_them(fresh_trial(cluster)) == 1_000
    return timed(
        f"1,000 gangs of 3 one after the other on {FEW:,} nodes, {classes} class(es)",
        all_of_them,
        prepare=lambda: fresh_trial(cluster),
        limit_ms=limit_ms,
    )


def _three(kinds: list[PodClass], number: int) -> Leaf:
    cls = kinds[number % len(kinds)]
    return Leaf(f"gang-{number}", (Batch(cls, ("a", "b", "c")),), quorum=3)


def neighbours(what: str, asking: api.Pod, *, limit_ms: float) -> Row:
    """A thousand pods that heed others, on nodes where ten pods run each."""
    cluster = crowd()
    for _ in range(2):  # the first look at its terms may tell the running pods apart
        cls = cluster.class_of(asking)
        hold_the_crowd(cluster)
    attempt = fresh_trial(cluster)
    chosen = place(attempt, cls, 1_000)
    assert len(chosen) == 1_000
    assert what in ("spread", "company") or len(np.unique(chosen)) == 1_000
    return timed(
        f"1,000 pods with {TERMS[what]}, 50,000 running on {FEW:,} nodes",
        lambda trial: place(trial, cls, 1_000),
        prepare=lambda: fresh_trial(cluster),
        limit_ms=limit_ms,
    )


TERMS = {
    "spread": "a hard spread over 50 zones",
    "apart": "required anti-affinity per host",
    "company": "preferred affinity",
}
WEB = LabelSelector(match_labels={"app": "bench"})
NEAR_WEB = api.PodAffinityTerm(topology_key="topology.kubernetes.io/zone", label_selector=WEB)
ASKING = {
    "spread": pod(
        "pending",
        topology_spread_constraints=(
            api.TopologySpreadConstraint(
                max_skew=1,
                topology_key="topology.kubernetes.io/zone",
                when_unsatisfiable="DoNotSchedule",
                label_selector=WEB,
            ),
        ),
    ),
    "apart": msgspec.structs.replace(
        pod(
            "pending",
            affinity=api.Affinity(
                pod_anti_affinity=api.PodAffinity(
                    required=(
                        api.PodAffinityTerm(
                            topology_key="kubernetes.io/hostname",
                            label_selector=LabelSelector(match_labels={"app": "loner"}),
                        ),
                    )
                )
            ),
        ),
        metadata=ObjectMeta(name="p", uid="p", namespace="default", labels={"app": "loner"}),
    ),
    "company": pod(
        "pending",
        affinity=api.Affinity(
            pod_affinity=api.PodAffinity(
                preferred=(api.WeightedPodAffinityTerm(weight=10, pod_affinity_term=NEAR_WEB),)
            )
        ),
    ),
}


def crowd() -> Cluster:
    cluster = Cluster()
    for one in nodes(FEW):
        cluster.node_seen(one)
    hold_the_crowd(cluster)
    return cluster


def hold_the_crowd(cluster: Cluster) -> None:
    classes = [cluster.class_of(pod("running", *size)) for size in SIZES]
    for index in range(10 * FEW):
        cluster.hold(f"running-{index}", classes[index % 3], f"node-{index % FEW:06}")


def hopeless_gang(*, limit_ms: float) -> Row:
    cluster = cluster_of(FEW)
    cls = cluster.class_of(pod("member", "64", "500Gi"))
    root = Leaf("hopeless", (Batch(cls, tuple(map(str, range(1_000)))),), quorum=1_000)
    assert not isinstance(plan(fresh_trial(cluster), root), Placed)
    return timed(
        f"refusing a hopeless gang of 1,000 on {FEW:,} nodes",
        lambda trial: plan(trial, root),
        prepare=lambda: fresh_trial(cluster),
        limit_ms=limit_ms,
    )


def node_updates(*, limit_ms: float) -> Row:
    cluster = half_full(FEW)
    news = [changed(node(index)) for index in range(0, FEW, 5)]
    assert len(news) == 1_000

    def apply(_: object) -> None:
        for one in news:
            cluster.node_seen(one)

    apply(None)
    assert not cluster.check()
    cluster = half_full(FEW)
    return timed("1,000 node updates applied to the columns", apply, runs=1, limit_ms=limit_ms)


def changed(one: api.Node) -> api.Node:
    """The same node with another label, another taint and other amounts."""
    labels = {**one.metadata.labels, "tutti.dev/rack": "rack-new"}
    return msgspec.structs.replace(
        one,
        metadata=msgspec.structs.replace(one.metadata, labels=labels),
        spec=api.NodeSpec(taints=(api.Taint(key="new", effect="NoSchedule"),)),
        status=api.NodeStatus(allocatable={**one.status.allocatable, "cpu": "48"}),
    )


def pod_updates(*, limit_ms: float) -> Row:
    cluster = half_full(FEW)
    pods = [pod(f"pod-{index}", *SIZES[index % 4]) for index in range(1_000)]

    def apply(_: object) -> None:
        for index, one in enumerate(pods):
            cluster.hold(one.metadata.uid, cluster.class_of(one), f"node-{index:06}")

    def take_back() -> None:
        for one in pods:
            cluster.release(one.metadata.uid)

    before = cluster.snapshot().used.copy()
    apply(None)
    take_back()
    assert (cluster.snapshot().used == before).all()
    return timed(
        "1,000 pod updates applied to the columns", apply, prepare=take_back, limit_ms=limit_ms
    )


def objects_to_columns() -> Iterator[Row]:
    """50,000 nodes with 150,000 running pods."""
    here, pods = nodes(MANY), running_pods()
    assert encoded(here, pods).snapshot().node_count == MANY
    yield timed(
        "50,000 nodes and 150,000 pods, from objects to columns",
        lambda _: encoded(here, pods),
        runs=1,
        limit_ms=15_000,
    )


def running_pods() -> list[api.Pod]:
    return [pod(f"pod-{index}", *SIZES[index % 4]) for index in range(3 * MANY)]


def encoded(here: list[api.Node], pods: list[api.Pod]) -> Cluster:
    cluster = Cluster()
    for one in here:
        cluster.node_seen(one)
    for index, one in enumerate(pods):
        cluster.hold(one.metadata.uid, cluster.class_of(one), f"node-{index % MANY:06}")
    return cluster


def million_on_a_million(*, limit_ms: float) -> Row:
    """Names handed out, too."""
    cluster = Cluster()
    cls = cluster.class_of(pod("pending"))
    snapshot = wide_snapshot(MILLION)
    pods = tuple(map(str, range(MILLION)))
    root = Leaf("million", (Batch(cls, pods),), quorum=MILLION)

    def decide(trial: Trial) -> None:
        decided = plan(trial, root)
        assert isinstance(decided, Placed)
        assert len(decided.bindings) == MILLION

    return timed(
        "1,000,000 equal pods on 1,000,000 nodes, names handed out",
        decide,
        prepare=lambda: Trial(snapshot, DEFAULT, seed=1),
        runs=1,
        limit_ms=limit_ms,
    )


def wide_snapshot(count: int) -> Snapshot:
    """The same four shapes, half full, as columns at once: objects for so many would not fit."""
    index = np.arange(count)
    chance = np.random.default_rng(count)
    cpu = np.array([16_000, 32_000, 64_000, 96_000])[index % 4]
    memory = np.array([64, 128, 512, 1024])[index % 4] << 30
    pods = np.full(count, 110)
    allocatable = np.stack((cpu, memory, np.full(count, 1 << 40), pods, cpu, memory))
    share = chance.random(count)
    running = (share * cpu).astype(np.int64) // 1_000
    used = np.stack(
        (running * 1_000, running << 31, running * 0, running, running * 1_000, running << 31)
    )
    zones = Label((index % 50).astype(np.int32), [f"zone-{z}" for z in range(50)], {})
    spared = Taint("old", "", "PreferNoSchedule")
    return Snapshot(
        version=1,
        nodes_version=1,
        table=Table({name: row for row, name in enumerate(FIXED)}, {}),
        nodes=Nodes(
            names=[f"node-{row:07}" for row in range(count)],
            row_of={},
            present=np.ones(count, dtype=np.bool_),
            unschedulable=np.zeros(count, dtype=np.bool_),
            hashes=chance.integers(0, 1 << 63, count).astype(np.uint64),
            allocatable=allocatable,
            labels={"topology.kubernetes.io/zone": zones},
            taints=(index % 10 == 7).astype(np.int32),
            taint_sets=[(), (spared,)],
            features=np.zeros(count, dtype=np.int32),
            feature_sets=[()],
        ),
        used=used,
    )
