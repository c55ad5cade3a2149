"""Protobuf bodies, as kubectl and client-go send them, read into the objects that JSON would have given.

A body is `k8s\\0` and a `runtime.Unknown` message: apiVersion, kind, and the object's own bytes. Field
numbers come from the schemas. Go writes plain fields even when they are empty; the check that follows
every decoding leaves them out again.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final, assert_never

import msgspec

from tutti.api.schema import Schema
from tutti.api.shapes import Field, Leaf, List, Map, Message, Nested, Scalar, Shape

MEDIA_TYPE: Final = "application/vnd.kubernetes.protobuf"
MAGIC: Final = b"k8s\x00"

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DEEPEST: Final = 100

Wire = int | bytes
"""What stands behind a field's tag: a number, or bytes."""
Read = Callable[[Wire, int], Any]
"""From the wire to a JSON value; the number is how deep we are."""


class Malformed(ValueError):
    """The bytes are no message of the schema."""


def read(schema: Schema, body: bytes) -> tuple[dict[str, Any], list[str]]:
    """The object in a protobuf body, checked and mended, like `Schema.read` for JSON."""
    obj = decode(schema, body)
    return obj, schema.check(obj)


def decode(schema: Schema, body: bytes) -> dict[str, Any]:
    """The object as it stands in the body; one of another kind comes with its kind alone."""
    try:
        api_version, kind, raw = _unwrapped(body)
        obj: dict[str, Any] = {"apiVersion": api_version, "kind": kind} if kind else {}
        if kind in ("", schema.kind):
            obj |= _message(schema.message, raw, 0)
    except Malformed as error:
        raise schema.unrecognised(str(error), body) from None
    return obj


def _unwrapped(body: bytes) -> tuple[str, str, bytes]:
    """apiVersion, kind and the object's own bytes."""
    if not body.startswith(MAGIC):
        raise Malformed(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        )
    if len(body) == len(MAGIC):
        raise Malformed("empty body")
    api_version = kind = ""
    raw = b""
    for number, value in _fields(body[len(MAGIC) :]):
        match number, value:
            case 1, bytes():
                names = {at: text for at, text in _fields(value) if isinstance(text, bytes)}
                api_version, kind = _text(names.get(1, b"")), _text(names.get(2, b""))
            case 2, bytes():
                raw = value
    return api_version, kind, raw


def _message(message: Message, data: bytes, depth: int) -> dict[str, Any]:
    if depth > _DEEPEST:
        raise Malformed("nested too deeply")
    fields, embedded = _numbered(message)
    values: dict[str, Any] = {}
    for number, wire in _fields(data):
        if (known := fields.get(number)) is not None:
            field, read_value = known
            match field.shape:
                case List():
                    values.setdefault(field.name, []).append(read_value(wire, depth))
                case Map():
                    key, value = read_value(wire, depth)
                    values.setdefault(field.name, {})[key] = value
                case _:
                    values[field.name] = read_value(wire, depth)
        elif (inner := embedded.get(number)) is not None:
            values |= _message(inner.message, _as_bytes(wire), depth + 1)
    return values


@cache
def _numbered(message: Message) -> tuple[dict[int, tuple[Field, Read]], dict[int, Nested]]:
    """The message's own fields by number, with their readers; and the embedded messages."""
    own = [field for field in message.fields.values() if not field.via]
    return {field.number: (field, _reader(field.shape)) for field in own}, message.embedded


def _reader(shape: Shape) -> Read:
    """For a list, the reader of one item; for a map, of one entry."""
    match shape:
        case Scalar():
            return _SCALARS[shape.kind]
        case Leaf():
            return _LEAVES[shape.kind]
        case Nested():
            return lambda wire, depth: _message(shape.message, _as_bytes(wire), depth + 1)
        case List():
            return _reader(shape.of)
        case Map():
            return _entry_reader(_reader(shape.of))
        case _:
            assert_never(shape)


def _entry_reader(read_value: Read) -> Read:
    def entry(wire: Wire, depth: int) -> tuple[str, Any]:
        key, value = "", None
        for number, inner in _fields(_as_bytes(wire)):
            if number == 1:
                key = _text(inner)
            elif number == 2:
                value = read_value(inner, depth + 1)
        return key, value

    return entry


# -- single values -------------------------------------------------------------------------------


def _text(wire: Wire) -> str:
    try:
        return _as_bytes(wire).decode()
    except UnicodeDecodeError:
        raise Malformed("a string is not valid UTF-8") from None


def _string(wire: Wire, depth: int) -> str:
    return _text(wire)


def _bool(wire: Wire, depth: int) -> bool:
    return _as_number(wire) != 0


def _integer(wire: Wire, depth: int) -> int:
    return _signed(wire)


def _float(wire: Wire, depth: int) -> float:
    (number,) = struct.unpack("<d", struct.pack("<Q", _as_number(wire)))
    return float(number)


def _base64(wire: Wire, depth: int) -> str:
    return base64.b64encode(_as_bytes(wire)).decode()


def _quantity(wire: Wire, depth: int) -> str:
    return next((_text(value) for number, value in _fields(_as_bytes(wire)) if number == 1), "0")


def _time(wire: Wire, depth: int) -> str | None:
    moment = _timestamp(wire)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _micro_time(wire: Wire, depth: int) -> str | None:
    moment = _timestamp(wire)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _timestamp(wire: Wire) -> datetime | None:
    """The zero time has no bytes at all."""
    data = _as_bytes(wire)
    if not data:
        return None
    parts = {number: _signed(value) for number, value in _fields(data)}
    try:
        return _EPOCH + timedelta(seconds=parts.get(1, 0), microseconds=parts.get(2, 0) // 1000)
    except OverflowError:
        raise Malformed("a time is out of range") from None


def _int_or_string(wire: Wire, depth: int) -> int | str:
    parts = dict(_fields(_as_bytes(wire)))
    if parts.get(1, 0):
        return _text(parts.get(3, b""))
    return _signed(parts.get(2, 0))


def _json(wire: Wire, depth: int) -> Any:
    raw = next((value for number, value in _fields(_as_bytes(wire)) if number == 1), b"")
    if not raw:
        return None
    try:
        return msgspec.json.decode(_as_bytes(raw))
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Malformed("embedded JSON cannot be read") from None


def _duration(wire: Wire, depth: int) -> str:
    nanoseconds = next((_signed(v) for n, v in _fields(_as_bytes(wire)) if n == 1), 0)
    return f"{nanoseconds / 1e9:g}s"


_SCALARS: Final[dict[str, Read]] = {
    "string": _string,
    "bool": _bool,
    "int32": _integer,
    "int64": _integer,
    "float64": _float,
    "bytes": _base64,
}
_LEAVES: Final[dict[str, Read]] = {
    "Quantity": _quantity,
    "Time": _time,
    "MicroTime": _micro_time,
    "IntOrString": _int_or_string,
    "RawExtension": _json,
    "FieldsV1": _json,
    "Duration": _duration,
}


# -- the wire ------------------------------------------------------------------------------------


def _fields(data: bytes) -> Iterator[tuple[int, Wire]]:
    """Every field of a message in order: its number and what it holds."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        number, wire_type = tag >> 3, tag & 7
        if number == 0:
            raise Malformed("proto: illegal tag 0")
        if wire_type == _VARINT:
            value, at = _varint(data, at)
            yield number, value
            continue
        if wire_type == _BYTES:
            size, at = _varint(data, at)
        elif wire_type == _FIXED64:
            size = 8
        elif wire_type == _FIXED32:
            size = 4
        else:
            raise Malformed(f"proto: illegal wireType {wire_type}")
        if at + size > end:
            raise Malformed("unexpected EOF")
        piece = data[at : at + size]
        at += size
        yield number, piece if wire_type == _BYTES else int.from_bytes(piece, "little")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 64:
        if at >= len(data):
            raise Malformed("unexpected EOF")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise Malformed("proto: integer overflow")


def _signed(wire: Wire) -> int:
    value = _as_number(wire) & (2**64 - 1)
    return value - 2**64 if value >= 2**63 else value


def _as_bytes(wire: Wire) -> bytes:
    if isinstance(wire, bytes):
        return wire
    raise Malformed("proto: wrong wireType = 0")


def _as_number(wire: Wire) -> int:
    if isinstance(wire, int):
        return wire
    raise Malformed("proto: wrong wireType = 2")
