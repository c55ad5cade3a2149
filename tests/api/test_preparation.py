"""Fields of closed gates are dropped, unless they are in use (api-and-controllers.md 1.9 and 5.7)."""

from copy import deepcopy
from typing import Any

import pytest

from tutti.api import preparation, registry, validation
from tutti.api.gates import COMPOSITE_POD_GROUP, PREEMPTION_POLICY, RESOURCE_CLAIMS, TOPOLOGY


class Closed:
    """All gates open but these."""

    def __init__(self, *gates: str) -> None:
        self._gates = gates

    def on(self, gate: str) -> bool:
        return gate not in self._gates


def template(**more: Any) -> dict[str, Any]:
    return {"name": "a", "schedulingPolicy": {"basic": {}}, **more}


def workload(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "w", "namespace": "n"}, "spec": spec}


def group(**spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "g", "namespace": "n"},
        "spec": {"schedulingPolicy": {"basic": {}}, "disruptionMode": {"single": {}}, **spec},
    }


GATED = {
    TOPOLOGY: {"schedulingConstraints": {"topology": [{"key": "rack"}]}},
    RESOURCE_CLAIMS: {"resourceClaims": [{"name": "c", "resourceClaimName": "x"}]},
    PREEMPTION_POLICY: {"preemptionPolicy": "Sometimes"},
}


@pytest.mark.parametrize("gate", GATED)
def test_81_a_new_object_loses_the_fields_of_closed_gates(gate: str) -> None:
    flat = workload(podGroupTemplates=[template(**GATED[gate])])
    tree = workload(
        compositePodGroupTemplates=[template(podGroupTemplates=[template(**GATED[gate])])]
    )
    alone = group(**GATED[gate])
    preparation.prepare(registry.WORKLOADS, flat, None, Closed(gate))
    preparation.prepare(registry.WORKLOADS, tree, None, Closed(gate))
    preparation.prepare(registry.POD_GROUPS, alone, None, Closed(gate))
    assert flat == workload(podGroupTemplates=[template()])
    assert tree == workload(compositePodGroupTemplates=[template(podGroupTemplates=[template()])])
    assert alone == group()


def test_82_without_composites_a_workload_of_them_has_no_templates() -> None:
    closed = Closed(COMPOSITE_POD_GROUP)
    tree = workload(compositePodGroupTemplates=[template(podGroupTemplates=[template()])])
    preparation.prepare(registry.WORKLOADS, tree, None, closed)
    errors = validation.created(registry.WORKLOADS, "v1beta1", tree, closed)
    assert [error.field for error in errors] == ["spec"]
    both = workload(podGroupTemplates=[template()], compositePodGroupTemplates=[template()])
    preparation.prepare(registry.WORKLOADS, both, None, closed)
    assert both == workload(podGroupTemplates=[template()])


@pytest.mark.parametrize(
    ("gate", "field", "changed", "errors"),
    [
        (TOPOLOGY, "schedulingConstraints", {"topology": [{"key": "zone"}]}, ["Forbidden"]),
        (TOPOLOGY, "schedulingConstraints", None, []),
        (
            PREEMPTION_POLICY,
            "preemptionPolicy",
            "Never",
            ["Forbidden", "Invalid value: null: field is immutable"],
        ),
        (
            RESOURCE_CLAIMS,
            "resourceClaims",
            [{"name": "d", "resourceClaimName": "x"}],
            ["Invalid value: null: field is immutable"],
        ),
    ],
)
def test_83_what_is_in_use_is_kept_and_a_change_of_it_is_judged(
    gate: str, field: str, changed: Any, errors: list[str]
) -> None:
    closed = Closed(gate)
    old = group(**GATED[gate])
    new = deepcopy(old)
    new["metadata"]["labels"] = {"a": "b"}
    preparation.prepare(registry.POD_GROUPS, new, old, closed)
    assert new["spec"] == old["spec"]
    assert validation.updated(registry.POD_GROUPS, "v1beta1", old, new, None, closed) == []
    new["spec"][field] = changed
    preparation.prepare(registry.POD_GROUPS, new, old, closed)
    found = validation.updated(registry.POD_GROUPS, "v1beta1", old, new, None, closed)
    assert [error.body for error in found] == errors


def test_83_a_template_keeps_constraints_that_are_in_use_and_may_not_lose_them() -> None:
    closed = Closed(TOPOLOGY)
    old = workload(podGroupTemplates=[template(**GATED[TOPOLOGY])])
    new = workload(podGroupTemplates=[template()])
    found = validation.updated(registry.WORKLOADS, "v1beta1", old, new, None, closed)
    assert [error.sentence for error in found] == [
        "spec.podGroupTemplates[0].schedulingConstraints: Invalid value: null: field is immutable"
    ]


def test_84_pods_lose_their_group_when_workloads_are_off() -> None:
    closed = Closed("GenericWorkload")
    pod = {"spec": {"schedulingGroup": {"podGroupName": "g"}}}
    stored = deepcopy(pod)
    preparation.prepare(registry.PODS, pod, None, closed)
    assert pod == {"spec": {}}
    again = deepcopy(stored)
    preparation.prepare(registry.PODS, again, stored, closed)
    assert again == stored
