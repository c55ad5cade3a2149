"""`tutti apply`: what it creates, what it changes, what it leaves alone, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Tutti
from tutti.cli.apply import LAST_APPLIED


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "objects.yaml"


def config_map(name: str = "settings", **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def gang(name: str, size: object) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": {"gang": {"minCount": size}}},
    }


def write(file: Path, *objects: dict[str, Any]) -> str:
    file.write_text(yaml.safe_dump_all(objects))
    return str(file)


def test_an_object_is_created_then_left_alone_then_changed(tutti: Tutti, file: Path):
    name = write(file, config_map(a="1", b="2"))
    assert tutti("apply", "-f", name).out == "configmap/settings created\n"
    assert tutti("apply", "-f", name).out == "configmap/settings unchanged\n"
    write(file, config_map(a="1", c="3"))
    assert tutti("apply", "-f", name).out == "configmap/settings configured\n"
    found = json.loads(tutti("get", "configmap/settings", "-o", "json").out)
    assert found["data"] == {"a": "1", "c": "3"}


def test_what_others_have_set_stays(tutti: Tutti, file: Path):
    group = gang("train", 2)
    tutti("apply", "-f", write(file, group))
    group["metadata"]["labels"] = {"team": "a"}
    assert "configured" in tutti("apply", "-f", write(file, group)).out
    found = yaml.safe_load(tutti("get", "podgroup", "train", "-o", "yaml").out)
    assert found["metadata"]["finalizers"] == ["scheduling.k8s.io/podgroup-protection"]
    assert found["metadata"]["labels"] == {"team": "a"}


def test_what_was_applied_is_written_where_kubectl_looks_for_it(tutti: Tutti, file: Path):
    applied = tutti("apply", "-f", write(file, config_map(a="1")), "-o", "json")
    annotation = json.loads(applied.out)["metadata"]["annotations"][LAST_APPLIED]
    assert json.loads(annotation)["data"] == {"a": "1"}


def test_numbers_that_a_server_writes_otherwise_are_no_change(tutti: Tutti, file: Path):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {
            "schedulerName": "nobody",
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "resources": {"requests": {"cpu": 2, "memory": "1024Mi"}},
                }
            ],
        },
    }
    name = write(file, pod)
    assert tutti("apply", "-f", name).out == "pod/p created\n"
    assert tutti("apply", "-f", name).out == "pod/p unchanged\n"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        pytest.param({**gang("bad", 1), "sepc": {}}, 'unknown field "sepc"', id="unknown field"),
        pytest.param(gang("bad", "many"), "minCount", id="wrong type"),
        pytest.param(
            gang("bad", -1),
            "spec.schedulingPolicy.gang.minCount: Invalid value: -1",
            id="wrong value",
        ),
    ],
)
def test_a_bad_field_is_named_with_its_place_and_the_others_are_applied(
    kubeconfig: Path, file: Path, tutti: Tutti, wrong: dict[str, Any], sentence: str
):
    ended = tutti("apply", "-f", write(file, config_map(), wrong, gang("good", 1)))
    assert ended.status == 1
    assert ended.out == ("configmap/settings created\npodgroup.scheduling.k8s.io/good created\n")
    assert f"{file}, document 2: PodGroup 'bad': Error from server" in ended.err
    assert sentence in ended.err
    assert "bad" not in tutti("get", "podgroups", "-o", "name").out


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (
            {"apiVersion": "apps/v2", "kind": "Robot", "metadata": {"name": "r"}},
            'no matches for kind "Robot" in version "apps/v2"',
        ),
        (
            {**config_map(), "metadata": {"name": "a", "namespace": "elsewhere"}},
            'the namespace from the provided object "elsewhere" does not match the namespace',
        ),
    ],
)
def test_nothing_is_written_when_a_document_has_no_place(
    tutti: Tutti, file: Path, document: dict[str, Any], sentence: str
):
    ended = tutti("apply", "-f", write(file, config_map(), document))
    assert ended.status == 1
    assert f"{file}, document 2: {sentence}" in ended.err
    assert ended.out == ""


def test_server_side_apply_is_refused(tutti: Tutti, file: Path):
    ended = tutti("apply", "--server-side", "-f", write(file, config_map()))
    assert ended.status == 1
    assert "not served yet" in ended.err
