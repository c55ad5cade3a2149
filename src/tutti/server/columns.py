"""What a table is made of: columns, and a function from an object to its cells."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tutti.server import ages

Object = dict[str, Any]
Cells = list[Any]

NONE = "<none>"


@dataclass(frozen=True, slots=True)
class Column:
    """One column; a priority of 1 shows it with `-o wide` only."""

    name: str
    type: str = "string"
    format: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Printer:
    """The columns of a kind, and the cells of one object at a moment."""

    columns: tuple[Column, ...]
    cells: Callable[[Object, datetime], Cells]


NAME = Column("Name", format="name")
AGE = Column("Age")


def wide(name: str, format: str = "") -> Column:
    """A column that only `-o wide` shows."""
    return Column(name, format=format, priority=1)


def age(found: Object, now: datetime) -> str:
    """How old an object is."""
    return ages.since(found["metadata"].get("creationTimestamp"), now)
