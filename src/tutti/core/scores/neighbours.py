"""Preferred affinity between pods, in both directions."""

from dataclasses import dataclass

from tutti.core import columns
from tutti.core.columns import Amounts, Mask
from tutti.core.pods import PodClass
from tutti.core.scores.resources import MOST
from tutti.core.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class GoodCompany:
    """The weights of all terms that speak of pods in each node's domains, from worst to best.

    `required_weight` is what required affinity of pods that run already is worth. Their own
    preferences can be left out of account for pods that have none themselves.
    """

    required_weight: int = 1
    heeds_only_own: bool = False

    def __call__(
        self, snapshot: Snapshot, used: Amounts, cls: PodClass, passing: Mask
    ) -> Amounts | None:
        own = cls.asks.relations.preferences
        if self.heeds_only_own and not own:
            return None
        by_key: dict[str, Amounts] = {}
        for pull in (*own, *cls.pulled_by):
            weighed = used[pull.row] * (pull.weight or self.required_weight)
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
