"""What Tutti answers for one pod to place, and what it would answer with a rule left out."""

from dataclasses import replace

from tutti.core.pods import PodClass
from tutti.core.profile import DEFAULT, Profile
from tutti.core.reasons import tally
from tutti.core.trial import Trial
from tutti.engine.encode import Cluster


def answer(columns: tuple[Cluster, PodClass], profile: Profile = DEFAULT) -> list[str]:
    """The nodes that are worth most, or the sentence of a refusal."""
    cluster, cls = columns
    trial = Trial(cluster.snapshot(), profile)
    ranking = trial.ranking(cls)
    passing = ranking.passing(cls)
    if not passing.any():
        return [tally(trial.snapshot, trial.used, profile, cls).sentence()]
    totals = ranking.totals(cls, passing)
    best = passing & (totals == totals[passing].max())
    return [trial.snapshot.nodes.names[row] for row in best.nonzero()[0]]


def mutants() -> dict[str, Profile]:
    """The default profile with one rule left out, for each rule."""
    without = {}
    for kind in ("filters", "relation_filters", "node_scores", "load_scores", "relation_scores"):
        rules = getattr(DEFAULT, kind)
        for index, rule in enumerate(rules):
            left = (*rules[:index], *rules[index + 1 :])
            name = f"{kind}: {getattr(rule, 'reason', rule.plugin)}"
            without[name] = replace(DEFAULT, name=name, **{kind: left})
    return without
