"""Random small clusters and pods, made so that every rule bites now and then."""

from datetime import UTC, datetime
from typing import TypeAlias

import msgspec
from hypothesis import strategies as st

from tests.core.support import container, node, pod
from tutti.api import core_v1 as api
from tutti.api.meta import LabelSelector, LabelSelectorRequirement

ZONES = ("a", "b", "c")
IMAGES = ("web:1", "registry:5000/db:latest")
SIZES = (10 << 20, 300 << 20, 1500 << 20)
OTHER_NAMESPACE = LabelSelector(match_labels={"kubernetes.io/metadata.name": "other"})
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
        unschedulable=draw(st.integers(0, 9)) == 9,
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
        namespace_selector=st.sampled_from((None, None, LabelSelector(), OTHER_NAMESPACE)),
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
    leaving = draw(st.integers(0, 5)) == 5
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


# --- one rule at a time ---------------------------------------------------------------------------

Situation: TypeAlias = tuple[list[api.Node], list[tuple[int, api.Pod]], api.Pod]
"""Nodes, pods that run on them (by the node's place in the list), and a pod to place."""


def situations() -> dict[str, st.SearchStrategy[Situation]]:
    """All rules together on odd nodes, and each rule alone where little else tells nodes apart."""
    alone = {
        what: st.tuples(alike_nodes(), _crowding(), asker) for what, asker in _askers().items()
    }
    return {
        "all rules": st.tuples(nodes(5), _running(pods() | social_pods()), pods() | social_pods()),
        "sizes": st.tuples(odd_sizes(), _running(lopsided_pods()), lopsided_pods()),
        "balance": st.tuples(alike_nodes(), _running(lopsided_pods()), lopsided_pods()),
        "taints and images": st.tuples(marked_nodes(), _crowding(), plain_pods()),
        "others' terms": st.tuples(alike_nodes(), _running(_heeders()), plain_pods()),
        **alone,
    }


def _crowding() -> st.SearchStrategy[list[tuple[int, api.Pod]]]:
    """Small pods, most of them on the first node."""
    tiny = st.builds(
        lambda app: pod(containers=[container(cpu="10m", memory="16Mi")], labels={"app": app}),
        st.sampled_from(APPS),
    )
    return st.lists(st.tuples(st.sampled_from((0, 0, 0, 1, 2)), tiny), min_size=2, max_size=6)


def _running(kinds: st.SearchStrategy[api.Pod]) -> st.SearchStrategy[list[tuple[int, api.Pod]]]:
    return st.lists(st.tuples(st.integers(0, 4), kinds), min_size=2, max_size=6)


@st.composite
def alike_nodes(draw: st.DrawFn) -> list[api.Node]:
    """Five alike but for their labels; the first is larger, and taken where no rule speaks."""
    return [
        node(
            f"even-{letter}",
            cpu="16" if letter == "a" else "8",
            memory="32Gi" if letter == "a" else "16Gi",
            labels={
                "zone": draw(st.sampled_from(ZONES)),
                **draw(st.sampled_from(({}, {"generation": "1"}, {"generation": "2"}))),
            },
        )
        for letter in "abcde"
    ]


@st.composite
def marked_nodes(draw: st.DrawFn) -> list[api.Node]:
    """Five alike but for what they would rather not run, and what they have at hand."""
    images = {IMAGES[0]: SIZES[2]}
    return [
        node(
            f"even-{letter}",
            taints=draw(st.sampled_from(((), (), ("slow=:PreferNoSchedule",)))),
            images=draw(st.sampled_from(({}, images))),
        )
        for letter in "abcde"
    ]


@st.composite
def odd_sizes(draw: st.DrawFn) -> list[api.Node]:
    return [
        node(
            f"odd-{letter}",
            cpu=draw(st.sampled_from(("3", "4", "7", "16"))),
            memory=draw(st.sampled_from(("4Gi", "9Gi", "16Gi", "64Gi"))),
            unschedulable=draw(st.sampled_from((False, False, True))),
        )
        for letter in "abcde"
    ]


@st.composite
def lopsided_pods(draw: st.DrawFn) -> api.Pod:
    """Much of one resource, and little of the other."""
    cpu, memory = draw(st.sampled_from((("2", "256Mi"), ("100m", "4Gi"), ("3", "6Gi"))))
    return pod(containers=[container(cpu=cpu, memory=memory)], labels={"app": "web"})


@st.composite
def plain_pods(draw: st.DrawFn, **spec: object) -> api.Pod:
    return pod(
        containers=[
            container(
                image=draw(st.sampled_from(("", "web:1"))),
                cpu=draw(st.sampled_from(("100m", "500m", "1"))),
                memory=draw(st.sampled_from(("256Mi", "1Gi", "2Gi"))),
            )
        ],
        labels={"app": draw(st.sampled_from(APPS))},
        **spec,  # type: ignore[arg-type]
    )


@st.composite
def _with(draw: st.DrawFn, **parts: st.SearchStrategy[object]) -> api.Pod:
    return draw(plain_pods(**{name: draw(part) for name, part in parts.items()}))


def _askers() -> dict[str, st.SearchStrategy[api.Pod]]:
    """Pods that ask for one thing."""
    near, away = _one_term(), _one_term()
    weighted = st.builds(
        api.WeightedPodAffinityTerm, weight=st.integers(1, 100), pod_affinity_term=_one_term()
    ).map(lambda term: api.PodAffinity(preferred=(term,)))
    pins = st.sampled_from("abcde").map(
        lambda letter: api.NodeSelectorTerm(
            match_fields=(
                api.NodeSelectorRequirement(
                    key="metadata.name", operator="In", values=(f"even-{letter}",)
                ),
            ),
            match_expressions=(
                api.NodeSelectorRequirement(key="zone", operator="In", values=("a", "b")),
            ),
        )
    )
    return {
        "node affinity": _with(affinity=affinities()),
        "preferred nodes": _with(affinity=_preferred_zone()),
        "a name": _with(affinity=pins.map(_required_nodes)),
        "affinity": _with(affinity=near.map(lambda t: api.Affinity(pod_affinity=_required(t)))),
        "anti-affinity": _with(
            affinity=away.map(lambda t: api.Affinity(pod_anti_affinity=_required(t)))
        ),
        "preferred affinity": _with(
            affinity=weighted.map(lambda term: api.Affinity(pod_affinity=term))
        ),
        "preferred anti-affinity": _with(
            affinity=weighted.map(lambda term: api.Affinity(pod_anti_affinity=term))
        ),
        "hard spread": _with(topology_spread_constraints=_one_spread("DoNotSchedule")),
        "soft spread": _with(topology_spread_constraints=_one_spread("ScheduleAnyway")),
    }


def _heeders() -> st.SearchStrategy[api.Pod]:
    """Pods of whom others must heed something."""
    term = _one_term()
    return st.one_of(
        _with(affinity=term.map(lambda t: api.Affinity(pod_anti_affinity=_required(t)))),
        _with(affinity=term.map(lambda t: api.Affinity(pod_affinity=_required(t)))),
    )


def _one_term() -> st.SearchStrategy[api.PodAffinityTerm]:
    return st.builds(
        api.PodAffinityTerm, topology_key=st.sampled_from(KEYS), label_selector=_app_selector()
    )


def _one_spread(when: str) -> st.SearchStrategy[tuple[api.TopologySpreadConstraint, ...]]:
    return st.builds(
        api.TopologySpreadConstraint,
        max_skew=st.just(1),
        topology_key=st.sampled_from(KEYS),
        when_unsatisfiable=st.just(when),
        label_selector=_app_selector(),
    ).map(lambda constraint: (constraint,))


def _app_selector() -> st.SearchStrategy[LabelSelector]:
    return st.sampled_from(APPS).map(lambda app: LabelSelector(match_labels={"app": app}))


def _required(term: api.PodAffinityTerm) -> api.PodAffinity:
    return api.PodAffinity(required=(term,))


def _required_nodes(term: api.NodeSelectorTerm) -> api.Affinity:
    selector = api.NodeSelector(node_selector_terms=(term,))
    return api.Affinity(node_affinity=api.NodeAffinity(required=selector))


def _preferred_zone() -> st.SearchStrategy[api.Affinity]:
    rules = st.sampled_from(ZONES).map(
        lambda zone: api.NodeSelectorRequirement(key="zone", operator="In", values=(zone,))
    )
    terms = st.builds(
        api.PreferredSchedulingTerm,
        weight=st.integers(1, 100),
        preference=rules.map(lambda rule: api.NodeSelectorTerm(match_expressions=(rule,))),
    )
    preferred = st.lists(terms, min_size=1, max_size=2).map(tuple)
    return st.builds(api.Affinity, node_affinity=st.builds(api.NodeAffinity, preferred=preferred))
