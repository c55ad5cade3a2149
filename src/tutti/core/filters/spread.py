"""Topology spread: no domain may run ahead of the emptiest one by more than the skew."""

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts, Mask
from tutti.core.filters.labels import matches_selector
from tutti.core.filters.taints import tolerates_taints
from tutti.core.pods import PodClass
from tutti.core.relations import Spread
from tutti.core.snapshot import Snapshot


def carries_keys(snapshot: Snapshot, used: Amounts, cls: PodClass) -> Mask:
    """The nodes that carry the keys of all required constraints they are asked about.

    Constraints are asked in turn: a node that one of them keeps out is not asked for the next key.
    """
    asked = columns.mask(used.shape[-1], True)
    carried = asked.copy()
    constraints = required(cls)
    for turn, spread in enumerate(constraints):
        if turn:
            asked &= _keeps_skew(snapshot, used, cls, constraints[turn - 1])
        carried &= snapshot.domains(spread.key).carried | ~asked
    return carried


def keeps_skew(snapshot: Snapshot, used: Amounts, cls: PodClass) -> Mask:
    """The nodes whose domains may take one more pod, for every required constraint."""
    kept = columns.mask(used.shape[-1], True)
    for spread in required(cls):
        kept &= _keeps_skew(snapshot, used, cls, spread)
    return kept


def required(cls: PodClass) -> list[Spread]:
    return [spread for spread in cls.asks.relations.spread if spread.required]


def carries(snapshot: Snapshot, constraints: list[Spread]) -> Mask:
    carried = columns.mask(len(snapshot.nodes), True)
    for spread in constraints:
        carried &= snapshot.domains(spread.key).place > 0
    return carried


def eligible(snapshot: Snapshot, cls: PodClass, spread: Spread) -> Mask:
    """The nodes that a constraint looks at: all keys carried, and its policies met."""
    known = snapshot.memo.eligible
    key = spread, cls.shape
    if key not in known:
        alike = [other for other in cls.asks.relations.spread if other.required is spread.required]
        found = snapshot.nodes.present & carries(snapshot, alike)
        if spread.honors_affinity:
            found &= matches_selector(snapshot.nodes, cls)
        if spread.honors_taints:
            found &= tolerates_taints(snapshot.nodes, cls)
        known[key] = columns.read_only(found)
    return known[key]


def _keeps_skew(snapshot: Snapshot, used: Amounts, cls: PodClass, spread: Spread) -> Mask:
    looked_at = eligible(snapshot, cls, spread)
    domains = snapshot.domains(spread.key)
    counts = domains.sums(used[spread.row] * looked_at)
    there = domains.among(looked_at)
    fewest = 0
    if np.count_nonzero(there) >= max(1, spread.min_domains):
        fewest = int(counts[there].min())
    within: Mask = counts + spread.counts_itself - fewest <= spread.max_skew
    return within[domains.place]
