"""The scenarios are written in a language that the docs explain."""

from pathlib import Path

import msgspec
import pytest

from tests.e2e.scenario import (
    Deletion,
    Expectation,
    Gang,
    Group,
    JobSet,
    PodSet,
    Scenario,
    Step,
    read,
)

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted((ROOT / "scenarios").glob("*.yaml"))


def test_there_are_scenarios() -> None:
    assert len(SCENARIOS) >= 12


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_each_can_be_read_and_expects_something_of_each_step(file: Path) -> None:
    assert all(step.expect for step in read(file).steps)


@pytest.mark.parametrize(
    "part", [Scenario, Step, Group, PodSet, Gang, JobSet, Deletion, Expectation]
)
def test_the_docs_name_every_word(part: type[msgspec.Struct]) -> None:
    docs = (ROOT / "docs" / "scenarios.md").read_text()
    words = [field.encode_name for field in msgspec.structs.fields(part)]
    assert [word for word in words if f"`{word}`" not in docs] == []


def test_a_word_that_is_not_known_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "typo.yaml"
    file.write_text("title: t\ngangs: [{name: g, pods: 1, mincount: 1}]")
    with pytest.raises(msgspec.ValidationError, match="mincount"):
        read(file)
