"""What a server fills in; compared with what a real one filled in for the same objects."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tutti.api import defaults, registry, schema

VECTORS = sorted((Path(__file__).parent / "vectors").glob("*.json"))
ADMITTED = ("tolerations", "priority", "preemptionPolicy", "finalizers")


class Closed:
    def on(self, gate: str) -> bool:
        return False


def read(vector: Path) -> tuple[registry.Storage, str, dict[str, Any], dict[str, Any]]:
    both = json.loads(vector.read_text())
    group, _, version = both["shown"]["apiVersion"].rpartition("/")
    storage = registry.by_kind(group, both["shown"]["kind"])
    assert storage is not None
    sent = deepcopy(both["sent"])
    schema.load(group, version, storage.kind).check(sent)
    return storage, version, sent, both["shown"]


def without_admission(spec: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in spec.items() if name not in ADMITTED}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.stem)
def test_the_same_is_filled_in_as_by_a_real_server(vector: Path) -> None:
    storage, version, obj, shown = read(vector)
    defaults.apply(storage, version, obj)
    if storage is registry.JOBS:  # what its strategy makes of its uid
        shown["spec"].pop("selector")
        obj["spec"]["template"]["metadata"] = shown["spec"]["template"]["metadata"]
    assert without_admission(obj.get("spec") or {}) == without_admission(shown.get("spec") or {})
    if storage is registry.NODES:
        assert obj["status"] == shown["status"]
    if storage is registry.NAMESPACES:
        assert obj["metadata"]["labels"] == shown["metadata"]["labels"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.stem)
def test_what_has_its_defaults_stays_as_it_is(vector: Path) -> None:
    storage, version, _, shown = read(vector)
    again = deepcopy(shown)
    defaults.apply(storage, version, again)
    assert again == shown


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("busybox", "Always"),
        ("busybox:latest", "Always"),
        ("busybox:1", "IfNotPresent"),
        ("registry:5000/busybox", "Always"),
        ("registry:5000/busybox:1", "IfNotPresent"),
        ("busybox@sha256:0123", "IfNotPresent"),
    ],
)
def test_the_newest_image_is_always_pulled(image: str, policy: str) -> None:
    pod = {"spec": {"containers": [{"name": "c", "image": image}]}}
    defaults.apply(registry.PODS, "v1", pod)
    assert pod["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_a_preemption_policy_is_filled_in_only_while_its_gate_is_open() -> None:
    group: dict[str, Any] = {"spec": {}}
    defaults.apply(registry.POD_GROUPS, "v1beta1", group, Closed())
    assert group["spec"] == {"disruptionMode": {"single": {}}}
    defaults.apply(registry.POD_GROUPS, "v1beta1", group)
    assert group["spec"]["preemptionPolicy"] == "PreemptLowerPriority"
