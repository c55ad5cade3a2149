"""Patches: JSON patch, merge patch and strategic merge patch, as functions from object to object.

None of them touches what it is given. `apply` does a whole PATCH body at the door, with the errors of a
real API server; the others are its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, Final

import msgspec

from tutti.api import jsontext, strategic_patch
from tutti.api.diffs import three_way, two_way
from tutti.api.errors import ApiError, BadRequest, Invalid, TooLarge, UnsupportedMediaType, invalid
from tutti.api.schema import Schema, Unusable
from tutti.api.strategic_patch import Refused

__all__ = [
    "JSON_PATCH",
    "MERGE_PATCH",
    "STRATEGIC_PATCH",
    "Failed",
    "apply",
    "json_patch",
    "merge",
    "strategic",
    "three_way",
    "two_way",
]

JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"

Json = dict[str, Any]
_MOST_OPERATIONS: Final = 10_000


class Failed(ValueError):
    """A JSON patch cannot be applied: a path that is not there, a test that fails."""


def apply(
    media_type: str, obj: Json, body: bytes, schema: Schema, *, strict: bool = False
) -> tuple[Json, list[str]]:
    """The patched object, mended, and the complaints about it, which `strict` makes an error."""
    try:
        patched, complaints = _patched(media_type, obj, body, schema)
    except Failed:
        raise _rejected() from None
    except Refused as error:
        raise BadRequest(str(error)) from None
    whole = msgspec.json.encode(patched)
    mended: Json = msgspec.json.decode(whole)  # a copy: what was given is not to be mended
    try:
        complaints += schema.mend(mended)
    except Unusable as error:
        raise _unusable(media_type, body, whole, str(error)) from None
    if strict and complaints:
        why = f"strict decoding error: {', '.join(complaints)}"
        raise _unusable(media_type, body, whole, why)
    return mended, complaints


def json_patch(obj: Json, operations: Sequence[Json]) -> Json:
    """RFC 6902, but `replace` also adds a key to a map, as the API server has it. Raises Failed."""
    document: Any = deepcopy(obj)
    for operation in operations:
        document = _operate(document, operation)
    if not isinstance(document, dict):
        raise Failed("the document is no object any more")
    return document


def merge(obj: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return deepcopy(patch)
    result = dict(obj) if isinstance(obj, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merge(result.get(name), value)
    return result


def strategic(obj: Json, patch: Json, schema: Schema | None) -> Json:
    """Kubernetes' own kind of patch, in which lists are merged by key. Raises Refused."""
    return strategic_patch.merge_map(obj, patch, schema.message if schema else None)


def _patched(media_type: str, obj: Json, body: bytes, schema: Schema) -> tuple[Json, list[str]]:
    if media_type not in (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH):
        raise UnsupportedMediaType("415: Unsupported Media Type", {})
    try:
        patch = jsontext.decode(body)
    except jsontext.Malformed:
        raise BadRequest("invalid JSON patch") from None
    if media_type == JSON_PATCH:
        return json_patch(obj, _operations(patch)), []
    if patch is None:
        raise BadRequest("Invalid JSON Patch")
    if not isinstance(patch, dict):
        kind = "array" if isinstance(patch, list) else "value"
        raise BadRequest(
            f"error decoding patch: json: cannot unmarshal {kind} into Go value of type "
            "map[string]interface {}"
        )
    complaints = [f'duplicate field "{path}"' for path in jsontext.duplicates(body, patch)]
    if media_type == MERGE_PATCH:
        return merge(obj, patch), complaints
    return strategic(obj, patch, schema), complaints


def _operations(patch: Any) -> list[Json]:
    if not isinstance(patch, list) or not all(isinstance(item, dict) for item in patch):
        kind = "array" if isinstance(patch, list) else "object"
        raise BadRequest(
            f"error decoding patch: json: cannot unmarshal {kind} into Go value of type "
            "[]handlers.jsonPatchOp"
        )
    if len(patch) > _MOST_OPERATIONS:
        raise TooLarge(
            f"Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{_MOST_OPERATIONS}, got {len(patch)}"
        )
    return patch


def _rejected() -> ApiError:
    return Invalid("the server rejected our request due to an error in our request", {})


def _unusable(media_type: str, body: bytes, patched: bytes, why: str) -> Invalid:
    """Of a strategic patch the API server shows the patch itself, of the others what they made."""
    shown = patched.decode()
    if media_type == STRATEGIC_PATCH:
        shown = strategic_patch.printed(jsontext.decode(body))
    return Invalid.of("", "", [invalid("patch", shown, why)])


# -- the operations of a JSON patch ----------------------------------------------------------------


def _operate(document: Any, operation: Json) -> Any:
    name = operation.get("op")
    act = _OPERATIONS.get(name) if isinstance(name, str) else None
    if act is None:
        raise Failed(f"unexpected kind: {name}")
    return act(document, _steps(operation.get("path")), operation)


def _add(document: Any, path: list[str], operation: Json) -> Any:
    return _put(document, path, deepcopy(operation.get("value")))


def _remove(document: Any, path: list[str], operation: Json) -> Any:
    _take(document, path)
    return document


def _replace(document: Any, path: list[str], operation: Json) -> Any:
    value = deepcopy(operation.get("value"))
    if not path:
        return value
    parent, last = _parent(document, path), path[-1]
    if isinstance(parent, list):
        parent[_index(parent, last)] = value
    else:
        parent[last] = value
    return document


def _move(document: Any, path: list[str], operation: Json) -> Any:
    source = _steps(operation.get("from"))
    if path[: len(source)] == source and path != source:
        raise Failed("a value cannot be moved into itself")
    return _put(document, path, _take(document, source))


def _copy(document: Any, path: list[str], operation: Json) -> Any:
    return _put(document, path, deepcopy(_find(document, _steps(operation.get("from")))))


def _test(document: Any, path: list[str], operation: Json) -> Any:
    if not _same(_find(document, path), operation.get("value")):
        raise Failed("test failed")
    return document


_OPERATIONS: Final[dict[str, Callable[[Any, list[str], Json], Any]]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


def _steps(path: Any) -> list[str]:
    if not isinstance(path, str) or (path and not path.startswith("/")):
        raise Failed(f"no path: {path!r}")
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def _put(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, last = _parent(document, path), path[-1]
    if isinstance(parent, list):
        parent.insert(len(parent) if last == "-" else _index(parent, last, one_past=True), value)
    else:
        parent[last] = value
    return document


def _take(document: Any, path: list[str]) -> Any:
    if not path:
        raise Failed("the whole document cannot be removed")
    parent, last = _parent(document, path), path[-1]
    _get(parent, last)
    return parent.pop(_index(parent, last) if isinstance(parent, list) else last)


def _parent(document: Any, path: list[str]) -> Any:
    parent = _find(document, path[:-1])
    if not isinstance(parent, dict | list):
        raise Failed(f"nothing can be under {path[-1]!r}")
    return parent


def _find(document: Any, path: list[str]) -> Any:
    for step in path:
        document = _get(document, step)
    return document


def _get(container: Any, step: str) -> Any:
    if isinstance(container, list):
        return container[_index(container, step)]
    if not isinstance(container, dict) or step not in container:
        raise Failed(f"nothing is at {step!r}")
    return container[step]


def _index(items: list[Any], step: str, *, one_past: bool = False) -> int:
    if not step.isascii() or not step.isdigit() or (len(step) > 1 and step[0] == "0"):
        raise Failed(f"no index: {step!r}")
    index = int(step)
    if index >= len(items) + one_past:
        raise Failed(f"index out of range: {step}")
    return index


def _same(left: Any, right: Any) -> bool:
    """Equality as JSON has it: true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)
