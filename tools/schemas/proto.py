"""Reads the field numbers of a `generated.proto` file."""

from __future__ import annotations

import re
from pathlib import Path

_MESSAGE = re.compile(r"^message (\w+) \{$")
_FIELD = re.compile(r"^  (?:optional|repeated|map<[^>]*>)\s*\S*\s+(\w+) = (\d+);")
_MAP = re.compile(r"^  map<[^>]*> (\w+) = (\d+);")


def numbers(file: Path) -> dict[str, dict[str, int]]:
    """Message to field to number."""
    messages: dict[str, dict[str, int]] = {}
    fields: dict[str, int] = {}
    for line in file.read_text().splitlines():
        if found := _MESSAGE.match(line):
            fields = messages.setdefault(found[1], {})
        elif found := _MAP.match(line) or _FIELD.match(line):
            fields[found[1]] = int(found[2])
    return messages
