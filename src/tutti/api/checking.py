"""A JSON object held against its schema: types checked, unknown fields cut out, values normalised.

Every message is compiled once into a function that walks an object and mends it in place, so that it
ends as a real API server would show it: empty values left out or shown, amounts and times in their one
notation. Most fields of most objects are strings, so those are looked at without a call.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, assert_never

from tutti.api import quantity
from tutti.api.shapes import Field, Leaf, LeafKind, List, Map, Message, Nested, Scalar, Shape

Trail = tuple[Any, str | int] | None
"""Where in the object we are, innermost last: (outer, field or index)."""
Check = Callable[[Any, Trail, list[str]], Any]
"""Gives the value as it is to stay; None where it is to be left out."""

_INT32: Final = 2**31
_INT64: Final = 2**63
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)\Z", re.ASCII)
_MICRO_TIME: Final = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)\Z", re.ASCII
)
_LAYOUT: Final = "2006-01-02T15:04:05Z07:00"
_MICRO_LAYOUT: Final = "2006-01-02T15:04:05.000000Z07:00"


class Mismatch(Exception):
    """A value of the wrong type. The message grows outwards, field by field."""

    def __init__(self, value: Any, go: str) -> None:
        super().__init__(go)
        self.value = value
        self.go = go
        self.struct = ""
        self.path: list[str] = []

    def within(self, struct: str, field: str) -> None:
        self.struct = self.struct or struct
        self.path.insert(0, field)

    @property
    def sentence(self) -> str:
        where = ".".join(self.path)
        return (
            f"json: cannot unmarshal {word(self.value, self.go)} into Go struct field "
            f"{self.struct}.{where} of type {self.go}"
        )


class Unreadable(Exception):
    """A value of the right type whose text means nothing; the message is the whole sentence."""


@cache
def checker(message: Message) -> Check:
    """The compiled check of a message."""
    table: dict[str, Check | None] = {}
    shown: list[tuple[str, Callable[[], Any]]] = []
    owners: dict[str, tuple[str, str]] = {}
    for field in message.fields.values():
        table[field.name] = _field_check(field)
        prefix = f"{field.via}." if field.via else ""
        owners[field.name] = (message.name, prefix + field.name)
        if field.shown:
            shown.append((field.name, _empty(field)))
    if message.is_object:
        table["apiVersion"] = table["kind"] = None
        owners |= {name: (message.name, name) for name in ("apiVersion", "kind")}
    missing = object()
    go = message.go

    def check(value: Any, trail: Trail, unknown: list[str]) -> Any:
        if value.__class__ is not dict:
            raise Mismatch(value, go)
        gone: list[str] | None = None
        name = ""
        try:
            for name, item in value.items():
                check_item = table.get(name, missing)
                if check_item is None and item.__class__ is str and item:
                    continue
                if check_item is missing:
                    unknown.append(_rendered((trail, name)))
                    kept = None
                elif item is None:
                    kept = None
                elif check_item is None:
                    if item.__class__ is not str:
                        raise Mismatch(item, "string")
                    kept = None
                else:
                    kept = check_item(item, (trail, name), unknown)  # type: ignore[operator]
                if kept is None:
                    gone = [name] if gone is None else [*gone, name]
                elif kept is not item:
                    value[name] = kept
        except Mismatch as mismatch:
            mismatch.within(*owners[name])
            raise
        if gone is not None:
            for name in gone:
                del value[name]
        for name, empty in shown:
            if name not in value:
                value[name] = empty()
        return value

    return check


def _field_check(field: Field) -> Check | None:
    """None stands for the commonest case: a plain string, left out when empty."""
    shape = field.shape
    if isinstance(shape, Scalar) and shape == Scalar("string", "string") and not field.pointer:
        return None
    check = _shape_check(shape)
    if field.pointer or isinstance(shape, Nested | Leaf):
        return check
    return _without_empty(check)


def _without_empty(check: Check) -> Check:
    def kept(value: Any, trail: Trail, unknown: list[str]) -> Any:
        return check(value, trail, unknown) or None

    return kept


def _empty(field: Field) -> Callable[[], Any]:
    """What is shown of a field that is not set."""
    match field.shape:
        case _ if field.pointer:
            return _nothing
        case Scalar("string"):
            return str
        case Scalar("bool"):
            return bool
        case Scalar("bytes"):
            return _nothing
        case Scalar():
            return int
        case Nested() as nested:
            return lambda: checker(nested.message)({}, None, [])
        case Leaf("Quantity"):
            return lambda: "0"
        case Leaf("IntOrString"):
            return int
        case _:
            return _nothing


def _nothing() -> None:
    return None


def _shape_check(shape: Shape) -> Check:
    match shape:
        case Scalar():
            return _scalar_check(shape)
        case Leaf():
            return _LEAF_CHECKS[shape.kind]
        case Nested():
            return _nested_check(shape)
        case List():
            return _list_check(shape)
        case Map():
            return _map_check(shape)
        case _:
            assert_never(shape)


def _nested_check(shape: Nested) -> Check:
    compiled: Check | None = None

    def check(value: Any, trail: Trail, unknown: list[str]) -> Any:
        nonlocal compiled
        if compiled is None:
            compiled = checker(shape.message)
        return compiled(value, trail, unknown)

    return check


def _list_check(shape: List) -> Check:
    go = shape.go
    of = _shape_check(shape.of)
    empty = _element_when_null(shape.of)

    def check(value: Any, trail: Trail, unknown: list[str]) -> Any:
        if value.__class__ is not list:
            raise Mismatch(value, go)
        for index, item in enumerate(value):
            kept = empty() if item is None else of(item, (trail, index), unknown)
            if kept is not item:
                value[index] = kept
        return value

    return check


def _map_check(shape: Map) -> Check:
    go = shape.go
    of = _shape_check(shape.of)
    empty = _element_when_null(shape.of)
    plain = isinstance(shape.of, Scalar) and shape.of.kind == "string"

    def check(value: Any, trail: Trail, unknown: list[str]) -> Any:
        if value.__class__ is not dict:
            raise Mismatch(value, go)
        for key, item in value.items():
            if plain and item.__class__ is str:
                continue
            kept = empty() if item is None else of(item, (trail, key), unknown)
            if kept is not item:
                value[key] = kept
        return value

    return check


def _element_when_null(shape: Shape) -> Callable[[], Any]:
    return _empty(Field("", shape, False, 0, True, False, "", (), "", (), "", None))


def _scalar_check(shape: Scalar) -> Check:
    go = shape.go
    match shape.kind:
        case "string":
            return _exactly(str, go)
        case "bool":
            return _exactly(bool, go)
        case "int32":
            return _integer(_INT32, go)
        case "int64":
            return _integer(_INT64, go)
        case "float64":
            return _number(go)
        case "bytes":
            return _bytes(go)
        case _:
            assert_never(shape.kind)


def _exactly(kind: type, go: str) -> Check:
    def check(value: Any, trail: Trail, unknown: list[str]) -> Any:
        if value.__class__ is not kind:
            raise Mismatch(value, go)
        return value

    return check


def _integer(limit: int, go: str) -> Check:
    def check(value: Any, trail: Trail, unknown: list[str]) -> Any:
        if value.__class__ is not int or not -limit <= value < limit:
            raise Mismatch(value, go)
        return value

    return check


def _number(go: str) -> Check:
    def check(value: Any, trail: Trail, unknown: list[str]) -> Any:
        if value.__class__ is not int and value.__class__ is not float:
            raise Mismatch(value, go)
        return value

    return check


def _bytes(go: str) -> Check:
    def check(value: Any, trail: Trail, unknown: list[str]) -> Any:
        if value.__class__ is not str:
            raise Mismatch(value, go)
        try:
            return base64.b64encode(base64.b64decode(value, validate=True)).decode()
        except (binascii.Error, ValueError):
            good = re.match(r"[A-Za-z0-9+/]*", value)
            at = good.end() if good else 0
            raise Unreadable(f"illegal base64 data at input byte {at}") from None

    return check


def _quantity(value: Any, trail: Trail, unknown: list[str]) -> str:
    if value.__class__ is not str:
        value = repr(value) if value.__class__ in (int, float) else "?"
    try:
        return quantity.canonical(value.strip())
    except ValueError as error:
        raise Unreadable(str(error)) from None


def _int_or_string(value: Any, trail: Trail, unknown: list[str]) -> Any:
    if value.__class__ is str:
        return value
    if value.__class__ is not int or not -_INT32 <= value < _INT32:
        raise Mismatch(value, "int32")
    return value


def _time(value: Any, trail: Trail, unknown: list[str]) -> str:
    moment = _moment(value, _TIME, _LAYOUT)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _micro_time(value: Any, trail: Trail, unknown: list[str]) -> str:
    moment = _moment(value, _MICRO_TIME, _MICRO_LAYOUT)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _moment(value: Any, notation: re.Pattern[str], layout: str) -> datetime:
    if value.__class__ is not str:
        raise Mismatch(value, "string")
    if notation.match(value):
        try:
            return datetime.fromisoformat(value).astimezone(UTC)
        except (ValueError, OverflowError):
            raise Unreadable(f'parsing time "{value}": out of range') from None
    if notation is _MICRO_TIME and _TIME.match(value):
        rest = re.sub(r"^.{19}", "", value)
        raise Unreadable(
            f'parsing time "{value}" as "{layout}": cannot parse "{rest}" as ".000000"'
        )
    raise Unreadable(f'parsing time "{value}" as "{layout}": cannot parse "{value}" as "2006"')


def _duration(value: Any, trail: Trail, unknown: list[str]) -> Any:
    if value.__class__ is not str:
        raise Mismatch(value, "string")
    return value


def _anything(value: Any, trail: Trail, unknown: list[str]) -> Any:
    return value


_LEAF_CHECKS: Final[dict[LeafKind, Check]] = {
    "Time": _time,
    "MicroTime": _micro_time,
    "Duration": _duration,
    "Quantity": _quantity,
    "IntOrString": _int_or_string,
    "RawExtension": _anything,
    "FieldsV1": _anything,
}


def _rendered(trail: Trail) -> str:
    """`spec.containers[0].image`."""
    parts: list[str] = []
    while trail is not None:
        trail, step = trail
        parts.append(f"[{step}]" if step.__class__ is int else f".{step}")
    return "".join(reversed(parts)).removeprefix(".")


def word(value: Any, go: str = "") -> str:
    """How Go's decoder calls a JSON value that it cannot use."""
    match value:
        case bool():
            return "bool"
        case int() | float():
            return f"number {value}" if go in ("int32", "int64") else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
