"""One class, a count: the nodes, as if pods were placed one by one, each on the best node then.

Placing a pod changes what its node is worth to the next, and no other node. So the nodes are
columns of a table (first pod, second pod, …) from which pod-by-pod takes the best top entry again
and again. Its choice needs no replay: an entry comes out when the level has sunk to the lowest
entry above it, so all entries over some level are taken, and at that level nodes are emptied in
tie order. `place` finds the level, and only works out the part of the table that lies above it.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts, Mask, Rows
from tutti.core.pods import PodClass
from tutti.core.ranking import Ranking, largest
from tutti.core.trial import Trial

FEW: Final = 16
"""Up to so many pods it is quicker to draw them one by one."""
UNBOUNDED: Final = 1 << 62


def place(
    trial: Trial, cls: PodClass, count: int, *, packing: bool = False, within: Mask | None = None
) -> Rows:
    """The nodes for up to `count` pods, taken in the trial, in the order in which they are chosen.

    Fewer come back only when no node passes any more. With `packing` the fullest node is the best;
    `within` leaves only some nodes to choose from.
    """
    if cls.heeds_others or within is not None:
        return _one_by_one(trial, cls, count, packing, within)
    chosen: list[Rows] = []
    while count > 0:
        ranking = trial.ranking(cls, packing=packing)
        if count <= FEW:
            stretch = columns.rows(ranking.draw(cls, count))
        else:
            stretch = _stretch(ranking, count)
            trial.take(cls, *np.unique(stretch, return_counts=True))
        if not len(stretch):
            break
        chosen.append(stretch)
        count -= len(stretch)
    return np.concatenate(chosen) if chosen else columns.rows(())


def _one_by_one(
    trial: Trial, cls: PodClass, count: int, packing: bool, within: Mask | None
) -> Rows:
    """For a class that heeds where others are: each pod may change all nodes."""
    if within is None:
        within = columns.mask(len(trial.order), True)
    chosen: list[int] = []
    while len(chosen) < count:
        row = trial.ranking(cls, packing=packing).draw_one(cls, within)
        if row is None:
            break
        chosen.append(row)
    return columns.rows(chosen)


@dataclass(frozen=True, slots=True)
class Entries:
    """Places in the table: which candidate, and the level at which the place comes out."""

    candidate: Rows
    level: Amounts


def _stretch(ranking: Ranking, count: int) -> Rows:
    """Choices up to `count`, as far as the scale of the scores stays as it is."""
    nodes = _candidates(ranking, count)
    if not len(nodes):
        return nodes
    room = np.minimum(ranking.room(nodes), count)
    entries = _entries_above_the_level(ranking, nodes, room, count)
    order = np.lexsort((entries.candidate, -entries.level))[:count]
    taken = entries.candidate[order]
    return nodes[taken[: _end_of_scale(ranking, nodes, room, taken)]]


def _candidates(ranking: Ranking, count: int) -> Rows:
    """The nodes that can be among the choices, best first: no more than there are pods."""
    best = largest(ranking.keys, count)
    # By tie order: among equal levels the node that wins ties is emptied first.
    return best[np.argsort(-ranking.order[best])]


def _entries_above_the_level(ranking: Ranking, nodes: Rows, room: Amounts, count: int) -> Entries:
    """All entries that `count` pods can reach, and as few others as is convenient."""
    found = Entries(columns.rows(()), columns.amounts(0))
    still_open = np.arange(len(nodes))
    floor = columns.amounts(len(nodes)) + UNBOUNDED
    depth = 0
    step = max(1, min(count, 2 * count // len(nodes)))
    while len(still_open):
        levels = ranking.scores(nodes[still_open], step, depth)
        levels = np.minimum(np.minimum.accumulate(levels, axis=0), floor[still_open])
        within = np.arange(depth, depth + step)[:, np.newaxis] < room[still_open]
        found = Entries(
            np.concatenate((found.candidate, np.broadcast_to(still_open, levels.shape)[within])),
            np.concatenate((found.level, levels[within])),
        )
        floor[still_open] = levels[-1]
        depth += step
        step *= 2
        level = _level(found.level, count)
        still_open = still_open[(room[still_open] > depth) & (floor[still_open] >= level)]
    return found


def _level(levels: Amounts, count: int) -> int:
    """The level of the last of `count` entries; under all of them where there are fewer."""
    if len(levels) < count:
        return -1
    return int(np.partition(levels, len(levels) - count)[len(levels) - count])


def _end_of_scale(ranking: Ranking, nodes: Rows, room: Amounts, taken: Rows) -> int:
    """How many of the choices hold before the last node that sets some scale is full."""
    end = len(taken)
    for holders in ranking.holders_of_the_scale():
        among = holders[nodes]
        if np.count_nonzero(among) < np.count_nonzero(holders):
            continue
        filled = np.bincount(taken, minlength=len(nodes)) == room
        if np.all(filled[among]):
            last_of_them = np.flatnonzero(among[taken])[-1]
            end = min(end, int(last_of_them) + 1)
    return end
