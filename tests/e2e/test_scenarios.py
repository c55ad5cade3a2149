"""Each of `scenarios/*.yaml`, with the whole product running, on our server and on Kubernetes' own."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import scenario
from tests.e2e.play import play
from tutti.api import registry
from tutti.kube import config
from tutti.kube.client import Client

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*.yaml"))


@pytest.fixture(scope="session", params=["embedded", pytest.param("real", marks=pytest.mark.real)])
def kubeconfig(request: pytest.FixtureRequest) -> Iterator[Path]:
    """The way into a `tutti up` without nodes, on either control plane."""
    command = [sys.executable, "-m", "tutti.cli", "up", "--port", "0", "--nodes", "0"]
    if request.param == "real":
        command += ["--control-plane", str(request.getfixturevalue("programs"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as up:
        assert up.stdout is not None
        ready = up.stdout.readline()
        assert ready.startswith("ready: "), "tutti up did not come up"
        yield Path(ready.rstrip("\n").partition("kubeconfig=")[2])
        up.send_signal(signal.SIGTERM)
        assert up.wait(30) == 0


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
async def test_scenario(file: Path, kubeconfig: Path) -> None:
    namespace = file.stem
    client = Client(config.load(kubeconfig), connections=8)
    try:
        await client.create(registry.NAMESPACES, {"metadata": {"name": namespace}})
        await play(scenario.read(file), client, namespace)
    finally:
        await client.close()
