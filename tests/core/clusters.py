"""Random small clusters and pods, made so that every rule bites now and then."""

from datetime import UTC, datetime

import msgspec
from hypothesis import strategies as st

from tests.core.support import node, pod
from tutti.api import core_v1 as api
from tutti.api.meta import LabelSelector, LabelSelectorRequirement

ZONES = ("a", "b", "c")
IMAGES = ("web:1", "registry:5000/db:latest")
SIZES = (10 << 20, 300 << 20, 1500 << 20)
APPS = ("web", "db")
KEYS = ("zone", "kubernetes.io/hostname", "generation")
GENERATIONS = ("1", "2", "x")
TAINTS = (
    "gpu=yes:NoSchedule",
    "gpu=no:NoSchedule",
    "old=:NoExecute",
    "slow=:PreferNoSchedule",
    "hot=:PreferNoSchedule",
)


@st.composite
def nodes(draw: st.DrawFn, at_most: int = 6) -> list[api.Node]:
    """Nodes in any order, with names that say nothing about it."""
    names = draw(st.permutations([f"node-{letter}" for letter in "abcdef"[:at_most]]))
    count = draw(st.integers(1, at_most))
    return [_node(draw, name) for name in names[:count]]


def _node(draw: st.DrawFn, name: str) -> api.Node:
    labels = {}
    if draw(st.booleans()):
        labels["zone"] = draw(st.sampled_from(ZONES))
    if draw(st.booleans()):
        labels["generation"] = draw(st.sampled_from(GENERATIONS))
    extended = {"example_com__gpu": "2"} if draw(st.booleans()) else {}
    return node(
        name,
        cpu=draw(st.sampled_from(("0", "2", "4", "6500m"))),
        memory=draw(st.sampled_from(("4Gi", "8Gi", "9Gi"))),
        labels=labels,
        taints=draw(st.lists(st.sampled_from(TAINTS), max_size=2, unique=True)),
        unschedulable=draw(st.integers(0, 9)) == 0,
        pods=draw(st.sampled_from((2, 5, 110))),
        images=draw(st.dictionaries(st.sampled_from(IMAGES), st.sampled_from(SIZES), max_size=2)),
        features=draw(st.sampled_from(((), (), ("VolumeBindMountOptions", "Other")))),
        **extended,
    )


def requirements() -> st.SearchStrategy[api.NodeSelectorRequirement]:
    zone = st.builds(
        api.NodeSelectorRequirement,
        key=st.just("zone"),
        operator=st.sampled_from(("In", "NotIn", "Exists", "DoesNotExist")),
        values=st.lists(st.sampled_from((*ZONES, "nowhere")), min_size=1, max_size=2).map(tuple),
    )
    generation = st.builds(
        api.NodeSelectorRequirement,
        key=st.sampled_from(("generation", "unheard-of")),
        operator=st.sampled_from(("Gt", "Lt")),
        values=st.sampled_from((("1",), ("2",), ("y",))),
    )
    return st.one_of(zone, generation)


def terms() -> st.SearchStrategy[api.NodeSelectorTerm]:
    return st.builds(
        api.NodeSelectorTerm, match_expressions=st.lists(requirements(), max_size=2).map(tuple)
    )


def affinities() -> st.SearchStrategy[api.Affinity]:
    preferred = st.builds(
        api.PreferredSchedulingTerm, weight=st.integers(1, 100), preference=terms()
    )
    required = st.builds(
        api.NodeSelector, node_selector_terms=st.lists(terms(), min_size=1, max_size=2).map(tuple)
    )
    node_affinity = st.builds(
        api.NodeAffinity,
        required=st.none() | required,
        preferred=st.lists(preferred, max_size=3).map(tuple),
    )
    return st.builds(api.Affinity, node_affinity=node_affinity)


def tolerations() -> st.SearchStrategy[tuple[api.Toleration, ...]]:
    one = st.builds(
        api.Toleration,
        key=st.sampled_from(("gpu", "old", "slow", "")),
        operator=st.sampled_from(("Exists", "Equal", "")),
        value=st.sampled_from(("", "yes")),
        effect=st.sampled_from(("", "NoSchedule", "PreferNoSchedule", "NoExecute")),
    )
    return st.lists(one, max_size=2).map(tuple)


def containers(*, odd: bool = False) -> st.SearchStrategy[api.Container]:
    ports = st.builds(
        api.ContainerPort,
        host_port=st.sampled_from((0, 80, 81)),
        host_ip=st.sampled_from(("", "0.0.0.0", "10.0.0.1", "10.0.0.2")),
        protocol=st.sampled_from(("TCP", "UDP")),
    )
    requests = st.fixed_dictionaries(
        {},
        optional={
            "cpu": st.sampled_from(("0", "100m", "1", "1500m")),
            "memory": st.sampled_from(("256Mi", "1Gi", "3Gi")),
            "example.com/gpu": st.just("1"),
        },
    )
    mount = api.VolumeMount(bind_mount_options=("noexec",))
    return st.builds(
        api.Container,
        image=st.sampled_from(("", "web:1", "registry:5000/db", "unheard-of")),
        volume_mounts=st.just((mount,) if odd else ()),
        resources=st.builds(api.ResourceRequirements, requests=requests),
        ports=st.lists(ports, max_size=1).map(tuple),
    )


def selectors() -> st.SearchStrategy[LabelSelector | None]:
    matching = st.builds(
        LabelSelector, match_labels=st.dictionaries(st.just("app"), st.sampled_from(APPS))
    )
    expressing = st.builds(
        LabelSelector,
        match_expressions=st.tuples(
            st.builds(
                LabelSelectorRequirement,
                key=st.sampled_from(("app", "tier")),
                operator=st.sampled_from(("In", "NotIn", "Exists", "DoesNotExist")),
                values=st.just(("web", "front")),
            )
        ),
    )
    return st.one_of(st.none(), st.just(LabelSelector()), matching, matching, expressing)


def spreads() -> st.SearchStrategy[api.TopologySpreadConstraint]:
    return st.builds(
        api.TopologySpreadConstraint,
        max_skew=st.integers(1, 2),
        topology_key=st.sampled_from(KEYS),
        when_unsatisfiable=st.sampled_from(("DoNotSchedule", "ScheduleAnyway")),
        label_selector=selectors(),
        min_domains=st.sampled_from((None, 1, 3)),
        node_affinity_policy=st.sampled_from((None, "Honor", "Ignore")),
        node_taints_policy=st.sampled_from((None, "Honor", "Ignore")),
        match_label_keys=st.sampled_from(((), ("tier",))),
    )


def affinity_terms() -> st.SearchStrategy[api.PodAffinityTerm]:
    return st.builds(
        api.PodAffinityTerm,
        topology_key=st.sampled_from(KEYS),
        label_selector=selectors(),
        namespaces=st.sampled_from(((), (), ("default", "other"))),
        namespace_selector=st.sampled_from((None, None, LabelSelector())),
        match_label_keys=st.sampled_from(((), ("tier",))),
        mismatch_label_keys=st.sampled_from(((), (), ("app",))),
    )


def pod_affinities() -> st.SearchStrategy[api.PodAffinity]:
    weighted = st.builds(
        api.WeightedPodAffinityTerm, weight=st.integers(1, 100), pod_affinity_term=affinity_terms()
    )
    return st.builds(
        api.PodAffinity,
        required=st.lists(affinity_terms(), max_size=1).map(tuple),
        preferred=st.lists(weighted, max_size=1).map(tuple),
    )


@st.composite
def social_pods(draw: st.DrawFn) -> api.Pod:
    """Pods that ask about others, or that others ask about."""
    affinity = api.Affinity(
        pod_affinity=draw(st.none() | pod_affinities()),
        pod_anti_affinity=draw(st.none() | pod_affinities()),
    )
    leaving = draw(st.integers(0, 5)) == 0
    made = pod(
        containers=draw(st.lists(containers(), min_size=1, max_size=1)),
        labels=draw(
            st.fixed_dictionaries(
                {"app": st.sampled_from(APPS)},
                optional={"tier": st.sampled_from(("front", "back"))},
            )
        ),
        namespace=draw(st.sampled_from(("default", "default", "other"))),
        affinity=affinity,
        node_selector=draw(st.just({}) | st.just({"zone": "a"})),
        topology_spread_constraints=tuple(draw(st.lists(spreads(), max_size=2))),
    )
    if not leaving:
        return made
    gone = msgspec.structs.replace(
        made.metadata, deletion_timestamp=datetime(2026, 1, 1, tzinfo=UTC)
    )
    return msgspec.structs.replace(made, metadata=gone)


@st.composite
def pods(draw: st.DrawFn) -> api.Pod:
    return pod(
        containers=draw(
            st.lists(containers(), min_size=1, max_size=2)
            | st.lists(containers(odd=True), min_size=1, max_size=1)
        ),
        tolerations=draw(tolerations()),
        affinity=draw(st.none() | affinities()),
        node_selector=draw(st.just({}) | st.just({"zone": "a"})),
    )
