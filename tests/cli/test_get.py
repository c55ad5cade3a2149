"""`tutti get`: tables as the server makes them, whole objects, and what isn't there."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Tutti


@pytest.fixture
def two_maps(tutti: Tutti, tmp_path: Path) -> None:
    maps = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": n, "labels": {"is": n}}}
        for n in ("one", "two")
    ]
    file = tmp_path / "maps.yaml"
    file.write_text(yaml.safe_dump_all(maps))
    assert tutti("apply", "-f", str(file)).status == 0


def test_a_table_has_the_columns_of_the_kind(tutti: Tutti):
    lines = tutti("get", "nodes").out.splitlines()
    assert lines[0].split() == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert [line.split()[0] for line in lines[1:]] == ["node-0", "node-1"]


def test_wide_tables_have_more(tutti: Tutti):
    assert "INTERNAL-IP" in tutti("get", "no", "-o", "wide").out


@pytest.mark.usefixtures("two_maps")
def test_objects_can_be_had_whole(tutti: Tutti):
    one = json.loads(tutti("get", "cm/one", "-o", "json").out)
    assert (one["kind"], one["metadata"]["name"]) == ("ConfigMap", "one")
    both = yaml.safe_load(tutti("get", "cm", "-o", "yaml").out)
    assert [item["kind"] for item in both["items"]] == ["ConfigMap", "ConfigMap"]
    assert tutti("get", "cm", "-o", "name").out == "configmap/one\nconfigmap/two\n"


@pytest.mark.usefixtures("two_maps")
def test_selectors_choose(tutti: Tutti):
    assert tutti("get", "cm", "-l", "is!=one", "-o", "name").out == "configmap/two\n"
    chosen = tutti("get", "cm", "--field-selector", "metadata.name=one", "-o", "name")
    assert chosen.out == "configmap/one\n"


@pytest.mark.usefixtures("two_maps")
def test_all_namespaces_are_shown_with_their_names(tutti: Tutti):
    lines = tutti("get", "cm", "-A", "-l", "is=one").out.splitlines()
    assert lines[0].split()[:2] == ["NAMESPACE", "NAME"]
    assert all(line.split()[1] == "one" for line in lines[1:])


@pytest.mark.usefixtures("two_maps")
def test_several_kinds_are_told_apart(tutti: Tutti):
    out = tutti("get", "cm,nodes").out
    assert "configmap/one" in out
    assert "\n\nNAME" in out
    assert "node/node-0" in out


@pytest.mark.usefixtures("two_maps")
def test_what_is_missing_is_said_beside_what_is_there(tutti: Tutti):
    ended = tutti("get", "cm", "one", "three")
    assert ended.status == 1
    assert "one" in ended.out
    assert ended.err == 'Error from server (NotFound): configmaps "three" not found\n'


def test_nothing_at_all_is_said_too(tutti: Tutti):
    ended = tutti("get", "pods")
    assert (ended.status, ended.out) == (0, "")
    assert ended.err.startswith("No resources found in ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["robots"], 'the server doesn\'t have a resource type "robots"'),
        (["pod/a", "b"], "say either KIND NAME… or KIND/NAME…, not both"),
        (["pods,nodes", "a"], "names go with one kind only"),
        (["pods", "a", "-A"], "a resource cannot be retrieved by name across all namespaces"),
    ],
)
def test_what_makes_no_sense_is_refused(tutti: Tutti, words: list[str], sentence: str):
    ended = tutti("get", *words)
    assert ended.status == 1
    assert sentence in ended.err


@pytest.mark.usefixtures("two_maps")
def test_changes_are_shown_as_they_come(tutti: Tutti, tmp_path: Path):
    one = json.loads(tutti("get", "cm/one", "-o", "json").out)
    late = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "late"}}
    file = tmp_path / "late.yaml"
    file.write_text(yaml.safe_dump(late))
    command = [sys.executable, "-m", "tutti.cli", "get", "cm", "-w"]
    with subprocess.Popen(
        [*command, "-n", one["metadata"]["namespace"]], stdout=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stdout is not None
        shown = [watching.stdout.readline().split()[0] for _ in range(3)]
        assert shown == ["NAME", "one", "two"]
        tutti("apply", "-f", str(file))
        assert watching.stdout.readline().startswith("late")
        watching.terminate()
