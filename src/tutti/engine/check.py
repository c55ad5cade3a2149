"""What must be true of roots and phases at any time."""

from __future__ import annotations

from collections.abc import Iterator

from tutti.engine.flights import Flights
from tutti.engine.forest import Forest
from tutti.engine.groups import Group
from tutti.engine.queue import Entry, Phase, Queue


def misplaced_roots(forest: Forest, queue: Queue, flights: Flights) -> Iterator[str]:
    """Every root that has something to decide is in one phase, and nobody else is in any.

    Roots that have changed since the last turn are left out: the next turn settles them.
    """
    for key, group in forest.groups.items():
        if key not in forest.touched and key not in flights.landed:
            entry = queue.entries.get(key)
            if forest.root_of(group) is not group:
                if entry is not None:
                    yield f"{key} is {entry.phase.value}, and no root"
            elif entry is not None:
                yield from _wrong_phase(group, entry, flights)
            elif group.tally.open or not group.tally.standing:
                yield f"{key} is lost: it is in no phase"
    for key in queue.entries:
        if key not in forest.groups and key not in forest.touched:
            yield f"{key} is no group"


def _wrong_phase(root: Group, entry: Entry, flights: Flights) -> Iterator[str]:
    if (entry.phase is Phase.IN_FLIGHT) is not flights.is_in_flight(root.key):
        yield f"{root.key} is {entry.phase.value}, and has commits or has none"
    asleep = entry.phase in (Phase.UNSCHEDULABLE, Phase.BACKING_OFF)
    if asleep and not root.tally.workable:
        yield f"{root.key} is {entry.phase.value}, and nothing in it can be placed"
