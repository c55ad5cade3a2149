"""Affinity between pods: whom a pod must be near, and whom it must not."""

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts, Mask
from tutti.core.pods import PodClass
from tutti.core.relations import Pull
from tutti.core.snapshot import Snapshot


def is_near_its_kind(snapshot: Snapshot, used: Amounts, cls: PodClass) -> Mask:
    """The nodes in whose domains, for every key, a pod runs that all required terms speak of.

    The first of pods that want to be together finds none, and may go wherever all keys are carried.
    """
    near = columns.mask(used.shape[-1], True)
    attraction = cls.asks.relations.attraction
    if attraction is None:
        return near
    found = False
    carried = near.copy()
    for key in attraction.keys:
        domains = snapshot.domains(key)
        counts = domains.sums(used[attraction.row])
        near &= (counts > 0)[domains.place]
        carried &= domains.carried
        found = found or bool(np.any(counts))
    return carried if attraction.includes_itself and not found else near


def keeps_away(snapshot: Snapshot, used: Amounts, cls: PodClass) -> Mask:
    """The nodes whose domains hold no pod that the class is averse to."""
    return _without(snapshot, used, cls.asks.relations.repulsion)


def is_not_kept_away(snapshot: Snapshot, used: Amounts, cls: PodClass) -> Mask:
    """The nodes whose domains hold no pod that is averse to the class."""
    return _without(snapshot, used, cls.repelled_by)


def _without(snapshot: Snapshot, used: Amounts, pulls: tuple[Pull, ...] | list[Pull]) -> Mask:
    free = columns.mask(used.shape[-1], True)
    for pull in pulls:
        here = used[pull.row]
        if np.any(here):
            domains = snapshot.domains(pull.key)
            free &= (domains.sums(here) == 0)[domains.place]
    return free
