"""Rules of fields as tables, and the walk that holds an object against them.

The newer kinds of Kubernetes are validated declaratively, and their error lists have an order that people
and tests see: a struct's own rules (its union) before its fields, fields as they are declared, and on one
field first what stops it there (gate, immutability, count, presence, set and unset), then its format, then
what is inside. On an update whatever equals the old value is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tutti.api.errors import FieldError, duplicate, forbidden, invalid, required, too_many
from tutti.api.gates import Gates

Check = Callable[[str, Any], Iterator[FieldError]]
"""Says what is wrong with the form of a value at a path."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds for one field. `inside` describes the value, or each item of a list of values."""

    name: str
    required: bool = False
    gate: str = ""
    """The field is forbidden while this gate is closed."""
    immutable: bool = False
    immutable_by_gate: bool = False
    """Immutable only while `gate` is open."""
    settled: bool = False
    """It can neither appear nor disappear later; its inside can change."""
    most: int | None = None
    key: str = ""
    """For lists: the field that tells items apart."""
    keeps_items: bool = False
    """Items can neither be added nor removed later."""
    check: Check | None = None
    inside: Struct | None = None
    pointer: bool = False
    """A zero is a value here, and not the same as nothing."""

    def has(self, value: Any) -> bool:
        return value is not None if self.pointer else value == {} or bool(value)


@dataclass(frozen=True, slots=True)
class Struct:
    fields: tuple[Rule, ...] = ()
    union: tuple[str, ...] = ()
    """Exactly one of these fields must be there."""
    recursive: str = ""
    """A list field whose items are of this very struct."""


@dataclass(frozen=True, slots=True)
class Walk:
    """One validation: of a new object, or of a new against an old."""

    gates: Gates
    update: bool

    def struct(self, struct: Struct, path: str, new: Any, old: Any) -> Iterator[FieldError]:
        if struct.union:
            yield from self._union(struct.union, path, new, old)
        for rule in struct.fields:
            inside = struct if rule.name == struct.recursive else rule.inside
            before = old.get(rule.name) if old is not None else None
            if self.update and old is not None and _same(rule, new.get(rule.name), before):
                continue
            yield from self._field(rule, inside, f"{path}.{rule.name}", new.get(rule.name), before)

    def _union(self, names: tuple[str, ...], path: str, new: Any, old: Any) -> Iterator[FieldError]:
        present = _members(names, new)
        if self.update and old is not None and present == _members(names, old):
            return
        members = ", ".join(f"`{name}`" for name in names)
        if not present:
            yield invalid(path, "", f"must specify one of: {members}")
        elif len(present) > 1:
            together = f"{{{', '.join(present)}}}"
            yield invalid(path, together, f"must specify exactly one of: {members}")

    def _field(
        self, rule: Rule, inside: Struct | None, path: str, new: Any, old: Any
    ) -> Iterator[FieldError]:
        stops = list(self._stops(rule, path, new, old))
        yield from stops
        if stops or not rule.has(new):
            return
        if rule.check is not None:
            yield from rule.check(path, new)
        if rule.key:
            yield from _repeated(rule.key, path, new)
        if inside is None:
            return
        if isinstance(new, list):
            yield from self._items(rule.key, inside, path, new, old)
        else:
            yield from self.struct(inside, path, new, old)

    def _stops(self, rule: Rule, path: str, new: Any, old: Any) -> Iterator[FieldError]:
        is_open = not rule.gate or self.gates.on(rule.gate)
        if not is_open and rule.has(new):
            yield forbidden(path)
        if self.update and (rule.immutable or (rule.immutable_by_gate and is_open)):
            yield invalid(path, None, "field is immutable")
        if rule.most is not None and new and len(new) > rule.most:
            yield too_many(path, len(new), rule.most)
        if rule.required and not rule.has(new):
            yield required(path)
        if self.update and rule.settled:
            if rule.has(new) and not rule.has(old):
                yield invalid(path, None, "field cannot be set once created")
            if rule.has(old) and not rule.has(new):
                yield invalid(path, None, "field cannot be cleared once set")
        if self.update and rule.keeps_items and is_open:
            yield from _moved_items(rule.key, path, new or [], old or [])

    def _items(
        self, key: str, inside: Struct, path: str, new: list[Any], old: Any
    ) -> Iterator[FieldError]:
        before = {item.get(key): item for item in old or ()} if key else {}
        for index, item in enumerate(new):
            earlier = before.get(item.get(key)) if key else None
            if self.update and earlier is not None and item == earlier:
                continue
            yield from self.struct(inside, f"{path}[{index}]", item, earlier)


def _repeated(key: str, path: str, items: list[Any]) -> Iterator[FieldError]:
    seen: set[Any] = set()
    for index, item in enumerate(items):
        if item.get(key) in seen:
            yield duplicate(f"{path}[{index}]", item)
        seen.add(item.get(key))


def _moved_items(key: str, path: str, new: list[Any], old: list[Any]) -> Iterator[FieldError]:
    before, after = ({item.get(key) for item in items} for items in (old, new))
    for index, item in enumerate(new):
        if item.get(key) not in before:
            yield forbidden(f"{path}[{index}]", "item may not be added")
    for item in old:
        if item.get(key) not in after:
            yield forbidden(path, "item may not be removed")


def _members(names: tuple[str, ...], value: Any) -> list[str]:
    return [name for name in names if value.get(name) not in (None, [])]


def _same(rule: Rule, new: Any, old: Any) -> bool:
    return bool(new == old) or not (rule.has(new) or rule.has(old))
