"""The engine alone: events in, bindings out, with the objects of a whole cluster known to it."""

from collections.abc import Iterator

import msgspec

from benchmarks.clusters import SIZES, half_full_pods, nodes, pod
from benchmarks.measure import timed
from benchmarks.report import Row
from tutti.api import core_v1 as api
from tutti.api import scheduling
from tutti.api.meta import ObjectMeta
from tutti.engine.engine import Engine
from tutti.engine.messages import (
    Bind,
    Event,
    GroupSeen,
    IntentWritten,
    LeaseHeld,
    NodeSeen,
    PodSeen,
    Synced,
    WriteIntent,
)

NODES = 5_000


def rows(*, short: bool) -> Iterator[Row]:
    del short
    yield gangs(1_000, 3, limit_ms=1_000)
    yield gangs(1, 1_000, limit_ms=100)


def gangs(count: int, size: int, *, limit_ms: float) -> Row:
    """From the events that say that the gangs are there to the bindings of all their members."""
    assert bound(engine(), arrivals(count, size)) == count * size
    title = f"{count:,} gangs of {size}" if count > 1 else f"one gang of {size:,}"
    return timed(
        f"{title} on {NODES:,} nodes, by the engine",
        lambda prepared: bound(*prepared),
        prepare=lambda: (engine(), arrivals(count, size)),
        limit_ms=limit_ms,
    )


def engine() -> Engine:
    """An engine that knows the cluster, holds its Lease, and has nothing to do."""
    made = Engine()
    for one in nodes(NODES):
        made.handle(NodeSeen(one), 0.0)
    for running in half_full_pods(NODES):
        made.handle(PodSeen(running), 0.0)
    made.handle(Synced(), 0.0)
    made.handle(LeaseHeld(()), 0.0)
    made.turn(0.0)
    return made


def arrivals(count: int, size: int) -> list[Event]:
    events: list[Event] = []
    for number in range(count):
        name = f"gang-{number}"
        events.append(GroupSeen(group(name, size)))
        events.extend(PodSeen(member(name, number, index)) for index in range(size))
    return events


def group(name: str, size: int) -> scheduling.PodGroup:
    return msgspec.convert(
        {
            "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
            "spec": {"schedulingPolicy": {"gang": {"minCount": size}}},
        },
        scheduling.PodGroup,
    )


def member(name: str, number: int, index: int) -> api.Pod:
    plain = pod(
        f"{name}-{index}",
        *SIZES[number % len(SIZES)],
        scheduler_name="tutti",
        scheduling_group=api.SchedulingGroup(pod_group_name=name),
    )
    meta = ObjectMeta(name=plain.metadata.name, namespace="default", uid=f"uid-{name}-{index}")
    return msgspec.structs.replace(plain, metadata=meta)


def bound(made: Engine, events: list[Event]) -> int:
    """How many bindings come out, once every intent is written at once."""
    bindings = 0
    for event in events:
        made.handle(event, 1.0)
    actions = made.turn(1.0)
    while actions:
        for action in actions:
            match action:
                case WriteIntent(number):
                    made.handle(IntentWritten(number), 1.0)
                case Bind():
                    bindings += 1
                case _:
                    pass
        actions = made.turn(1.0)
    return bindings
