"""Ranking: what every node is worth to the next pod of one class, kept while a trial goes on.

A key per node holds the weighted score and, below it, the node's place in the tie order, so that
the largest key is the node that a pod-by-pod scheduler would take. Nodes that changed are rescored
before the next look; all are, when the scale of a score changed (the node that was worth most of
all that pass has left or joined).
"""

from typing import TYPE_CHECKING

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts, Mask, Rows
from tutti.core.filters.room import EVERY_NODE, Selection, has_room, room
from tutti.core.pods import PodClass
from tutti.core.scores import NodeScore
from tutti.core.scores.load import Load
from tutti.core.snapshot import Snapshot

if TYPE_CHECKING:
    from tutti.core.profile import Profile
    from tutti.core.trial import Trial


class Ranking:
    """`keys` is 0 where a pod can't go. Read it through `Trial.ranking`, which refreshes it."""

    def __init__(self, trial: "Trial", cls: PodClass) -> None:
        self._trial = trial
        self.cls = cls
        self.allowed = allowed(trial.snapshot, trial.profile, cls)
        self._scaled = _differing(trial.snapshot, trial.profile, cls)
        self._most: list[int] = []
        self.order = trial.order
        self._span = len(trial.order)
        self._seen = len(trial.touched)
        self.open: Mask = self.allowed & has_room(trial.snapshot, trial.used, cls)
        self.keys: Amounts = columns.amounts(self._span)
        self._rescore(EVERY_NODE)

    def refresh(self) -> None:
        """Look again at the nodes that changed since the last look."""
        touched = self._trial.touched
        if self._seen == len(touched):
            return
        news = touched[self._seen :]
        self._seen = len(touched)
        nodes = news[0] if len(news) == 1 else np.unique(np.concatenate(news))
        trial = self._trial
        self.open[nodes] = self.allowed[nodes] & has_room(
            trial.snapshot, trial.used, self.cls, nodes
        )
        self._rescore(nodes)

    def scores(self, nodes: Rows, depth: int, added: int = 0) -> Amounts:
        """Weighted scores `[depth, node]` with `added` and more pods of the class there already."""
        steps = np.arange(added, added + depth)[:, np.newaxis]
        return np.broadcast_to(
            self._by_load(nodes, steps) + self._by_node(nodes), (depth, len(nodes))
        )

    def room(self, nodes: Selection = EVERY_NODE) -> Amounts:
        """How many more pods of the class each node takes."""
        trial = self._trial
        return room(trial.snapshot, trial.used, self.cls, nodes) * self.allowed[nodes]

    def holders_of_the_scale(self) -> list[Mask]:
        """For each scaled score, the nodes that set its scale: when all are full, it changes."""
        return [
            self.open & (worth == most)
            for (_, worth), most in zip(self._scaled, self._most, strict=True)
        ]

    def _rescore(self, nodes: Selection) -> None:
        if self._scaled:
            most = [int(np.max(worth, where=self.open, initial=0)) for _, worth in self._scaled]
            if most != self._most:
                self._most = most
                nodes = EVERY_NODE
        scores = self._by_load(nodes, columns.amounts(1, 1))[0] + self._by_node(nodes)
        self.keys[nodes] = self.open[nodes] * ((scores + 1) * self._span + self.order[nodes])

    def _by_load(self, nodes: Selection, added: Amounts) -> Amounts:
        trial = self._trial
        load = Load(trial.snapshot, trial.used, self.cls, nodes, added)
        total = columns.amounts(len(added), self.order[nodes].size)
        for rule in trial.profile.load_scores:
            score = rule.score(load)
            if score is not None:
                total += rule.weight * score
        return total

    def _by_node(self, nodes: Selection) -> Amounts | int:
        """The scores by node; one that is the same for all is left out, it decides nothing."""
        total: Amounts | int = 0
        for (rule, worth), most in zip(self._scaled, self._most, strict=True):
            total = total + rule.weight * rule.scaled(worth[nodes], most)
        return total


def allowed(snapshot: Snapshot, profile: "Profile", cls: PodClass) -> Mask:
    """The nodes that pass every rule that goes by the node alone."""
    known = snapshot.memo.allowed
    if cls.id not in known:
        passing = snapshot.nodes.present.copy()
        for rule in profile.filters:
            passing &= rule.passes(snapshot.nodes, cls)
        known[cls.id] = columns.read_only(passing)
    return known[cls.id]


def _differing(
    snapshot: Snapshot, profile: "Profile", cls: PodClass
) -> list[tuple[NodeScore, Amounts]]:
    """The scores by node in which nodes differ for this class."""
    known = snapshot.memo.worth
    differing = []
    for rule in profile.node_scores:
        key = (rule.plugin, cls.id)
        if key not in known:
            known[key] = rule.worth(snapshot.nodes, cls)
        worth = known[key]
        if worth is not None:
            differing.append((rule, worth))
    return differing
