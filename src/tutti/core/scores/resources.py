"""Scores by what is free: NodeResourcesFit's least allocated, and balanced allocation.

Whole-number arithmetic as kube-scheduler has it, rounding included; each answers 0 to 100.
"""

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts, Fractions
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


def balanced_allocation(load: Load) -> Amounts | None:
    """How much more even (over 75) or uneven (under it) the node's use would become.

    None for a pod that asks for neither cpu nor memory: it is scored by other rules alone.
    """
    requests = {row: load.cls.held.get(row, 0) for row in (CPU, MEMORY)}
    if not any(requests.values()):
        return None
    before = _evenness(load, dict.fromkeys(requests, 0))
    after = _evenness(load, requests)
    return MOST // 2 + (MOST // 2 + after - before) // 2


def _evenness(load: Load, requests: dict[int, int]) -> Amounts:
    """100 where all resources are used to the same fraction, 50 where they are furthest apart."""
    cpu, memory = (_fraction(load, row, request) for row, request in requests.items())
    both = (load.capacity(CPU) > 0) & (load.capacity(MEMORY) > 0)
    deviation = np.where(both, np.abs((cpu - memory) / 2), 0.0)
    return columns.truncated((1 - deviation) * MOST)


def _fraction(load: Load, row: int, request: int) -> Fractions:
    return np.minimum(columns.fractions(load.used(row) + request, load.capacity(row)), 1.0)
