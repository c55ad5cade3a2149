"""Kubernetes' own kube-scheduler and kube-controller-manager, unmodified, on the embedded server."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.both import Answer, Endpoint, embedded

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]

PATIENCE_S = 60
HERE = "/api/v1/namespaces/default"
GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups"
APPS = "/apis/apps/v1/namespaces/default"

NODE: dict[str, Any] = {
    "metadata": {"name": "n1"},
    "status": {
        "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Endpoint]:
    with embedded(tmp_path) as endpoint:
        yield endpoint


def test_kube_scheduler_binds_a_pod_and_a_gang(
    server: Endpoint, programs: Path, tmp_path: Path
) -> None:
    server.ask("POST", "/api/v1/nodes", NODE)
    policy = {"gang": {"minCount": 2}}
    server.ask("POST", GROUPS, {"metadata": {"name": "g"}, "spec": {"schedulingPolicy": policy}})
    server.ask("POST", f"{HERE}/pods", pod("lone"))
    for name in ("a", "b"):
        server.ask("POST", f"{HERE}/pods", pod(name, schedulingGroup={"podGroupName": "g"}))

    with guest(server, programs / "kube-scheduler", tmp_path):
        pods = until(server, f"{HERE}/pods", lambda found: all(map(node_of, found["items"])))
        group = until(server, f"{GROUPS}/g", lambda found: "conditions" in found["status"])
        events = until(server, f"{HERE}/events", lambda found: len(found["items"]) >= 3)

    assert {node_of(one) for one in pods["items"]} == {"n1"}
    (condition,) = group["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("PodGroupInitiallyScheduled", "True")
    assert {one["reason"] for one in events["items"]} == {"Scheduled"}


def test_kube_controller_manager_makes_the_pods_of_a_replica_set(
    server: Endpoint, programs: Path, tmp_path: Path
) -> None:
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": pod("x")["spec"]}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    server.ask("POST", f"{APPS}/replicasets", {"metadata": {"name": "r"}, "spec": spec})

    controllers = "--controllers=replicaset-controller"
    with guest(server, programs / "kube-controller-manager", tmp_path, controllers):
        until(server, f"{APPS}/replicasets/r", lambda found: found["status"].get("replicas") == 2)
        pods = server.ask("GET", f"{HERE}/pods").body["items"]

    owners = [one["metadata"]["ownerReferences"][0] for one in pods]
    assert [(one["kind"], one["name"]) for one in owners] == [("ReplicaSet", "r")] * 2


def pod(name: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "registry.example/main"}
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def node_of(found: Any) -> str | None:
    return found["spec"].get("nodeName")


@contextmanager
def guest(server: Endpoint, program: Path, folder: Path, *flags: str) -> Iterator[None]:
    """A program of Kubernetes' that takes the embedded server for a real one."""
    command = [
        str(program),
        f"--kubeconfig={server.credentials.kubeconfig('admin')}",
        "--feature-gates=GenericWorkload=true",
        "--bind-address=127.0.0.1",
        "--secure-port=0",
        *flags,
    ]
    with (
        (folder / f"{program.name}.log").open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=log) as process,
    ):
        try:
            yield
            assert process.poll() is None, f"{program.name} ended by itself"
        finally:
            process.kill()


def until(server: Endpoint, path: str, holds: Callable[[Any], bool]) -> Any:
    """What stands at the path once it is as wanted."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        answer: Answer = server.ask("GET", path)
        if answer.status == 200 and holds(answer.body):
            return answer.body
        assert time.monotonic() < deadline, json.dumps(answer.body)[:2000]
        time.sleep(0.1)
