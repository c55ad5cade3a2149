"""The real control plane is what it says it is, and goes when it should."""

import os
import signal
import ssl
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.e2e.conftest import fresh_namespace
from tools import throwaway
from tools.throwaway import Plane

pytestmark = pytest.mark.real


def test_it_is_kubernetes_1_37_and_says_so(real_plane: Plane) -> None:
    version = real_plane.request("GET", "/version")
    assert version["gitVersion"].startswith("v1.37.")
    assert (version["major"], version["minor"]) == ("1", "37")


@pytest.mark.parametrize(
    ("version", "kinds"),
    [
        ("v1beta1", {"Workload", "PodGroup"}),
        ("v1alpha3", {"Workload", "PodGroup", "CompositePodGroup"}),
    ],
)
def test_it_serves_the_family(real_plane: Plane, version: str, kinds: set[str]) -> None:
    found = real_plane.request("GET", f"/apis/scheduling.k8s.io/{version}")["resources"]
    assert kinds <= {resource["kind"] for resource in found}


def test_each_test_has_a_namespace_of_its_own(real_plane: Plane, namespace: str) -> None:
    path = f"/apis/scheduling.k8s.io/v1beta1/namespaces/{namespace}/podgroups"
    policy = {"schedulingPolicy": {"gang": {"minCount": 2}}}
    made = real_plane.request("POST", path, {"metadata": {"name": "g"}, "spec": policy})
    assert made["metadata"]["finalizers"] == ["scheduling.k8s.io/podgroup-protection"]


@pytest.mark.parametrize(
    ("path", "status"), [("/api/v1/pods", 401), ("/readyz", 200), ("/version", 200)]
)
def test_without_a_token_only_health_and_version_answer(
    real_plane: Plane, path: str, status: int
) -> None:
    trusted = ssl.create_default_context(cafile=real_plane.credentials.authority)
    try:
        answer = urllib.request.urlopen(real_plane.url + path, context=trusted, timeout=10)
    except urllib.error.HTTPError as refusal:
        answer = refusal
    with answer:
        assert answer.status == status


def test_kubernetes_controllers_run_where_a_test_asks(managed_plane: Plane) -> None:
    """Their namespace controller empties a namespace and lets it go: nothing else here would."""
    path = f"/api/v1/namespaces/{fresh_namespace(managed_plane, 'emptied')}"
    managed_plane.request("POST", f"{path}/configmaps", {"metadata": {"name": "settings"}})
    managed_plane.request("DELETE", path)
    deadline = time.monotonic() + 30
    while is_there(managed_plane, path):
        assert time.monotonic() < deadline, "the namespace is still there"


def test_what_was_written_stays_when_it_stops_and_starts_again(
    programs: Path, tmp_path: Path
) -> None:
    with throwaway.plane(programs, tmp_path, durable=True) as plane:
        path = f"/api/v1/namespaces/{fresh_namespace(plane, 'kept')}"
        assert sorted(programs_in(tmp_path)) == ["etcd", "kube-apiserver"]
    assert not programs_in(tmp_path)
    with throwaway.plane(programs, tmp_path, durable=True) as plane:
        assert is_there(plane, path)


def test_its_programs_end_with_it_even_when_it_is_killed(programs: Path, tmp_path: Path) -> None:
    with throwaway.plane(programs, tmp_path):
        _, parent = programs_in(tmp_path)["etcd"]
        os.kill(parent, signal.SIGKILL)
        wait_until_all_are_gone(tmp_path)


def test_if_one_program_dies_it_says_so_and_ends(programs: Path, tmp_path: Path) -> None:
    with throwaway.plane(programs, tmp_path):
        etcd, _ = programs_in(tmp_path)["etcd"]
        os.kill(etcd, signal.SIGKILL)
        wait_until_all_are_gone(tmp_path)
    assert "etcd ended (signal SIGKILL)" in (tmp_path / "plane.log").read_text()


def is_there(plane: Plane, path: str) -> bool:
    try:
        plane.request("GET", path)
    except urllib.error.HTTPError as refusal:
        if refusal.status != 404:
            raise
        refusal.close()
        return False
    return True


def wait_until_all_are_gone(folder: Path) -> None:
    deadline = time.monotonic() + 20
    while left := programs_in(folder):
        assert time.monotonic() < deadline, f"left over: {left}"


def programs_in(folder: Path) -> dict[str, tuple[int, int]]:
    """The programs whose working folder is a control plane's in here: name -> (pid, parent)."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            inside = (process / "cwd").resolve(strict=True) == folder / "control-plane"
            name, _, rest = (process / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if inside:
            found[name] = (int(process.name), int(rest.split()[1]))
    return found
