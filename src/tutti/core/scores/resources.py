"""Scores by what is free: NodeResourcesFit's least allocated, and balanced allocation.

Whole-number arithmetic as kube-scheduler has it, rounding included; each answers 0 to 100.
"""

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts
from tutti.core.filters.room import limits
from tutti.core.resources import CPU, MEMORY, SCORED_CPU, SCORED_MEMORY
from tutti.core.scores.load import Load

MOST = 100
SCORED = ((SCORED_CPU, 1), (SCORED_MEMORY, 1))
"""The resources that NodeResourcesFit weighs by default, with their weights."""


def least_allocated(load: Load) -> Amounts:
    """What would be left over, in percent, averaged over cpu and memory."""
    total: Amounts | int = 0
    weights: Amounts | int = 0
    for row, weight in SCORED:
        capacity = load.capacity(row)
        left = capacity - load.used(row) - load.cls.scored.get(row, 0)
        np.maximum(left, 0, out=left)
        total = total + left * MOST // np.maximum(capacity, 1) * weight
        weights = weights + weight * (capacity > 0)
    return total // np.maximum(weights, 1)


def tightness(load: Load) -> Amounts:
    """How full the node would be in what the class asks for, in percent: for packing."""
    total: Amounts | int = 0
    for row, amount in limits(load.cls):
        capacity = load.capacity(row)
        used = np.minimum(load.used(row) + amount, capacity)
        total = total + used * MOST // np.maximum(capacity, 1)
    return total + columns.amounts(load.depth, 1)


def balanced_allocation(load: Load) -> Amounts | None:
    """How much more even (over 75) or uneven (under it) the node's use would become.

    None for a pod that asks for neither cpu nor memory: it is scored by other rules alone.
    """
    if not (load.cls.held.get(CPU) or load.cls.held.get(MEMORY)):
        return None
    evenness = _evenness(load, load.depth + 1)
    return MOST // 2 + (MOST // 2 + evenness[1:] - evenness[:-1]) // 2


def _evenness(load: Load, depth: int) -> Amounts:
    """100 where cpu and memory are used to the same fraction, 50 where they are furthest apart.

    With one resource there is nothing to compare: 100.
    """
    cpu, memory = load.capacity(CPU), load.capacity(MEMORY)
    of_cpu = np.minimum(columns.fractions(load.used(CPU, depth), cpu), 1.0)
    of_memory = np.minimum(columns.fractions(load.used(MEMORY, depth), memory), 1.0)
    deviation = np.abs((of_cpu - of_memory) / 2) * ((cpu > 0) & (memory > 0))
    return columns.truncated((1 - deviation) * MOST)
