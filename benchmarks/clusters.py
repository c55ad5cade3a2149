"""Clusters to measure on: four shapes of node, labels, taints, half full and fragmented."""

from collections.abc import Iterator
from random import Random

from tutti.api import core_v1 as api
from tutti.api.meta import ObjectMeta
from tutti.engine.encode import Cluster

SHAPES = (("16", "64Gi", 0), ("32", "128Gi", 0), ("64", "512Gi", 0), ("96", "1Ti", 8))
SIZES = (("500m", "1Gi"), ("1", "4Gi"), ("2", "2Gi"), ("4", "16Gi"))
CPUS = (1, 1, 2, 4)
ZONES = 50


def nodes(count: int) -> list[api.Node]:
    return [node(index) for index in range(count)]


def node(index: int) -> api.Node:
    """Every tenth node is set apart, every tenth would rather be left alone."""
    cpu, memory, gpus = SHAPES[index % 4]
    taints: tuple[api.Taint, ...] = ()
    if index % 10 == 3:
        taints = (api.Taint(key="dedicated", value="batch", effect="NoSchedule"),)
    if index % 10 == 7:
        taints = (api.Taint(key="old", effect="PreferNoSchedule"),)
    name = f"node-{index:06}"
    return api.Node(
        metadata=ObjectMeta(
            name=name,
            labels={
                "kubernetes.io/hostname": name,
                "topology.kubernetes.io/zone": f"zone-{index // 100 % ZONES}",
                "node.kubernetes.io/instance-type": f"shape-{index % 4}",
                "tutti.dev/rack": f"rack-{index // 20}",
            },
        ),
        spec=api.NodeSpec(taints=taints),
        status=api.NodeStatus(
            allocatable={
                "cpu": cpu,
                "memory": memory,
                "ephemeral-storage": "1Ti",
                "pods": "110",
                **({"nvidia.com/gpu": str(gpus)} if gpus else {}),
            }
        ),
    )


def pod(name: str, cpu: str = "1", memory: str = "2Gi", **spec: object) -> api.Pod:
    return api.Pod(
        metadata=ObjectMeta(name=name, uid=name, namespace="default", labels={"app": "bench"}),
        spec=api.PodSpec(
            containers=(
                api.Container(
                    name="main",
                    image="registry.k8s.io/pause:3.10",
                    resources=api.ResourceRequirements(requests={"cpu": cpu, "memory": memory}),
                ),
            ),
            tolerations=(
                api.Toleration(
                    key="node.kubernetes.io/not-ready", operator="Exists", effect="NoExecute"
                ),
            ),
            **spec,  # type: ignore[arg-type]
        ),
    )


def half_full(count: int) -> Cluster:
    """About half of the cpus in use, by pods of four sizes; some nodes nearly full, some empty."""
    cluster = Cluster()
    for one in nodes(count):
        cluster.node_seen(one)
    classes = [cluster.class_of(pod("running", *size)) for size in SIZES]
    for index, (size, row) in enumerate(_running(count)):
        cluster.hold(f"running-{index}", classes[size], f"node-{row:06}")
    return cluster


def half_full_pods(count: int) -> Iterator[api.Pod]:
    """The same running pods, as objects."""
    for index, (size, row) in enumerate(_running(count)):
        yield pod(f"running-{index}", *SIZES[size], node_name=f"node-{row:06}")


def _running(count: int) -> Iterator[tuple[int, int]]:
    """Sizes and nodes. Each size takes a cpu per gibibyte or less, so the cpus run out first."""
    chance = Random(count)
    for row in range(count):
        left = int(int(SHAPES[row % 4][0]) * chance.random())
        while left >= max(CPUS):
            size = chance.randrange(len(SIZES))
            yield size, row
            left -= CPUS[size]
