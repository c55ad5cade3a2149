"""Small clusters that read like sentences, for the tests of core and engine."""

from collections.abc import Iterable, Mapping

from tutti.api import core_v1 as api
from tutti.api.meta import ObjectMeta
from tutti.core.groups import Batch, Leaf
from tutti.core.profile import DEFAULT, Profile
from tutti.core.trial import Trial
from tutti.engine.encode import Cluster


def node(
    name: str,
    cpu: str = "4",
    memory: str = "8Gi",
    *,
    labels: Mapping[str, str] | None = None,
    taints: Iterable[str] = (),
    unschedulable: bool = False,
    pods: int = 110,
    images: Mapping[str, int] | None = None,
    features: Iterable[str] = (),
    **extended: str,
) -> api.Node:
    """A node; taints as `key=value:Effect`, extended resources with `_` for `.` and `__` for `/`."""
    more = {key.replace("__", "/").replace("_", "."): text for key, text in extended.items()}
    return api.Node(
        metadata=ObjectMeta(
            name=name, uid=name, labels={"kubernetes.io/hostname": name, **(labels or {})}
        ),
        spec=api.NodeSpec(
            unschedulable=unschedulable, taints=tuple(taint(text) for text in taints)
        ),
        status=api.NodeStatus(
            allocatable={"cpu": cpu, "memory": memory, "pods": str(pods), **more},
            images=tuple(
                api.ContainerImage(names=(name,), size_bytes=size)
                for name, size in (images or {}).items()
            ),
            declared_features=tuple(features),
        ),
    )


def taint(text: str) -> api.Taint:
    rest, _, effect = text.rpartition(":")
    key, _, value = rest.partition("=")
    return api.Taint(key=key, value=value, effect=effect)


def container(
    name: str = "main",
    *,
    image: str = "",
    ports: Iterable[api.ContainerPort] = (),
    **requests: str,
) -> api.Container:
    more = {key.replace("__", "/").replace("_", "."): text for key, text in requests.items()}
    return api.Container(
        name=name,
        image=image,
        resources=api.ResourceRequirements(requests=more),
        ports=tuple(ports),
    )


def pod(
    name: str = "pod",
    *,
    containers: Iterable[api.Container] | None = None,
    labels: Mapping[str, str] | None = None,
    namespace: str = "default",
    **spec: object,
) -> api.Pod:
    """A pod; unless it says otherwise it has one container that asks for 1 cpu and 1 GiB."""
    if containers is None:
        containers = (container(cpu="1", memory="1Gi"),)
    return api.Pod(
        metadata=ObjectMeta(name=name, uid=name, namespace=namespace, labels=dict(labels or {})),
        spec=api.PodSpec(containers=tuple(containers), **spec),  # type: ignore[arg-type]
    )


def sized(cpu: str = "1", memory: str = "1Gi", **spec: object) -> api.Pod:
    """A pod with one container of this size."""
    return pod(containers=(container(cpu=cpu, memory=memory),), **spec)  # type: ignore[arg-type]


def cluster(*nodes: api.Node) -> Cluster:
    made = Cluster()
    for one in nodes:
        made.node_seen(one)
    return made


def trial(cluster: Cluster, seed: int = 0, profile: Profile = DEFAULT) -> Trial:
    return Trial(cluster.snapshot(), profile, seed)


def gang(
    cluster: Cluster, *members: tuple[int, api.Pod], quorum: int | None = None, counted: int = 0
) -> Leaf:
    """A gang of some pods of each kind; all of them are its quorum unless it says otherwise."""
    batches = tuple(
        Batch(cluster.class_of(kind), tuple(f"{number}-{index}" for index in range(count)))
        for number, (count, kind) in enumerate(members)
    )
    total = sum(count for count, _ in members)
    return Leaf("gang", batches, total if quorum is None else quorum, counted)


def basic(cluster: Cluster, *members: tuple[int, api.Pod]) -> Leaf:
    made = gang(cluster, *members)
    return Leaf(made.key, made.batches, 1, gang=False)
