"""Protobuf bodies become the objects that JSON would have given.

The vectors were kept from a real 1.37.1 API server: what was sent to it, what it showed as JSON, and the
same as protobuf.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutti.api import protobuf, schema
from tutti.api.errors import BadRequest

VECTORS = sorted((Path(__file__).parent / "vectors").glob("*.pb"))
PODS = schema.load("", "v1", "Pod")


def shown_by_a_real_server(vector: Path) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(vector.with_suffix(".json").read_text())["shown"]
    return shown


def schema_of(obj: dict[str, Any]) -> schema.Schema:
    group, _, version = obj["apiVersion"].rpartition("/")
    return schema.load(group, version, obj["kind"])


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.stem)
def test_a_real_body_is_read_as_its_json(vector: Path) -> None:
    shown = shown_by_a_real_server(vector)
    obj, complaints = protobuf.read(schema_of(shown), vector.read_bytes())
    del obj["metadata"]["managedFields"]
    assert obj == shown
    assert complaints == []


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.stem)
def test_what_a_real_server_shows_needs_no_mending(vector: Path) -> None:
    shown = shown_by_a_real_server(vector)
    again = shown_by_a_real_server(vector)
    assert schema_of(shown).check(again) == []
    assert again == shown


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"k8s\x00\xff\xff", "unexpected EOF (6b387300ffff)"),
        (b"k8s\x00", "empty body (6b387300)"),
        (b"k8s\x00\x0a\x05abc", "unexpected EOF (6b3873000a05616263)"),
        (
            b"garbage",
            "provided data does not appear to be a protobuf message, "
            "expected prefix [107 56 115 0] (67617262616765)",
        ),
    ],
)
def test_what_is_no_message_is_refused_with_its_beginning(body: bytes, why: str) -> None:
    with pytest.raises(BadRequest) as refused:
        protobuf.read(PODS, body)
    assert (
        refused.value.message == f"the object provided is unrecognized (must be of type Pod): {why}"
    )


def test_a_body_of_another_kind_is_refused() -> None:
    node = next(vector for vector in VECTORS if vector.stem == "node")
    with pytest.raises(BadRequest, match='Node in version "v1" cannot be handled as a Pod'):
        protobuf.read(PODS, node.read_bytes())


pods = st.sampled_from([vector.read_bytes() for vector in VECTORS if vector.stem.startswith("pod")])


@given(pods, st.data())
def test_a_damaged_body_is_read_or_refused(body: bytes, data: st.DataObject) -> None:
    damaged = bytearray(body)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(4, len(body) - 1))] = data.draw(st.integers(0, 255))
    for wire in (bytes(damaged), body[: data.draw(st.integers(0, len(body)))]):
        try:
            obj, _ = protobuf.read(PODS, wire)
        except BadRequest:
            continue
        assert json.loads(json.dumps(obj)) == obj
