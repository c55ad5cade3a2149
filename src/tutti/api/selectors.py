"""Label and field selectors: read from a query or an object, then asked.

A label selector is a conjunction of requirements. A field selector is a conjunction of equalities over
a flat view of an object, which the caller makes; which fields a kind offers is in the registry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tutti.api import names
from tutti.api.meta import LabelSelector as WireSelector

_TOKEN: Final = re.compile(r"\s*(==|!=|=|!|,|\(|\)|<|>|[^\s=!,()<>]+)")
_SIGNS: Final = frozenset(("==", "!=", "=", "!", ",", "(", ")", "<", ">"))
_COMPARE: Final = {"=": "in", "==": "in", "!=": "notin", ">": "gt", "<": "lt"}
_OPERATORS: Final = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}


@dataclass(frozen=True, slots=True)
class Requirement:
    """`key operator values`; operator is one of in, notin, exists, !, gt, lt."""

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "in":
                return value is not None and value in self.values
            case "notin":
                return value is None or value not in self.values
            case "exists":
                return value is not None
            case "!":
                return value is None
        limit = int(next(iter(self.values)))
        try:
            number = int(value) if value is not None else None
        except ValueError:
            return False
        if number is None:
            return False
        return number > limit if self.operator == "gt" else number < limit


@dataclass(frozen=True, slots=True)
class LabelSelector:
    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False
    """Set where no object is to match, whatever the requirements."""

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        have = labels or {}
        return not self.nothing and all(asked.matches(have) for asked in self.requirements)

    @property
    def everything(self) -> bool:
        """Whether nothing is asked, so that every object matches."""
        return not self.requirements and not self.nothing


NOTHING: Final = LabelSelector(nothing=True)


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """Each term is (field, value, wanted); not wanted means `!=`."""

    terms: tuple[tuple[str, str, bool], ...] = ()

    def matches(self, fields: Mapping[str, str]) -> bool:
        return all((fields.get(name, "") == value) is wanted for name, value, wanted in self.terms)

    @property
    def everything(self) -> bool:
        return not self.terms

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _, _ in self.terms)

    def pinned(self, field: str) -> str | None:
        """The one value that the field must have, if the selector says so."""
        return next((v for name, v, wanted in self.terms if name == field and wanted), None)


def parse_labels(text: str) -> LabelSelector:
    """Reads `a=b,c!=d,e in (f,g),h notin (i),j,!k`. Raises ValueError with the reason."""
    return LabelSelector(tuple(_Reader(text).requirements()))


def parse_fields(text: str) -> FieldSelector:
    """Reads `metadata.name=a,status.phase!=Running`. Raises ValueError with the reason."""
    terms = []
    for part in _split_unescaped(text):
        if not part:
            continue
        for operator in ("!=", "==", "="):
            name, found, value = part.partition(operator)
            if found:
                terms.append((name, _unescaped(value), operator != "!="))
                break
        else:
            raise ValueError(f"invalid selector: '{text}'; can't understand '{part}'")
    return FieldSelector(tuple(terms))


def from_label_selector(selector: WireSelector | Mapping[str, Any] | None) -> LabelSelector:
    """The selector that an object carries; absent selects nothing, empty everything."""
    if selector is None:
        return NOTHING
    if isinstance(selector, WireSelector):
        labels: Mapping[str, str] = selector.match_labels
        expressions = [(e.key, e.operator, e.values) for e in selector.match_expressions]
    else:
        labels = selector.get("matchLabels") or {}
        expressions = [
            (e.get("key", ""), e.get("operator", ""), tuple(e.get("values") or ()))
            for e in selector.get("matchExpressions") or ()
        ]
    requirements = [Requirement(k, "in", frozenset((v,))) for k, v in labels.items()]
    for key, operator, values in expressions:
        if operator not in _OPERATORS:
            raise ValueError(f'"{operator}" is not a valid label selector operator')
        requirements.append(Requirement(key, _OPERATORS[operator], frozenset(values)))
    return LabelSelector(tuple(requirements))


class _Reader:
    """A cursor over the tokens of a label selector."""

    def __init__(self, text: str) -> None:
        self._tokens = [match[1] for match in _TOKEN.finditer(text)]
        self._at = 0

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        if not self._tokens:
            return found
        while True:
            found.append(self._requirement())
            token = self._next()
            if token == "":
                return found
            if token != ",":
                raise _unparsable(f"found '{token}', expected: ',' or 'end of string'")
            if self._peek() == "":
                raise _unparsable("found '', expected: identifier after ','")

    def _requirement(self) -> Requirement:
        if self._peek() == "!":
            self._next()
            return Requirement(_key(self._next()), "!")
        key = _key(self._next())
        operator = self._peek()
        if operator in ("", ","):
            return Requirement(key, "exists")
        self._next()
        if operator in _COMPARE:
            return self._comparison(key, operator)
        if operator in ("in", "notin"):
            return Requirement(key, operator, self._set(key))
        raise _unparsable(f"found '{operator}', expected: in, notin, =, ==, !=, gt, lt")

    def _comparison(self, key: str, operator: str) -> Requirement:
        value = "" if self._peek() in ("", ",") else self._next()
        if value in _SIGNS:
            raise _unparsable(f"found '{value}', expected: identifier")
        meaning = _COMPARE[operator]
        if meaning in ("gt", "lt") and not re.fullmatch(r"[-+]?[0-9]+", value):
            raise _unparsable(
                f'values[0][{key}]: Invalid value: "{value}": '
                "for 'Gt', 'Lt' operators, the value must be an integer"
            )
        return Requirement(key, meaning, frozenset((_value(key, value),)))

    def _set(self, key: str) -> frozenset[str]:
        if (opening := self._next()) != "(":
            raise _unparsable(f"found '{opening}' expected: '('")
        values: set[str] = set()
        before = ","
        while (token := self._next()) != ")":
            if token == "":
                raise _unparsable("found '', expected: ',' or ')'")
            if token == ",":
                if before == ",":
                    values.add("")
            else:
                values.add(_value(key, token))
            before = token
        if before == ",":
            values.add("")
        return frozenset(values)

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token


def _unparsable(why: str) -> ValueError:
    return ValueError(f"unable to parse requirement: {why}")


def _key(text: str) -> str:
    if text == "" or text in _SIGNS:
        raise _unparsable(f"found '{text}', expected: identifier")
    if problems := names.qualified_name(text):
        raise _unparsable(f'<nil>: Invalid value: "{text}": {"; ".join(problems)}')
    return text


def _value(key: str, text: str) -> str:
    if problems := names.label_value(text):
        raise _unparsable(f'values[0][{key}]: Invalid value: "{text}": {"; ".join(problems)}')
    return text


def _split_unescaped(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<!\\),", text)]


def _unescaped(value: str) -> str:
    return re.sub(r"\\([\\,=])", r"\1", value)
