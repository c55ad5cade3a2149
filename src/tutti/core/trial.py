"""A working copy of what is in use: take, give back, checkpoint, rollback.

Undoing is exact, because amounts are whole numbers and are taken back in reverse order. Every
change is also noted by row, so that what was worked out per class is refreshed where something
changed, and nowhere else.
"""

from dataclasses import dataclass
from typing import Final, NewType

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts, Rows
from tutti.core.pods import PodClass
from tutti.core.profile import Profile
from tutti.core.ranking import Ranking
from tutti.core.snapshot import Snapshot

LONGEST_MEMORY: Final = 10_000
"""Changes after which rankings are made anew, so that the list of changes stays short."""

Checkpoint = NewType("Checkpoint", int)


@dataclass(frozen=True, slots=True)
class Taken:
    """What pods of one class hold, on some nodes; negative counts were given back."""

    rows: Rows
    amounts: Amounts
    nodes: Rows
    counts: Amounts


class Trial:
    """The cluster as it would be. One trial serves a whole turn: later roots see what earlier took."""

    def __init__(self, snapshot: Snapshot, profile: Profile, seed: int = 0) -> None:
        self.snapshot = snapshot
        self.profile = profile
        """The one by which the next root is decided; roots of one turn may have different ones."""
        self.used: Amounts = snapshot.used.copy()
        self.order = snapshot.tie_order(seed)
        self.touched: list[Rows] = []
        self._started = 0
        self._log: list[Taken] = []
        self._rankings: dict[tuple[str, int, bool], Ranking] = {}

    def take(self, cls: PodClass, nodes: Rows, counts: Amounts | None = None) -> None:
        """Put pods of a class on different nodes: one on each, or as many as `counts` says."""
        if counts is None:
            counts = columns.ones(len(nodes))
        self._apply(Taken(cls.held_rows, cls.held_amounts, nodes, counts))

    def give_back(self, cls: PodClass, nodes: Rows, counts: Amounts | None = None) -> None:
        """The reverse of `take`; itself undone by a rollback to before it."""
        self.take(cls, nodes, -(columns.ones(len(nodes)) if counts is None else counts))

    def catch_up(self, snapshot: Snapshot, changed: Rows) -> None:
        """Begin anew on a later snapshot of the same nodes, of which these rows changed since.

        What was taken here and isn't in the snapshot is gone; what was worked out per class stays,
        but for the rows that changed.
        """
        if snapshot.nodes_version != self.snapshot.nodes_version:
            raise ValueError("nodes came, went or changed: make another trial")
        self._keep_up_with_the_table()
        stale = np.unique(np.concatenate((changed, *self.touched[self._started :])))
        self.snapshot = snapshot
        self.used[:, stale] = snapshot.used[:, stale]
        self._log.clear()
        if len(self.touched) > LONGEST_MEMORY:
            self.touched.clear()
            self._rankings.clear()
        self.touched.append(stale)
        self._started = len(self.touched)

    def checkpoint(self) -> Checkpoint:
        return Checkpoint(len(self._log))

    def rollback(self, checkpoint: Checkpoint) -> None:
        """Undo everything since the checkpoint, the last change first."""
        if checkpoint > len(self._log):
            raise ValueError(f"checkpoint {checkpoint} is ahead of the log's {len(self._log)}")
        while len(self._log) > checkpoint:
            self._change(self._log.pop(), -1)

    def ranking(self, cls: PodClass, *, packing: bool = False) -> Ranking:
        """How the nodes rank for the class now; the fullest first where it is about packing."""
        key = self.profile.name, cls.shape, packing
        ranking = self._rankings.get(key)
        if ranking is None:
            self._keep_up_with_the_table()
            profile = self.profile.packing() if packing else self.profile
            ranking = self._rankings[key] = Ranking(self, profile, cls)
        ranking.refresh()
        return ranking

    def _apply(self, taken: Taken) -> None:
        self._keep_up_with_the_table()
        self._change(taken, 1)
        self._log.append(taken)

    def _change(self, taken: Taken, sign: int) -> None:
        rows, amounts = taken.rows[:, np.newaxis], taken.amounts[:, np.newaxis]
        self.used[rows, taken.nodes] += amounts * (sign * taken.counts)
        self.touched.append(taken.nodes)

    def _keep_up_with_the_table(self) -> None:
        """Classes newer than the snapshot may name what no node had then: nobody holds it either."""
        missing = len(self.snapshot.table) - len(self.used)
        if missing > 0:
            self.snapshot = self.snapshot.with_more_rows(missing)
            self.used = columns.with_more_rows(self.used, missing)
