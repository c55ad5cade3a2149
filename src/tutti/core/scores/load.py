"""Load: some nodes as they would be with a number of pods of a class added.

Scores read it row by row, so that only the resources they look at are worked out, and so that one
formula serves one node, all nodes, and all nodes at several depths.
"""

from dataclasses import dataclass

from tutti.core.columns import Amounts
from tutti.core.filters.room import Selection
from tutti.core.pods import PodClass
from tutti.core.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Load:
    """`added` is a column of depths, `[depth, 1]`: pods of the class that came before."""

    snapshot: Snapshot
    used_now: Amounts
    cls: PodClass
    nodes: Selection
    added: Amounts

    def capacity(self, row: int) -> Amounts:
        return self.snapshot.nodes.allocatable[row, self.nodes]

    def used(self, row: int) -> Amounts:
        """What is in use before the pod that is being placed, `[depth, node]`."""
        return self.used_now[row, self.nodes] + self.added * self.cls.held.get(row, 0)
