"""Programs that bind pods, each run as its users run it, and what they cost the machine."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tutti.cli.kubernetes import feature_gates

TICKS = os.sysconf("SC_CLK_TCK")
QUIET_SHARE = 0.03
"""Of one core, in the last second: less is no work but waiting."""


@dataclass(frozen=True, slots=True)
class Contender:
    name: str
    command: tuple[str, ...]
    decides: bool = True


def contenders(binaries: Path, kubeconfig: Path, folder: Path) -> list[Contender]:
    """The ceiling, the reference, and us. Nobody is held back by a limit on requests."""
    settings = folder / "kube-scheduler.json"
    client = {"kubeconfig": str(kubeconfig), "qps": 5000, "burst": 5000}
    settings.write_text(
        json.dumps(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "leaderElection": {"leaderElect": False},
                "clientConnection": client,
            }
        )
    )
    python = (sys.executable, "-m")
    config = ("--kubeconfig", str(kubeconfig))
    return [
        Contender("bare", (*python, "benchmarks.bare", *config), decides=False),
        Contender(
            "kube-scheduler",
            (
                str(binaries / "kube-scheduler"),
                f"--config={settings}",
                "--secure-port=0",
                feature_gates(""),
            ),
        ),
        Contender(
            "tutti",
            (
                *(*python, "tutti.cli", "scheduler", *config),
                *("--scheduler-name", "default-scheduler", "--port", "0"),
            ),
        ),
    ]


class Run:
    """One contender at work."""

    def __init__(self, process: "subprocess.Popen[bytes]", started: float) -> None:
        self.started = started
        self._process = process

    def alive(self) -> bool:
        return self._process.poll() is None

    def cpu_s(self) -> float:
        """User and system seconds of the process and all its children, so far."""
        return sum(map(_cpu_s, _tree(self._process.pid)))

    def wait_until_quiet(self, most: float = 30.0) -> None:
        """Conditions and events are work, too, though the last pod is bound."""
        deadline = time.monotonic() + most
        before = self.cpu_s()
        while time.monotonic() < deadline:
            time.sleep(1.0)
            now = self.cpu_s()
            if now - before < QUIET_SHARE:
                return
            before = now


@contextmanager
def running(contender: Contender, log: Path) -> Iterator[Run]:
    with log.open("wb") as output:
        started = time.monotonic()
        process = subprocess.Popen(
            contender.command, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            yield Run(process, started)
            if process.poll() is not None:
                said = log.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"{contender.name} ended with {process.returncode}:\n{said}")
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _tree(pid: int) -> Sequence[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return ()
    return [pid, *(grandchild for child in children for grandchild in _tree(int(child)))]


def _cpu_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS
