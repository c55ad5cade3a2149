"""Where members differ and the usual ways fail: which of them, on which nodes.

Depth first: class by class, the hardest first, and for each the fullest node that has room, filled
as far as it goes; then with fewer, then the next. Every try counts as a step, and the steps are
bounded. A search that came to its end without finding anything has proved that there is nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tutti.core import columns
from tutti.core.columns import Rows
from tutti.core.groups import Batch
from tutti.core.trial import Trial

MOST_CLASSES: Final = 40
SEATS_COST: Final = 10
"""What a look at all nodes for a class counts, in steps."""
MOST_LOOKS: Final = 240
"""Nodes looked at over all classes. Where more have room the fullest are, and nothing is proved.

Each takes three frames of Python's stack, of which there are a thousand.
"""


@dataclass(frozen=True, slots=True)
class Seats:
    """The nodes with room for one class, alike ones side by side."""

    nodes: Rows
    room: list[int]
    behind: list[int]
    """The room of each node and all that follow it."""
    repeats: list[bool]
    """Whether a node is like the one before it: then it need not take more than that one did."""


class Search:
    """One search. What it finds stays taken in the trial; otherwise the trial is as it was."""

    def __init__(self, trial: Trial, batches: Sequence[Batch], steps: int) -> None:
        self.is_complete = len(batches) <= MOST_CLASSES
        self._trial = trial
        self._batches = batches
        self._steps = steps
        self._taken: list[tuple[int, int, int]] = []

    def find(self, missing: int) -> list[Rows] | None:
        """Nodes for so many members, by batch; None where none were found."""
        if len(self._batches) > MOST_CLASSES or not self._place(0, missing):
            return None
        found: list[list[int]] = [[] for _ in self._batches]
        for index, node, share in self._taken:
            found[index].extend([node] * share)
        return [columns.rows(nodes) for nodes in found]

    def _place(self, index: int, missing: int) -> bool:
        """The batches from this one on: as many of it as may be, then fewer."""
        if missing == 0:
            return True
        if index == len(self._batches):
            return False
        if not self._afford(SEATS_COST):
            return False
        seats = self._seats(index)
        later = sum(len(batch.pods) for batch in self._batches[index + 1 :])
        most = min(len(self._batches[index].pods), missing, seats.behind[0])
        return any(
            self._distribute(index, seats, 0, count, missing - count)
            for count in range(most, max(0, missing - later) - 1, -1)
        )

    def _distribute(self, index: int, seats: Seats, at: int, count: int, then: int) -> bool:
        """So many of one batch on the nodes from `at` on, then the rest of the members."""
        if count == 0:
            return self._place(index + 1, then)
        most = min(seats.room[at], count)
        if seats.repeats[at]:
            most = min(most, self._share_of_the_last(index, int(seats.nodes[at - 1])))
        return any(
            self._try(index, seats, at, share, count, then)
            for share in range(most, max(0, count - seats.behind[at + 1]) - 1, -1)
        )

    def _try(self, index: int, seats: Seats, at: int, share: int, count: int, then: int) -> bool:
        if not self._afford(1):
            return False
        before = self._trial.checkpoint()
        if share:
            node = seats.nodes[at : at + 1]
            self._trial.take(self._batches[index].cls, node, columns.amounts_of((share,)))
            self._taken.append((index, int(node[0]), share))
        if self._distribute(index, seats, at + 1, count - share, then):
            return True
        if share:
            self._taken.pop()
            self._trial.rollback(before)
        return False

    def _afford(self, steps: int) -> bool:
        """Whether the budget has so many steps left; they are spent then."""
        if self._steps < steps:
            self.is_complete = False
            return False
        self._steps -= steps
        return True

    def _share_of_the_last(self, index: int, node: int) -> int:
        last = self._taken[-1] if self._taken else (-1, -1, 0)
        return last[2] if last[:2] == (index, node) else 0

    def _seats(self, index: int) -> Seats:
        """Where the batch has room, the least first: full nodes are filled, whole ones left whole."""
        trial = self._trial
        ranking = trial.ranking(self._batches[index].cls)
        room = np.minimum(ranking.room(), len(self._batches[index].pods))
        nodes = np.flatnonzero(room)
        if len(nodes) > MOST_LOOKS // len(self._batches):
            self.is_complete = False
            fullest = np.lexsort((-ranking.order[nodes], room[nodes]))
            nodes = nodes[fullest[: MOST_LOOKS // len(self._batches)]]
        alike = self._alike(nodes)
        in_order = np.lexsort((-ranking.order[nodes], alike, room[nodes]))
        nodes, alike = nodes[in_order], alike[in_order]
        room = room[nodes]
        behind = np.cumsum(room[::-1])[::-1]
        repeats = np.concatenate(([False], alike[1:] == alike[:-1])) if len(nodes) else alike > 0
        return Seats(nodes, room.tolist(), [*behind.tolist(), 0], repeats.tolist())

    def _alike(self, nodes: Rows) -> Rows:
        """A number for each node, the same for those that are the same to all of the classes."""
        trial = self._trial
        allowed = np.stack([trial.ranking(batch.cls).allowed[nodes] for batch in self._batches])
        facts = (trial.snapshot.nodes.allocatable[:, nodes], trial.used[:, nodes], allowed)
        _, alike = np.unique(np.concatenate(facts), axis=1, return_inverse=True)
        return alike.reshape(-1)
