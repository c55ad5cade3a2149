"""The table of commands: what it costs to ask for help, and how commands end."""

import os
import resource
import subprocess
import sys

import pytest

from tutti.cli import main

CPU_BUDGET_S = 0.1


def test_every_command_of_the_table_has_a_module_that_explains_itself(
    capsys: pytest.CaptureFixture[str],
):
    for command in main.COMMANDS:
        with pytest.raises(SystemExit) as ended:
            main.main([command.name, "--help"])
        assert ended.value.code == 0
        assert f"usage: tutti {command.name}" in capsys.readouterr().out.replace("\n", " ")


def test_help_is_cheap():
    def cpu_of(*command: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(cpu_of("-m", "tutti.cli", "--help") for _ in range(3)) < CPU_BUDGET_S


def test_no_command_at_all_gets_the_help(capsys: pytest.CaptureFixture[str]):
    assert main.main([]) == 0
    assert "why" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["wyh"], ["--nonsense"], ["up", "--nodes", "many"]])
def test_what_is_asked_wrongly_ends_with_status_2(words: list[str]):
    with pytest.raises(SystemExit) as ended:
        main.main(words)
    assert ended.value.code == 2


def test_trouble_is_a_sentence_and_status_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: os.PathLike[str]
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    assert main.main(["get", "pods"]) == 1
    said = capsys.readouterr().err
    assert said == (
        "tutti get: no cluster is known here: say --kubeconfig FILE, set KUBECONFIG, "
        "or start one with tutti up\n"
    )


def test_kubectl_finds_it_as_a_plugin(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/kubectl-tutti"])
    main.main([])
    assert "usage: kubectl tutti" in capsys.readouterr().out
