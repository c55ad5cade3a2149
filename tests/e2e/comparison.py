"""One question to kube-scheduler, put to Tutti's rules too: what Tutti would have answered otherwise."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from tests.e2e.disks import Disks
from tests.e2e.judge import Question, configuration
from tutti.api.core_v1 import Node, Pod
from tutti.core.decide import plan
from tutti.core.groups import Batch, Leaf
from tutti.core.plan import Placed, Plan
from tutti.core.pods import PodClass
from tutti.core.profile import Profile
from tutti.core.reasons import tally
from tutti.core.trial import Trial
from tutti.engine.configuration import read
from tutti.engine.encode import Cluster

TERMINAL: Final = ("Succeeded", "Failed")
SCORES: Final = ("node_scores", "load_scores", "relation_scores")
FILTERS: Final = (
    "filters",
    "disk_filters",
    "volume_filters",
    "relation_filters",
    "late_filters",
)


def profiles() -> Mapping[str, Profile]:
    """As Tutti reads them from the file that kube-scheduler was given."""
    document = configuration({})
    del document["leaderElection"], document["clientConnection"]
    return read(document).profiles


PROFILES: Final = profiles()


@dataclass(frozen=True)
class Case:
    """One question, with the cluster it is about."""

    nodes: Sequence[Node]
    running: Sequence[Pod]
    question: Question
    disks: Disks

    @property
    def name(self) -> str:
        return self.question.pod.metadata.name

    @property
    def profile(self) -> Profile:
        return PROFILES[self.question.pod.spec.scheduler_name]

    @cached_property
    def cluster(self) -> Cluster:
        cluster = Cluster()
        for node in self.nodes:
            cluster.node_seen(node)
        self.disks.show(cluster)
        occupying = [pod for pod in self.running if pod.status.phase not in TERMINAL]
        for pod in (self.question.pod, *occupying):
            cluster.volumes.mounted(pod)
        for pod in (self.question.pod, *occupying):
            cluster.class_of(pod)  # any of them may ask what tells the others apart
        for pod in occupying:
            cluster.hold(pod.metadata.uid, cluster.class_of(pod), pod.spec.node_name)
        return cluster

    @property
    def cls(self) -> PodClass:
        return self.cluster.class_of(self.question.pod)

    def trial(self, profile: Profile) -> Trial:
        return Trial(self.cluster.snapshot(), profile)

    def planned(self, profile: Profile) -> Plan:
        lone = Leaf("lone", (Batch(self.cls, ("pod",)),), quorum=1)
        return plan(self.trial(profile), lone)


def differences(case: Case, profile: Profile) -> Iterator[str]:
    yield from differences_in_nodes(case, profile)
    yield from differences_in_scores(case, profile)
    yield from differences_in_choice(case, profile)


def differences_in_nodes(case: Case, profile: Profile) -> Iterator[str]:
    """Which nodes pass; or where none does, the words."""
    answer = case.question.answer
    trial = case.trial(profile)
    names = trial.snapshot.nodes.names
    passing = {names[row] for row in np.flatnonzero(trial.ranking(case.cls).passing(case.cls))}
    if passing != answer.passing:
        yield f"pass: {sorted(passing)}, should: {sorted(answer.passing)}"
    refusal = "" if passing else tally(trial.snapshot, trial.used, profile, case.cls).sentence()
    if refusal != answer.refusal:
        yield f"says: {refusal}, should: {answer.refusal}"


def differences_in_scores(case: Case, profile: Profile) -> Iterator[str]:
    """Score by score. What is the same for all nodes that pass decides nothing, and isn't compared."""
    answer = case.question.answer
    if len(answer.totals) < 2:
        return
    for plugin in sorted({*plugins(profile), *answer.scores}):
        theirs = answer.scores.get(plugin, dict.fromkeys(answer.totals, 0))
        mine = scores(case, only(plugin, profile))
        if above_the_least(mine) != above_the_least(theirs):
            yield f"{plugin}: {mine}, should be {theirs}"


def differences_in_choice(case: Case, profile: Profile) -> Iterator[str]:
    """The node that a plan takes is one of those that are worth most."""
    answer = case.question.answer
    most = max(answer.totals.values(), default=0)
    best = {node for node, total in answer.totals.items() if total == most} or answer.passing
    match case.planned(profile):
        case Placed(bindings=((_, node),)):
            if node not in best:
                yield f"takes {node}, should take one of {sorted(best)}"
        case refusal:
            if best:
                yield f"refuses, should take one of {sorted(best)}: {refusal}"


def plugins(profile: Profile) -> set[str]:
    return {score.plugin for kind in SCORES for score in getattr(profile, kind)}


def only(plugin: str, profile: Profile) -> Profile:
    """The profile with no other score."""
    left = {
        kind: tuple(score for score in getattr(profile, kind) if score.plugin == plugin)
        for kind in SCORES
    }
    return replace(profile, name=plugin, **left)


def scores(case: Case, profile: Profile) -> dict[str, int]:
    """What the nodes that pass are worth."""
    trial = case.trial(profile)
    ranking = trial.ranking(case.cls)
    passing = ranking.passing(case.cls)
    if not passing.any():
        return {}
    totals = ranking.totals(case.cls, passing)
    return {trial.snapshot.nodes.names[row]: int(totals[row]) for row in np.flatnonzero(passing)}


def above_the_least(scores: Mapping[str, int]) -> dict[str, int]:
    least = min(scores.values(), default=0)
    return {name: score - least for name, score in scores.items()}
