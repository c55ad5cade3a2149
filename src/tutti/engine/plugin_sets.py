"""Which plugins a profile has: what is there by default, less what is disabled, more what is enabled."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, TypeVar

import msgspec

from tutti.core.filters import (
    DISK_FILTERS,
    FILTERS,
    LATE_FILTERS,
    RELATION_FILTERS,
    VOLUME_FILTERS,
    Filter,
    RelationFilter,
)
from tutti.core.plugins import Plugin
from tutti.core.profile import Profile
from tutti.core.scores import (
    LOAD_SCORES,
    NODE_SCORES,
    RELATION_SCORES,
    LoadScore,
    NodeScore,
    RelationScore,
)

BUILT_IN: Final = (
    "SchedulingGates",
    "PrioritySort",
    "NodeName",
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
    "DefaultPreemption",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
    "DefaultBinder",
    "NodeDeclaredFeatures",
    "DeferredPodScheduling",
    "GangScheduling",
    "TopologyPlacementGenerator",
    "PodGroupPodsCount",
)
ALWAYS: Final = ("NodePorts", "NodeResourcesFit")
"""No plan may put more on a node than there is room for."""
FILTERING: Final = {
    rule.plugin
    for rule in (*FILTERS, *DISK_FILTERS, *VOLUME_FILTERS, *LATE_FILTERS, *RELATION_FILTERS)
}
SCORING: Final = {
    rule.plugin: rule.weight for rule in (*NODE_SCORES, *LOAD_SCORES, *RELATION_SCORES)
}


_F = TypeVar("_F", Filter, RelationFilter)
_S = TypeVar("_S", NodeScore, LoadScore, RelationScore)


class _Strict(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    pass


class Enabled(_Strict, frozen=True, kw_only=True):
    name: str
    weight: int = 0


class Disabled(_Strict, frozen=True, kw_only=True):
    name: str


class PluginSet(_Strict, frozen=True, kw_only=True):
    enabled: tuple[Enabled, ...] = ()
    disabled: tuple[Disabled, ...] = ()


class Plugins(_Strict, frozen=True, kw_only=True):
    multi_point: PluginSet = PluginSet()
    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()
    pod_group_post_filter: PluginSet = PluginSet()


@dataclass(frozen=True, slots=True)
class Selected:
    """The rules of a profile while it is put together."""

    filters: tuple[Filter, ...]
    disk_filters: tuple[RelationFilter, ...]
    volume_filters: tuple[Filter, ...]
    late_filters: tuple[Filter, ...]
    relation_filters: tuple[RelationFilter, ...]
    node_scores: tuple[NodeScore, ...]
    load_scores: tuple[LoadScore, ...]
    relation_scores: tuple[RelationScore, ...]

    def profile(self, name: str) -> Profile:
        return Profile(
            name=name,
            filters=self.filters,
            disk_filters=self.disk_filters,
            volume_filters=self.volume_filters,
            late_filters=self.late_filters,
            relation_filters=self.relation_filters,
            node_scores=self.node_scores,
            load_scores=self.load_scores,
            relation_scores=self.relation_scores,
        )


def selected(plugins: Plugins, path: str, own: Mapping[str, Plugin]) -> Selected:
    """The rules that a profile's plugin sets leave, in the order in which they are always asked."""
    for point in plugins.__struct_fields__:
        _check(getattr(plugins, point), f"{path}.{_camel(point)}", point, own)
    everywhere = plugins.multi_point
    filters = _narrowed(dict.fromkeys(FILTERING, 1), everywhere, plugins.filter)
    for name in ALWAYS:
        disabled = {d.name for d in (*everywhere.disabled, *plugins.filter.disabled)}
        enabled = {e.name for e in (*everywhere.enabled, *plugins.filter.enabled)}
        if disabled & {name, "*"} and name not in enabled:
            raise ValueError(f"{path}: {name} can't be disabled: no plan may overfill a node")
    weights = _narrowed(SCORING, everywhere, plugins.score)
    mine = [(name, rule) for name, rule in own.items() if name in {**filters, **weights}]
    early = [rule for _, rule in mine if isinstance(rule, Filter)]
    near = [rule for _, rule in mine if isinstance(rule, RelationFilter)]
    return Selected(
        filters=(*_kept(FILTERS, filters), *early),
        disk_filters=tuple(_kept(DISK_FILTERS, filters)),
        volume_filters=tuple(_kept(VOLUME_FILTERS, filters)),
        late_filters=tuple(_kept(LATE_FILTERS, filters)),
        relation_filters=(*_kept(RELATION_FILTERS, filters), *near),
        node_scores=_weighed(
            NODE_SCORES, [r for _, r in mine if isinstance(r, NodeScore)], weights
        ),
        load_scores=_weighed(
            LOAD_SCORES, [r for _, r in mine if isinstance(r, LoadScore)], weights
        ),
        relation_scores=_weighed(
            RELATION_SCORES, [r for _, r in mine if isinstance(r, RelationScore)], weights
        ),
    )


def _narrowed(
    defaults: Mapping[str, int], everywhere: PluginSet, here: PluginSet
) -> dict[str, int]:
    """Names with weights: the defaults as changed everywhere, then as changed at this point."""
    chosen = dict(defaults)
    for plugins in (everywhere, here):
        gone = {disabled.name for disabled in plugins.disabled}
        if "*" in gone:
            chosen.clear()
        for name in gone:
            chosen.pop(name, None)
        for enabled in plugins.enabled:
            usual = defaults.get(enabled.name, 1)
            chosen[enabled.name] = enabled.weight or chosen.get(enabled.name, usual)
    return chosen


def _check(plugins: PluginSet, path: str, point: str, own: Mapping[str, Plugin]) -> None:
    seen: set[str] = set()
    for index, enabled in enumerate(plugins.enabled):
        where = f"{path}.enabled[{index}]"
        if enabled.name in seen:
            raise ValueError(f'{where}: plugin "{enabled.name}" is enabled twice')
        seen.add(enabled.name)
        if enabled.name not in BUILT_IN and enabled.name not in own:
            raise ValueError(f'{where}.name: no plugin "{enabled.name}" is known')
        if enabled.name in own and point not in ("multi_point", "filter", "score"):
            raise ValueError(f"{where}.name: plugins of one's own filter or score, nothing else")
    if plugins.disabled and point not in ("multi_point", "filter", "score", "post_filter"):
        raise ValueError(
            f"{path}.disabled: not supported; disable it at filter, score or multiPoint"
        )


def _kept(rules: Iterable[_F], names: Mapping[str, int]) -> Iterable[_F]:
    return (rule for rule in rules if rule.plugin in names)


def _weighed(
    built_in: Iterable[_S], own: Iterable[_S], weights: Mapping[str, int]
) -> tuple[_S, ...]:
    chosen = [rule for rule in chain(built_in, own) if rule.plugin in weights]
    return tuple(replace(rule, weight=weights[rule.plugin]) for rule in chosen)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
