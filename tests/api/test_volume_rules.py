"""The rules of volumes, claims, storage classes and drivers on nodes."""

from typing import Any

import pytest

from tutti.api import defaults, registry, validation
from tutti.api.registry import Storage

Json = dict[str, Any]

VOLUME = {
    "capacity": {"storage": "5Gi"},
    "accessModes": ["ReadWriteOnce"],
    "hostPath": {"path": "/x"},
}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def made(storage: Storage, **fields: Any) -> Json:
    metadata: Json = {"name": "x", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
    if storage.namespaced:
        metadata["namespace"] = "default"
    found = {"metadata": metadata, **fields}
    defaults.apply(storage, "v1", found)
    return found


def errors(storage: Storage, **fields: Any) -> list[str]:
    found = made(storage, **fields)
    return [error.sentence for error in validation.created(storage, "v1", found)]


def changes(storage: Storage, old: Json, new: Json, status: Json | None = None) -> list[str]:
    before, after = made(storage, **old), made(storage, **new)
    if status is not None:
        before["status"] = after["status"] = status
    return [error.sentence for error in validation.updated(storage, "v1", before, after)]


@pytest.mark.parametrize(
    ("spec", "sentences"),
    [
        pytest.param(VOLUME, [], id="whole"),
        pytest.param(
            {},
            [
                "spec.accessModes: Required value",
                "spec.capacity: Required value",
                'spec.capacity: Unsupported value: null: supported values: "storage"',
                "spec: Required value: must specify a volume type",
            ],
            id="empty",
        ),
        pytest.param(
            VOLUME | {"accessModes": ["ReadWriteOncePod", "ReadWriteMany"]},
            ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
            id="one pod, and many",
        ),
        pytest.param(
            VOLUME | {"capacity": {"storage": "0"}},
            ['spec.capacity[storage]: Invalid value: "0": must be greater than zero'],
            id="no room",
        ),
    ],
)
def test_a_volume(spec: Json, sentences: list[str]) -> None:
    assert errors(registry.VOLUMES, spec=spec) == sentences


@pytest.mark.parametrize(
    ("spec", "sentences"),
    [
        pytest.param(CLAIM, [], id="whole"),
        pytest.param(
            {},
            [
                "spec.accessModes: Required value: at least 1 access mode is required",
                "spec.resources[storage]: Required value",
            ],
            id="empty",
        ),
        pytest.param(
            CLAIM | {"volumeMode": "Tape"},
            ['spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"'],
            id="unknown mode",
        ),
    ],
)
def test_a_claim(spec: Json, sentences: list[str]) -> None:
    assert errors(registry.CLAIMS, spec=spec) == sentences


IMMUTABLE = (
    "spec: Forbidden: spec is immutable after creation except resources.requests and "
    "volumeAttributesClassName for bound claims"
)
LARGER = {"resources": {"requests": {"storage": "2Gi"}}}


@pytest.mark.parametrize(
    ("change", "phase", "sentences"),
    [
        pytest.param({"volumeName": "v"}, "Pending", [], id="it is given its volume"),
        pytest.param({"accessModes": ["ReadOnlyMany"]}, "Pending", [IMMUTABLE], id="other modes"),
        pytest.param(LARGER, "Pending", [IMMUTABLE], id="larger, unbound"),
        pytest.param(LARGER, "Bound", [], id="larger, bound"),
    ],
)
def test_what_may_change_of_a_claim(change: Json, phase: str, sentences: list[str]) -> None:
    found = changes(registry.CLAIMS, {"spec": CLAIM}, {"spec": CLAIM | change}, {"phase": phase})
    assert found == sentences


def test_a_volume_stays_the_volume_it_is() -> None:
    other = VOLUME | {"hostPath": {"path": "/y"}}
    kept = VOLUME | {"persistentVolumeReclaimPolicy": "Delete"}

    assert changes(registry.VOLUMES, {"spec": VOLUME}, {"spec": kept}) == []
    (said,) = changes(registry.VOLUMES, {"spec": VOLUME}, {"spec": other})
    assert said.startswith("spec.persistentvolumesource: Forbidden")


def test_a_storage_class() -> None:
    assert errors(registry.STORAGE_CLASSES, provisioner="x.example/p") == []
    assert errors(registry.STORAGE_CLASSES) == ["provisioner: Required value"]
    assert errors(registry.STORAGE_CLASSES, provisioner="p", reclaimPolicy="Burn") == [
        'reclaimPolicy: Unsupported value: "Burn": supported values: "Delete", "Retain"'
    ]
    assert changes(registry.STORAGE_CLASSES, {"provisioner": "p"}, {"provisioner": "q"}) == [
        "provisioner: Invalid value: null: field is immutable"
    ]


def test_the_drivers_of_a_node() -> None:
    good = {"name": "d", "nodeID": "i"}

    assert errors(registry.CSI_NODES, spec={"drivers": [good]}) == []
    assert errors(registry.CSI_NODES, spec={"drivers": [good, {"name": "d", "nodeID": ""}]}) == [
        "spec.drivers[1].nodeID: Required value",
        'spec.drivers[1].name: Duplicate value: "d"',
    ]


def test_what_is_filled_in() -> None:
    storage_class = made(registry.STORAGE_CLASSES, provisioner="p")
    volume = made(registry.VOLUMES, spec=dict(VOLUME))["spec"]

    assert storage_class["reclaimPolicy"] == "Delete"
    assert storage_class["volumeBindingMode"] == "Immediate"
    assert volume["persistentVolumeReclaimPolicy"] == "Retain"
    assert (volume["volumeMode"], volume["hostPath"]["type"]) == ("Filesystem", "")
    assert made(registry.CSI_DRIVERS)["spec"]["volumeLifecycleModes"] == ["Persistent"]
