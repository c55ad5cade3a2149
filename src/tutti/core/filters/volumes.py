"""Volumes: where those that are bound can be reached, and where one more can be attached."""

from functools import reduce
from operator import and_
from typing import Final

import numpy as np

from tutti.core import columns
from tutti.core.columns import Amounts, Mask
from tutti.core.filters.labels import meets, meets_one
from tutti.core.pods import PodClass, Requirement
from tutti.core.snapshot import Nodes, Snapshot
from tutti.core.volumes import Attached

ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
OLD_NAMES: Final = {
    "failure-domain.beta.kubernetes.io/zone": ZONE,
    "failure-domain.beta.kubernetes.io/region": REGION,
}
ZONE_LABELS: Final = (*OLD_NAMES, ZONE, REGION)


def reaches_volumes(nodes: Nodes, cls: PodClass) -> Mask:
    """The nodes from which all volumes can be reached; none while something is wrong with one."""
    if cls.asks.mounts.verdict:
        return columns.mask(len(nodes))
    reached = nodes.present.copy()
    for terms in cls.asks.mounts.topology:
        reached &= meets_one(nodes, terms)
    return reached


def is_in_zones(nodes: Nodes, cls: PodClass) -> Mask:
    """The nodes in the zones and regions of the volumes; those that are in none pass."""
    if not cls.asks.mounts.zones:
        return nodes.present
    nowhere = reduce(and_, (_lacks(nodes, key) for key in ZONE_LABELS))
    inside = nodes.present.copy()
    for zone in cls.asks.mounts.zones:
        inside &= meets(nodes, zone) | _meets_under_new_name(nodes, zone)
    return nodes.present & (nowhere | inside)


def _meets_under_new_name(nodes: Nodes, zone: Requirement) -> Mask:
    """A node that lacks a label's old name may carry it under the new one."""
    renamed = Requirement(OLD_NAMES.get(zone.key, zone.key), zone.operator, zone.values)
    return _lacks(nodes, zone.key) & meets(nodes, renamed)


def _lacks(nodes: Nodes, key: str) -> Mask:
    return meets(nodes, Requirement(key, "DoesNotExist"))


def is_sole_user(snapshot: Snapshot, used: Amounts, cls: PodClass) -> Mask:
    """Every node, or none while a pod anywhere uses a claim that is for one pod."""
    free = not any(used[row].any() for row in cls.asks.mounts.exclusive)
    return snapshot.nodes.present if free else columns.mask(len(snapshot.nodes))


def can_attach(snapshot: Snapshot, used: Amounts, cls: PodClass) -> Mask:
    """The nodes on which no driver has to attach more volumes than it can."""
    can = snapshot.nodes.present.copy()
    for part in cls.asks.mounts.attached:
        more = part.own + _count(used, part.shared, held=False)
        left = snapshot.nodes.allocatable[part.row] - _attached(snapshot, used, part)
        can &= (more == 0) | (more <= left)
    return can


def _attached(snapshot: Snapshot, used: Amounts, part: Attached) -> Amounts:
    """How many volumes of a driver the pods on each node have, each counted once."""
    disks = snapshot.table.disks
    shared = tuple(row for disk, row in disks.items() if disk.driver == part.driver)
    return used[part.row] + _count(used, shared, held=True)


def _count(used: Amounts, rows: tuple[int, ...], *, held: bool) -> Amounts:
    """How many of the rows are held on each node, or how many aren't."""
    here = used[list(rows)] > 0
    counts: Amounts = np.count_nonzero(here if held else ~here, axis=0)
    return counts
