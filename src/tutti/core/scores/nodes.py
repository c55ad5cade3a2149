"""Scores that go by the node alone: preferred node affinity and preferred taints."""

from tutti.core import columns
from tutti.core.columns import Amounts
from tutti.core.filters.labels import meets_all
from tutti.core.filters.taints import is_tolerated
from tutti.core.pods import PodClass
from tutti.core.snapshot import Nodes


def preferred_affinity(nodes: Nodes, cls: PodClass) -> Amounts | None:
    """The weights of the preferred terms that each node meets, added up."""
    if not cls.asks.preferred:
        return None
    worth = columns.amounts(len(nodes))
    for preference in cls.asks.preferred:
        worth += preference.weight * meets_all(nodes, preference.term)
    return worth


def unwelcome_taints(nodes: Nodes, cls: PodClass) -> Amounts | None:
    """How many PreferNoSchedule taints of each node the pod doesn't tolerate."""
    tolerations = [t for t in cls.asks.tolerations if t.effect in ("", "PreferNoSchedule")]
    counts = [
        sum(t.effect == "PreferNoSchedule" and not is_tolerated(t, tolerations) for t in taints)
        for taints in nodes.taint_sets
    ]
    return columns.amounts_of(counts)[nodes.taints] if any(counts) else None
