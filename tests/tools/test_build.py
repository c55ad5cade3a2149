"""What `make control-plane` and `make e2e-real` say where there is nothing to build from."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "tools" / "control-plane" / "build.py"


@pytest.fixture
def nowhere(tmp_path: Path) -> dict[str, str]:
    """An environment with a Go that finds no sources, neither here nor at any registry."""
    tools = tmp_path / "bin"
    tools.mkdir()
    go = tools / "go"
    go.write_text('#!/bin/sh\n[ "$1" = env ] && echo go1.99.0 && exit\nexit 1\n')
    go.chmod(0o755)
    left_out = ("TUTTI_CONTROL_PLANE", "KUBEBUILDER_ASSETS", "TUTTI_E2E_REAL", "CI")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return kept | {"XDG_CACHE_HOME": str(tmp_path), "PATH": f"{tools}:{os.environ['PATH']}"}


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )


def test_without_a_registry_the_build_says_so_and_ends_with_a_status_of_its_own(
    nowhere: dict[str, str],
) -> None:
    tried = run(BUILD, **nowhere)
    assert (tried.returncode, tried.stdout) == (69, "")
    last = tried.stderr.splitlines()[-1]
    assert last == "control-plane: no Go module registry answers: there is nothing to build from"


def test_a_failed_build_leaves_nothing_behind(nowhere: dict[str, str]) -> None:
    run(BUILD, **nowhere)
    store = Path(nowhere["XDG_CACHE_HOME"]) / "tutti" / "control-plane"
    assert [entry.name for entry in store.iterdir()] == [".lock"]


def test_the_build_needs_no_environment() -> None:
    assert run("-I", "-S", BUILD, "--help", **os.environ).returncode == 0


def test_without_a_registry_the_real_tests_count_as_skipped(nowhere: dict[str, str]) -> None:
    tried = run("-m", "tools.e2e_real", **nowhere)
    assert tried.returncode == 0
    assert tried.stdout.startswith("e2e-real: skipped: there is no real control plane")


def test_in_ci_they_may_not_be_skipped(nowhere: dict[str, str]) -> None:
    tried = run("-m", "tools.e2e_real", **nowhere, CI="true")
    assert tried.returncode == 1
    assert "in CI there must be a real API server" in tried.stdout


def test_unless_they_were_switched_off(nowhere: dict[str, str]) -> None:
    tried = run("-m", "tools.e2e_real", **nowhere, CI="true", TUTTI_E2E_REAL="off")
    assert (tried.returncode, tried.stdout) == (0, "e2e-real: skipped: TUTTI_E2E_REAL is off\n")
