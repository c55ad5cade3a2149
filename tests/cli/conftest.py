"""A control plane for the commands that talk to one, and the commands themselves."""

import io
import json
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tutti.cli import main


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its status, and what it printed."""

    status: int
    out: str
    err: str


Tutti = Callable[..., Ended]


@pytest.fixture(scope="session")
def kubeconfig() -> Iterator[Path]:
    """The way into a `tutti up` with two nodes of 32 CPUs each."""
    command = [sys.executable, "-m", "tutti.cli", "up", "--port", "0", "--nodes", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as up:
        assert up.stdout is not None
        ready = up.stdout.readline()
        assert ready.startswith("ready: "), "tutti up did not come up"
        yield Path(ready.rstrip("\n").partition("kubeconfig=")[2])
        up.send_signal(signal.SIGTERM)
        assert up.wait(30) == 0


@pytest.fixture
def tutti(
    kubeconfig: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Tutti:
    """A command in a namespace of the test's own: `tutti("get", "pods")`."""
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    namespace = f"test-{secrets.token_hex(4)}"

    def run(*words: str) -> Ended:
        status = main.main([words[0], "-n", namespace, *words[1:]])
        captured = capsys.readouterr()
        return Ended(status, captured.out, captured.err)

    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(manifest)))
    assert run("apply", "-f", "-").status == 0
    return run
