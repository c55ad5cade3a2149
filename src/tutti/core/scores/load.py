"""Load: some nodes as they would be with more and more pods of a class on them.

Scores read the resources they look at as one block, so that one formula serves one node, all nodes,
and all nodes several pods ahead.
"""

from dataclasses import dataclass

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts, Rows
from tutti.core.filters.room import Selection, block
from tutti.core.pods import PodClass
from tutti.core.resources import FIXED, PODS
from tutti.core.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Load:
    """Depth by depth: with `first` pods of the class added, with one more, and so on."""

    snapshot: Snapshot
    used_now: Amounts
    cls: PodClass
    nodes: Selection
    first: int = 0
    depth: int = 1

    def knows(self, resource: str) -> bool:
        return resource in self.snapshot.table.resources and resource != FIXED[PODS]

    def rows_of(self, resources: tuple[str, ...]) -> Rows:
        """The rows of those that some node or pod has named so far."""
        table = self.snapshot.table.resources
        return columns.rows(table[name] for name in resources if self.knows(name))

    def capacity(self, rows: Rows) -> Amounts:
        """What the nodes have, `[resource, 1, node]`."""
        return block(self.snapshot.nodes.allocatable, rows, self.nodes)[:, np.newaxis]

    def used(self, rows: Rows, depth: int | None = None) -> Amounts:
        """What is in use before the next pod comes, `[resource, depth, node]`."""
        used = block(self.used_now, rows, self.nodes)[:, np.newaxis]
        depth = self.depth if depth is None else depth
        if depth == 1 and not self.first:
            return used
        added = np.arange(self.first, self.first + depth)[:, np.newaxis]
        return used + added * self.each(rows)

    def each(self, rows: Rows) -> Amounts:
        """What one pod holds of these resources, `[resource, 1, 1]`."""
        return self.cls.held_of(rows)
