"""Gangs whose members heed each other: attract, repel, spread.

Pod by pod, such members may lock themselves into a domain that is too small, or be asked in an order
in which none can go first. So whole domains are tried, those with most room first; and at last all
arrangements, as far as the budget goes. What was placed decides what may come next, not the order in
which it was placed, so no arrangement is looked at twice.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from tutti.core import columns
from tutti.core.columns import Mask, Rows
from tutti.core.groups import Batch
from tutti.core.trial import Trial

MOST_DOMAINS: Final = 64
MOST_MEMBERS: Final = 100
"""Beyond so many no arrangements are searched: one alone costs as many steps as it has members."""
NODES_A_STEP: Final = 100
"""A step looks at all nodes; where there are more than this it counts as several."""


def heed_others(batches: Sequence[Batch]) -> bool:
    return any(batch.cls.heeds_others for batch in batches)


def domains_to_try(trial: Trial, batches: Sequence[Batch], missing: int) -> Iterator[Mask]:
    """The domains in which members want to be together and have room, most of it first."""
    keys: dict[str, None] = {}
    for batch in batches:
        attraction = batch.cls.asks.relations.attraction
        keys.update(dict.fromkeys(attraction.keys if attraction else ()))
    room = columns.amounts(len(trial.order))
    for batch in batches if keys else ():
        room += trial.ranking(batch.cls).room()
    for key in keys:
        domains = trial.snapshot.domains(key)
        sums = domains.sums(room)
        # By name where the room is the same: codes follow the order of arrival.
        in_order = sorted(
            np.flatnonzero(sums >= missing).tolist(),
            key=lambda at: (-int(sums[at]), domains.names[at - 1]),
        )
        for place in in_order[:MOST_DOMAINS]:
            yield domains.place == place


class Arrangements:
    """One search over all of them. What it finds stays taken; otherwise the trial is as it was."""

    def __init__(self, trial: Trial, batches: Sequence[Batch], steps: int) -> None:
        self.is_complete = True
        self._trial = trial
        self._batches = batches
        self._steps = steps * NODES_A_STEP // max(NODES_A_STEP, len(trial.order))
        self._seen: set[tuple[tuple[int, int], ...]] = set()
        self._taken: list[tuple[int, int]] = []

    def find(self, missing: int) -> list[Rows] | None:
        """Nodes for so many members, by batch; None where none were found."""
        if missing > MOST_MEMBERS:
            self.is_complete = False
            return None
        if not self._place(missing):
            return None
        found: list[list[int]] = [[] for _ in self._batches]
        for index, node in self._taken:
            found[index].append(node)
        return [columns.rows(nodes) for nodes in found]

    def _place(self, missing: int) -> bool:
        if missing == 0:
            return True
        return any(
            self._try(index, node, missing)
            for index, batch in enumerate(self._batches)
            if self._count(index) < len(batch.pods)
            for node in self._candidates(batch)
        )

    def _try(self, index: int, node: int, missing: int) -> bool:
        arrangement = tuple(sorted((*self._taken, (index, node))))
        if arrangement in self._seen:
            return False
        if not self._steps:
            self.is_complete = False
            return False
        self._steps -= 1
        self._seen.add(arrangement)
        before = self._trial.checkpoint()
        self._trial.take(self._batches[index].cls, columns.rows((node,)))
        self._taken.append((index, node))
        if self._place(missing - 1):
            return True
        self._taken.pop()
        self._trial.rollback(before)
        return False

    def _count(self, index: int) -> int:
        return sum(taken == index for taken, _ in self._taken)

    def _candidates(self, batch: Batch) -> list[int]:
        """The nodes that pass now, the best first."""
        if not self._steps:
            self.is_complete = False
            return []
        ranking = self._trial.ranking(batch.cls)
        passing = ranking.passing(batch.cls)
        nodes = np.flatnonzero(passing)
        if not len(nodes):
            return []
        totals = ranking.totals(batch.cls, passing)[nodes]
        best: list[int] = nodes[np.lexsort((-ranking.order[nodes], -totals))].tolist()
        return best
