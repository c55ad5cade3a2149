"""The OpenAPI documents say of kinds and paths what a real server's say, but for descriptions."""

from typing import Any

import pytest

from tutti.api import registry, schema

SERVED = sorted({place for storage in registry.STORAGES for place in storage.served})


def document(group: str, version: str) -> dict[str, Any]:
    storages = [s for s in registry.STORAGES if (group, version) in s.served]
    return schema.openapi_v3(group, version, storages)


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if "$ref" in value else set()
        return own.union(*map(references, value.values()))
    if isinstance(value, list):
        return set().union(*map(references, value))
    return set()


@pytest.mark.parametrize(("group", "version"), SERVED)
def test_every_reference_leads_to_a_schema(group: str, version: str) -> None:
    found = document(group, version)
    known = {f"#/components/schemas/{name}" for name in found["components"]["schemas"]}
    assert references(found) <= known


@pytest.mark.parametrize(("group", "version"), SERVED)
def test_every_action_is_about_a_kind_that_has_a_schema(group: str, version: str) -> None:
    found = document(group, version)
    described = [
        kind
        for schema in found["components"]["schemas"].values()
        for kind in schema.get("x-kubernetes-group-version-kind", ())
    ]
    for path, item in found["paths"].items():
        for action in ("get", "post", "put", "patch", "delete"):
            if action in item:
                assert item[action]["x-kubernetes-group-version-kind"] in described, path


def test_a_field_says_its_type_and_how_it_is_merged() -> None:
    schemas = document("", "v1")["components"]["schemas"]
    containers = schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]
    assert containers == {
        "type": "array",
        "items": {"$ref": "#/components/schemas/io.k8s.api.core.v1.Container"},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "x-kubernetes-patch-strategy": "merge",
        "x-kubernetes-patch-merge-key": "name",
    }
    assert "containers" in schemas["io.k8s.api.core.v1.PodSpec"]["required"]


def test_alpha_fields_are_there() -> None:
    groups = document("scheduling.k8s.io", "v1alpha3")["components"]["schemas"]
    assert "io.k8s.api.scheduling.v1alpha3.CompositePodGroup" in groups
    assert "schedulingGroup" in document("", "v1")["components"]["schemas"]["io.k8s.api.core.v1.PodSpec"]["properties"]  # fmt: skip


def test_a_client_finds_out_that_patches_are_validated_by_the_server() -> None:
    path = "/apis/scheduling.k8s.io/v1beta1/namespaces/{namespace}/podgroups/{name}"
    patch = document("scheduling.k8s.io", "v1beta1")["paths"][path]["patch"]
    assert patch["x-kubernetes-group-version-kind"] == {
        "group": "scheduling.k8s.io",
        "version": "v1beta1",
        "kind": "PodGroup",
    }
    assert {"dryRun", "fieldValidation"} <= {option["name"] for option in patch["parameters"]}


def test_only_what_is_served_has_a_path() -> None:
    paths = document("", "v1")["paths"]
    assert "/api/v1/namespaces/{namespace}/pods/{name}/binding" in paths
    assert set(paths["/api/v1/namespaces/{namespace}/pods/{name}/binding"]) == {
        "post",
        "parameters",
    }
    assert "delete" not in paths["/api/v1/namespaces"]
    assert not any("secrets" in path for path in paths)
