"""The schemas hold what the real server serves, alpha fields among it."""

import pytest

from tutti.api import registry, schema, shapes


@pytest.mark.parametrize("storage", registry.STORAGES, ids=lambda storage: storage.key)
def test_every_served_kind_has_a_schema_in_each_of_its_versions(storage: registry.Storage) -> None:
    for group, version in storage.served:
        assert schema.load(group, version, storage.kind).message.is_object


def test_the_fields_behind_feature_gates_are_there() -> None:
    pod = shapes.message("core/v1", "PodSpec").fields["schedulingGroup"]
    assert (pod.number, pod.pointer, pod.shape.go) == (43, True, "v1.PodSchedulingGroup")
    group = shapes.message("scheduling/v1alpha3", "CompositePodGroupSpec").fields
    assert group["parentCompositePodGroupName"].number == 1


def test_merge_lists_know_their_keys() -> None:
    conditions = shapes.message("core/v1", "PodStatus").fields["conditions"]
    assert (conditions.patch, conditions.merge_key) == (("merge",), "type")
    ports = shapes.message("core/v1", "Container").fields["ports"]
    assert (ports.keys, ports.merge_key) == (("containerPort", "protocol"), "containerPort")


def test_embedded_structs_are_flat_in_json_and_nested_in_protobuf() -> None:
    probe = shapes.message("core/v1", "Probe")
    assert probe.fields["httpGet"].via == "ProbeHandler"
    assert probe.embedded[1].name == "ProbeHandler"


def test_the_schemas_say_which_version_they_are_of() -> None:
    assert shapes.kubernetes_version().startswith("v1.37.")
