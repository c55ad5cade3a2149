"""What the process of a real control plane says when there can't be one."""

import fcntl
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tutti.cli.credentials import make
from tutti.cli.plane import reserved

FAKE = "#!/bin/sh\ncase $1 in *version) echo '{says}'; exit;; esac\n{does}\n"
IDLE = "exec sleep 1000"


def program(path: Path, says: str, does: str = IDLE) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(FAKE.format(says=says, does=does))
    path.chmod(0o755)


@pytest.fixture
def binaries(tmp_path: Path) -> Path:
    """Programs that say the right versions, and then do nothing."""
    program(tmp_path / "bin" / "etcd", "etcd Version: 3.7.0")
    program(tmp_path / "bin" / "kube-apiserver", "Kubernetes v1.37.1")
    return tmp_path / "bin"


def plane(binaries: Path, folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    keys = make(folder)
    return subprocess.run(
        [
            *(sys.executable, "-m", "tutti.cli.plane", f"--binaries={binaries}"),
            *(f"--data-dir={folder / 'data'}", f"--tls-ca={keys.authority}"),
            *keys.server_flags(),
            *flags,
        ],
        input="",
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def test_a_missing_program_is_named(binaries: Path, tmp_path: Path) -> None:
    (binaries / "etcd").unlink()
    tried = plane(binaries, tmp_path)
    assert tried.returncode == 1
    assert tried.stderr == f"no control plane in {binaries}: etcd is missing\n"


def test_a_companion_that_is_wanted_must_be_there(binaries: Path, tmp_path: Path) -> None:
    tried = plane(binaries, tmp_path, "--with=kube-scheduler")
    assert (tried.returncode, tried.stderr) == (1, f"{binaries} has no kube-scheduler\n")


def test_a_program_that_ends_is_named_with_its_last_words(binaries: Path, tmp_path: Path) -> None:
    broken = "echo 'bind: address already in use' >&2; exit 3"
    program(binaries / "kube-apiserver", "Kubernetes v1.37.1", broken)
    tried = plane(binaries, tmp_path)
    assert (tried.returncode, tried.stdout) == (1, "")
    assert tried.stderr == (
        "kube-apiserver ended (status 3); it said last:\nbind: address already in use\n"
    )


def test_a_folder_has_one_control_plane(binaries: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with (tmp_path / "data" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tried = plane(binaries, tmp_path)
    assert tried.returncode == 1
    assert tried.stderr == f"{tmp_path / 'data'} is in use by another control plane\n"


def test_it_ends_with_its_parent_even_before_it_is_ready(binaries: Path, tmp_path: Path) -> None:
    tried = plane(binaries, tmp_path, "--exit-with-parent")
    assert (tried.returncode, tried.stdout, tried.stderr) == (0, "", "")


def test_a_port_that_is_said_is_taken_as_it_is() -> None:
    with reserved("127.0.0.1", 6443) as port:
        assert port == 6443


def test_a_free_port_is_held_until_the_api_server_has_it() -> None:
    with reserved("127.0.0.1", 0) as port:
        with socket.socket() as stranger, pytest.raises(OSError, match="in use"):
            stranger.bind(("127.0.0.1", port))
        with socket.socket() as shared:
            shared.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            shared.bind(("127.0.0.1", port))
