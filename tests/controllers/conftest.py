"""A cluster whose controllers run, on either control plane, and a namespace of one's own in it."""

import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.controllers.space import Space
from tests.kube.peer import Papers, make_papers
from tutti.api.registry import NAMESPACES
from tutti.cli import binaries
from tutti.kube import config
from tutti.kube.client import Client


@pytest.fixture(scope="module", params=["embedded", pytest.param("real", marks=pytest.mark.real)])
def kubeconfig(request: pytest.FixtureRequest) -> Iterator[Path]:
    """The way into a `tutti up` with two pretend nodes and without a scheduler."""
    command = [sys.executable, "-m", "tutti.cli", "up", "--port=0", "--nodes=2", "--no-scheduler"]
    if request.param == "real":
        folder = binaries.folder_from(os.environ)
        if folder is None:
            pytest.skip("no real control plane: run make e2e-real, or set TUTTI_CONTROL_PLANE")
        command += ["--control-plane", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as up:
        assert up.stdout is not None
        ready = up.stdout.readline()
        assert ready.startswith("ready: "), "tutti up did not come up"
        yield Path(ready.rstrip("\n").partition("kubeconfig=")[2])
        up.send_signal(signal.SIGTERM)
        assert up.wait(30) == 0


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    folder: Path = tmp_path_factory.mktemp("papers")
    return make_papers(folder)


@pytest.fixture
async def client(kubeconfig: Path) -> AsyncIterator[Client]:
    client = Client(config.load(kubeconfig), connections=8)
    yield client
    await client.close()


@pytest.fixture
async def space(client: Client, request: pytest.FixtureRequest) -> Space:
    words = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")
    name = f"{words[:50].rstrip('-')}-{secrets.token_hex(3)}"
    await client.create(NAMESPACES, {"metadata": {"name": name}})
    return Space(client, name)
