"""The two tables `[resource, node]`, what there is and what is in use, as they grow both ways."""

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
        self._allocatable = columns.amounts(FEWEST_ROWS, nodes)
        self._used = columns.amounts(FEWEST_ROWS, nodes)

    @property
    def allocatable(self) -> Amounts:
        return self._allocatable[: self._rows]

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
                self._allocatable = columns.with_more_rows(self._allocatable, self._rows)
                self._used = columns.with_more_rows(self._used, self._rows)
            known[what] = self._rows
            self._rows += 1
        return known[what]

    def resource_row(self, name: str) -> int:
        return self.row_of(self.resources, name)

    def widen(self, nodes: int) -> None:
        self._allocatable = columns.widened(self._allocatable, nodes)
        self._used = columns.widened(self._used, nodes)

    def drop_counts(self) -> None:
        """Forget ports and counts, and all that is in use: only resources keep their rows."""
        kept = sorted(self.resources.items(), key=lambda item: item[1])
        self._allocatable = self._allocatable[[row for _, row in kept]]
        self._used = columns.amounts(*self._allocatable.shape)
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
        made._allocatable = columns.amounts(self._rows, nodes)
        made._used = columns.amounts(self._rows, nodes)
        return made

    def amounts_of(self, node: int) -> dict[str, int]:
        """What both tables say about one node, in words."""
        rows = (*self.resources.items(), *self.ports.items(), *self.counted.items())
        return {
            f"{table} {what}": int(amounts[row, node])
            for what, row in (*rows, *self.carried.items(), *self.disks.items())
            for table, amounts in (("allocatable", self.allocatable), ("used", self.used))
        }
