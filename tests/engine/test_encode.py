"""Objects to columns, row by row: they must say what a fresh reading of all objects would say."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.core import clusters
from tests.core.support import cluster, container, node, pod, sized
from tests.engine.stage import Stage
from tests.engine.stage import node as stage_node
from tutti.api.core_v1 import Affinity, Node, Pod, PodAffinity, PodAffinityTerm
from tutti.api.meta import LabelSelector
from tutti.core.resources import CPU
from tutti.engine.encode import Cluster


def cpu_used(here: Cluster, name: str) -> int:
    snapshot = here.snapshot()
    return int(snapshot.used[CPU, snapshot.nodes.row_of[name]])


@given(st.lists(clusters.nodes(), min_size=1, max_size=4), st.lists(clusters.pods(), max_size=6))
def test_columns_equal_a_fresh_reading(waves: list[list[Node]], pods: list[Pod]) -> None:
    here = Cluster()
    for wave, arrived in enumerate(waves):
        for one in arrived:
            here.node_seen(one)
        for index, one in enumerate(pods):
            here.hold(f"pod-{index}", here.class_of(one), f"node-{'abcdef'[(index + wave) % 6]}")
        here.node_gone(arrived[0].metadata.name)
        here.release(f"pod-{wave}")
        assert here.check() == []


def test_a_difference_is_named() -> None:
    here = cluster(node("n0"))
    here._tables.used[CPU, 0] = 7  # what should never happen: somebody else writes into the columns

    assert here.check() == ["node n0: used cpu is 7, should be 0"]


def test_pods_that_ask_for_the_same_share_a_class() -> None:
    here = cluster(node("n0"))

    one = here.class_of(pod("a", containers=[container(cpu="1", memory="1Gi")]))
    same = here.class_of(pod("b", containers=[container(memory="1024Mi", cpu="1000m")]))
    other = here.class_of(pod("c", containers=[container(cpu="2", memory="1Gi")]))

    assert one is same
    assert one is not other


def test_a_running_pod_is_of_the_class_it_had_when_it_was_pending() -> None:
    here = cluster(node("n0"))
    pending = sized("1")
    running = msgspec.structs.replace(
        pending, spec=msgspec.structs.replace(pending.spec, node_name="n0")
    )

    assert here.class_of(pending) is here.class_of(running)


def test_a_heartbeat_changes_nothing() -> None:
    here = cluster(node("n0"))
    before = here.snapshot()

    here.node_seen(node("n0"))

    assert here.snapshot().version == before.version


def test_what_pods_hold_waits_for_their_node() -> None:
    here = Cluster()
    here.hold("early", here.class_of(sized("1")), "n0")

    here.node_seen(node("n0"))
    assert cpu_used(here, "n0") == 1000

    here.node_gone("n0")
    here.node_seen(node("n0"))
    assert cpu_used(here, "n0") == 1000


def test_a_pod_counts_once_wherever_it_is_said_to_be() -> None:
    here = cluster(node("n0"), node("n1"))
    cls = here.class_of(sized("1"))

    for name in ("n0", "n0", "n1"):
        here.hold("pod", cls, name)
    assert (cpu_used(here, "n0"), cpu_used(here, "n1")) == (0, 1000)

    here.release("pod")
    here.release("pod")
    assert (cpu_used(here, "n0"), cpu_used(here, "n1")) == (0, 0)


def test_a_snapshot_can_not_be_written() -> None:
    snapshot = cluster(node("n0")).snapshot()

    assert not snapshot.used.flags.writeable
    assert not snapshot.nodes.allocatable.flags.writeable
    assert not snapshot.nodes.labels["kubernetes.io/hostname"].codes.flags.writeable


def test_the_cluster_grows_beyond_its_first_rows() -> None:
    here = cluster(*(node(f"n{index}", labels={"index": str(index)}) for index in range(200)))

    assert here.snapshot().node_count == 200
    assert here.check() == []


def apart(app: str) -> Pod:
    """A pod that keeps away from its like: its selector is its own."""
    term = PodAffinityTerm(
        topology_key="kubernetes.io/hostname",
        label_selector=LabelSelector(match_labels={"app": app}),
    )
    anti = PodAffinity(required=(term,))
    return pod(app, labels={"app": app}, affinity=Affinity(pod_anti_affinity=anti))


def test_what_selectors_of_pods_long_gone_counted_is_dropped() -> None:
    here = cluster(node("n0", example_com__gpu="4"), node("n1"))
    stays = apart("stays")
    here.hold("stays", here.class_of(stays), "n0")
    for number in range(200):
        gone = apart(f"gone-{number}")
        here.hold("gone", here.class_of(gone), "n1")
        here.release("gone")
    assert here.is_overgrown

    here.begin_anew()
    for _ in range(2):
        here.hold("stays", here.class_of(stays), "n0")
    here.settle()

    assert not here.is_overgrown
    assert here.check() == []
    assert len(here.snapshot().used) == 6 + 1 + 2
    assert cpu_used(here, "n0") == 1000


def test_a_scheduler_that_lives_long_does_not_grow() -> None:
    """Pod after pod, each with a selector of its own; what is left over stays bounded."""
    stage = Stage()
    stage.add(*(stage_node(f"n{number}") for number in range(2)))
    for number in range(150):
        name = f"job-{number}"
        made = apart(name)
        meta = msgspec.structs.replace(made.metadata, uid=f"pod-{name}")
        spec = msgspec.structs.replace(made.spec, scheduler_name="tutti")
        stage.add(msgspec.structs.replace(made, metadata=meta, spec=spec))
        stage.play()
        assert stage.bound(name) == 1
        stage.remove(name)
    stage.play()

    assert stage.engine.check() == []
    assert len(stage.engine.cluster.snapshot().used) < 300
