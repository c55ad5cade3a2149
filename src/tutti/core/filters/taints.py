"""Taints and tolerations, and nodes that are cordoned."""

from collections.abc import Iterable

from tutti.core import columns
from tutti.core.columns import Mask
from tutti.core.filters.labels import whole_number
from tutti.core.pods import PodClass, Taint, Toleration
from tutti.core.snapshot import Nodes

CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
REPELLING = ("NoSchedule", "NoExecute")


def is_schedulable(nodes: Nodes, cls: PodClass) -> Mask:
    """The nodes that aren't cordoned, or all where the pod tolerates that."""
    if is_tolerated(CORDON, cls.asks.tolerations):
        return nodes.present
    return nodes.present & ~nodes.unschedulable


def tolerates_taints(nodes: Nodes, cls: PodClass) -> Mask:
    """The nodes without a repelling taint that the pod doesn't tolerate."""
    accepted = [
        all(is_tolerated(t, cls.asks.tolerations) for t in taints if t.effect in REPELLING)
        for taints in nodes.taint_sets
    ]
    return nodes.present & columns.mask_of(accepted)[nodes.taints]


def is_tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Gt" | "Lt":
            return _compares(toleration, taint)
        case _:
            return False


def _compares(toleration: Toleration, taint: Taint) -> bool:
    """Gt tolerates a taint whose number is above the toleration's own, Lt one below it."""
    own, theirs = whole_number(toleration.value), whole_number(taint.value)
    if own is None or theirs is None:
        return False
    return theirs > own if toleration.operator == "Gt" else theirs < own
