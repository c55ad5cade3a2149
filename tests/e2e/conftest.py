"""A real API server for the tests that want one, and a namespace in it for each of them.

One control plane serves a whole run, however many workers it has: the first that needs it starts
it, and it ends when the last has let go of it, in whatever way.
"""

import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.both import embedded
from tools import throwaway
from tools.throwaway import Plane
from tutti.cli import binaries, kubernetes
from tutti.cli.credentials import make


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder with etcd, kube-apiserver and their kind."""
    folder = binaries.folder_from(os.environ)
    if folder is None:
        pytest.skip("no real control plane: run make e2e-real, or set TUTTI_CONTROL_PLANE")
    return folder


@pytest.fixture(scope="session")
def real_plane(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """etcd and kube-apiserver: no controllers, no scheduler, no nodes but what tests make."""
    with shared(programs, run_folder(tmp_path_factory) / "plane") as plane:
        yield plane


@pytest.fixture(scope="session")
def managed_plane(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """Another one, in which Kubernetes' own controllers work."""
    folder = run_folder(tmp_path_factory) / "managed-plane"
    with shared(programs, folder, "kube-controller-manager") as plane:
        yield plane


@pytest.fixture(scope="session")
def bare_plane(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """One with Kubernetes' own controllers, in which all gates of the family are closed."""
    folder = run_folder(tmp_path_factory) / "bare-plane"
    closed = ",".join(f"{gate}=false" for gate in kubernetes.FAMILY)
    with shared(programs, folder, "kube-controller-manager", gates=closed) as plane:
        yield plane


@pytest.fixture(scope="session", params=["embedded", pytest.param("real", marks=pytest.mark.real)])
def plane(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Plane]:
    """An API server without controllers, schedulers and nodes: the embedded one, and a real one."""
    if request.param == "real":
        yield request.getfixturevalue("real_plane")
    else:
        with embedded(tmp_path_factory.mktemp("embedded")) as endpoint:
            yield Plane(endpoint.url, endpoint.credentials)


@pytest.fixture
def namespace(real_plane: Plane, request: pytest.FixtureRequest) -> str:
    """A fresh namespace of the real plane, named for the test."""
    return fresh_namespace(real_plane, request.node.name)


@pytest.fixture
def room(plane: Plane, request: pytest.FixtureRequest) -> str:
    """A fresh namespace of the plane, named for the test."""
    return fresh_namespace(plane, request.node.name)


def fresh_namespace(plane: Plane, named_for: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", named_for.lower()).strip("-")
    name = f"{words[:50].rstrip('-')}-{secrets.token_hex(3)}"
    plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    return name


def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that all workers of this run have in common."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@contextmanager
def shared(programs: Path, folder: Path, *companions: str, gates: str = "") -> Iterator[Plane]:
    """The plane lives as long as somebody holds the writing end of its leash, a named pipe."""
    folder.mkdir(mode=0o700, exist_ok=True)
    leash, url = folder / "leash", folder / "url"
    with one_at_a_time(folder / "gate"):
        if not leash.exists():
            os.mkfifo(leash)
        try:
            held = os.open(leash, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads from it: there is no plane
            watched = os.open(leash, os.O_RDONLY | os.O_NONBLOCK)
            held = os.open(leash, os.O_WRONLY)
            _, plane = throwaway.launch(
                programs, folder, watched, companions, durable=False, gates=gates
            )
            os.close(watched)
            url.write_text(plane.url)
        else:
            plane = Plane(url.read_text(), make(folder))
    try:
        yield plane
    finally:
        os.close(held)


@contextmanager
def one_at_a_time(gate: Path) -> Iterator[None]:
    with gate.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def pytest_unconfigure(config: pytest.Config) -> None:
    """Wait until what this run started is gone; a worker's end is not the run's."""
    factory = getattr(config, "_tmp_path_factory", None)
    if hasattr(config, "workerinput") or factory is None:
        return
    for lock in factory.getbasetemp().glob("*/control-plane/lock"):
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
