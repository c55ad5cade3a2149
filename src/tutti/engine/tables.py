"""The two tables `[resource, node]`, what there is and what is in use, as they grow both ways.

Nobody has ports or counts to offer, so the first table ends with the last resource.
"""

from collections.abc import Hashable
from typing import Final, TypeVar

from tutti.core import columns
from tutti.core.columns import Amounts
from tutti.core.relations import Carried, Counted
from tutti.core.resources import FIXED, Port, Table
from tutti.core.volumes import Disk

FEWEST_ROWS: Final = 16
_What = TypeVar("_What", bound=Hashable)


class Tables:
    """Which resource, port or count has which row, and the amounts in them."""

    def __init__(self, nodes: int) -> None:
        self.resources = {name: row for row, name in enumerate(FIXED)}
        self.ports: dict[Port, int] = {}
        self.counted: dict[Counted, int] = {}
        self.carried: dict[Carried, int] = {}
        self.disks: dict[Disk, int] = {}
        self._rows = len(FIXED)
        self.allocatable = columns.amounts(len(FIXED), nodes)
        self._used = columns.amounts(FEWEST_ROWS, nodes)

    @property
    def used(self) -> Amounts:
        return self._used[: self._rows]

    @property
    def counts(self) -> int:
        """How many rows are there for what pods ask about others, or share with them."""
        return len(self.counted) + len(self.carried) + len(self.disks)

    def row_of(self, known: dict[_What, int], what: _What) -> int:
        """The row of a resource, a port or a count, which gets one when it is new."""
        if what not in known:
            if self._rows == len(self._used):
                self._used = columns.with_more_rows(self._used, self._rows)
            known[what] = self._rows
            self._rows += 1
        return known[what]

    def resource_row(self, name: str) -> int:
        row = self.row_of(self.resources, name)
        if row >= len(self.allocatable):
            self.allocatable = columns.with_more_rows(
                self.allocatable, row + 1 - len(self.allocatable)
            )
        return row

    def widen(self, nodes: int) -> None:
        self.allocatable = columns.widened(self.allocatable, nodes)
        self._used = columns.widened(self._used, nodes)

    def drop_counts(self) -> None:
        """Forget ports and counts, and all that is in use: only resources keep their rows."""
        kept = sorted(self.resources.items(), key=lambda item: item[1])
        self.allocatable = self.allocatable[[row for _, row in kept]]
        self._used = columns.amounts(*self.allocatable.shape)
        self._rows = len(kept)
        self.resources = {name: row for row, (name, _) in enumerate(kept)}
        self.ports, self.counted, self.carried, self.disks = {}, {}, {}, {}

    def view(self) -> Table:
        return Table(self.resources, self.ports, self.counted, self.carried, self.disks)

    def like_these(self, nodes: int) -> "Tables":
        """Tables of the same rows with nothing in them."""
        made = Tables(nodes)
        made.resources, made.ports = self.resources, self.ports
        made.counted, made.carried, made.disks = self.counted, self.carried, self.disks
        made._rows = self._rows
        made.allocatable = columns.amounts(len(self.allocatable), nodes)
        made._used = columns.amounts(self._rows, nodes)
        return made

    def amounts_of(self, node: int) -> dict[str, int]:
        """What both tables say about one node, in words."""
        resources = self.resources.items()
        counts = (*self.counted.items(), *self.carried.items())
        others = (*self.ports.items(), *counts, *self.disks.items())
        there = {f"allocatable {what}": int(self.allocatable[row, node]) for what, row in resources}
        return there | {
            f"used {what}": int(self.used[row, node]) for what, row in (*resources, *others)
        }
