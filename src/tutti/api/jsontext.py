"""JSON bodies as text: read fast, and when they are wrong, said why in the words of Go's decoder."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

_KEY: Final = re.compile(rb'"[ \t\r\n]*:')
_SPACE: Final = " \t\r\n"
_NUMBER: Final = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", re.ASCII)
_DEEPEST: Final = 150
END: Final = "unexpected end of JSON input"
TOO_DEEP: Final = "exceeded max depth"
_decode: Final = msgspec.json.Decoder().decode


class Malformed(ValueError):
    """The body is no JSON; the message is Go's."""


def decode(body: bytes) -> Any:
    """The value, or Malformed. What is nested deeper than any object ever is counts as malformed."""
    try:
        value = _decode(body)
    except RecursionError:
        raise Malformed(TOO_DEEP) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Malformed(why_malformed(body.decode(errors="replace"))) from None
    if body.count(b"{") + body.count(b"[") > _DEEPEST:
        _check_depth(value)
    return value


def duplicates(body: bytes, value: Any) -> list[str]:
    """The paths of the keys that stand twice in one object, e.g. `metadata.labels.a`.

    There are none if the body has as many keys as the decoded value: that is quick to see. A string that
    looks like a key costs a closer look, and no more.
    """
    if len(_KEY.findall(body)) == _count_keys(value):
        return []
    found: list[str] = []
    _find_repeated(json.loads(body, object_pairs_hook=list_of_pairs), "", found)
    return found


class Pairs(list[tuple[str, Any]]):
    """An object as the list of its keys and values."""


def list_of_pairs(pairs: list[tuple[str, Any]]) -> Pairs:
    return Pairs(pairs)


def _find_repeated(value: Any, path: str, found: list[str]) -> None:
    if isinstance(value, Pairs):
        seen: set[str] = set()
        for key, item in value:
            inner = f"{path}.{key}" if path else key
            if key in seen:
                found.append(inner)
            seen.add(key)
            _find_repeated(item, inner, found)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _find_repeated(item, f"{path}[{index}]", found)


def _check_depth(value: Any) -> None:
    """Level by level, for all that comes after decoding goes down by calling itself."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise Malformed(TOO_DEEP)


def _count_keys(value: Any) -> int:
    if value.__class__ is dict:
        count = len(value)
        for item in value.values():
            if item.__class__ is dict or item.__class__ is list:
                count += _count_keys(item)
        return count
    if value.__class__ is list:
        count = 0
        for item in value:
            if item.__class__ is dict or item.__class__ is list:
                count += _count_keys(item)
        return count
    return 0


def why_malformed(text: str) -> str:
    """Go's sentence about the first thing that is wrong in this text."""
    try:
        at = _skip_value(text, _skip_space(text, 0), 0)
        at = _skip_space(text, at)
        if at < len(text):
            raise _unexpected(text, at, "after top-level value")
    except Malformed as error:
        return str(error)
    return "invalid UTF-8 or number out of range"


def _unexpected(text: str, at: int, where: str) -> Malformed:
    if at >= len(text):
        return Malformed(END)
    sign = {"'": "'\\''", '"': "'\"'"}.get(text[at], f"'{text[at]}'")
    if text[at] < " ":
        sign = repr(text[at])
    return Malformed(f"invalid character {sign} {where}")


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _skip_value(text: str, at: int, depth: int) -> int:
    if depth > _DEEPEST:
        raise Malformed(TOO_DEEP)
    if at >= len(text):
        raise Malformed(END)
    match text[at]:
        case "{":
            return _skip_members(text, at + 1, depth, "}")
        case "[":
            return _skip_members(text, at + 1, depth, "]")
        case '"':
            return _skip_string(text, at + 1)
        case "t" | "f" | "n" as first:
            return _skip_word(text, at, {"t": "true", "f": "false", "n": "null"}[first])
        case sign if sign == "-" or sign in "0123456789":
            return _skip_number(text, at)
        case _:
            raise _unexpected(text, at, "looking for beginning of value")


def _skip_members(text: str, at: int, depth: int, close: str) -> int:
    """The rest of an object or an array, after its opening bracket."""
    is_object = close == "}"
    after = "after object key:value pair" if is_object else "after array element"
    at = _skip_space(text, at)
    if at < len(text) and text[at] == close:
        return at + 1
    while True:
        if is_object:
            at = _skip_key(text, at)
        at = _skip_space(text, _skip_value(text, _skip_space(text, at), depth + 1))
        if at < len(text) and text[at] == close:
            return at + 1
        if at >= len(text) or text[at] != ",":
            raise _unexpected(text, at, after)
        at = _skip_space(text, at + 1)


def _skip_key(text: str, at: int) -> int:
    if at >= len(text) or text[at] != '"':
        raise _unexpected(text, at, "looking for beginning of object key string")
    at = _skip_space(text, _skip_string(text, at + 1))
    if at >= len(text) or text[at] != ":":
        raise _unexpected(text, at, "after object key")
    return at + 1


def _skip_string(text: str, at: int) -> int:
    while at < len(text):
        sign = text[at]
        if sign == '"':
            return at + 1
        if sign < " ":
            raise _unexpected(text, at, "in string literal")
        if sign == "\\":
            at = _skip_escape(text, at + 1)
        else:
            at += 1
    raise Malformed(END)


def _skip_escape(text: str, at: int) -> int:
    if at < len(text) and text[at] == "u":
        for place in range(at + 1, at + 5):
            if place >= len(text) or text[place] not in "0123456789abcdefABCDEF":
                raise _unexpected(text, place, "in \\u hexadecimal character escape")
        return at + 5
    if at >= len(text) or text[at] not in '"\\/bfnrt':
        raise _unexpected(text, at, "in string escape code")
    return at + 1


def _skip_word(text: str, at: int, word: str) -> int:
    for offset, sign in enumerate(word):
        if at + offset >= len(text) or text[at + offset] != sign:
            raise _unexpected(text, at + offset, f"in literal {word} (expecting '{sign}')")
    return at + len(word)


def _skip_number(text: str, at: int) -> int:
    number = _NUMBER.match(text, at)
    if number is None:
        raise _unexpected(text, at + 1, "in numeric literal")
    end = number.end()
    if end < len(text) and text[end] in ".eE":
        raise _unexpected(text, end + 1, "after decimal point in numeric literal")
    return end
