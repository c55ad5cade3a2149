"""Ranking: what every node is worth to the next pod of one shape, kept while a trial goes on.

A key per node holds the weighted score and, below it, the node's place in the tie order, so that
the largest key is the node that a pod-by-pod scheduler would take. Nodes that changed are rescored
before the next look; all are, when the scale of a score changed (the node that was worth most of
all that pass has left or joined). The front-runners' next keys are worked out some pods ahead, so
that many small gangs in a row cost little more than finding the largest key.
"""

from typing import TYPE_CHECKING, Final

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts, Mask, Rows
from tutti.core.filters.room import EVERY_NODE, Selection, has_room, room
from tutti.core.pods import PodClass
from tutti.core.profile import Profile
from tutti.core.scores import NodeScore
from tutti.core.scores.load import Load
from tutti.core.snapshot import Snapshot

if TYPE_CHECKING:
    from tutti.core.trial import Trial

PODS_AHEAD: Final = 6
FRONT_RUNNERS: Final = 128


class Ranking:
    """`keys` is 0 where a pod can't go. Read it through `Trial.ranking`, which refreshes it.

    One serves all classes of a shape: they differ in what they ask about other pods, if in anything.
    """

    def __init__(self, trial: "Trial", profile: Profile, cls: PodClass) -> None:
        self._trial = trial
        self._profile = profile
        self.cls = cls
        self.order = trial.order
        self.allowed = allowed(trial.snapshot, profile, cls)
        self.open: Mask = self.allowed & has_room(trial.snapshot, trial.used, cls)
        self.keys: Amounts = columns.amounts(len(trial.order))
        self.loads: Amounts = columns.amounts(len(trial.order))
        self._span = len(trial.order)
        self._seen = len(trial.touched)
        differing = _differing(trial.snapshot, profile, cls)
        self._scaled = [(rule, worth) for rule, worth in differing if rule.is_scaled]
        self._fixed: Amounts = columns.amounts(len(trial.order))
        for rule, worth in differing:
            self._fixed += 0 if rule.is_scaled else rule.weight * worth
        self._most: list[int] = []
        self._ahead: dict[int, list[int]] = {}
        self._scale_has_moved()
        self._rescore_all()

    def refresh(self) -> None:
        """Look again at the nodes that changed since the last look."""
        touched = self._trial.touched
        if self._seen == len(touched):
            return
        news = touched[self._seen :]
        self._seen = len(touched)
        nodes = _distinct(news)
        if len(nodes) <= FRONT_RUNNERS:
            self._look_ahead(nodes)
        else:
            trial = self._trial
            fits = has_room(trial.snapshot, trial.used, self.cls, nodes)
            self.open[nodes] = self.allowed[nodes] & fits
            if self._scale_has_moved():
                self._rescore_all()
            else:
                self._rescore(nodes)

    def draw(self, cls: PodClass, count: int) -> list[int]:
        """The best nodes for the next few pods, one by one, and taken in the trial.

        It stops early where the keys of a front-runner aren't known far enough ahead, or where the
        scale of a score may have changed: look again, and go on.
        """
        drawn: list[int] = []
        keys, ahead = self.keys, self._ahead
        while len(drawn) < count:
            row = int(keys.argmax())
            if not keys[row]:
                break
            upcoming = ahead.get(row)
            if not upcoming:
                if drawn:
                    break
                self._look_ahead(largest(keys, FRONT_RUNNERS))
                upcoming = ahead[row]
            drawn.append(row)
            if not self._step(row, upcoming.pop()) and self._scaled:
                break
        self._take(cls, drawn)
        return drawn

    def scores(self, nodes: Rows, depth: int, added: int = 0) -> Amounts:
        """Weighted scores `[depth, node]` with `added` and more pods of the class there already."""
        return self._by_load(nodes, added, depth) + self._by_node(nodes)

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

    def draw_one(self, cls: PodClass, within: Mask) -> int | None:
        """The best node of those in a mask, all rules asked anew; taken in the trial."""
        passing = self.passing(cls) & within
        if not passing.any():
            return None
        keys = (self.totals(cls, passing) * self._span + self.order + 1) * passing
        row = int(keys.argmax())
        if not self._ahead.get(row):
            self._look_ahead(largest(keys, FRONT_RUNNERS))
        self._trial.take(cls, columns.rows((row,)))
        stays_open = self._step(row, self._ahead[row].pop())
        if stays_open or not self._scaled:
            self.open[row] = stays_open
            self._seen = len(self._trial.touched)
        return row

    def _step(self, row: int, upcoming: int) -> bool:
        """Move a node to its next key; whether it has one. Other scores than its load's stay."""
        if upcoming:
            self.loads[row] += (upcoming - int(self.keys[row])) // self._span
        self.keys[row] = upcoming
        return upcoming > 0

    def passing(self, cls: PodClass) -> Mask:
        """The nodes that pass every rule now, those about other pods too."""
        trial = self._trial
        passing = self.open.copy()
        profile = self._profile
        rules = profile.disk_filters + profile.relation_filters
        for rule in rules if cls.heeds_others else ():
            passing &= rule.passes(trial.snapshot, trial.used, cls)
        return passing

    def totals(self, cls: PodClass, passing: Mask) -> Amounts:
        """Weighted scores over the nodes that pass, which set the scale of each."""
        trial = self._trial
        totals = self.loads.copy()
        for score, worth in self._scaled:
            most = int(np.max(worth, where=passing, initial=0))
            totals += score.weight * score.scaled(worth, most)
        totals += self._fixed
        for relation in self._profile.relation_scores if cls.heeds_others else ():
            company = relation.score(trial.snapshot, trial.used, cls, passing)
            if company is not None:
                totals += relation.weight * company
        return totals

    def _take(self, cls: PodClass, drawn: list[int]) -> None:
        """Their keys are known already, unless closing one of them moved a scale."""
        if not drawn:
            return
        counts: dict[int, int] = {}
        for row in drawn:
            counts[row] = counts.get(row, 0) + 1
        nodes = columns.rows(counts)
        self._trial.take(cls, nodes, columns.amounts_of(counts.values()))
        still_open = self.keys[nodes] > 0
        if not self._scaled or still_open.all():
            self.open[nodes] = still_open
            self._seen = len(self._trial.touched)

    def _look_ahead(self, nodes: Rows) -> None:
        """Rescore a few nodes, for the next pod and for those after it."""
        left = self.room(nodes)
        opened_or_closed = (left > 0) != self.open[nodes]
        self.open[nodes] = left > 0
        if opened_or_closed.any() and self._scale_has_moved():
            self._rescore_all()
        steps = np.arange(PODS_AHEAD + 1)[:, np.newaxis]
        loads = self._by_load(nodes, 0, PODS_AHEAD + 1)
        keys = self._keys(loads + self._by_node(nodes), nodes) * (steps < left)
        self.loads[nodes] = loads[0]
        self.keys[nodes] = keys[0]
        self._ahead.update(zip(nodes.tolist(), keys[:0:-1].T.tolist(), strict=True))

    def _rescore_all(self) -> None:
        self._rescore(EVERY_NODE)

    def _rescore(self, nodes: Selection) -> None:
        self._ahead.clear()
        self.loads[nodes] = loads = self._by_load(nodes, 0, 1)[0]
        self.keys[nodes] = self._keys(loads + self._by_node(nodes), nodes) * self.open[nodes]

    def _keys(self, scores: Amounts, nodes: Selection) -> Amounts:
        return (scores + 1) * self._span + self.order[nodes]

    def _scale_has_moved(self) -> bool:
        """Whether the most that a node is worth has changed, which is then noted."""
        if not self._scaled:
            return False
        most = [int(np.max(worth, where=self.open, initial=0)) for _, worth in self._scaled]
        moved, self._most = most != self._most, most
        return moved

    def _by_load(self, nodes: Selection, added: int, depth: int) -> Amounts:
        trial = self._trial
        load = Load(trial.snapshot, trial.used, self.cls, nodes, added, depth)
        total = columns.amounts(depth, self.order[nodes].size)
        for rule in self._profile.load_scores:
            score = rule.score(load)
            if score is not None:
                total += rule.weight * score
        return total

    def _by_node(self, nodes: Selection) -> Amounts:
        """The scores by node; one that is the same for all is left out, it decides nothing."""
        total = self._fixed[nodes]
        for (rule, worth), most in zip(self._scaled, self._most, strict=True):
            total = total + rule.weight * rule.scaled(worth[nodes], most)
        return total


def _distinct(news: list[Rows]) -> Rows:
    """The nodes that some of these name; for a few, quicker than NumPy gets going."""
    if len(news) == 1:
        return news[0]
    if sum(map(len, news)) <= FRONT_RUNNERS:
        return columns.rows(sorted({row for nodes in news for row in nodes.tolist()}))
    return np.unique(np.concatenate(news))


def largest(keys: Amounts, count: int) -> Rows:
    """The nodes with the largest keys, in no order, without those whose key is 0."""
    floor = np.partition(keys, len(keys) - count)[len(keys) - count] if count < len(keys) else 0
    return np.flatnonzero(keys >= max(floor, 1))


def allowed(snapshot: Snapshot, profile: Profile, cls: PodClass) -> Mask:
    """The nodes that pass every rule that goes by the node alone."""
    known = snapshot.memo.allowed
    rules = profile.filters + profile.volume_filters + profile.late_filters
    key = rules, cls.shape
    if key not in known:
        passing = snapshot.nodes.present.copy()
        for rule in rules:
            passing &= rule.passes(snapshot.nodes, cls)
        known[key] = columns.read_only(passing)
    return known[key]


def _differing(
    snapshot: Snapshot, profile: Profile, cls: PodClass
) -> list[tuple[NodeScore, Amounts]]:
    """The scores by node in which nodes differ for this class."""
    known = snapshot.memo.worth
    differing = []
    for rule in profile.node_scores:
        key = rule, cls.shape
        if key not in known:
            known[key] = rule.worth(snapshot.nodes, cls)
        worth = known[key]
        if worth is not None:
            differing.append((rule, worth))
    return differing
