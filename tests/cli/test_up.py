"""`tutti up`: one line when all of it works, one end for all of it, and nothing that it shouldn't touch."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select

import pytest

TUTTI = (sys.executable, "-m", "tutti.cli")
UP = (*TUTTI, "up", "--port", "0", "--nodes", "1")


class Running:
    """A `tutti up` that has said its line."""

    def __init__(self, process: subprocess.Popen[str], ready: str) -> None:
        self.process = process
        found = re.fullmatch(r"ready: (https://127\.0\.0\.1:\d+) kubeconfig=(.+)\n", ready)
        assert found, f"it said {ready!r}"
        self.address, self.kubeconfig = found[1], Path(found[2])

    def tutti(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*TUTTI, *words, "--kubeconfig", str(self.kubeconfig)],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=30,
        )

    def children(self) -> dict[str, int]:
        """The processes that it started, by what they are."""
        pids = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return {_role(int(pid)): int(pid) for pid in pids.split()}

    def next_line(self, containing: str) -> str:
        """The next line on stderr with these words."""
        assert self.process.stderr is not None
        return next(line for line in self.process.stderr if containing in line)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


@contextmanager
def up(*flags: str) -> Iterator[Running]:
    with subprocess.Popen(
        [*UP, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        try:
            assert process.stdout is not None
            yield Running(process, process.stdout.readline())
        finally:
            process.terminate()
            process.communicate(timeout=20)


def _role(pid: int) -> str:
    words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return words[3] if words[2] == "tutti.cli" else words[2]


def refused(*flags: str) -> str:
    """What it says when it can't even begin."""
    ended = subprocess.run([*UP, *flags], capture_output=True, text=True, timeout=30)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert "Traceback" not in ended.stderr
    return ended.stderr


def gone(pids: list[int]) -> bool:
    """Whether processes that aren't ours end soon: their end is awaited, not slept for."""
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            if not select([descriptor], [], [], 15)[0]:
                return False
        finally:
            os.close(descriptor)
    return True


def test_it_says_that_it_is_ready_and_ends_with_status_0_and_all_its_children():
    with up() as running:
        children = running.children()
        assert set(children) == {"tutti.server", "scheduler", "controllers"}
        assert "node-0" in running.tutti("get", "nodes").stdout
        assert running.stop() == 0
        assert gone(list(children.values()))
        assert not running.kubeconfig.exists()


def test_its_children_end_with_it_however_it_ends(tmp_path: Path):
    with up("--data-dir", str(tmp_path)) as running:
        children = running.children()
        running.process.kill()
        assert gone(list(children.values()))


def test_the_way_in_is_for_its_owner_alone(tmp_path: Path):
    kubeconfig = tmp_path / "kubeconfig"
    with up("--kubeconfig", str(kubeconfig)) as running:
        assert running.kubeconfig == kubeconfig
        assert stat.S_IMODE(kubeconfig.stat().st_mode) == 0o600


def test_what_is_kept_in_a_folder_is_there_again(tmp_path: Path):
    manifest = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}})
    flags = ("--data-dir", str(tmp_path / "data"), "--no-scheduler", "--no-controllers")
    with up(*flags) as running:
        assert (
            running.tutti("apply", "-f", "-", stdin=manifest).stdout == "configmap/kept created\n"
        )
        token = re.search(r"token: (.+)", running.kubeconfig.read_text())
        assert f"{tmp_path / 'data'} is in use" in refused(*flags)
        assert running.stop() == 0
    with up(*flags) as running:
        assert "kept" in running.tutti("get", "configmaps").stdout
        again = re.search(r"token: (.+)", running.kubeconfig.read_text())
        assert token is not None
        assert again is not None
        assert token[1] == again[1]


def test_a_part_that_is_killed_is_named_and_started_again():
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "none"}]},
    }
    with up() as running:
        for part in ("scheduler", "server"):
            role = "tutti.server" if part == "server" else part
            os.kill(running.children()[role], signal.SIGKILL)
            said = running.next_line("ended")
            assert f"the {part} ended (signal SIGKILL); it is started again" in said
            running.next_line(f"the {part} works again")
        applied = running.tutti("apply", "-f", "-", stdin=json.dumps(pod))
        assert applied.stdout == "pod/p created\n", applied.stderr


def test_a_port_that_is_taken_is_said():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert str(port) in refused("--port", str(port))


def test_a_kubeconfig_of_others_is_not_written_over(tmp_path: Path):
    theirs = tmp_path / "config"
    theirs.write_text("contexts: [{name: production}]")
    assert "production" in refused("--kubeconfig", str(theirs))
    assert theirs.read_text() == "contexts: [{name: production}]"


@pytest.mark.parametrize(
    ("description", "sentence"),
    [
        ("nodes: [{name: a, cuont: 1, resources: {}}]", 'unknown field "cuont"'),
        ("nodes: [", "is no YAML"),
    ],
)
def test_a_wrong_description_of_nodes_is_refused_by_its_field(
    tmp_path: Path, description: str, sentence: str
):
    file = tmp_path / "cluster.yaml"
    file.write_text(description)
    ended = subprocess.run(
        [*TUTTI, "up", "--port", "0", "--cluster", str(file)],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert ended.returncode == 1
    assert f"{file}" in ended.stderr
    assert sentence in ended.stderr


def test_a_gate_that_lacks_another_is_an_error_at_the_start():
    said = refused("--feature-gates", "GenericWorkload=false")
    assert "depends on features that are disabled: [GenericWorkload]" in said


def test_a_kubeconfig_that_cannot_be_written_is_said_before_anything_starts(tmp_path: Path):
    assert "there is no folder" in refused("--kubeconfig", str(tmp_path / "no" / "kubeconfig"))
