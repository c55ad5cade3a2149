"""The processes that one control plane is made of, and the command that starts each."""

import sys
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tutti.cli.credentials import Credentials

HOST = "127.0.0.1"

Command = Sequence[str | Path]


@dataclass(frozen=True, slots=True)
class Part:
    """A program of ours: its name for people, and the command that starts it on a port (0: any)."""

    name: str
    command: Callable[[int], Command]
    says_ready: bool = True


def embedded_server(secrets: Credentials, feature_gates: str) -> Part:
    return _server(secrets, feature_gates, ["tutti.server"], "store")


def real_server(secrets: Credentials, feature_gates: str, binaries: Path) -> Part:
    """etcd and kube-apiserver, with the manners of the embedded one."""
    program: list[str | Path] = [
        "tutti.cli.plane",
        "--binaries",
        binaries,
        "--tls-ca",
        secrets.authority,
    ]
    return _server(secrets, feature_gates, program, "control-plane")


def scheduler(secrets: Credentials, names: Sequence[str], job_gangs: str) -> Part:
    """Every restart has the same identity, so that it takes its own Lease over at once."""
    words = [word for name in names for word in ("--scheduler-name", name)]
    identity = f"tutti-up-{uuid.uuid4()}"
    words += ["--job-gangs", job_gangs, "--identity", identity]
    return _client("scheduler", secrets, words)


def controllers(secrets: Credentials, job_gangs: str, feature_gates: str) -> Part:
    """With its gate closed nobody makes groups for Jobs, as in Kubernetes."""
    if "WorkloadWithJob=false" in feature_gates.split(","):
        job_gangs = "off"
    words = ["--controllers", "all", "--job-gangs", job_gangs]
    return _client("controllers", secrets, words)


def _server(secrets: Credentials, feature_gates: str, program: Command, data: str) -> Part:
    gates = ["--feature-gates", feature_gates] if feature_gates else []
    return Part(
        "server",
        lambda port: [
            *(sys.executable, "-m", *program, *gates, *secrets.server_flags()),
            *("--data-dir", secrets.folder / data, "--host", HOST, "--port", str(port)),
            "--exit-with-parent",
        ],
        says_ready=False,
    )


def _client(name: str, secrets: Credentials, words: Sequence[str]) -> Part:
    return Part(
        name,
        lambda port: [
            *(sys.executable, "-m", "tutti.cli", name, *words),
            *("--kubeconfig", secrets.kubeconfig(name), "--bind-address", HOST),
            *("--port", str(port), "--log-level", "warning", "--exit-with-parent"),
        ],
    )
