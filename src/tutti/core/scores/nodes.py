"""Scores that go by the node alone: preferred affinity, preferred taints, images at hand."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts
from tutti.core.filters.labels import meets_all
from tutti.core.filters.taints import is_tolerated
from tutti.core.pods import PodClass, Preference
from tutti.core.snapshot import Nodes

SMALLEST_IMAGE: Final = 23 << 20
LARGEST_IMAGE: Final = 1000 << 20


@dataclass(frozen=True, slots=True)
class PreferredAffinity:
    """The weights of the preferred terms that each node meets, added up: the pod's, and a profile's."""

    added: tuple[Preference, ...] = ()

    def __call__(self, nodes: Nodes, cls: PodClass) -> Amounts | None:
        preferences = self.added + cls.asks.preferred
        if not preferences:
            return None
        worth = columns.amounts(len(nodes))
        for preference in preferences:
            worth += preference.weight * meets_all(nodes, preference.term)
        return worth


def images_at_hand(nodes: Nodes, cls: PodClass) -> Amounts | None:
    """How much of the pod's images each node has, images that few nodes have counting less."""
    present = int(np.count_nonzero(nodes.present))
    sizes = columns.amounts(len(nodes))
    for image in cls.asks.images:
        there = nodes.images.get(image, {})
        for row, size in there.items():
            sizes[row] += int(size * (len(there) / present))
    if not sizes.any():
        return None
    most = LARGEST_IMAGE * len(cls.asks.images)
    return 100 * (np.clip(sizes, SMALLEST_IMAGE, most) - SMALLEST_IMAGE) // (most - SMALLEST_IMAGE)


def unwelcome_taints(nodes: Nodes, cls: PodClass) -> Amounts | None:
    """How many PreferNoSchedule taints of each node the pod doesn't tolerate."""
    tolerations = [t for t in cls.asks.tolerations if t.effect in ("", "PreferNoSchedule")]
    counts = [
        sum(t.effect == "PreferNoSchedule" and not is_tolerated(t, tolerations) for t in taints)
        for taints in nodes.taint_sets
    ]
    return columns.amounts_of(counts)[nodes.taints] if any(counts) else None
