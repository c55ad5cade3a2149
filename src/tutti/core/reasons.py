"""From nodes ruled out to the one sentence that a user reads."""

from dataclasses import dataclass

import numpy as np

from tutti.core.columns import Amounts, Mask
from tutti.core.filters import PORTS_TAKEN, TERMS_CONFLICT
from tutti.core.filters.labels import pinned_names
from tutti.core.filters.room import has_free_ports, why_insufficient
from tutti.core.pods import PodClass
from tutti.core.profile import Profile
from tutti.core.snapshot import Snapshot

NO_NODES = "no nodes available to schedule pods"


@dataclass(frozen=True, slots=True)
class Tally:
    """How many nodes were ruled out for which reason; a node may have several.

    `unresolvable` nodes couldn't take the pod even if others were evicted. `verdict` stands in the
    place of counts where a rule needs no look at the nodes.
    """

    nodes: int
    counts: tuple[tuple[str, int], ...]
    unresolvable: int
    verdict: str = ""

    def sentence(self) -> str:
        """As kube-scheduler prints it, sorted as text."""
        if not self.nodes:
            return NO_NODES
        sentence = f"0/{self.nodes} nodes are available:"
        reasons = self.verdict or ", ".join(sorted(f"{n} {why}" for why, n in self.counts))
        return f"{sentence} {reasons}." if reasons else sentence


def tally(snapshot: Snapshot, used: Amounts, profile: Profile, cls: PodClass) -> Tally:
    """Which rule kept the pod off each node: the first that did, as kube-scheduler asks them."""
    if pinned_names(cls) == ():
        return Tally(snapshot.node_count, (), snapshot.node_count, TERMS_CONFLICT)
    counts: dict[str, int] = {}
    left = snapshot.nodes.present
    for rule in profile.filters:
        kept = left & rule.passes(snapshot.nodes, cls)
        _count(counts, rule.reason, left & ~kept)
        left = kept
    unresolvable = snapshot.node_count - int(np.count_nonzero(left))
    if cls.asks.ports:
        kept = left & has_free_ports(snapshot, used, cls)
        _count(counts, PORTS_TAKEN, left & ~kept)
        left = kept
    short, too_small = _count_insufficient(counts, snapshot, used, cls, left)
    unresolvable += int(np.count_nonzero(too_small))
    left = left & ~short
    for relation in profile.relation_filters if cls.heeds_others else ():
        kept = left & relation.passes(snapshot, used, cls)
        _count(counts, relation.reason, left & ~kept)
        unresolvable += 0 if relation.resolvable else int(np.count_nonzero(left & ~kept))
        left = kept
    for rule in profile.late_filters:
        kept = left & rule.passes(snapshot.nodes, cls)
        _count(counts, rule.reason, left & ~kept)
        unresolvable += int(np.count_nonzero(left & ~kept))
        left = kept
    return Tally(snapshot.node_count, tuple(sorted(counts.items())), unresolvable)


def _count_insufficient(
    counts: dict[str, int], snapshot: Snapshot, used: Amounts, cls: PodClass, left: Mask
) -> tuple[Mask, Mask]:
    """Count every resource that is short; the nodes that are, and those too small when empty."""
    allocatable = snapshot.nodes.allocatable
    any_short, too_small = np.zeros_like(left), np.zeros_like(left)
    names = {row: name for name, row in snapshot.table.resources.items()}
    for row, amount in cls.limits():
        short = left & (allocatable[row] - used[row] < amount)
        _count(counts, why_insufficient(names[row]), short)
        any_short |= short
        if names[row] != "pods":
            too_small |= short & (allocatable[row] < amount)
    return any_short, too_small


def _count(counts: dict[str, int], reason: str, nodes: Mask) -> None:
    number = int(np.count_nonzero(nodes))
    if number:
        counts[reason] = counts.get(reason, 0) + number


def quorum_sentence(needs: int, fits: int, tally: Tally, proved: bool) -> str:
    """What a group's quorum needs, how much of it fits, and what keeps the next member out."""
    doubt = "" if proved else " (not every arrangement was tried)"
    return f"needs {needs}, {fits} fit{doubt}: {tally.sentence()}"


def extras_sentence(pending: int, fits: int, tally: Tally) -> str:
    return f"{fits} of {pending} members fit: {tally.sentence()}"
