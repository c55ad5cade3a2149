"""The rules and defaults of services and of those who own alike pods."""

from typing import Any

import pytest

from tutti.api import defaults, registry, validation
from tutti.api.registry import Storage

Json = dict[str, Any]

OWNERS = (registry.REPLICA_SETS, registry.STATEFUL_SETS)


def template(**labels: str) -> Json:
    return {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def owning(**more: Any) -> Json:
    return {"selector": {"matchLabels": {"app": "a"}}, "template": template(app="a"), **more}


def made(storage: Storage, spec: Json) -> Json:
    found = {"metadata": {"name": "x", "namespace": "default", "uid": "u"}, "spec": spec}
    defaults.apply(storage, "v1", found)
    for container in found["spec"].get("template", {}).get("spec", {}).get("containers", ()):
        container.setdefault("resources", {})
    return found


def errors(storage: Storage, spec: Json) -> list[str]:
    return [one.sentence for one in validation.created(storage, "v1", made(storage, spec))]


@pytest.mark.parametrize("storage", OWNERS, ids=lambda storage: storage.kind)
def test_an_owner_selects_its_own_pods(storage: Storage) -> None:
    other = owning(selector={"matchLabels": {"app": "b"}})

    assert errors(storage, owning()) == []
    assert errors(storage, other) == [
        'spec.template.metadata.labels: Invalid value: {"app":"a"}: '
        "`selector` does not match template `labels`"
    ]
    assert errors(storage, owning(replicas=-1)) == [
        "spec.replicas: Invalid value: -1: must be greater than or equal to 0"
    ]


@pytest.mark.parametrize("storage", OWNERS, ids=lambda storage: storage.kind)
def test_a_selector_stays(storage: Storage) -> None:
    labels = {"app": "b"}
    new = made(storage, {"selector": {"matchLabels": labels}, "template": template(**labels)})

    found = validation.updated(storage, "v1", made(storage, owning()), new)

    assert [one.field for one in found] == ["spec.selector"]


def test_a_controller_takes_the_labels_of_its_template() -> None:
    found = made(registry.REPLICATION_CONTROLLERS, {"template": template(app="a")})

    assert found["spec"]["selector"] == found["metadata"]["labels"] == {"app": "a"}
    assert found["spec"]["replicas"] == 1
    assert errors(registry.REPLICATION_CONTROLLERS, {}) == [
        "spec.selector: Required value",
        "spec.template: Required value",
    ]


def test_a_stateful_set_is_filled_in() -> None:
    spec = made(registry.STATEFUL_SETS, owning())["spec"]

    assert (spec["replicas"], spec["podManagementPolicy"]) == (1, "OrderedReady")
    assert spec["updateStrategy"]["rollingUpdate"]["partition"] == 0
    assert spec["template"]["spec"]["restartPolicy"] == "Always"


@pytest.mark.parametrize(
    ("spec", "filled"),
    [
        ({"ports": [{"port": 80}]}, {"type": "ClusterIP", "internalTrafficPolicy": "Cluster"}),
        ({"type": "NodePort"}, {"externalTrafficPolicy": "Cluster", "sessionAffinity": "None"}),
        ({"type": "LoadBalancer"}, {"allocateLoadBalancerNodePorts": True}),
        (
            {"sessionAffinity": "ClientIP"},
            {"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}}},
        ),
    ],
)
def test_a_service_is_filled_in(spec: Json, filled: Json) -> None:
    found = made(registry.SERVICES, spec)["spec"]

    assert found | filled == found
    for port in found.get("ports", ()):
        assert (port["protocol"], port["targetPort"]) == ("TCP", 80)
