"""Quick proofs that a gang has no place: sums, without placing anything."""

from collections.abc import Sequence

import numpy as np

from tutti.core import columns
from tutti.core.columns import Mask
from tutti.core.groups import Batch
from tutti.core.trial import Trial


def is_impossible(trial: Trial, batches: Sequence[Batch], missing: int) -> bool:
    """Whether sums alone show that so many members have no place at once.

    For one class this is exact: equal pods fit in any order, or not at all.
    """
    return _exceed_their_room(trial, batches, missing) or _exceed_what_is_free(
        trial, batches, missing
    )


def _exceed_their_room(trial: Trial, batches: Sequence[Batch], missing: int) -> bool:
    """Each class has all the room to itself, and still it is too little."""
    alone = (min(len(batch.pods), room_for(trial, batch)) for batch in batches)
    return sum(alone) < missing


def room_for(trial: Trial, batch: Batch) -> int:
    """How many pods of the class fit at once."""
    return int(trial.ranking(batch.cls).room().sum())


def _exceed_what_is_free(trial: Trial, batches: Sequence[Batch], missing: int) -> bool:
    """The members that ask for least of some resource ask for more than all their nodes have."""
    nodes = _nodes_of(trial, batches)
    allocatable = trial.snapshot.nodes.allocatable
    asked = [dict(batch.cls.limits()) for batch in batches]
    for row in sorted({row for amounts in asked for row in amounts}):
        amounts = sorted(
            (amounts.get(row, 0), len(batch.pods))
            for amounts, batch in zip(asked, batches, strict=True)
        )
        least, left = 0, missing
        for amount, count in amounts:
            least += amount * min(count, left)
            left -= min(count, left)
        free = allocatable[row, nodes] - trial.used[row, nodes]
        if least > int(np.maximum(free, 0).sum()):
            return True
    return False


def _nodes_of(trial: Trial, batches: Sequence[Batch]) -> Mask:
    nodes = columns.mask(len(trial.order))
    for batch in batches:
        nodes |= trial.ranking(batch.cls).open
    return nodes
