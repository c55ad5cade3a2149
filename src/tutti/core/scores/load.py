"""Load: some nodes as they would be with more and more pods of a class on them.

Scores read it row by row, so that only the resources they look at are worked out, and so that one
formula serves one node, all nodes, and all nodes several pods ahead.
"""

from dataclasses import dataclass

import numpy as np

from tutti.core.columns import Amounts
from tutti.core.filters.room import Selection
from tutti.core.pods import PodClass
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

    def capacity(self, row: int) -> Amounts:
        return self.snapshot.nodes.allocatable[row, self.nodes]

    def used(self, row: int, depth: int | None = None) -> Amounts:
        """What is in use before the next pod comes, `[depth, node]`."""
        used = self.used_now[row, self.nodes]
        if depth is None:
            depth = self.depth
        added = np.arange(self.first, self.first + depth)[:, np.newaxis]
        return used + added * self.cls.held.get(row, 0)
