"""Which cluster is meant, and what is said when it can't be reached."""

from pathlib import Path

import pytest

from tutti.cli import main

DEAD = """
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: a, user: {token: secret-token}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
"""


@pytest.fixture
def dead(tmp_path: Path) -> Path:
    file = tmp_path / "dead"
    file.write_text(DEAD)
    return file


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main.main(words) == 1
    return capsys.readouterr().err


def test_the_flag_goes_before_the_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, dead: Path
):
    monkeypatch.setenv("KUBECONFIG", "/nowhere")
    assert "no connection to 127.0.0.1:1" in said(capsys, "get", "pods", "--kubeconfig", str(dead))


def test_the_first_file_of_the_environment_that_is_there_counts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, dead: Path
):
    monkeypatch.setenv("KUBECONFIG", f"/nowhere:{dead}")
    assert "no connection to 127.0.0.1:1" in said(capsys, "get", "pods")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [("a: [", "neither YAML nor JSON"), ("{}", "there is no current-context")],
)
def test_a_kubeconfig_that_cannot_be_used_is_named_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str, sentence: str
):
    file = tmp_path / "bad"
    file.write_text(content)
    sentence_said = said(capsys, "get", "pods", "--kubeconfig", str(file))
    assert sentence_said.startswith(f"tutti get: {file}: ")
    assert sentence in sentence_said
    assert sentence_said.count("\n") == 1


def test_a_context_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str], dead: Path):
    words = ("get", "pods", "--kubeconfig", str(dead), "--context", "b")
    assert "contexts has no entry named 'b'" in said(capsys, *words)


def test_no_secret_is_said(capsys: pytest.CaptureFixture[str], dead: Path):
    assert "secret-token" not in said(capsys, "get", "pods", "--kubeconfig", str(dead))
