"""What a delete does to an object, as a function of the object alone."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.door import NOON
from tutti.api import registry
from tutti.server import deletion
from tutti.server.deletion import Gone, Marked, Pending
from tutti.server.options import Deletion
from tutti.server.routes import Target

Object = dict[str, Any]

POD = Target(registry.PODS, "", "v1", "default", "p")
MAP = Target(registry.CONFIG_MAPS, "", "v1", "default", "m")
EVENT = Target(registry.EVENTS, "", "v1", "default", "e")
NAMESPACE = Target(registry.NAMESPACES, "", "v1", None, "team")


def pod(node: str = "", phase: str = "Running", **metadata: Any) -> Object:
    spec = {"nodeName": node, "terminationGracePeriodSeconds": 30}
    return {
        "metadata": {"name": "p", "generation": 1, **metadata},
        "spec": spec,
        "status": {"phase": phase},
    }


@pytest.mark.parametrize(
    ("target", "found", "options", "outcome"),
    [
        pytest.param(MAP, {"metadata": {"name": "m"}}, Deletion(), Gone, id="nothing holds it"),
        pytest.param(
            MAP,
            {"metadata": {"name": "m", "finalizers": ["x"]}},
            Deletion(),
            Marked,
            id="finalizer",
        ),
        pytest.param(
            MAP,
            {"metadata": {"name": "m"}},
            Deletion(propagation="Foreground"),
            Marked,
            id="dependents first",
        ),
        pytest.param(
            EVENT,
            {"metadata": {"name": "e"}},
            Deletion(propagation="Foreground"),
            Gone,
            id="events have no dependents",
        ),
        pytest.param(POD, pod(), Deletion(), Gone, id="a pod without a node"),
        pytest.param(POD, pod("n"), Deletion(), Marked, id="a pod on a node"),
        pytest.param(POD, pod("n", "Failed"), Deletion(), Gone, id="a pod that ended"),
        pytest.param(POD, pod("n"), Deletion(grace_period_seconds=0), Gone, id="by force"),
        pytest.param(
            POD,
            pod("n", finalizers=["x"]),
            Deletion(grace_period_seconds=0),
            Marked,
            id="by force, but held",
        ),
        pytest.param(
            POD,
            pod("n", deletionTimestamp="2026-11-19T12:00:30Z", deletionGracePeriodSeconds=30),
            Deletion(),
            Pending,
            id="asked twice",
        ),
        pytest.param(
            NAMESPACE,
            {"metadata": {"name": "team"}, "spec": {"finalizers": ["kubernetes"]}},
            Deletion(),
            Marked,
            id="a namespace",
        ),
        pytest.param(
            NAMESPACE,
            {
                "metadata": {"name": "team", "deletionTimestamp": "2026-11-19T11:00:00Z"},
                "spec": {"finalizers": ["kubernetes"]},
            },
            Deletion(),
            Pending,
            id="a namespace that is being emptied",
        ),
        pytest.param(
            NAMESPACE,
            {"metadata": {"name": "team", "deletionTimestamp": "2026-11-19T11:00:00Z"}, "spec": {}},
            Deletion(),
            Gone,
            id="a namespace that is empty",
        ),
    ],
)
def test_an_object_goes_stays_or_waits(
    target: Target, found: Object, options: Deletion, outcome: type
) -> None:
    assert isinstance(deletion.of(target, found, options, NOON), outcome)


def test_a_grace_period_that_has_run_out_is_not_moved_into_the_past() -> None:
    found = pod("n", deletionTimestamp="2026-11-19T12:00:10Z", deletionGracePeriodSeconds=60)

    outcome = deletion.of(POD, found, Deletion(grace_period_seconds=5), NOON)

    assert isinstance(outcome, Marked)
    assert outcome.new["metadata"]["deletionTimestamp"] == "2026-11-19T12:00:00Z"
    assert outcome.new["metadata"]["deletionGracePeriodSeconds"] == 1


graces = st.none() | st.integers(min_value=-1, max_value=100)


@given(st.lists(graces, min_size=2, max_size=6))
def test_no_further_delete_gives_a_pod_more_time(asked: list[int | None]) -> None:
    found, ends = pod("n"), []
    for grace in asked:
        match deletion.of(POD, found, Deletion(grace_period_seconds=grace), NOON):
            case Gone():
                return
            case Marked(new):
                found = new
            case Pending():
                pass
        ends.append(found["metadata"]["deletionTimestamp"])
    assert ends == sorted(ends, reverse=True)


@pytest.mark.parametrize(
    ("stood", "options", "finalizers"),
    [
        ([], Deletion(propagation="Orphan"), ["orphan"]),
        (["orphan"], Deletion(propagation="Foreground"), ["foregroundDeletion"]),
        (["foregroundDeletion"], Deletion(), ["foregroundDeletion"]),
        (["x", "orphan"], Deletion(propagation="Background"), ["x"]),
        (["x"], Deletion(orphan_dependents=False), ["x"]),
    ],
)
def test_what_is_asked_goes_before_what_stands(
    stood: list[str], options: Deletion, finalizers: list[str]
) -> None:
    outcome = deletion.of(MAP, {"metadata": {"name": "m", "finalizers": stood}}, options, NOON)

    assert isinstance(outcome, Marked)
    assert outcome.new["metadata"]["finalizers"] == finalizers
