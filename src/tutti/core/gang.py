"""One group: all of its quorum or nothing, and extras where they fit.

The quorum is placed first. Members of one class are placed at once. Where classes differ, the order
in which they are placed, and which members make the quorum, are searched within the profile's
budget: the hardest first; the easiest first, since of small members more fit; other orders, packed
tightly too; at last node by node (`search`, and `company` where members heed each other). A refusal
says whether it is proved.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, permutations

import numpy as np

from tutti.core.bounds import is_impossible, room_for
from tutti.core.columns import Mask, Rows
from tutti.core.company import Arrangements, domains_to_try, heed_others
from tutti.core.filters.room import could_ever_have_room
from tutti.core.groups import Batch, Leaf
from tutti.core.place import FEW, place
from tutti.core.plan import Binding, Placed, Plan, Refusal, Status
from tutti.core.pods import PodClass
from tutti.core.ranking import allowed
from tutti.core.reasons import extras_sentence, quorum_sentence, tally
from tutti.core.search import Search
from tutti.core.trial import Trial


@dataclass(frozen=True, slots=True)
class Share:
    """The nodes that some members of a batch got."""

    batch: Batch
    nodes: Rows


def plan_group(trial: Trial, leaf: Leaf, effort: int = 1) -> Plan:
    """Place a group in the trial. On a refusal the trial is as it was before."""
    if not leaf.missing <= leaf.pending or not leaf.pending:
        raise ValueError(f"{leaf.key} misses {leaf.missing} members, {leaf.pending} are pending")
    start = trial.checkpoint()
    batches = hardest_first(trial, by_class(leaf.batches))
    steps = effort * trial.profile.search_steps
    found = find_quorum(trial, batches, leaf.missing, steps=steps)
    if found.shares is None:
        return refusal_of(trial, leaf, batches, found)
    quorum = found.shares
    extras = fill(trial, Way(remainders(batches, quorum)), leaf.pending - leaf.missing)
    short = None
    if count_of(quorum) + count_of(extras) < leaf.pending:
        fits = count_of(quorum) + count_of(extras)
        short = shortfall_of(trial, leaf, remainders(batches, [*quorum, *extras]), fits)
    if short is not None and not short.fits:
        trial.rollback(start)
        return short
    return Placed(bindings_of(trial, quorum), bindings_of(trial, extras), short)


@dataclass(frozen=True, slots=True)
class Quorum:
    """Places for as many members as the quorum misses, or the most that were found at once."""

    shares: list[Share] | None
    most: int
    proved: bool = False
    """Whether there are none to be found."""


def find_quorum(
    trial: Trial,
    batches: Sequence[Batch],
    missing: int,
    *,
    packing: bool = False,
    steps: int | None = None,
) -> Quorum:
    """Places for `missing` members, taken in the trial; with `packing` tight ones come first."""
    if not missing:
        return Quorum([], 0)
    if steps is None:
        steps = trial.profile.search_steps
    # A few members are placed sooner than the room of all nodes is added up.
    if missing > FEW and are_alike(batches) and (room := room_for(trial, batches[0])) < missing:
        return Quorum(None, room, proved=True)
    start = trial.checkpoint()
    most = 0
    tight = (Way(batches, packing=True),) if packing else ()
    ways = chain(tight, _ways(trial, batches, missing, steps // missing + 2))
    for number, way in enumerate(ways):
        shares = fill(trial, way, missing)
        if count_of(shares) == missing:
            return Quorum(shares, missing)
        most = max(most, count_of(shares))
        trial.rollback(start)
        if number == 0 and is_impossible(trial, batches, missing):
            return Quorum(None, most, proved=True)
    kind = Arrangements if heed_others(batches) else Search
    search = kind(trial, batches, steps)
    found = search.find(missing)
    if found is None:
        return Quorum(None, most, search.is_complete)
    return Quorum([Share(*pair) for pair in zip(batches, found, strict=True)], missing)


@dataclass(frozen=True, slots=True)
class Way:
    """One way to fill a quorum: in which order, spread or packed, and where alone."""

    order: Sequence[Batch]
    packing: bool = False
    within: Mask | None = None


def _ways(trial: Trial, batches: Sequence[Batch], missing: int, at_most: int) -> Iterator[Way]:
    """Orders of the classes spread by the scores, then packed tightly; then domain by domain."""
    if len(batches) == 1:
        yield Way(batches)
    else:
        yield from (Way(order) for order in _orders(batches, at_most))
        yield from (Way(order, packing=True) for order in _orders(batches, at_most))
    for domain in islice(domains_to_try(trial, batches, missing), at_most):
        yield Way(batches, within=domain)


def _orders(batches: Sequence[Batch], at_most: int) -> Iterator[Sequence[Batch]]:
    """Orders of the classes, each once: hardest first, easiest first, then all others."""
    others = permutations(batches)
    next(others)  # the hardest first, which leads anyhow
    easiest_first = tuple(reversed(batches))
    rest = (order for order in others if order != easiest_first)
    return islice(chain((batches, easiest_first), rest), at_most)


def fill(trial: Trial, way: Way, count: int) -> list[Share]:
    """Place batch after batch, as many as fit, up to a count of pods.

    Where members heed each other, who found no place may find one once others have theirs.
    """
    shares: list[Share] = []
    while count:
        fresh = []
        for batch in remainders(way.order, shares):
            wanted = min(count, len(batch.pods))
            nodes = place(trial, batch.cls, wanted, packing=way.packing, within=way.within)
            count -= len(nodes)
            fresh.append(Share(batch, nodes))
        shares.extend(fresh)
        if not count_of(fresh) or not heed_others(way.order):
            break
    return shares


def are_alike(batches: Sequence[Batch]) -> bool:
    """Whether it is one class that heeds nobody: then room is all that counts, in any order."""
    return len(batches) == 1 and not heed_others(batches)


def take_all_room(trial: Trial, batch: Batch) -> None:
    """As if more pods of the class were placed than there is room for."""
    room = trial.ranking(batch.cls).room()
    nodes = np.flatnonzero(room)
    trial.take(batch.cls, nodes, room[nodes])


def remainders(batches: Sequence[Batch], shares: Sequence[Share]) -> list[Batch]:
    """What of each batch has no node yet."""
    placed = Counter[int]()
    for share in shares:
        placed[share.batch.cls.id] += len(share.nodes)
    left = (Batch(batch.cls, batch.pods[placed[batch.cls.id] :]) for batch in batches)
    return [batch for batch in left if batch.pods]


def count_of(shares: Sequence[Share]) -> int:
    return sum(len(share.nodes) for share in shares)


def bindings_of(trial: Trial, shares: Sequence[Share]) -> tuple[Binding, ...]:
    names = trial.snapshot.nodes.names
    return tuple(
        (pod, names[row])
        for share in shares
        for pod, row in zip(share.batch.pods, share.nodes.tolist(), strict=False)
    )


def by_class(batches: Sequence[Batch]) -> list[Batch]:
    """One batch for each class."""
    merged: dict[int, Batch] = {}
    for batch in batches:
        known = merged.get(batch.cls.id)
        merged[batch.cls.id] = Batch(batch.cls, known.pods + batch.pods) if known else batch
    return list(merged.values())


def hardest_first(trial: Trial, batches: Sequence[Batch]) -> list[Batch]:
    """Largest share of a node first, then fewest nodes to go to, then as the group lists them."""
    if len(batches) < 2:
        return list(batches)
    return sorted(batches, key=lambda batch: ease(trial, batch.cls))


def ease(trial: Trial, cls: PodClass) -> tuple[float, int]:
    allocatable = trial.snapshot.nodes.allocatable
    share = max(
        (amount / max(1, int(allocatable[row].max(initial=0))) for row, amount in cls.limits()),
        default=0.0,
    )
    nodes = int(np.count_nonzero(allowed(trial.snapshot, trial.profile, cls)))
    return -share, nodes


def refusal_of(trial: Trial, leaf: Leaf, batches: Sequence[Batch], found: Quorum) -> Refusal:
    """The quorum has no place. The tally is of the first class that fell short."""
    start = trial.checkpoint()
    if are_alike(batches) and found.proved:
        short = batches[0]
        take_all_room(trial, short)
    else:
        short = remainders(batches, fill(trial, Way(batches), leaf.missing))[0]
    why = tally(trial.snapshot, trial.used, trial.profile, short.cls)
    trial.rollback(start)
    lone = leaf.missing == leaf.pending == 1
    return Refusal(
        status=_status(trial, leaf, batches),
        fits=found.most,
        needs=leaf.missing,
        tally=why,
        proved=found.proved,
        message=why.sentence()
        if lone
        else quorum_sentence(leaf.missing, found.most, why, found.proved),
        short=short.cls,
    )


def shortfall_of(trial: Trial, leaf: Leaf, left: Sequence[Batch], fits: int) -> Refusal:
    """Beyond the quorum, or in a basic group, `fits` have a place and these are left over."""
    why = tally(trial.snapshot, trial.used, trial.profile, left[0].cls)
    return Refusal(
        status=_status(trial, leaf, left),
        fits=fits,
        needs=leaf.pending,
        tally=why,
        proved=len(leaf.batches) == 1,
        message=extras_sentence(leaf.pending, fits, why),
        short=left[0].cls,
    )


def _status(trial: Trial, leaf: Leaf, batches: Sequence[Batch]) -> Status:
    """Unresolvable when so many members fit no node at all, however empty, that it can't be."""
    hopeless = sum(len(batch.pods) for batch in batches if _fits_nowhere(trial, batch.cls))
    needed = max(1, leaf.missing)
    possible = sum(len(batch.pods) for batch in batches) - hopeless
    return "Unschedulable" if possible >= needed else "UnschedulableAndUnresolvable"


def _fits_nowhere(trial: Trial, cls: PodClass) -> bool:
    large = could_ever_have_room(trial.snapshot, cls)
    return not np.any(allowed(trial.snapshot, trial.profile, cls) & large)
