"""`tutti scheduler`: what is wrong with its configuration file is said before anything starts."""

from pathlib import Path

import pytest

from tutti.cli import main

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (HEAD + "profiles: [{schedulerNam: x}]\n", 'profiles[0]: unknown field "schedulerNam"'),
        (HEAD + "extenders: [{urlPrefix: http://x}]\n", "extenders: not supported"),
        ("kind: Pod\n", 'no kind "Pod" is known for version ""'),
    ],
)
def test_a_file_that_can_not_be_followed_is_refused(
    text: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(text)

    assert main.main(["scheduler", "--config", str(file)]) == 1

    said = capsys.readouterr().err
    assert said.startswith(f"tutti scheduler: {file}: ")
    assert sentence in said


def test_names_are_said_in_one_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["scheduler", "--config", str(tmp_path / "x.yaml"), "--scheduler-name", "a"]

    assert main.main(arguments) == 1

    assert "the profiles in the file say the scheduler names" in capsys.readouterr().err
