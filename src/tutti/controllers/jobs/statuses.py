"""A status as it goes over the wire: what changed of it, as a merge patch."""

from typing import Any

import msgspec

from tutti.api.meta import Wire


def change(before: Wire, after: Wire) -> dict[str, Any]:
    """Empty where nothing changed; what isn't there any more is null."""
    return _change(msgspec.to_builtins(before), msgspec.to_builtins(after))


def _change(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    patch: dict[str, Any] = {}
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            patch[name] = _change(old, new)
        else:
            patch[name] = new
    return patch
