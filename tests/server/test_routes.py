"""Paths to targets."""

import pytest

from tutti.api import registry
from tutti.api.registry import Storage
from tutti.server import routes

SCHEDULING = "scheduling.k8s.io"


@pytest.mark.parametrize(
    ("path", "storage", "place"),
    [
        ("/api/v1/pods", registry.PODS, ("", "v1", None, None, None)),
        ("/api/v1/namespaces/a/pods", registry.PODS, ("", "v1", "a", None, None)),
        ("/api/v1/namespaces/a/pods/p", registry.PODS, ("", "v1", "a", "p", None)),
        ("/api/v1/namespaces/a/pods/p/binding", registry.PODS, ("", "v1", "a", "p", "binding")),
        ("/api/v1/namespaces", registry.NAMESPACES, ("", "v1", None, None, None)),
        ("/api/v1/namespaces/a", registry.NAMESPACES, ("", "v1", None, "a", None)),
        ("/api/v1/namespaces/a/status", registry.NAMESPACES, ("", "v1", None, "a", "status")),
        ("/api/v1/namespaces/a/finalize", registry.NAMESPACES, ("", "v1", None, "a", "finalize")),
        ("/api/v1/namespaces/pods", registry.NAMESPACES, ("", "v1", None, "pods", None)),
        ("/api/v1/nodes/n/status", registry.NODES, ("", "v1", None, "n", "status")),
        (
            "/apis/events.k8s.io/v1/namespaces/a/events/e",
            registry.EVENTS,
            ("events.k8s.io", "v1", "a", "e", None),
        ),
        (
            f"/apis/{SCHEDULING}/v1alpha3/namespaces/a/podgroups/g/status",
            registry.POD_GROUPS,
            (SCHEDULING, "v1alpha3", "a", "g", "status"),
        ),
        (
            f"/apis/{SCHEDULING}/v1/priorityclasses/c",
            registry.PRIORITY_CLASSES,
            (SCHEDULING, "v1", None, "c", None),
        ),
    ],
)
def test_a_path_names_a_target(
    path: str, storage: Storage, place: tuple[str, str, str | None, str | None, str | None]
) -> None:
    target = routes.parse(path)

    assert target is not None
    assert target.storage is storage
    found = target.group, target.version, target.namespace, target.name, target.subresource
    assert found == place


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api",
        "/api/v1",
        "/api/v1/",
        "/api/v2/pods",
        "/api/v1/secrets",
        "/api/v1/pods/p",
        "/api/v1/namespaces/a/nodes",
        "/api/v1/namespaces/a/nodes/n",
        "/api/v1/namespaces//pods",
        "/api/v1/namespaces/a/pods/",
        "/api/v1/namespaces/a/pods/p/log",
        "/api/v1/namespaces/a/pods/p/status/more",
        f"/apis/{SCHEDULING}/v1beta1/namespaces/a/compositepodgroups",
        f"/apis/{SCHEDULING}/v1/podgroups",
        "/apis/events.k8s.io/v1/namespaces/a/pods",
    ],
)
def test_elsewhere_there_is_nothing(path: str) -> None:
    assert routes.parse(path) is None


def test_every_path_of_the_registry_is_understood() -> None:
    for storage in registry.STORAGES:
        for group, version in storage.served:
            namespace = "a" if storage.namespaced else None
            path = storage.path(version, namespace, "x", group=group)
            target = routes.parse(path)
            assert target is not None
            assert (target.storage, target.namespace, target.name) == (storage, namespace, "x")
