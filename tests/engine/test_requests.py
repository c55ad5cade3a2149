"""What a pod asks of its node (behaviour 108)."""

import pytest

from tests.core.support import container, pod
from tutti.api import core_v1 as api
from tutti.api.meta import Condition
from tutti.engine import requests

GIBI = 1 << 30
MEBI = 1 << 20


def init(cpu: str, memory: str = "0", *, sidecar: bool = False) -> api.Container:
    plain = container("init", cpu=cpu, memory=memory)
    return api.Container(
        name=plain.name,
        resources=plain.resources,
        restart_policy="Always" if sidecar else None,
    )


@pytest.mark.parametrize(
    ("asking", "cpu", "memory"),
    [
        pytest.param(
            pod(containers=[container(cpu="2", memory="1Gi"), container(cpu="1", memory="1Gi")]),
            3000,
            2 * GIBI,
            id="containers add up",
        ),
        pytest.param(
            pod(
                containers=[container(cpu="2", memory="1Gi"), container(cpu="1", memory="1Gi")],
                init_containers=(init("2", "1Gi"), init("2", "3Gi")),
            ),
            3000,
            3 * GIBI,
            id="init containers run one by one, before",
        ),
        pytest.param(
            pod(
                containers=[container(cpu="1")],
                init_containers=(init("1", sidecar=True), init("3"), init("1", sidecar=True)),
            ),
            4000,
            0,
            id="a sidecar runs beside the init containers after it",
        ),
        pytest.param(
            pod(
                containers=[container(cpu="1")],
                init_containers=(init("2"), init("1", sidecar=True), init("1", sidecar=True)),
            ),
            3000,
            0,
            id="sidecars run beside the containers",
        ),
        pytest.param(
            pod(containers=[container(cpu="1", memory="1Gi")], overhead={"cpu": "250m"}),
            1250,
            GIBI,
            id="the runtime's overhead comes on top",
        ),
        pytest.param(
            pod(
                containers=[container(cpu="1", memory="1Gi")],
                resources=api.ResourceRequirements(requests={"cpu": "3"}),
                overhead={"cpu": "100m"},
            ),
            3100,
            GIBI,
            id="what the whole pod asks for replaces the sum",
        ),
        pytest.param(
            pod(containers=[container(cpu="0.5m")]), 1, 0, id="rounded up once, at the end"
        ),
        pytest.param(
            pod(containers=[container(cpu="0.5m"), container(cpu="0.5m")]), 1, 0, id="not before"
        ),
    ],
)
def test_108_what_a_pod_asks_for(asking: api.Pod, cpu: int, memory: int) -> None:
    amounts = requests.base_units(requests.held(asking))

    assert (amounts.get("cpu", 0), amounts.get("memory", 0)) == (cpu, memory)


def resized(
    spec: str, allotted: str = "", carried_out: str = "", *, infeasible: bool = False
) -> api.Pod:
    """A running pod whose one container is being resized."""
    reason = "Infeasible" if infeasible else "Deferred"
    status = api.ContainerStatus(
        name="main",
        allocated_resources={"cpu": allotted} if allotted else {},
        resources=api.ResourceRequirements(requests={"cpu": carried_out}) if carried_out else None,
    )
    return api.Pod(
        metadata=pod().metadata,
        spec=api.PodSpec(containers=(container(cpu=spec),)),
        status=api.PodStatus(
            container_statuses=(status,),
            conditions=(Condition(type="PodResizePending", status="True", reason=reason),),
        ),
    )


@pytest.mark.parametrize(
    ("running", "cpu"),
    [
        pytest.param(resized("1", "1", "1"), 1000, id="as asked"),
        pytest.param(resized("2", "1", "1"), 2000, id="growing: what is asked counts already"),
        pytest.param(resized("1", "2", "3"), 3000, id="shrinking: what it still has counts"),
        pytest.param(
            resized("8", "1", "2", infeasible=True), 2000, id="what can't be isn't counted"
        ),
        pytest.param(resized("2"), 2000, id="no status yet"),
    ],
)
def test_108_a_pod_that_is_resized_counts_what_it_may_still_hold(
    running: api.Pod, cpu: int
) -> None:
    assert requests.base_units(requests.held(running))["cpu"] == cpu


@pytest.mark.parametrize(
    ("asking", "cpu", "memory"),
    [
        pytest.param(pod(containers=[container()]), 100, 200 * MEBI, id="nothing"),
        pytest.param(
            pod(containers=[container(cpu="1"), container()]), 1100, 400 * MEBI, id="some of it"
        ),
        pytest.param(pod(containers=[container(cpu="0")]), 0, 200 * MEBI, id="an explicit nothing"),
        pytest.param(
            pod(
                containers=[container()],
                resources=api.ResourceRequirements(requests={"cpu": "2"}),
            ),
            2000,
            200 * MEBI,
            id="stated for the whole pod",
        ),
    ],
)
def test_108_scores_count_a_default_for_what_is_not_stated(
    asking: api.Pod, cpu: int, memory: int
) -> None:
    amounts = requests.base_units(requests.held_for_scores(asking))

    assert (amounts["cpu"], amounts["memory"]) == (cpu, memory)


def test_the_fit_score_of_a_pending_pod_looks_at_its_containers_alone() -> None:
    asking = pod(
        containers=[container(cpu="1")],
        resources=api.ResourceRequirements(requests={"cpu": "3"}),
    )

    assert requests.base_units(requests.scored_while_pending(asking))["cpu"] == 1000
