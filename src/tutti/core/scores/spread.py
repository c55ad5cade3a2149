"""Soft topology spread: domains with fewer of the pods are worth more."""

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts, Mask
from tutti.core.filters.spread import carries, eligible
from tutti.core.pods import PodClass
from tutti.core.relations import Spread
from tutti.core.scores.resources import MOST
from tutti.core.snapshot import Snapshot

HOSTNAME = "kubernetes.io/hostname"


def even_spread(snapshot: Snapshot, used: Amounts, cls: PodClass, passing: Mask) -> Amounts | None:
    """From the pods already in each node's domains; nodes without some key are worth nothing."""
    soft = [spread for spread in cls.asks.relations.spread if not spread.required]
    if not soft:
        return None
    scored = passing & carries(snapshot, soft)
    if not scored.any():
        return None
    crowd = columns.no_fractions(len(passing))
    for spread in soft:
        crowd += _crowding(snapshot, used, cls, spread, scored)
    rounded = columns.truncated(np.floor(crowd + 0.5))
    most, least = int(rounded[scored].max()), int(rounded[scored].min())
    if most == 0:
        return scored * MOST
    return MOST * (most + least - rounded) // most * scored


def _crowding(
    snapshot: Snapshot, used: Amounts, cls: PodClass, spread: Spread, scored: Mask
) -> columns.Fractions:
    """What one constraint counts, weighed by how many domains there are to choose from."""
    if spread.key == HOSTNAME:
        counts, size = used[spread.row], int(np.count_nonzero(scored))
    else:
        domains = snapshot.domains(spread.key)
        there = domains.among(scored)
        sums = domains.sums(used[spread.row] * eligible(snapshot, cls, spread))
        counts, size = (sums * there)[domains.place], int(np.count_nonzero(there))
    return counts * np.log(size + 2) + (spread.max_skew - 1)
