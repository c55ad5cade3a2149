"""Preferred affinity between pods, in both directions."""

from tutti.core import columns
from tutti.core.columns import Amounts, Mask
from tutti.core.pods import PodClass
from tutti.core.scores.resources import MOST
from tutti.core.snapshot import Snapshot

REQUIRED_WEIGHT = 1
"""What required affinity of pods that run already is worth, by default."""


def good_company(snapshot: Snapshot, used: Amounts, cls: PodClass, passing: Mask) -> Amounts | None:
    """The weights of all terms that speak of pods in each node's domains, from worst to best."""
    by_key: dict[str, Amounts] = {}
    for pull in (*cls.asks.relations.preferences, *cls.pulled_by):
        weighed = used[pull.row] * (pull.weight or REQUIRED_WEIGHT)
        by_key[pull.key] = by_key[pull.key] + weighed if pull.key in by_key else weighed
    worth = columns.amounts(len(passing))
    for key, weighed in by_key.items():
        domains = snapshot.domains(key)
        worth += domains.sums(weighed)[domains.place]
    among = worth[passing]
    least, most = int(among.min()), int(among.max())
    if most == least:
        return None
    return columns.truncated(MOST * ((worth - least) / (most - least)))
