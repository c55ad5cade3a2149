"""Strategic merge: maps are merged, and so are lists whose schema names a merge strategy.

Directives in a patch: `$patch: replace | delete` on a map or a list item, `$retainKeys`,
`$deleteFromPrimitiveList/FIELD`, `$setElementOrder/FIELD`. A list that is merged has the patch's order
for what the patch names; what only the server has keeps its place among them as well as can be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tutti.api.shapes import Field, List, Map, Message, Nested

PATCH: Final = "$patch"
RETAIN: Final = "$retainKeys"
DELETE_FROM: Final = "$deleteFromPrimitiveList/"
SET_ORDER: Final = "$setElementOrder/"

Json = dict[str, Any]
_DROPPED: Final = object()


class Refused(ValueError):
    """The patch is no strategic merge patch for this object; the sentence is Kubernetes'."""


def merge_map(original: Json, patch: Json, message: Message | None) -> Json:
    """The patched map. Where no schema is known, lists are replaced."""
    if PATCH in patch:
        return _as_directed(patch)
    result = _retained(original, patch)
    for key, value in patch.items():
        if key.startswith(DELETE_FROM):
            _delete_from(result, key.removeprefix(DELETE_FROM), value)
    for key, value in patch.items():
        if _is_directive(key):
            continue
        field = message.fields.get(key) if message else None
        merged = _merged(result.get(key), value, field)
        if merged is _DROPPED:
            result.pop(key, None)
        else:
            result[key] = merged
    for key, order in patch.items():
        if key.startswith(SET_ORDER):
            _set_order(original, result, patch, key.removeprefix(SET_ORDER), order, message)
    return result


def merges(field: Field | None) -> bool:
    """Whether lists of this field are merged rather than replaced."""
    return field is not None and "merge" in field.patch


def message_of(field: Field | None) -> Message | None:
    """The message of the field's value, or of its list's items."""
    shape = field.shape if field else None
    if isinstance(shape, List | Map):
        shape = shape.of
    return shape.message if isinstance(shape, Nested) else None


def _as_directed(patch: Json) -> Json:
    match patch[PATCH]:
        case "replace":
            return {key: value for key, value in patch.items() if key != PATCH}
        case "delete":
            return {}
        case other:
            raise Refused(f"unknown patch type: {other} in map: {printed(patch)}")


def _retained(original: Json, patch: Json) -> Json:
    """What is left of the original where the patch says which keys are."""
    if RETAIN not in patch:
        return dict(original)
    keys = patch[RETAIN]
    named = [key for key, value in patch.items() if value is not None and not _is_directive(key)]
    if not isinstance(keys, list) or any(key not in keys for key in named):
        raise Refused("invalid patch format of retainKeys")
    return {key: value for key, value in original.items() if key in keys}


def _delete_from(result: Json, key: str, items: Any) -> None:
    if not isinstance(items, list):
        raise Refused("invalid patch format of primitive list")
    if isinstance(result.get(key), list):
        result[key] = [item for item in result[key] if item not in items]


def _merged(have: Any, value: Any, field: Field | None) -> Any:
    if value is None:
        return _DROPPED
    if isinstance(have, dict) and isinstance(value, dict):
        return merge_map(have, value, message_of(field))
    if isinstance(have, list) and isinstance(value, list) and merges(field):
        assert field is not None
        return _merge_list(have, value, field)
    return _without_directives(value)


def _merge_list(have: list[Any], items: list[Any], field: Field) -> list[Any]:
    kinds = {type(item) for item in (*have, *items)}
    if list in kinds:
        raise Refused("lists of lists are not supported")
    if len(kinds) > 1:
        raise Refused(f"list element types are not identical: {printed([have, items])}")
    if kinds != {dict}:
        both = list(dict.fromkeys([*have, *items]))
        return in_order(both, items, have, key=lambda item: item)
    if not field.merge_key:
        raise Refused(f"cannot merge lists without merge key for {field.name}")
    return _merge_items(have, items, field)


def _merge_items(have: list[Json], items: list[Json], field: Field) -> list[Json]:
    identity = keyed_by(field.merge_key)
    kept = list(have)
    named: list[Json] = []
    replace = False
    for item in items:
        match item.get(PATCH):
            case None:
                named.append(item)
            case "delete":
                gone = identity(item)
                kept = [other for other in kept if other.get(field.merge_key) != gone]
            case "replace":
                replace = True
            case "merge":
                raise Refused("merging lists cannot yet be specified in the patch")
            case other:
                raise Refused(f"unknown patch type: {other} in map: {printed(item)}")
    if replace:
        return named
    before = list(kept)
    for item in named:
        name = identity(item)
        at = next((i for i, other in enumerate(kept) if other.get(field.merge_key) == name), None)
        if at is None:
            kept.append(_without_directives(item))
        else:
            kept[at] = merge_map(kept[at], item, message_of(field))
    return in_order(kept, named, before, key=identity)


def _set_order(
    original: Json, result: Json, patch: Json, key: str, order: Any, message: Message | None
) -> None:
    if not isinstance(order, list):
        raise Refused("expected a []interface {}, but received a " + _go_type(order))
    field = message.fields.get(key) if message else None
    items = result.get(key)
    if not isinstance(items, list) or not items:
        return
    merge_key = field.merge_key if field else ""
    identity = keyed_by(merge_key) if merge_key else (lambda item: item)
    _check_order(patch.get(key), order, identity)
    before = original.get(key)
    result[key] = in_order(items, order, before if isinstance(before, list) else [], key=identity)


def _check_order(items: Any, order: list[Any], identity: Callable[[Any], Any]) -> None:
    """What the patch adds or changes must stand in its own order."""
    if not isinstance(items, list) or not items or not order:
        return
    named = [item for item in items if not (isinstance(item, dict) and PATCH in item)]
    places = iter([identity(place) for place in order])
    if not all(identity(item) in places for item in named):
        raise Refused(
            f"The order in patch list:\n{printed(items)}\n doesn't match $setElementOrder list:\n"
            f"{printed(order)}\n"
        )


def in_order(
    items: list[Any], order: list[Any], before: list[Any], *, key: Callable[[Any], Any]
) -> list[Any]:
    """`items` with those named by `order` in that order, the others where they were among them.

    A named and an unnamed item are compared by their places before; without them, the named one is first.
    """
    places = {key(item): place for place, item in reversed(list(enumerate(order)))}
    earlier = {key(item): place for place, item in reversed(list(enumerate(before)))}
    named = sorted((i for i in items if key(i) in places), key=lambda item: places[key(item)])
    unnamed = sorted(
        (item for item in items if key(item) not in places),
        key=lambda item: earlier.get(key(item), len(before)),
    )
    merged: list[Any] = []
    while named and unnamed:
        left, right = earlier.get(key(unnamed[0])), earlier.get(key(named[0]))
        stays = left is not None and right is not None and left < right
        merged.append((unnamed if stays else named).pop(0))
    return merged + named + unnamed


def keyed_by(merge_key: str) -> Callable[[Any], Any]:
    def identity(item: Any) -> Any:
        if not isinstance(item, Mapping) or merge_key not in item:
            raise Refused(f"map: {printed(item)} does not contain declared merge key: {merge_key}")
        return item[merge_key]

    return identity


def _without_directives(value: Any) -> Any:
    """A value that is new: nulls in it mean nothing, and directives have nothing to direct."""
    if isinstance(value, dict):
        if PATCH in value:
            return _DROPPED
        cleaned = {
            key: _without_directives(inner)
            for key, inner in value.items()
            if inner is not None and not _is_directive(key)
        }
        return {key: inner for key, inner in cleaned.items() if inner is not _DROPPED}
    if isinstance(value, list):
        return [kept for kept in map(_without_directives, value) if kept is not _DROPPED]
    return value


def _is_directive(key: str) -> bool:
    return key in (PATCH, RETAIN) or key.startswith((DELETE_FROM, SET_ORDER))


def printed(value: Any) -> str:
    """A value as Go prints one."""
    match value:
        case bool():
            return "true" if value else "false"
        case None:
            return "<nil>"
        case dict():
            return f"map[{' '.join(f'{k}:{printed(v)}' for k, v in sorted(value.items()))}]"
        case list():
            return f"[{' '.join(map(printed, value))}]"
        case _:
            return str(value)


def _go_type(value: Any) -> str:
    match value:
        case str():
            return "string"
        case dict():
            return "map[string]interface {}"
        case bool():
            return "bool"
        case int():
            return "int64"
        case _:
            return "<nil>"
