"""Scores by what is free: NodeResourcesFit's three strategies, and balanced allocation.

Whole-number arithmetic as kube-scheduler has it, rounding included; each answers 0 to 100. They are
values that can be called, so that two profiles that ask for the same are equal.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts, Rows
from tutti.core.resources import CPU, EPHEMERAL_STORAGE, MEMORY, SCORED_CPU, SCORED_MEMORY
from tutti.core.scores.load import Load

MOST: Final = 100
Weights = tuple[tuple[str, int], ...]
CPU_AND_MEMORY: Final[Weights] = (("cpu", 1), ("memory", 1))
NATIVE: Final = (CPU, MEMORY, EPHEMERAL_STORAGE)
SCORED_AS: Final[Mapping[int, int]] = {CPU: SCORED_CPU, MEMORY: SCORED_MEMORY}


@dataclass(frozen=True, slots=True)
class LeastAllocated:
    """What would be left over, in percent, averaged over the resources that a node has."""

    resources: Weights = CPU_AND_MEMORY

    def __call__(self, load: Load) -> Amounts:
        capacity, wanted, weights = _wanted(load, self.resources)
        left = np.maximum(capacity - wanted, 0)
        return _averaged(left * MOST // np.maximum(capacity, 1), capacity, weights)


@dataclass(frozen=True, slots=True)
class MostAllocated:
    """What would be in use, in percent."""

    resources: Weights = CPU_AND_MEMORY

    def __call__(self, load: Load) -> Amounts:
        capacity, wanted, weights = _wanted(load, self.resources)
        used = np.minimum(wanted, capacity)
        return _averaged(used * MOST // np.maximum(capacity, 1), capacity, weights)


@dataclass(frozen=True, slots=True)
class RequestedToCapacityRatio:
    """What would be in use, through a line of points: (percent in use, score from 0 to 100)."""

    shape: tuple[tuple[int, int], ...]
    resources: Weights = CPU_AND_MEMORY

    def __call__(self, load: Load) -> Amounts:
        capacity, wanted, weights = _wanted(load, self.resources)
        within = np.minimum(wanted, capacity) * MOST // np.maximum(capacity, 1)
        scores = self._on_the_line(np.where(wanted > capacity, MOST, within)) * (capacity > 0)
        weighed = scores * weights
        # A resource that scores nothing doesn't count at all.
        total = np.maximum((weights * (scores > 0)).sum(axis=0), 1)
        return (2 * weighed.sum(axis=0) + total) // (2 * total)

    def _on_the_line(self, percent: Amounts) -> Amounts:
        (first, score), *rest = self.shape
        scores = np.full(percent.shape, score)
        before = first, score
        for after in rest:
            (x0, y0), (x1, y1) = before, after
            step = np.clip(percent - x0, 0, x1 - x0) * abs(y1 - y0) // (x1 - x0)
            scores = np.where(percent > x0, y0 + (step if y1 >= y0 else -step), scores)
            before = after
        return scores


@dataclass(frozen=True, slots=True)
class BalancedAllocation:
    """How much more even (over 75) or uneven (under it) the node's use would become.

    None for a pod that asks for none of the resources: it is scored by other rules alone.
    """

    resources: tuple[str, ...] = ("cpu", "memory")

    def __call__(self, load: Load) -> Amounts | None:
        rows = self._rows(load)
        if not len(rows):
            return None
        evenness = _evenness(load, rows)
        return MOST // 2 + (MOST // 2 + evenness[1:] - evenness[:-1]) // 2

    def _rows(self, load: Load) -> Rows:
        """The resources that are compared: none for a pod that asks for none of them."""
        key = self.resources, "balanced", len(load.snapshot.table.resources)
        rows = load.cls.notes.get(key)
        if not isinstance(rows, np.ndarray):
            known = load.rows_of(self.resources).tolist()
            asked = [row for row in known if load.cls.held.get(row, 0)]
            kept = [row for row in known if row in NATIVE or row in asked] if asked else []
            rows = load.cls.notes[key] = columns.rows(kept)
        return rows


def tightness(load: Load) -> Amounts:
    """How full the node would be in what the class asks for, in percent: for packing."""
    rows = load.cls.limit_rows
    capacity = load.capacity(rows)
    used = np.minimum(load.used(rows) + load.each(rows), capacity)
    return (used * MOST // np.maximum(capacity, 1)).sum(axis=0)


@dataclass(frozen=True, slots=True)
class Scored:
    """The resources that a strategy weighs for a class: rows, weights, and what it asks of each."""

    rows: Rows
    asked: Amounts
    weights: Amounts


def _wanted(load: Load, resources: Weights) -> tuple[Amounts, Amounts, Amounts]:
    """Capacity and what would be requested, `[resource, depth, node]`, and the weights."""
    key = resources, len(load.snapshot.table.resources)
    scored = load.cls.notes.get(key)
    if not isinstance(scored, Scored):
        scored = load.cls.notes[key] = _scored(load, resources)
    return load.capacity(scored.rows), load.used(scored.rows) + scored.asked, scored.weights


def _scored(load: Load, resources: Weights) -> Scored:
    """An extended resource that the pod doesn't ask for is left out."""
    asked = dict(load.cls.asks.scored)
    rows, amounts, weights = [], [], []
    for name, weight in resources:
        for row in load.rows_of((name,)).tolist():
            scored_as = SCORED_AS.get(row, row)
            amount = asked.get(scored_as, 0)
            if amount or row in NATIVE:
                rows.append(scored_as)
                amounts.append(amount)
                weights.append(weight)
    each = np.newaxis, np.newaxis
    return Scored(
        columns.rows(rows),
        columns.amounts_of(amounts)[:, *each],
        columns.amounts_of(weights)[:, *each],
    )


def _averaged(scores: Amounts, capacity: Amounts, weights: Amounts) -> Amounts:
    """Over the resources that each node has any of."""
    there = weights * (capacity > 0)
    return np.add.reduce(scores * there) // np.maximum(np.add.reduce(there), 1)


def _evenness(load: Load, rows: Rows) -> Amounts:
    """100 where all resources are used to the same fraction, less the further they are apart."""
    capacity = load.capacity(rows)
    has = capacity > 0
    used = load.used(rows, load.depth + 1) / np.maximum(capacity, 1)
    np.minimum(used, 1.0, out=used)
    used *= has
    count = has.sum(axis=0)
    if len(rows) == 2:
        deviation = np.abs((used[0] - used[1]) / 2)
    else:
        mean = used.sum(axis=0) / np.maximum(count, 1)
        apart = ((used - mean) ** 2 * has).sum(axis=0)
        deviation = np.sqrt(apart / np.maximum(count, 1))
    return columns.truncated((1 - deviation * (count > 1)) * MOST)
