"""Pods that heed other pods: spread, affinity, anti-affinity; alone and inside one gang."""

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import permutations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.oracle import Oracle
from tests.core.support import cluster, container, gang, node, pod, trial
from tutti.api import core_v1 as api
from tutti.api.meta import LabelSelector
from tutti.core.decide import plan
from tutti.core.plan import Placed, Refusal
from tutti.engine.encode import Cluster

HOST, RACK = "kubernetes.io/hostname", "rack"


def near(key: str, **labels: str) -> api.PodAffinityTerm:
    return api.PodAffinityTerm(topology_key=key, label_selector=LabelSelector(match_labels=labels))


def like(
    app: str,
    *,
    cpu: str = "1",
    to: Iterable[api.PodAffinityTerm] = (),
    apart: Iterable[api.PodAffinityTerm] = (),
    spread: Iterable[api.TopologySpreadConstraint] = (),
    namespace: str = "default",
) -> api.Pod:
    return pod(
        app,
        containers=[container(cpu=cpu, memory="1Gi")],
        labels={"app": app},
        namespace=namespace,
        affinity=api.Affinity(
            pod_affinity=api.PodAffinity(required=tuple(to)),
            pod_anti_affinity=api.PodAffinity(required=tuple(apart)),
        ),
        topology_spread_constraints=tuple(spread),
    )


def even(key: str, skew: int = 1, **fields: object) -> api.TopologySpreadConstraint:
    return api.TopologySpreadConstraint(
        max_skew=skew,
        topology_key=key,
        when_unsatisfiable="DoNotSchedule",
        label_selector=LabelSelector(match_labels={"app": "web"}),
        **fields,  # type: ignore[arg-type]
    )


def racks(*rooms: tuple[str, ...]) -> list[api.Node]:
    """Nodes in racks, each by its cpus."""
    return [
        node(f"r{rack}-n{number}", cpu, "64Gi", labels={RACK: f"r{rack}"})
        for rack, cpus in enumerate(rooms)
        for number, cpu in enumerate(cpus)
    ]


def placed(here: Cluster, *members: tuple[int, api.Pod]) -> list[str]:
    """The nodes that a gang gets, in order; none where it is refused."""
    for _ in range(2):
        root = gang(here, *members)
    decided = plan(trial(here), root)
    return sorted(name for _, name in decided.bindings) if isinstance(decided, Placed) else []


def refusal(here: Cluster, *members: tuple[int, api.Pod]) -> Refusal:
    decided = plan(trial(here), gang(here, *members))
    assert isinstance(decided, Refusal)
    return decided


def run(here: Cluster, *running: tuple[api.Pod, str]) -> None:
    for _ in range(2):
        for number, (one, name) in enumerate(running):
            here.hold(f"running-{number}", here.class_of(one), name)


# --- 113: spread ----------------------------------------------------------------------------------


def test_113_no_domain_runs_ahead_of_the_emptiest() -> None:
    here = cluster(*racks(("8", "8"), ("8",)))

    assert placed(here, (4, like("web", spread=[even(RACK)]))) in (
        ["r0-n0", "r0-n1", "r1-n0", "r1-n0"],
        ["r0-n0", "r0-n0", "r1-n0", "r1-n0"],
        ["r0-n1", "r0-n1", "r1-n0", "r1-n0"],
    )


def test_113_where_a_domain_is_full_the_others_wait_for_it() -> None:
    here = cluster(*racks(("8",), ("1",)))

    assert refusal(here, (4, like("web", spread=[even(RACK)]))).tally.counts == (
        ("Insufficient cpu", 1),
        ("node(s) didn't match pod topology spread constraints", 1),
    )


def test_113_too_few_domains_count_as_an_empty_one_more() -> None:
    here = cluster(*racks(("8",), ("8",)))

    assert len(placed(here, (2, like("web", spread=[even(RACK, min_domains=3)])))) == 2
    assert placed(here, (3, like("web", spread=[even(RACK, min_domains=3)]))) == []


def test_113_a_node_without_the_label_is_out_of_the_question() -> None:
    here = cluster(node("bare"))

    assert refusal(here, (1, like("web", spread=[even(RACK)]))).message == (
        "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints "
        "(missing required label)."
    )


def test_113_constraints_are_asked_in_turn() -> None:
    here = cluster(
        node("crowded", labels={"rack": "r1", "row": "1"}),
        node("crowded, in no row", labels={"rack": "r1"}),
        node("in no row", labels={"rack": "r2"}),
        node("closed", labels={"rack": "r2", "row": "1"}, unschedulable=True),
    )
    pending = like("web", spread=[even(RACK), even("row", skew=5)])
    here.hold("one", here.class_of(pending), "crowded")

    assert refusal(here, (1, pending)).message == (
        "0/4 nodes are available: "
        "1 node(s) didn't match pod topology spread constraints (missing required label), "
        "1 node(s) were unschedulable, 2 node(s) didn't match pod topology spread constraints."
    )


def test_113_pods_that_are_leaving_and_those_of_other_namespaces_are_not_counted() -> None:
    here = cluster(*racks(("8",), ("8",)))
    web = like("web")
    leaving = msgspec.structs.replace(
        web,
        metadata=msgspec.structs.replace(
            web.metadata, deletion_timestamp=datetime(2026, 1, 1, tzinfo=UTC)
        ),
    )
    here.class_of(like("web", spread=[even(RACK)]))
    run(here, (leaving, "r0-n0"), (like("web", namespace="other"), "r0-n0"), (web, "r1-n0"))

    assert placed(here, (1, like("web", spread=[even(RACK)]))) == ["r0-n0"]


@pytest.mark.parametrize(("policy", "fits"), [("Ignore", False), ("Honor", True)])
def test_113_tainted_nodes_hold_a_spread_back_unless_it_honors_taints(
    policy: str, fits: bool
) -> None:
    here = cluster(*racks(("8",)), node("r9", labels={RACK: "r9"}, taints=["gpu=yes:NoSchedule"]))
    asking = like("web", spread=[even(RACK, node_taints_policy=policy)])

    assert bool(placed(here, (2, asking))) is fits


# --- 114: affinity and anti-affinity --------------------------------------------------------------


def test_114_the_first_of_pods_that_want_to_be_together_goes_anywhere() -> None:
    here = cluster(*racks(("4",), ("2",)))

    assert placed(here, (3, like("web", to=[near(RACK, app="web")]))) == ["r0-n0"] * 3


def test_114_nobody_to_be_near_is_a_refusal() -> None:
    here = cluster(*racks(("4",)))

    assert refusal(here, (1, like("web", to=[near(RACK, app="db")]))).message == (
        "0/1 nodes are available: 1 node(s) didn't match pod affinity rules."
    )


def test_114_pods_that_run_keep_others_away() -> None:
    here = cluster(*racks(("4", "4"), ("4",)))
    run(here, (like("hermit", apart=[near(RACK, app="web")]), "r0-n0"))

    assert placed(here, (1, like("web"))) == ["r1-n0"]
    assert placed(here, (1, like("db"))) != []
    here = cluster(*racks(("4",)))
    run(here, (like("hermit", apart=[near(RACK, app="web")]), "r0-n0"))
    assert refusal(here, (1, like("web"))).message == (
        "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules."
    )


@pytest.mark.parametrize(
    ("selector", "fits"),
    [
        pytest.param(None, True, id="none: the pod's own"),
        pytest.param(LabelSelector(), False, id="empty: every"),
        pytest.param(
            LabelSelector(match_labels={"kubernetes.io/metadata.name": "other"}),
            False,
            id="one by its name",
        ),
        pytest.param(
            LabelSelector(match_labels={"kubernetes.io/metadata.name": "third"}),
            True,
            id="another by its name",
        ),
    ],
)
def test_114_a_namespace_selector_says_whose_pods_a_term_speaks_of(
    selector: LabelSelector | None, fits: bool
) -> None:
    here = cluster(*racks(("4",)))
    term = api.PodAffinityTerm(
        topology_key=RACK,
        label_selector=LabelSelector(match_labels={"app": "web"}),
        namespace_selector=selector,
    )
    asking = like("db", apart=[term])
    here.class_of(asking)
    run(here, (like("web", namespace="other"), "r0-n0"))

    assert bool(placed(here, (1, asking))) is fits


# --- 47, and weaknesses 9.3 and 9.4: members of one gang ----------------------------------------


def test_47_members_see_those_placed_before_them() -> None:
    loner = like("web", apart=[near(HOST, app="web")])

    assert placed(cluster(node("a"), node("b")), (2, loner)) == ["a", "b"]
    assert placed(cluster(node("a"), node("b")), (3, loner)) == []


def test_who_follows_a_member_may_be_listed_first() -> None:
    """Weakness 9.3: the leader is placed first, wherever it stands."""
    here = cluster(node("only"))

    assert (
        placed(
            here, (1, like("worker", cpu="2", to=[near(HOST, app="leader")])), (1, like("leader"))
        )
        == ["only"] * 2
    )


def test_a_domain_is_chosen_in_which_all_have_room() -> None:
    """Weakness 9.4: the emptiest node is in a rack that is too small."""
    here = cluster(node("n1", "2", labels={RACK: "r1"}), node("n2", "8", labels={RACK: "r2"}))
    run(here, (pod(containers=[container(cpu="5", memory="5Gi")]), "n2"))

    assert placed(here, (3, like("web", to=[near(RACK, app="web")]))) == ["n2"] * 3


def test_a_leader_goes_where_its_workers_have_room() -> None:
    here = cluster(*racks(("3",), ("2", "2", "2")))
    workers = like("worker", to=[near(RACK, app="leader")])

    assert all(name.startswith("r1") for name in placed(here, (1, like("leader")), (4, workers)))


members = st.lists(
    st.builds(
        like,
        st.sampled_from(("web", "db")),
        cpu=st.sampled_from(("1", "2")),
        to=st.lists(
            st.builds(near, st.sampled_from((HOST, RACK)), app=st.sampled_from(("web", "db"))),
            max_size=1,
        ),
        apart=st.lists(
            st.builds(near, st.sampled_from((HOST, RACK)), app=st.sampled_from(("web", "db"))),
            max_size=1,
        ),
    ),
    min_size=2,
    max_size=4,
)


@given(
    st.lists(
        st.lists(st.sampled_from(("1", "2", "3")), min_size=1, max_size=2), min_size=1, max_size=2
    ),
    members,
)
def test_a_gang_is_placed_wherever_an_order_and_a_choice_of_nodes_exists(
    rooms: list[list[str]], pods: list[api.Pod]
) -> None:
    nodes = racks(*map(tuple, rooms))
    here = cluster(*nodes)
    for one in pods:
        here.class_of(one)

    decided = plan(trial(here), gang(here, *((1, one) for one in pods)))

    possible = exists(nodes, pods)
    assert isinstance(decided, Placed) is possible
    if not possible:
        assert isinstance(decided, Refusal)


def exists(nodes: list[api.Node], pods: list[api.Pod]) -> bool:
    """Whether the slow scheduler, told whom to place next and where, can place all."""
    return any(_can_go_on(Oracle(nodes, tie=len), list(order)) for order in permutations(pods))


def _can_go_on(oracle: Oracle, left: list[api.Pod]) -> bool:
    if not left:
        return True
    for one in oracle.nodes:
        if not oracle.why_not(left[0], one):
            oracle.running.append((left[0], one.metadata.name))
            if _can_go_on(oracle, left[1:]):
                return True
            oracle.running.pop()
    return False
