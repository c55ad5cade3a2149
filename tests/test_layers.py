"""The layers of docs/architecture.md are contracts, and a forbidden import breaks one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def lint(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree / "src"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("room", "forbidden", "contract"),
    [
        pytest.param("core", "tutti.api", "Layers", id="the core doesn't know the wire's objects"),
        pytest.param("engine", "tutti.kube", "Layers", id="the engine doesn't know the client"),
        pytest.param("engine", "time", "read no clock", id="the engine reads no clock"),
        pytest.param("core", "msgspec", "no wire format", id="the core knows no wire format"),
        pytest.param("server", "tutti.core", "does not schedule", id="the server doesn't schedule"),
        pytest.param("controllers", "tutti.store", "HTTP only", id="no back door to the store"),
        pytest.param("web", "sqlite3", "Only the store", id="SQLite stays in the store"),
    ],
)
def test_a_forbidden_import_breaks_a_contract(
    copy: Path, room: str, forbidden: str, contract: str
) -> None:
    (copy / "src/tutti" / room / "intruder.py").write_text(f"import {forbidden}\n")
    result = lint(copy)
    assert result.returncode != 0
    broken = [line for line in result.stdout.splitlines() if line.rstrip().endswith("BROKEN")]
    assert any(contract in line for line in broken), result.stdout


def test_the_tree_as_it_stands_keeps_every_contract(copy: Path) -> None:
    result = lint(copy)
    assert result.returncode == 0, result.stdout
