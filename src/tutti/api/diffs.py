"""What must be sent so that an object becomes what a manifest says: patches made from states.

`three_way` is what client-side apply sends: what the manifest says otherwise than the server has, and
the end of what the last applied manifest said and this one no longer does. Nobody else's fields are
touched.
"""

from __future__ import annotations

from typing import Any

from tutti.api.schema import Schema
from tutti.api.shapes import Field, Message
from tutti.api.strategic_patch import (
    DELETE_FROM,
    PATCH,
    RETAIN,
    SET_ORDER,
    keyed_by,
    merges,
    message_of,
)

Json = dict[str, Any]


def two_way(original: Json, modified: Json, schema: Schema | None) -> Json:
    """The strategic merge patch that makes `modified` of `original`."""
    return three_way(original, modified, original, schema)


def three_way(original: Json, modified: Json, current: Json, schema: Schema | None) -> Json:
    """The patch to `current`. Without a schema it is a plain merge patch; empty: nothing to do."""
    return _maps(original, modified, current, schema.message if schema else None)


def _maps(original: Json, modified: Json, current: Json, message: Message | None) -> Json:
    patch: Json = {}
    for key, wanted in modified.items():
        field = message.fields.get(key) if message else None
        if key not in current:
            if wanted is not None:
                patch[key] = wanted
        elif wanted is None:
            patch[key] = None
        else:
            patch |= _value(key, original.get(key), wanted, current[key], field)
    for key in original:
        if key not in modified and key in current:
            patch[key] = None
    return patch


def _value(key: str, original: Any, wanted: Any, have: Any, field: Field | None) -> Json:
    if isinstance(wanted, dict) and isinstance(have, dict):
        before = original if isinstance(original, dict) else {}
        inner = _maps(before, wanted, have, message_of(field))
        return {key: inner} if inner else {}
    if isinstance(wanted, list) and isinstance(have, list) and merges(field):
        assert field is not None
        earlier = original if isinstance(original, list) else []
        if field.merge_key:
            return _items(key, earlier, wanted, have, field)
        return _scalars(key, earlier, wanted, have)
    return {} if wanted == have else {key: wanted}


def _items(
    key: str, original: list[Json], wanted: list[Json], have: list[Json], field: Field
) -> Json:
    """A list that is merged by key: changed and new items, deleted ones, and the order of all."""
    name = keyed_by(field.merge_key)
    before = {name(item): item for item in original}
    present = {name(item): item for item in have}
    items: list[Json] = []
    for item in wanted:
        if name(item) not in present:
            items.append(item)
            continue
        current = present[name(item)]
        inner = _maps(before.get(name(item), {}), item, current, message_of(field))
        if inner:
            inner[field.merge_key] = name(item)
            if "retainKeys" in field.patch:
                inner[RETAIN] = sorted(k for k, value in item.items() if value is not None)
            items.append(inner)
    names = [name(item) for item in wanted]
    items += [
        {PATCH: "delete", field.merge_key: gone}
        for gone in before
        if gone not in names and gone in present
    ]
    return _with_order(key, items, names, list(present), [{field.merge_key: n} for n in names])


def _scalars(key: str, original: list[Any], wanted: list[Any], have: list[Any]) -> Json:
    patch = _with_order(key, [item for item in wanted if item not in have], wanted, have, wanted)
    gone = [item for item in original if item not in wanted and item in have]
    if gone:
        patch[DELETE_FROM + key] = gone
    return patch


def _with_order(
    key: str, items: list[Any], names: list[Any], present: list[Any], order: list[Any]
) -> Json:
    """The list's part of a patch; the order is said where it changes or anything else does."""
    patch: Json = {key: items} if items else {}
    common = [name for name in present if name in names]
    if items or common != names:
        patch[SET_ORDER + key] = order
    return patch
