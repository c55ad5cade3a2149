"""`tutti why`, asked of a running scheduler."""

import json
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Tutti

Apply = Callable[..., None]


def member(number: int, cpu: str, group: str | None = "train") -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    spec: dict[str, Any] = {"containers": [container]}
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p-{number}"}, "spec": spec}


def gang(size: int) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "train"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": size}}},
    }


@pytest.fixture
def apply(tutti: Tutti, tmp_path: Path) -> Apply:
    def run(*objects: dict[str, Any]) -> None:
        file = tmp_path / "objects.yaml"
        file.write_text(yaml.safe_dump_all(objects))
        assert tutti("apply", "-f", str(file)).status == 0

    return run


def once_said(tutti: Tutti, what: str, words: str) -> str:
    """The answer, as soon as the scheduler has said so much."""
    deadline = monotonic() + 20
    while True:
        answer = tutti("why", what).out
        if words in answer:
            return answer
        assert monotonic() < deadline, f"{words!r} was never said, but: {answer}"


def test_a_gang_without_room_says_how_many_would_fit_and_what_is_short(tutti: Tutti, apply: Apply):
    apply(gang(3), *(member(n, "20") for n in range(3)))
    said = once_said(tutti, "podgroup/train", "2 fit")
    assert "needs 3 members, has 3, 0 of them bound" in said
    assert "2 Insufficient cpu" in said
    assert "p-2" in said


def test_a_gang_that_runs_says_where(tutti: Tutti, apply: Apply):
    apply(gang(2), *(member(n, "100m") for n in range(2)))
    once_said(tutti, "pod/p-0", "podgroup/train")
    said = once_said(tutti, "podgroup/train", "runs (Bound)")
    assert "node-" in said


def test_a_pod_of_a_group_that_is_not_there_says_so(tutti: Tutti, apply: Apply):
    apply(member(0, "1"))
    assert "train" in once_said(tutti, "pod/p-0", "is not there")


def test_a_lone_pod_says_what_it_lacks(tutti: Tutti, apply: Apply):
    apply(member(0, "900", group=None))
    once_said(tutti, "pod/p-0", "2 Insufficient cpu")


def test_programs_get_it_as_json(tutti: Tutti, apply: Apply):
    apply(gang(2), member(0, "1"))
    once_said(tutti, "podgroup/train", "(WaitingForMembers)")
    found = json.loads(tutti("why", "podgroup/train", "-o", "json").out)
    assert (found["state"], found["needs"], found["has"]) == ("waits", 2, 1)
    assert found["reason"] == "WaitingForMembers"


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("podgroup/nobody", 'podgroups.scheduling.k8s.io "nobody" not found'),
        ("podgroup", "names no object: say KIND/NAME"),
        ("node/node-0", "of a node nothing can be said"),
    ],
)
def test_what_cannot_be_answered_is_said(tutti: Tutti, what: str, sentence: str):
    ended = tutti("why", what)
    assert ended.status == 1
    assert sentence in ended.err
