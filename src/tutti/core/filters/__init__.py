"""The rules that rule nodes out, in the order in which kube-scheduler asks them.

Each is a function on columns, and carries the words that Kubernetes uses. First come those that go by
the node alone; then room (ports and resources, see `filters.room`), which moves with every pod; then
those that look at other pods.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tutti.core.columns import Amounts, Mask
from tutti.core.filters.features import declares_features
from tutti.core.filters.labels import is_pinned_to, matches_selector
from tutti.core.filters.neighbours import is_near_its_kind, is_not_kept_away, keeps_away
from tutti.core.filters.spread import carries_keys, keeps_skew
from tutti.core.filters.taints import is_schedulable, tolerates_taints
from tutti.core.filters.volumes import can_attach, is_in_zones, is_sole_user, reaches_volumes
from tutti.core.pods import PodClass
from tutti.core.snapshot import Nodes, Snapshot


@dataclass(frozen=True, slots=True)
class Filter:
    """A rule about nodes. What it rules out no eviction would let in."""

    plugin: str
    reason: str
    passes: Callable[[Nodes, PodClass], Mask]


FILTERS: Final = (
    Filter("NodeAffinity", "node(s) didn't satisfy plugin(s) [NodeAffinity]", is_pinned_to),
    Filter("NodeUnschedulable", "node(s) were unschedulable", is_schedulable),
    Filter("TaintToleration", "node(s) had untolerated taint(s)", tolerates_taints),
    Filter("NodeAffinity", "node(s) didn't match Pod's node affinity/selector", matches_selector),
)
LATE_FILTERS: Final = (
    Filter(
        "NodeDeclaredFeatures", "node(s) didn't match Pod's required features", declares_features
    ),
)
"""Rules about nodes that are asked after all others."""

PORTS_TAKEN: Final = "node(s) didn't have free ports for the requested pod ports"
TERMS_CONFLICT: Final = "pod affinity terms conflict"


@dataclass(frozen=True, slots=True)
class RelationFilter:
    """A rule about other pods: asked after room, and anew with every pod placed."""

    plugin: str
    reason: str
    passes: Callable[[Snapshot, Amounts, PodClass], Mask]
    resolvable: bool = True
    """Whether evicting others could let the pod in."""


DISK_FILTERS: Final = (
    RelationFilter(
        "VolumeRestrictions",
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
        "already in-use by another pod",
        is_sole_user,
    ),
    RelationFilter("NodeVolumeLimits", "node(s) exceed max volume count", can_attach),
)
"""Rules about volumes in use: asked after room, before all other rules about other pods."""

VOLUME_FILTERS: Final = (
    Filter(
        "VolumeBinding", "node(s) didn't match PersistentVolume's node affinity", reaches_volumes
    ),
    Filter("VolumeZone", "node(s) had no available volume zone", is_in_zones),
)
"""Rules about where volumes are: they go by the node alone, but are asked after `DISK_FILTERS`."""

RELATION_FILTERS: Final = (
    RelationFilter(
        "PodTopologySpread",
        "node(s) didn't match pod topology spread constraints (missing required label)",
        carries_keys,
        resolvable=False,
    ),
    RelationFilter(
        "PodTopologySpread",
        "node(s) didn't match pod topology spread constraints",
        keeps_skew,
    ),
    RelationFilter(
        "InterPodAffinity",
        "node(s) didn't match pod affinity rules",
        is_near_its_kind,
        resolvable=False,
    ),
    RelationFilter("InterPodAffinity", "node(s) didn't match pod anti-affinity rules", keeps_away),
    RelationFilter(
        "InterPodAffinity",
        "node(s) didn't satisfy existing pods anti-affinity rules",
        is_not_kept_away,
    ),
)
