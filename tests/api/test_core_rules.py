"""Nodes, config maps, leases, events and everybody's metadata, judged as a real 1.37 server does."""

from typing import Any

import pytest

from tests.api.door import changed, created, updated
from tutti.api.registry import CONFIG_MAPS, EVENTS, LEASES, NAMESPACES, NODES, Storage

Json = dict[str, Any]

NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


def owner(**more: Any) -> Json:
    return {"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u", **more}


@pytest.mark.parametrize(
    ("metadata", "errors"),
    [
        ({"labels": {"a b": "c"}}, [f'metadata.labels: Invalid value: "a b": {NAME_PART}']),
        ({"annotations": {"UPPER": "c"}}, []),
        ({"annotations": {"a": "b" * (256 * 1024)}}, ["metadata.annotations: Too long: may not be more than 262144 bytes"]),
        ({"finalizers": ["plain"]}, ['metadata.finalizers[0]: Invalid value: "plain": name is neither a standard finalizer name nor is it fully qualified']),
        (
            {"finalizers": ["foregroundDeletion", "orphan"]},
            ['metadata.finalizers: Invalid value: ["foregroundDeletion","orphan"]: finalizer orphan and foregroundDeletion cannot be both set'],
        ),
        (
            {"ownerReferences": [{}]},
            [
                "metadata.ownerReferences[0].apiVersion: Required value: must not be empty",
                "metadata.ownerReferences[0].kind: Required value: must not be empty",
                "metadata.ownerReferences[0].name: Required value: must not be empty",
                "metadata.ownerReferences[0].uid: Required value: must not be empty",
            ],
        ),
        ({"ownerReferences": [owner(apiVersion="a/b/c")]}, ['metadata.ownerReferences[0].apiVersion: Invalid value: "a/b/c": must be <group>/<version> or <version>']),
        ({"generateName": "x-"}, []),
    ],
)  # fmt: skip
def test_the_metadata_of_a_new_object(metadata: Json, errors: list[str]) -> None:
    assert created(CONFIG_MAPS, {"metadata": metadata}) == errors


def test_only_one_owner_controls() -> None:
    owners = [owner(controller=True), owner(name="m", controller=True)]
    (error,) = created(CONFIG_MAPS, {"metadata": {"ownerReferences": owners}})
    assert error.endswith(
        'Only one reference can have Controller set to true. Found "true" in references for K/n and K/m'
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("uid", "y"),
        ("deletionTimestamp", "2026-01-01T00:00:00Z"),
        ("deletionGracePeriodSeconds", 3),
    ],
)
def test_metadata_that_the_server_gave_is_settled(field: str, value: Any) -> None:
    old = {"metadata": {"uid": "x"}}
    (error,) = updated(CONFIG_MAPS, old, changed(old, f"metadata.{field}", value))
    assert error.startswith(f"metadata.{field}: Invalid value: ")
    assert error.endswith(": field is immutable")


def test_no_finalizer_comes_to_an_object_that_goes() -> None:
    old = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a/b"]}}
    assert updated(CONFIG_MAPS, old, changed(old, "metadata.finalizers", ["a/b", "a/c"])) == [
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
        'found new finalizers []string{"a/c"}'
    ]


@pytest.mark.parametrize(
    ("storage", "obj", "errors"),
    [
        (NODES, {"spec": {"taints": [{"key": "a"}]}}, ["metadata.taints[0].effect: Required value"]),
        (
            NODES,
            {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}] * 2}},
            ['metadata.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair'],
        ),
        (
            NODES,
            {"status": {"capacity": {"cpu": "-1"}, "allocatable": {"cpu": "1"}}},
            ['status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0'],
        ),
        (NAMESPACES, {"metadata": {"name": "a.b"}}, ['metadata.name: Invalid value: "a.b": must not contain dots']),
        (CONFIG_MAPS, {"data": {"..": "x"}}, ["data[..]: Invalid value: \"..\": must not be '..'"]),
        (CONFIG_MAPS, {"data": {"a": "b"}, "binaryData": {"a": "AA=="}}, ['data[a]: Invalid value: "a": duplicate of key present in binaryData']),
        (CONFIG_MAPS, {"data": {"a": "x" * (1024 * 1024 + 1)}}, ["[]: Too long: may not be more than 1048576 bytes"]),
        (LEASES, {"spec": {"leaseDurationSeconds": 0}}, ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"]),
        (LEASES, {"spec": {"leaseTransitions": -1}}, ["spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"]),
        (EVENTS, {"involvedObject": {"namespace": "n"}}, []),
        (EVENTS, {"involvedObject": {"namespace": "other"}}, ['involvedObject.namespace: Invalid value: "other": does not match event.namespace']),
    ],
)  # fmt: skip
def test_a_new_object(storage: Storage, obj: Json, errors: list[str]) -> None:
    assert created(storage, obj) == errors


def test_a_sealed_config_map_stays_as_it_is() -> None:
    old = {"immutable": True, "data": {"a": "b"}}
    assert updated(CONFIG_MAPS, old, {"data": {"a": "c"}}) == [
        "immutable: Forbidden: field is immutable when `immutable` is set",
        "data: Forbidden: field is immutable when `immutable` is set",
    ]
