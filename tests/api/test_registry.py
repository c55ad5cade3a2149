"""One row per storage, found by path, kind and by what people call it."""

import pytest

from tutti.api import registry


@pytest.mark.parametrize(
    ("text", "storage"),
    [
        ("pods", registry.PODS),
        ("po", registry.PODS),
        ("Pod", registry.PODS),
        ("podgroup", registry.POD_GROUPS),
        ("podgroups.scheduling.k8s.io", registry.POD_GROUPS),
        ("workloads.v1alpha3.scheduling.k8s.io", registry.WORKLOADS),
        ("events.events.k8s.io", registry.EVENTS),
        ("pods.scheduling.k8s.io", None),
        ("deployments", None),
    ],
)
def test_people_name_resources_in_many_ways(text: str, storage: registry.Storage | None) -> None:
    assert registry.named(text) is storage


def test_one_storage_is_served_by_several_versions_and_groups() -> None:
    for version in ("v1alpha3", "v1beta1"):
        found = registry.by_path("scheduling.k8s.io", version, "podgroups")
        assert found is registry.POD_GROUPS
    assert registry.by_path("scheduling.k8s.io", "v1beta1", "compositepodgroups") is None
    assert registry.by_path("events.k8s.io", "v1", "events") is registry.by_path("", "v1", "events")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (registry.PODS.path(), "/api/v1/pods"),
        (
            registry.PODS.path(namespace="n", name="a", subresource="binding"),
            "/api/v1/namespaces/n/pods/a/binding",
        ),
        (registry.NODES.path(namespace="n", name="a"), "/api/v1/nodes/a"),
        (
            registry.POD_GROUPS.path("v1alpha3", "n"),
            "/apis/scheduling.k8s.io/v1alpha3/namespaces/n/podgroups",
        ),
        (registry.EVENTS.path(group="events.k8s.io"), "/apis/events.k8s.io/v1/events"),
    ],
)
def test_paths_are_those_of_kubernetes(path: str, expected: str) -> None:
    assert path == expected


def test_no_two_storages_share_a_key() -> None:
    keys = [storage.key for storage in registry.STORAGES]
    assert len(keys) == len(set(keys))
