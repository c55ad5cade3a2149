"""Objects out of files, and the sentences for files that hold none."""

from pathlib import Path

import pytest

from tutti.cli import manifests
from tutti.cli.output import Trouble

POD = "{apiVersion: v1, kind: Pod, metadata: {name: %s}}"


def names(*documents: manifests.Document) -> list[str]:
    return [document.content["metadata"]["name"] for document in documents]


def test_documents_and_lists_are_taken_apart_and_empty_ones_passed_over():
    text = f"---\n{POD % 'a'}\n---\n---\n{{apiVersion: v1, kind: List, items: [{POD % 'b'}]}}"
    found = list(manifests.documents(text, "f.yaml"))
    assert names(*found) == ["a", "b"]
    assert found[1].place == "f.yaml, document 3, items[0]"


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path):
    for name in ("b.yaml", "a.yml", "c.json", "notes.txt"):
        (tmp_path / name).write_text(
            POD % name[0]
            if name != "c.json"
            else '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"c"}}'
        )
    assert names(*manifests.read(str(tmp_path))) == ["a", "b", "c"]


def test_what_looks_like_a_time_stays_a_text():
    [document] = manifests.documents(
        "{apiVersion: v1, kind: X, metadata: {name: a}, at: 2026-01-01}", "f"
    )
    assert document.content["at"] == "2026-01-01"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("- 1", "f: an object with apiVersion and kind is expected"),
        ("kind: Pod", "f: apiVersion is missing"),
        ("apiVersion: v1", "f: kind is missing"),
        ("{apiVersion: v1, kind: Pod}", "f: metadata is missing"),
        ("{apiVersion: v1, kind: Pod, metadata: {}}", "f: metadata.name is missing"),
        (f"{POD % 'a'}\n---\nkind: Pod", "f, document 2: apiVersion is missing"),
    ],
)
def test_what_is_no_object_is_named(text, sentence):
    with pytest.raises(Trouble) as trouble:
        list(manifests.documents(text, "f"))
    assert str(trouble.value) == sentence


@pytest.mark.parametrize("text", ["a: [", "a: 1\na: 2"])
def test_what_is_no_yaml_is_named(text):
    with pytest.raises(Trouble, match=r"^f: "):
        list(manifests.documents(text, "f"))


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(Trouble, match=r"no\.yaml can't be read: No such file or directory"):
        list(manifests.read(str(tmp_path / "no.yaml")))
