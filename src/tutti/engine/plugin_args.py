"""The arguments of plugins: how a profile's rules differ from the usual ones."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, Protocol

import msgspec

from tutti.api.core_v1 import NodeAffinity
from tutti.core.filters import Filter
from tutti.core.filters.labels import EnforcedAffinity, matches_selector
from tutti.core.scores.neighbours import GoodCompany
from tutti.core.scores.nodes import PreferredAffinity
from tutti.core.scores.resources import (
    BalancedAllocation,
    LeastAllocated,
    MostAllocated,
    RequestedToCapacityRatio,
    Weights,
)
from tutti.engine.asks import preferences_of, terms_of
from tutti.engine.plugin_sets import Selected

ENFORCED: Final = "node(s) didn't match scheduler-enforced node affinity"
STRATEGIES: Final = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")


class Args(Protocol):
    def applied_to(self, chosen: Selected) -> Selected: ...


class _Args(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Every kind of arguments may say what it is."""

    api_version: str = ""
    kind: str = ""


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    pass


class Resource(_Part, frozen=True, kw_only=True):
    name: str
    weight: int = 1


class Point(_Part, frozen=True, kw_only=True):
    utilization: int
    score: int


class Ratio(_Part, frozen=True, kw_only=True):
    shape: tuple[Point, ...] = ()


class Strategy(_Part, frozen=True, kw_only=True):
    type: str = "LeastAllocated"
    resources: tuple[Resource, ...] = (Resource(name="cpu"), Resource(name="memory"))
    requested_to_capacity_ratio: Ratio | None = None


class FitArgs(_Args, frozen=True, kw_only=True):
    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: Strategy = Strategy()

    def applied_to(self, chosen: Selected) -> Selected:
        return _with_score(chosen, "NodeResourcesFit", _scorer(self.scoring_strategy))

    def check(self, path: str) -> None:
        if self.ignored_resources or self.ignored_resource_groups:
            raise ValueError(f"{path}.ignoredResources: not supported: no plan may overfill a node")
        strategy = self.scoring_strategy
        where = f"{path}.scoringStrategy"
        if strategy.type not in STRATEGIES:
            supported = ", ".join(f'"{name}"' for name in STRATEGIES)
            raise ValueError(
                f'{where}.type: Unsupported value: "{strategy.type}": supported values: {supported}'
            )
        _check_weights(strategy.resources, f"{where}.resources")
        ratio = strategy.requested_to_capacity_ratio
        if strategy.type == "RequestedToCapacityRatio":
            if ratio is None or not ratio.shape:
                raise ValueError(f"{where}.requestedToCapacityRatio: Required value")
            _check_shape(ratio.shape, f"{where}.requestedToCapacityRatio.shape")
        elif ratio is not None:
            raise ValueError(
                f"{where}.requestedToCapacityRatio: Forbidden: must be nil when type is not RequestedToCapacityRatio"
            )


class BalancedArgs(_Args, frozen=True, kw_only=True):
    resources: tuple[Resource, ...] = (Resource(name="cpu"), Resource(name="memory"))

    def applied_to(self, chosen: Selected) -> Selected:
        names = tuple(resource.name for resource in self.resources)
        return _with_score(chosen, "NodeResourcesBalancedAllocation", BalancedAllocation(names))

    def check(self, path: str) -> None:
        for index, resource in enumerate(self.resources):
            if resource.weight != 1:
                raise ValueError(f"{path}.resources[{index}].weight: must be 1")


class InterPodAffinityArgs(_Args, frozen=True, kw_only=True):
    hard_pod_affinity_weight: int = 1
    ignore_preferred_terms_of_existing_pods: bool = False

    def applied_to(self, chosen: Selected) -> Selected:
        company = GoodCompany(
            self.hard_pod_affinity_weight, self.ignore_preferred_terms_of_existing_pods
        )
        return replace(
            chosen,
            relation_scores=tuple(
                replace(rule, score=company) if isinstance(rule.score, GoodCompany) else rule
                for rule in chosen.relation_scores
            ),
        )

    def check(self, path: str) -> None:
        if not 0 <= self.hard_pod_affinity_weight <= 100:
            raise ValueError(
                f"{path}.hardPodAffinityWeight: Invalid value: {self.hard_pod_affinity_weight}: "
                "not in valid range [0, 100]"
            )


class NodeAffinityArgs(_Args, frozen=True, kw_only=True):
    added_affinity: NodeAffinity | None = None

    def applied_to(self, chosen: Selected) -> Selected:
        added = self.added_affinity
        if added is None:
            return chosen
        preferred = PreferredAffinity(preferences_of(added.preferred))
        scores = tuple(
            replace(rule, worth=preferred) if isinstance(rule.worth, PreferredAffinity) else rule
            for rule in chosen.node_scores
        )
        filters = chosen.filters
        if added.required is not None:
            enforced = Filter("NodeAffinity", ENFORCED, EnforcedAffinity(terms_of(added.required)))
            filters = tuple(_with(enforced, filters))
        return replace(chosen, filters=filters, node_scores=scores)

    def check(self, path: str) -> None:
        """Terms that can't be read are met by no node, as in a pod."""


def _with(enforced: Filter, filters: Iterable[Filter]) -> Iterator[Filter]:
    """The profile's terms are asked just before the pod's own, and where those are."""
    for rule in filters:
        if rule.passes is matches_selector:
            yield enforced
        yield rule


class SpreadArgs(_Args, frozen=True, kw_only=True):
    default_constraints: tuple[dict[str, Any], ...] = ()
    defaulting_type: str = "System"

    def applied_to(self, chosen: Selected) -> Selected:
        return chosen

    def check(self, path: str) -> None:
        if self.default_constraints:
            raise ValueError(
                f"{path}.defaultConstraints: not supported: say topologySpreadConstraints in the pods"
            )


class OtherArgs(msgspec.Struct, frozen=True):
    """Of plugins that have no part in these decisions: whatever they say is let stand."""

    def applied_to(self, chosen: Selected) -> Selected:
        return chosen

    def check(self, path: str) -> None:
        pass


KINDS: Final[
    dict[
        str,
        type[
            FitArgs
            | BalancedArgs
            | InterPodAffinityArgs
            | NodeAffinityArgs
            | SpreadArgs
            | OtherArgs
        ],
    ]
] = {
    "NodeResourcesFit": FitArgs,
    "NodeResourcesBalancedAllocation": BalancedArgs,
    "InterPodAffinity": InterPodAffinityArgs,
    "NodeAffinity": NodeAffinityArgs,
    "PodTopologySpread": SpreadArgs,
    "DefaultPreemption": OtherArgs,
    "VolumeBinding": OtherArgs,
    "DynamicResources": OtherArgs,
}


def args_of(plugin: str, args: dict[str, Any], path: str) -> Args:
    """The arguments of one plugin, checked as Kubernetes checks them."""
    kind = KINDS.get(plugin)
    if kind is None:
        raise ValueError(f'{path}: no arguments are known for plugin "{plugin}"')
    read = msgspec.convert(args, kind)
    read.check(path)
    return read


def _scorer(strategy: Strategy) -> LeastAllocated | MostAllocated | RequestedToCapacityRatio:
    weights: Weights = tuple((r.name, r.weight) for r in strategy.resources)
    ratio = strategy.requested_to_capacity_ratio
    if ratio is not None:
        # Scores are given from 0 to 10.
        shape = tuple((point.utilization, 10 * point.score) for point in ratio.shape)
        return RequestedToCapacityRatio(shape, weights)
    return MostAllocated(weights) if strategy.type == "MostAllocated" else LeastAllocated(weights)


def _with_score(chosen: Selected, plugin: str, score: Any) -> Selected:
    return replace(
        chosen,
        load_scores=tuple(
            replace(rule, score=score) if rule.plugin == plugin else rule
            for rule in chosen.load_scores
        ),
    )


def _check_weights(resources: tuple[Resource, ...], path: str) -> None:
    for index, resource in enumerate(resources):
        if not 0 < resource.weight <= 100:
            raise ValueError(
                f"{path}[{index}].weight: Invalid value: {resource.weight}: "
                f"resource weight of {resource.name} not in valid range (0, 100]"
            )


def _check_shape(shape: tuple[Point, ...], path: str) -> None:
    for index, point in enumerate(shape):
        if index and shape[index - 1].utilization >= point.utilization:
            raise ValueError(
                f"{path}[{index}].utilization: Invalid value: {point.utilization}: "
                "values must be sorted in increasing order"
            )
        for name, value, most in (
            ("utilization", point.utilization, 100),
            ("score", point.score, 10),
        ):
            if not 0 <= value <= most:
                raise ValueError(
                    f"{path}[{index}].{name}: Invalid value: {value}: not in valid range [0, {most}]"
                )
