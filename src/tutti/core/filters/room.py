"""Resources and host ports: which nodes have room for a pod, and for how many."""

from collections.abc import Iterator

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts, Mask, Rows
from tutti.core.pods import PodClass
from tutti.core.resources import PODS, SCORED_CPU, SCORED_MEMORY
from tutti.core.snapshot import Snapshot

TOO_MANY_PODS = "Too many pods"

Selection = Rows | slice
EVERY_NODE = slice(None)


def limits(cls: PodClass) -> Iterator[tuple[int, int]]:
    """The rows in which a pod of the class can be refused, with what it takes of each."""
    for row, amount in cls.asks.amounts:
        if row not in (SCORED_CPU, SCORED_MEMORY):
            yield row, amount


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
    allocatable = snapshot.nodes.allocatable
    room = columns.mask(used[PODS, nodes].size, True)
    for row, amount in limits(cls):
        room &= allocatable[row, nodes] - used[row, nodes] >= amount
    if cls.asks.ports:
        room &= has_free_ports(snapshot, used, cls, nodes)
    return room


def room(
    snapshot: Snapshot, used: Amounts, cls: PodClass, nodes: Selection = EVERY_NODE
) -> Amounts:
    """How many more pods of the class fit on each node, other rules aside."""
    allocatable = snapshot.nodes.allocatable
    fits = None
    for row, amount in limits(cls):
        per_row = (allocatable[row, nodes] - used[row, nodes]) // amount
        fits = per_row if fits is None else np.minimum(fits, per_row, out=fits)
    if fits is None:
        raise ValueError(f"class {cls.id} asks for nothing, not even for a place among the pods")
    np.maximum(fits, 0, out=fits)
    if cls.asks.ports:
        np.minimum(fits, has_free_ports(snapshot, used, cls, nodes), out=fits)
    return fits


def could_ever_have_room(snapshot: Snapshot, cls: PodClass) -> Mask:
    """The nodes that are large enough for the pod, were they empty."""
    allocatable = snapshot.nodes.allocatable
    large = columns.mask(allocatable.shape[-1], True)
    for row, amount in limits(cls):
        if row != PODS:
            large &= allocatable[row] >= amount
    return large


def why_insufficient(resource: str) -> str:
    return TOO_MANY_PODS if resource == "pods" else f"Insufficient {resource}"
