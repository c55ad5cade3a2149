"""Resources and host ports: which nodes have room for a pod, and for how many."""

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts, Mask, Rows
from tutti.core.pods import PodClass
from tutti.core.resources import PODS
from tutti.core.snapshot import Snapshot

TOO_MANY_PODS = "Too many pods"

Selection = Rows | slice
EVERY_NODE = slice(None)


def block(table: Amounts, rows: Rows, nodes: Selection) -> Amounts:
    """Some resources of some nodes, `[resource, node]`."""
    return table[rows] if isinstance(nodes, slice) else table[rows[:, np.newaxis], nodes]


def free(
    snapshot: Snapshot, used: Amounts, cls: PodClass, nodes: Selection = EVERY_NODE
) -> Amounts:
    """What is left of the resources in which a pod of the class can be refused."""
    rows = cls.limit_rows
    return block(snapshot.nodes.allocatable, rows, nodes) - block(used, rows, nodes)


def has_free_ports(
    snapshot: Snapshot, used: Amounts, cls: PodClass, nodes: Selection = EVERY_NODE
) -> Mask:
    """The nodes on which nobody holds a port that the pod wants."""
    free = columns.mask(used[PODS, nodes].size, True)
    for port, _ in cls.asks.ports:
        for row in snapshot.table.clashing(port):
            free &= used[row, nodes] == 0
    return free


def has_room(
    snapshot: Snapshot, used: Amounts, cls: PodClass, nodes: Selection = EVERY_NODE
) -> Mask:
    """The nodes on which one more pod of the class fits: resources, count of pods, ports."""
    left = free(snapshot, used, cls, nodes)
    room: Mask = np.all(left >= cls.limit_amounts[:, np.newaxis], axis=0)
    if cls.asks.ports:
        room &= has_free_ports(snapshot, used, cls, nodes)
    return room


def room(
    snapshot: Snapshot, used: Amounts, cls: PodClass, nodes: Selection = EVERY_NODE
) -> Amounts:
    """How many more pods of the class fit on each node, other rules aside."""
    left = free(snapshot, used, cls, nodes)
    left //= cls.limit_amounts[:, np.newaxis]
    fits: Amounts = np.maximum(left.min(axis=0), 0)
    if cls.asks.ports:
        np.minimum(fits, has_free_ports(snapshot, used, cls, nodes), out=fits)
    return fits


def could_ever_have_room(snapshot: Snapshot, cls: PodClass) -> Mask:
    """The nodes that are large enough for the pod, were they empty."""
    allocatable = snapshot.nodes.allocatable
    large = columns.mask(allocatable.shape[-1], True)
    for row, amount in cls.limits():
        if row != PODS:
            large &= allocatable[row] >= amount
    return large


def why_insufficient(resource: str) -> str:
    return TOO_MANY_PODS if resource == "pods" else f"Insufficient {resource}"
