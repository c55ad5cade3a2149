"""The rules of disruption budgets, and of claims on devices as far as they are held."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from tutti.api.errors import FieldError, invalid, not_supported
from tutti.api.gates import Gates

Json = dict[str, Any]

_EVICTION_POLICIES: Final = ("AlwaysAllow", "IfHealthyBudget")
_PERCENT: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)


def budget(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    spec = new.get("spec") or {}
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        yield invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set")
    for field in ("minAvailable", "maxUnavailable"):
        if (asked := spec.get(field)) is not None:
            yield from _count_or_percent(f"spec.{field}", asked)
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _EVICTION_POLICIES:
        yield not_supported("spec.unhealthyPodEvictionPolicy", policy, _EVICTION_POLICIES)


def device_claim(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    """What was asked for stays; what may be asked for is not held against any rule yet."""
    if old is not None and (new.get("spec") or {}) != (old.get("spec") or {}):
        yield invalid("spec", new.get("spec"), "field is immutable")


def _count_or_percent(path: str, asked: int | str) -> Iterator[FieldError]:
    if isinstance(asked, int):
        if asked < 0:
            yield invalid(path, asked, "must be greater than or equal to 0")
    elif not re.fullmatch("[0-9]+%", asked):
        yield invalid(path, asked, _PERCENT)
    elif int(asked[:-1]) > 100:
        yield invalid(path, asked, "must not be greater than 100%")
