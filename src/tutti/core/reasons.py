"""From nodes ruled out to the one sentence that a user reads."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tutti.core.columns import Amounts, Mask
from tutti.core.filters import PORTS_TAKEN, TERMS_CONFLICT, Filter, RelationFilter
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
    verdict = TERMS_CONFLICT if pinned_names(cls) == () else _verdict_on_volumes(profile, cls)
    if verdict:
        return Tally(snapshot.node_count, (), snapshot.node_count, verdict)
    count = _Count(snapshot, used, cls)
    count.fixed(profile.filters)
    if cls.asks.ports:
        kept = has_free_ports(snapshot, used, cls)
        count.rule_out(PORTS_TAKEN, ~kept, resolvable=True)
    count.room()
    count.moving(profile.disk_filters)
    count.fixed(profile.volume_filters)
    count.moving(profile.relation_filters)
    count.fixed(profile.late_filters)
    return Tally(snapshot.node_count, tuple(sorted(count.reasons.items())), count.unresolvable)


def _verdict_on_volumes(profile: Profile, cls: PodClass) -> str:
    """What is wrong with the pod's claims, if the profile asks."""
    asked = any(rule.plugin == "VolumeBinding" for rule in profile.volume_filters)
    return cls.asks.mounts.verdict if asked else ""


class _Count:
    """The nodes that are left, while one rule after the other is asked."""

    def __init__(self, snapshot: Snapshot, used: Amounts, cls: PodClass) -> None:
        self.reasons: dict[str, int] = {}
        self.unresolvable = 0
        self._snapshot = snapshot
        self._used = used
        self._cls = cls
        self._left = snapshot.nodes.present

    def fixed(self, rules: Iterable[Filter]) -> None:
        """Rules that go by the node alone: nobody who leaves changes that."""
        for rule in rules:
            passing = rule.passes(self._snapshot.nodes, self._cls)
            self.rule_out(rule.reason, ~passing, resolvable=False)

    def moving(self, rules: Iterable[RelationFilter]) -> None:
        for rule in rules if self._cls.heeds_others else ():
            passing = rule.passes(self._snapshot, self._used, self._cls)
            self.rule_out(rule.reason, ~passing, resolvable=rule.resolvable)

    def room(self) -> None:
        """Every resource that is short counts; a node too small when empty is so for good."""
        allocatable = self._snapshot.nodes.allocatable
        any_short, too_small = np.zeros_like(self._left), np.zeros_like(self._left)
        names = {row: name for name, row in self._snapshot.table.resources.items()}
        for row, amount in self._cls.limits():
            short = self._left & (allocatable[row] - self._used[row] < amount)
            self._note(why_insufficient(names[row]), short)
            any_short |= short
            if names[row] != "pods":
                too_small |= short & (allocatable[row] < amount)
        self.unresolvable += int(np.count_nonzero(too_small))
        self._left = self._left & ~any_short

    def rule_out(self, reason: str, nodes: Mask, *, resolvable: bool) -> None:
        out = self._left & nodes
        self._note(reason, out)
        self.unresolvable += 0 if resolvable else int(np.count_nonzero(out))
        self._left = self._left & ~out

    def _note(self, reason: str, nodes: Mask) -> None:
        number = int(np.count_nonzero(nodes))
        if number:
            self.reasons[reason] = self.reasons.get(reason, 0) + number


def quorum_sentence(needs: int, fits: int, tally: Tally, proved: bool) -> str:
    """What a group's quorum needs, how much of it fits, and what keeps the next member out."""
    doubt = "" if proved else " (not every arrangement was tried)"
    return f"needs {needs}, {fits} fit{doubt}: {tally.sentence()}"


def extras_sentence(pending: int, fits: int, tally: Tally) -> str:
    return f"{fits} of {pending} members fit: {tally.sentence()}"
