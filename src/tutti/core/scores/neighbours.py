"""Preferred affinity between pods, in both directions."""

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts, Mask
from tutti.core.pods import PodClass
from tutti.core.scores.resources import MOST
from tutti.core.snapshot import Snapshot

REQUIRED_WEIGHT = 1
"""What required affinity of pods that run already is worth, by default."""


def good_company(snapshot: Snapshot, used: Amounts, cls: PodClass, passing: Mask) -> Amounts | None:
    """The weights of all terms that speak of pods in each node's domains, from worst to best."""
    worth = columns.amounts(len(passing))
    for pull in (*cls.asks.relations.preferences, *cls.pulled_by):
        here = used[pull.row]
        if np.any(here):
            domains = snapshot.domains(pull.key)
            weight = pull.weight or REQUIRED_WEIGHT
            worth += weight * domains.sums(here)[domains.place]
    among = worth[passing]
    least, most = int(among.min()), int(among.max())
    if most == least:
        return None
    return columns.truncated(MOST * ((worth - least) / (most - least)))
