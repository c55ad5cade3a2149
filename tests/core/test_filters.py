"""Which nodes a pod may go to, and the words for those it may not."""

import pytest

from tests.core.support import cluster, container, node, pod, sized, trial
from tutti.api import core_v1 as api
from tutti.core.reasons import tally
from tutti.engine.encode import Cluster


def reasons(here: Cluster, asking: api.Pod) -> str:
    cls = here.class_of(asking)
    attempt = trial(here)
    return tally(attempt.snapshot, attempt.used, attempt.profile, cls).sentence()


def accepted(here: Cluster, asking: api.Pod) -> list[str]:
    cls = here.class_of(asking)
    attempt = trial(here)
    rows = attempt.ranking(cls).open.nonzero()[0].tolist()
    return sorted(attempt.snapshot.nodes.names[row] for row in rows)


def rule(key: str, operator: str, *values: str) -> api.NodeSelectorRequirement:
    return api.NodeSelectorRequirement(key=key, operator=operator, values=values)


def term(*labels: api.NodeSelectorRequirement, name: str = "") -> api.NodeSelectorTerm:
    fields = (rule("metadata.name", "In", name),) if name else ()
    return api.NodeSelectorTerm(match_expressions=labels, match_fields=fields)


def requiring(*terms: api.NodeSelectorTerm) -> api.Pod:
    selector = api.NodeSelector(node_selector_terms=terms)
    return pod(affinity=api.Affinity(node_affinity=api.NodeAffinity(required=selector)))


ZONES = (
    node("in-a", labels={"zone": "a", "cores": "8"}),
    node("in-b", labels={"zone": "b", "cores": "16"}),
    node("nowhere", labels={"cores": "many"}),
)


@pytest.mark.parametrize(
    ("asking", "names"),
    [
        pytest.param(requiring(term(rule("zone", "In", "a", "b"))), ["in-a", "in-b"], id="In"),
        pytest.param(
            requiring(term(rule("zone", "NotIn", "a"))), ["in-b", "nowhere"], id="NotIn, or absent"
        ),
        pytest.param(requiring(term(rule("zone", "Exists"))), ["in-a", "in-b"], id="Exists"),
        pytest.param(requiring(term(rule("zone", "DoesNotExist"))), ["nowhere"], id="DoesNotExist"),
        pytest.param(requiring(term(rule("cores", "Gt", "8"))), ["in-b"], id="Gt"),
        pytest.param(requiring(term(rule("cores", "Lt", "16"))), ["in-a"], id="Lt"),
        pytest.param(
            requiring(term(rule("cores", "Gt", "few"))), [], id="a bound that is no number"
        ),
        pytest.param(requiring(term(rule("zone", "Near", "a"))), [], id="an operator unheard of"),
        pytest.param(requiring(term()), [], id="an empty term is met by no node"),
        pytest.param(requiring(), [], id="no term at all"),
        pytest.param(
            requiring(term(rule("zone", "In", "a")), term(rule("cores", "Gt", "8"))),
            ["in-a", "in-b"],
            id="terms are alternatives",
        ),
        pytest.param(
            requiring(term(rule("zone", "Exists"), rule("cores", "Gt", "8"))),
            ["in-b"],
            id="rules of a term hold together",
        ),
        pytest.param(pod(node_selector={"zone": "b"}), ["in-b"], id="nodeSelector"),
        pytest.param(pod(node_selector={"color": "red"}), [], id="a label that no node carries"),
        pytest.param(requiring(term(name="in-b")), ["in-b"], id="a node by its name"),
    ],
)
def test_111_required_node_affinity(asking: api.Pod, names: list[str]) -> None:
    assert accepted(cluster(*ZONES), asking) == names


@pytest.mark.parametrize(
    ("asking", "sentence"),
    [
        pytest.param(
            pod(node_selector={"zone": "c"}),
            "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
            id="a selector",
        ),
        pytest.param(
            requiring(term(name="elsewhere")),
            "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity].",
            id="a name that isn't there",
        ),
        pytest.param(
            requiring(term(rule("zone", "In", "b"), name="in-a")),
            "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "
            "2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
            id="a name, and a label that it doesn't carry",
        ),
        pytest.param(
            pod(
                affinity=api.Affinity(
                    node_affinity=api.NodeAffinity(
                        required=api.NodeSelector(
                            node_selector_terms=(
                                api.NodeSelectorTerm(
                                    match_fields=(
                                        rule("metadata.name", "In", "in-a"),
                                        rule("metadata.name", "In", "in-b"),
                                    )
                                ),
                            )
                        )
                    )
                )
            ),
            "0/3 nodes are available: pod affinity terms conflict.",
            id="two names at once",
        ),
        pytest.param(
            sized("5", "9Gi"),
            "0/3 nodes are available: 3 Insufficient cpu, 3 Insufficient memory.",
            id="109: every resource that is short is said",
        ),
        pytest.param(
            pod(containers=[container(nvidia_com__gpu="1")]),
            "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
            id="109: an extended resource that no node has",
        ),
    ],
)
def test_120_refusals_speak_kube_schedulers_words(asking: api.Pod, sentence: str) -> None:
    assert reasons(cluster(*ZONES), asking) == sentence


def test_no_node_at_all_has_a_sentence_of_its_own() -> None:
    assert reasons(cluster(), pod()) == "no nodes available to schedule pods"


def test_109_too_many_pods() -> None:
    here = cluster(node("n0", pods=1))
    here.hold("running", here.class_of(pod()), "n0")

    assert reasons(here, pod(containers=[])) == "0/1 nodes are available: 1 Too many pods."


@pytest.mark.parametrize(
    ("toleration", "passes"),
    [
        pytest.param(None, False, id="none"),
        pytest.param(api.Toleration(key="gpu", value="yes"), True, id="the same value"),
        pytest.param(api.Toleration(key="gpu", value="no"), False, id="another value"),
        pytest.param(api.Toleration(key="gpu", operator="Exists"), True, id="any value"),
        pytest.param(api.Toleration(operator="Exists"), True, id="anything"),
        pytest.param(
            api.Toleration(key="gpu", operator="Exists", effect="NoExecute"), False, id="an effect"
        ),
        pytest.param(
            api.Toleration(key="gpu", operator="Near", value="yes"), False, id="an unknown operator"
        ),
    ],
)
@pytest.mark.parametrize("effect", ["NoSchedule", "PreferNoSchedule"])
def test_110_only_taints_that_repel_rule_nodes_out(
    toleration: api.Toleration | None, passes: bool, effect: str
) -> None:
    here = cluster(node("n0", taints=[f"gpu=yes:{effect}"]))
    asking = pod(tolerations=(toleration,) if toleration else ())

    assert bool(accepted(here, asking)) is (passes or effect == "PreferNoSchedule")


@pytest.mark.parametrize(
    ("own", "taint", "passes"), [("Lt", "3", True), ("Lt", "9", False), ("Gt", "9", True)]
)
def test_110_tolerations_compare_numbers(own: str, taint: str, passes: bool) -> None:
    here = cluster(node("n0", taints=[f"level={taint}:NoSchedule"]))
    asking = pod(tolerations=(api.Toleration(key="level", operator=own, value="5"),))

    assert bool(accepted(here, asking)) is passes


def test_a_cordoned_node_takes_only_who_tolerates_it() -> None:
    here = cluster(node("n0", unschedulable=True))
    tolerant = pod(
        tolerations=(api.Toleration(key="node.kubernetes.io/unschedulable", operator="Exists"),)
    )

    assert accepted(here, pod()) == []
    assert accepted(here, tolerant) == ["n0"]


def on_port(number: int, address: str = "", protocol: str = "TCP") -> api.Pod:
    port = api.ContainerPort(host_port=number, host_ip=address, protocol=protocol)
    return pod(containers=[container(ports=[port])])


@pytest.mark.parametrize(
    ("running", "asking", "fits"),
    [
        pytest.param(on_port(80), on_port(80), False, id="the same port"),
        pytest.param(on_port(80), on_port(81), True, id="another port"),
        pytest.param(on_port(80), on_port(80, protocol="UDP"), True, id="another protocol"),
        pytest.param(on_port(80, "10.0.0.1"), on_port(80, "10.0.0.2"), True, id="other addresses"),
        pytest.param(on_port(80, "10.0.0.1"), on_port(80), False, id="every address asked for"),
        pytest.param(on_port(80), on_port(80, "10.0.0.1"), False, id="every address taken"),
    ],
)
def test_112_host_ports(running: api.Pod, asking: api.Pod, fits: bool) -> None:
    here = cluster(node("n0"))
    here.hold("running", here.class_of(running), "n0")

    expected = (
        "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."
    )
    assert accepted(here, asking) == (["n0"] if fits else [])
    assert fits or reasons(here, asking) == expected
