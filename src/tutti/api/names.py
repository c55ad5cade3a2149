"""What may be a name: each rule gives the sentences that say what is wrong, or nothing.

Newer rules of Kubernetes count bytes, older ones say characters; `unit` is which of the two is said.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_KEY: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE: Final = f"({_KEY})?"
_CONFIG_KEY: Final = "[-._a-zA-Z0-9]+"
_REASON: Final = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_ENV: Final = "[-._a-zA-Z][-._a-zA-Z0-9]*"

_IS_LABEL: Final = re.compile(rf"{_LABEL}\Z")
_IS_SUBDOMAIN: Final = re.compile(rf"{_SUBDOMAIN}\Z")
_IS_KEY: Final = re.compile(rf"{_KEY}\Z")
_IS_VALUE: Final = re.compile(rf"{_VALUE}\Z")
_IS_CONFIG_KEY: Final = re.compile(rf"{_CONFIG_KEY}\Z")
_IS_REASON: Final = re.compile(rf"{_REASON}\Z")
_IS_PORT_NAME: Final = re.compile(r"[-a-z0-9]+\Z")

_KEY_SENTENCE: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)


@lru_cache(maxsize=16_384)
def label(name: str, unit: str = "bytes") -> tuple[str, ...]:
    """A DNS-1123 label of at most 63."""
    problems = _length(name, 63, unit)
    if _IS_LABEL.match(name):
        return problems
    if _IS_SUBDOMAIN.match(name):
        return (*problems, "must not contain dots")
    return (
        *problems,
        _pattern(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
            "and must start and end with an alphanumeric character",
            _LABEL,
            "my-name",
            "123-abc",
        ),
    )


@lru_cache(maxsize=16_384)
def subdomain(name: str, unit: str = "bytes") -> tuple[str, ...]:
    """A DNS-1123 subdomain of at most 253."""
    problems = _length(name, 253, unit)
    if _IS_SUBDOMAIN.match(name):
        return problems
    return (
        *problems,
        _pattern(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
            "'-' or '.', and must start and end with an alphanumeric character",
            _SUBDOMAIN,
            "example.com",
        ),
    )


@lru_cache(maxsize=16_384)
def qualified_name(name: str) -> tuple[str, ...]:
    """A label key: `name` or `example.com/name`."""
    prefix, slash, rest = name.partition("/")
    if "/" in rest:
        sentence = _pattern(_KEY_SENTENCE, _KEY, "MyName", "my.name", "123-abc")
        return (
            f"a valid label key {sentence} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')",
        )
    problems: list[str] = []
    if slash:
        said = subdomain(prefix) if prefix else ("must be non-empty",)
        problems += [f"prefix part {problem}" for problem in said]
    else:
        rest = prefix
    if not rest:
        problems.append("name part must be non-empty")
    else:
        problems += [f"name part {problem}" for problem in _length(rest, 63, "bytes")]
    if not _IS_KEY.match(rest):
        sentence = _pattern(_KEY_SENTENCE, _KEY, "MyName", "my.name", "123-abc")
        problems.append(f"name part {sentence}")
    return tuple(problems)


@lru_cache(maxsize=16_384)
def label_value(value: str) -> tuple[str, ...]:
    problems = _length(value, 63, "bytes")
    if _IS_VALUE.match(value):
        return problems
    sentence = (
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
        "and must start and end with an alphanumeric character"
    )
    return (*problems, _pattern(sentence, _VALUE, "MyValue", "my_value", "12345"))


def path_segment(name: str) -> tuple[str, ...]:
    """What can stand between two slashes of a URL."""
    if name in (".", ".."):
        return (f"may not be '{name}'",)
    return tuple(f"may not contain '{sign}'" for sign in "/%" if sign in name)


def config_key(key: str) -> tuple[str, ...]:
    problems = _length(key, 253, "characters")
    if not _IS_CONFIG_KEY.match(key):
        sentence = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        return (*problems, _pattern(sentence, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    if key == ".":
        return (*problems, "must not be '.'")
    if key == "..":
        return (*problems, "must not be '..'")
    if key.startswith(".."):
        return (*problems, "must not start with '..'")
    return problems


def condition_reason(reason: str) -> tuple[str, ...]:
    if _IS_REASON.match(reason):
        return ()
    sentence = (
        "a condition reason must start with alphabetic character, optionally followed by a string of "
        "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'"
    )
    examples = ("my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB")
    return (_pattern(sentence, _REASON, *examples),)


def environment_name(name: str) -> tuple[str, ...]:
    """Any printable ASCII but `=`: the relaxed rule, which 1.37 goes by."""
    if not name:
        return ("environment variable name must be non-empty",)
    if all(" " <= sign <= "~" and sign != "=" for sign in name):
        return ()
    return (
        "a valid environment variable name must consist only of printable ASCII characters other than '='",
    )


def port_name(name: str) -> tuple[str, ...]:
    problems: list[str] = []
    if len(name) > 15:
        problems.append("must be no more than 15 characters")
    if not _IS_PORT_NAME.match(name):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", name):
        problems.append("must contain at least one letter (a-z)")
    if "--" in name:
        problems.append("must not contain consecutive hyphens")
    if name and (name[0] == "-" or name[-1] == "-"):
        problems.append("must not begin or end with a hyphen")
    return tuple(problems)


def _length(text: str, most: int, unit: str) -> tuple[str, ...]:
    too_long = len(text) > most or (not text.isascii() and len(text.encode()) > most)
    return (f"must be no more than {most} {unit}",) if too_long else ()


def _pattern(sentence: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{sentence} (e.g. {shown}regex used for validation is '{pattern}')"
