"""Refused roots, and which change in the cluster wakes which of them.

Roots of one shape need the same, so the first of them in the queue stands for all: when it still
has no place, neither have the others, and when it gets one, the next is tried. A change costs a
look at each shape, however many roots have it.

A shape is woken when one of its members fits on a node that changed, and the room that all its
members see, each class by itself, would make its quorum. Without the one, nothing that could help
has happened; without the other, it is proved that no placement exists. Members that heed other
pods may be helped by whatever comes or goes anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tutti.core.columns import Rows, rows
from tutti.core.filters.room import EVERY_NODE, has_room, room
from tutti.core.pods import PodClass
from tutti.core.ranking import allowed
from tutti.core.trial import Trial
from tutti.engine.queue import Entry
from tutti.engine.roots import LeafShape, Shape, leaf_shapes


class Sleepers:
    def __init__(self) -> None:
        self._shapes: dict[Shape, dict[str, Entry]] = {}
        self._heeding: dict[Shape, None] = {}

    def __bool__(self) -> bool:
        return bool(self._shapes)

    def add(self, entry: Entry) -> None:
        shape = entry.shape
        if shape is None:
            return
        if shape not in self._shapes:
            self._shapes[shape] = {}
            if any(cls.heeds_others for leaf in leaf_shapes(shape) for cls, _ in leaf.waiting):
                self._heeding[shape] = None
        self._shapes[shape][entry.key] = entry

    def discard(self, entry: Entry) -> None:
        if entry.shape is not None and (alike := self._shapes.get(entry.shape)):
            alike.pop(entry.key, None)
            if not alike:
                del self._shapes[entry.shape]
                self._heeding.pop(entry.shape, None)

    def first(self, shape: Shape) -> Entry | None:
        """The one that would be tried first of all that sleep in this shape."""
        alike = self._shapes.get(shape)
        return min(alike.values(), key=lambda entry: entry.rank) if alike else None

    def heed_what_moved(self) -> list[Entry]:
        """For each shape with members that heed other pods, the first root of it."""
        return [first for shape in self._heeding if (first := self.first(shape)) is not None]

    def helped(self, trial: Trial, changed: Iterable[str]) -> list[Entry]:
        """For each shape that a change of these nodes could help, the first root of it."""
        row_of = trial.snapshot.nodes.row_of
        nodes = rows(sorted(row_of[name] for name in changed if name in row_of))
        if not len(nodes) or not self._shapes:
            return []
        view = _View(trial, nodes)
        helped = [shape for shape in self._shapes if view.could_help(shape)]
        return [first for shape in helped if (first := self.first(shape)) is not None]


class _View:
    """What the nodes that changed offer to each class; asked once a class."""

    def __init__(self, trial: Trial, nodes: Rows) -> None:
        self._trial = trial
        self._nodes = nodes
        self._gains: dict[PodClass, bool] = {}
        self._room: dict[PodClass, int] = {}

    def could_help(self, shape: Shape) -> bool:
        classes = (cls for leaf in leaf_shapes(shape) for cls, _ in leaf.waiting)
        return any(map(self._gained, classes)) and (self._stands(shape) or self._could(shape))

    def _stands(self, shape: Shape) -> bool:
        """Then whatever gains at all is helped: extras, members of a basic group."""
        return shape.counted >= shape.quorum

    def _could(self, shape: Shape) -> bool:
        if isinstance(shape, LeafShape):
            room = (min(count, self._room_for(cls)) for cls, count in shape.waiting)
            return shape.counted + sum(room) >= shape.quorum
        standing = sum(count for child, count in shape.children if self._could(child))
        return shape.counted + standing >= shape.quorum

    def _gained(self, cls: PodClass) -> bool:
        known = self._gains.get(cls)
        if known is None:
            trial, nodes = self._trial, self._nodes
            fits = has_room(trial.snapshot, trial.used, cls, nodes)
            may = allowed(trial.snapshot, trial.profile, cls)[nodes]
            known = self._gains[cls] = bool(np.any(fits & may))
        return known

    def _room_for(self, cls: PodClass) -> int:
        known = self._room.get(cls)
        if known is None:
            trial = self._trial
            may = allowed(trial.snapshot, trial.profile, cls)
            known = self._room[cls] = int(
                (room(trial.snapshot, trial.used, cls, EVERY_NODE) * may).sum()
            )
        return known
