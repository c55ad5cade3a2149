"""The schemas as values: messages, their fields, and the shapes that a field's value can have.

Read from `schemas/*.json`, which `make schemas` writes from what Kubernetes publishes. A type expression
there (`[]Container`, `*meta/v1.LabelSelector`, `map[ResourceName]Quantity`) becomes a shape here.
"""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Literal

import msgspec

ScalarKind = Literal["string", "bool", "int32", "int64", "float64", "bytes"]
LeafKind = Literal[
    "Time", "MicroTime", "Duration", "Quantity", "IntOrString", "RawExtension", "FieldsV1"
]

_SCALARS: Final[dict[str, ScalarKind]] = {
    "string": "string",
    "bool": "bool",
    "int32": "int32",
    "int64": "int64",
    "float64": "float64",
    "[]byte": "bytes",
    "UID": "string",
}
_LEAVES: Final[dict[str, LeafKind]] = {
    "Time": "Time",
    "MicroTime": "MicroTime",
    "Duration": "Duration",
    "Quantity": "Quantity",
    "IntOrString": "IntOrString",
    "RawExtension": "RawExtension",
    "FieldsV1": "FieldsV1",
}
_GO_NAMES: Final = {
    "[]byte": "[]uint8",
    "UID": "types.UID",
    "Quantity": "resource.Quantity",
    "IntOrString": "intstr.IntOrString",
    "RawExtension": "runtime.RawExtension",
    **dict.fromkeys(("Time", "MicroTime", "Duration", "FieldsV1"), ""),
}


@dataclass(frozen=True, slots=True)
class Scalar:
    kind: ScalarKind
    go: str
    """The type as Go prints it, for error texts."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value with a notation of its own."""

    kind: LeafKind
    go: str


@dataclass(frozen=True, slots=True)
class List:
    of: Shape
    go: str


@dataclass(frozen=True, slots=True)
class Map:
    of: Shape
    go: str


@dataclass(frozen=True, slots=True)
class Nested:
    """A value of a message type; looked up when asked, because messages contain themselves."""

    package: str
    name: str

    @property
    def message(self) -> Message:
        return message(self.package, self.name)

    @property
    def go(self) -> str:
        return _go_name(self.package, self.name)


Shape = Scalar | Leaf | List | Map | Nested


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field of a message, with what writers, readers and patches need to know of it."""

    name: str
    shape: Shape
    pointer: bool
    number: int
    shown: bool
    """Whether an empty value is shown rather than left out."""
    required: bool
    list_type: str
    keys: tuple[str, ...]
    map_type: str
    patch: tuple[str, ...]
    merge_key: str
    default: Any
    via: str = ""
    """The embedded Go struct that the field comes from, where JSON flattens one."""


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    package: str
    name: str
    is_object: bool
    """Whether it carries apiVersion and kind beside its fields."""
    fields: dict[str, Field] = field(repr=False)
    """By JSON name; those of embedded structs are among them."""
    embedded: dict[int, Nested] = field(repr=False)
    """By number, the structs that JSON flattens and protobuf does not."""

    @property
    def go(self) -> str:
        return _go_name(self.package, self.name)


@cache
def message(package: str, name: str) -> Message:
    """The message `name` of `core/v1`, `scheduling/v1beta1`, ...; KeyError if it has no schema."""
    written = _document(package)["types"][name]
    fields: dict[str, Field] = {}
    embedded: dict[int, Nested] = {}
    for expression, number in written.get("inline", {}).items():
        shape = _shape(expression.lstrip("*"), package)
        assert isinstance(shape, Nested)
        embedded[number] = shape
        for inner in shape.message.fields.values():
            fields[inner.name] = _through(inner, shape.name)
    for field_name, facts in written["fields"].items():
        fields[field_name] = _field(field_name, facts, package)
    return Message(package, name, bool(written.get("object")), fields, embedded)


def kubernetes_version() -> str:
    """The version that the schemas were made from."""
    return str(_document("core/v1")["kubernetes"])


@cache
def _document(package: str) -> dict[str, Any]:
    data = pkgutil.get_data("tutti.api", f"schemas/{package.replace('/', '_')}.json")
    assert data is not None
    document: dict[str, Any] = msgspec.json.decode(data)
    return document


def _field(name: str, facts: dict[str, Any], package: str) -> Field:
    expression: str = facts["type"]
    return Field(
        name=name,
        shape=_shape(expression.removeprefix("*"), package),
        pointer=expression.startswith("*"),
        number=facts["number"],
        shown=facts.get("shown", False),
        required=facts.get("required", False),
        list_type=facts.get("list", ""),
        keys=tuple(facts.get("keys", ())),
        map_type=facts.get("map", ""),
        patch=tuple(facts.get("patch", "").split(",")) if facts.get("patch") else (),
        merge_key=facts.get("mergeKey", ""),
        default=facts.get("default"),
    )


def _through(inner: Field, embedded: str) -> Field:
    facts = {name: getattr(inner, name) for name in Field.__slots__}
    facts["via"] = f"{embedded}.{inner.via}" if inner.via else embedded
    return Field(**facts)


def _shape(expression: str, package: str, go: str = "") -> Shape:
    if expression in _SCALARS:
        return Scalar(_SCALARS[expression], go or _go(expression, package))
    if expression in _LEAVES:
        return Leaf(_LEAVES[expression], go or _go(expression, package))
    if expression.startswith("[]"):
        return List(_shape(expression[2:].lstrip("*"), package), go or _go(expression, package))
    if expression.startswith("map["):
        inner = expression[expression.index("]") + 1 :]
        return Map(_shape(inner.lstrip("*"), package), go or _go(expression, package))
    where, _, name = expression.rpartition(".")
    where = where or package
    named = _document(where)["named"].get(name)
    if named is not None:
        return _shape(named, where, go or _go_name(where, name))
    return Nested(where, name)


def _go(expression: str, package: str) -> str:
    """The expression as Go prints the type: `[]v1.Container`, `map[string]string`."""
    if expression in _GO_NAMES:
        return _GO_NAMES[expression] or f"v1.{expression}"
    if expression in _SCALARS:
        return expression
    if expression.startswith("[]"):
        return "[]" + _go(expression[2:], package)
    if expression.startswith("*"):
        return "*" + _go(expression[1:], package)
    if expression.startswith("map["):
        key, _, value = expression[4:].partition("]")
        return f"map[{_go(key, package)}]{_go(value, package)}"
    where, _, name = expression.rpartition(".")
    return _go_name(where or package, name)


def _go_name(package: str, name: str) -> str:
    return f"{package.rpartition('/')[2]}.{name}"
