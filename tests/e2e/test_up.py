"""`tutti up` as people run it, on our server and on Kubernetes' own."""

import contextlib
import os
import re
import select
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tutti.api import registry
from tutti.api.core_v1 import Namespace, Node
from tutti.kube import config
from tutti.kube.client import Client

READY = re.compile(r"ready: (https://127\.0\.0\.1:\d+) kubeconfig=(.+)")
PATIENCE = 40.0


class Up:
    """A `tutti up` of the test's own, with what it said on stdout and stderr."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self._stderr = folder.with_suffix(".log")
        command = [
            sys.executable,
            "-m",
            "tutti.cli",
            "up",
            "--port",
            "0",
            "--data-dir",
            str(folder),
        ]
        with self._stderr.open("ab") as stderr:
            self.process = subprocess.Popen(
                [*command, *flags], stdout=subprocess.PIPE, stderr=stderr, text=True
            )

    def ready(self) -> tuple[str, Path]:
        assert self.process.stdout is not None
        said = READY.fullmatch(self.process.stdout.readline().rstrip("\n"))
        assert said, self.said()
        return said[1], Path(said[2])

    def said(self) -> str:
        return self._stderr.read_text()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def children(self) -> dict[str, int]:
        """Pids of its processes and of theirs, by a word of their command lines."""
        return dict(_descendants(self.process.pid))


@contextlib.contextmanager
def up(folder: Path, *flags: str) -> Iterator[Up]:
    running = Up(folder, *flags)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.wait()
        assert running.process.stdout is not None
        running.process.stdout.close()


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.real)])
def flags(request: pytest.FixtureRequest) -> list[str]:
    """What chooses the control plane."""
    if request.param == "embedded":
        return []
    return ["--control-plane", str(request.getfixturevalue("programs"))]


async def test_it_is_ready_when_it_says_so(flags: list[str], tmp_path: Path) -> None:
    with up(tmp_path / "data", "--nodes", "4", *flags) as running:
        url, kubeconfig = running.ready()
        assert stat.S_IMODE(kubeconfig.stat().st_mode) == 0o600
        where = config.load(kubeconfig)
        assert where.server == url
        client = Client(where, connections=1)
        assert len((await client.list(registry.NODES, into=Node)).items) == 4
        await client.close()
        assert running.stop() == 0


async def test_what_was_written_is_there_again_when_it_comes_back(
    flags: list[str], tmp_path: Path
) -> None:
    for attempt in ("first", "second"):
        with up(tmp_path / "data", "--nodes", "0", *flags) as running:
            _, kubeconfig = running.ready()
            client = Client(config.load(kubeconfig), connections=1)
            if attempt == "first":
                await client.create(registry.NAMESPACES, {"metadata": {"name": "kept"}})
            kept = await client.get(registry.NAMESPACES, None, "kept", into=Namespace)
            assert kept.metadata.name == "kept"
            await client.close()
            assert running.stop() == 0


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_it(flags: list[str], tmp_path: Path, end: signal.Signals) -> None:
    with up(tmp_path / "data", "--nodes", "0", *flags) as running:
        running.ready()
        watched = {name: os.pidfd_open(pid) for name, pid in running.children().items()}
        assert len(watched) >= 3
        running.process.send_signal(end)
        try:
            assert [name for name, pidfd in watched.items() if not ended(pidfd)] == []
        finally:
            for pidfd in watched.values():
                os.close(pidfd)


def test_a_part_that_dies_is_named_and_started_again(flags: list[str], tmp_path: Path) -> None:
    with up(tmp_path / "data", "--nodes", "0", *flags) as running:
        running.ready()
        before = running.children()
        os.kill(before["scheduler"], signal.SIGKILL)
        deadline = time.monotonic() + PATIENCE
        while running.children().get("scheduler", before["scheduler"]) == before["scheduler"]:
            assert time.monotonic() < deadline, running.said()
        assert "the scheduler ended (signal SIGKILL); it is started again" in running.said()
        assert running.stop() == 0


def test_a_folder_is_for_one_at_a_time(flags: list[str], tmp_path: Path) -> None:
    with up(tmp_path / "data", "--nodes", "0", *flags) as first:
        first.ready()
        with up(tmp_path / "data", "--nodes", "0", *flags) as second:
            assert second.process.wait(PATIENCE) == 1
            assert "is in use: another tutti up keeps its data there" in second.said()


def ended(pidfd: int) -> bool:
    return bool(select.select([pidfd], [], [], PATIENCE)[0])


def _descendants(pid: int) -> Iterator[tuple[str, int]]:
    """What ends while one looks is left out."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            words = Path(f"/proc/{child}/cmdline").read_text().split("\0")
            names = ("scheduler", "controllers", "tutti.server", "tutti.cli.plane")
            known = [name for name in names if name in words]
            yield known[0] if known else Path(words[0]).name, int(child)
            yield from _descendants(int(child))
