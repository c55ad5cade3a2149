"""The engine alone: events in, bindings out, with the objects of a whole cluster known to it."""

import math
from collections.abc import Iterator
from typing import Any

import msgspec

from benchmarks.clusters import SIZES, half_full_pods, node, nodes, pod
from benchmarks.measure import timed
from benchmarks.report import Row
from tutti.api import core_v1 as api
from tutti.api import scheduling
from tutti.api.meta import LabelSelector, ObjectMeta
from tutti.engine.engine import Engine
from tutti.engine.messages import (
    Bind,
    CompositeSeen,
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
    yield gangs(1_000, 3, limit_ms=400)
    yield gangs(1, 1_000, limit_ms=100)
    if short:
        return
    yield an_event()
    yield gangs(9, 1_000, limit_ms=400)
    for order in ("the group last", "the last pod late"):
        yield gangs(1_000, 3, limit_ms=400, order=order)
    yield gangs(1_000, 3, limit_ms=400, policy="basic")
    yield tree("a tree of 512 pods in 64 groups", {}, limit_ms=100)
    yield tree_in_a_tight_place()
    yield tree("such a tree of basic groups", {"policy": "basic"}, limit_ms=100)
    yield hopeless("where the sum says so", {"cpu": "90"}, limit_ms=5)
    yield hopeless("where it is a selector", {"node_selector": {"no": "such"}}, limit_ms=50)
    yield hopeless("where it is fragments", {"cpu": "56"}, limit_ms=50)
    yield gangs_with_selectors_of_their_own(300)
    yield from beside_hopeless_ones(10_000)
    yield growth()


def gangs(
    count: int,
    size: int,
    *,
    limit_ms: float,
    order: str = "the group first",
    policy: str = "gang",
) -> Row:
    """From the events that say that the gangs are there to the bindings of all their members."""

    def events() -> list[Event]:
        return arrivals(count, size, order=order, policy=policy)

    assert bound(engine(), events()) == count * size
    title = f"{count:,} gangs of {size:,}" if count > 1 else f"one gang of {size:,}"
    if policy == "basic":
        title = f"{count:,} basic groups of {size:,}"
    if order != "the group first":
        title += f", {order},"
    return timed(
        f"{title} on {NODES:,} nodes, by the engine",
        lambda prepared: bound(*prepared),
        prepare=lambda: (engine(), events()),
        limit_ms=limit_ms,
    )


def gangs_with_selectors_of_their_own(count: int) -> Row:
    """Members keep apart, each gang by a label of its own: what is counted grows with the gangs."""

    def events() -> list[Event]:
        return [_apart(event) for event in arrivals(count, 3)]

    assert bound(engine(), events()) == count * 3
    return timed(
        f"{count:,} gangs of 3, members apart by a label of their own, on {NODES:,} nodes",
        lambda prepared: bound(*prepared),
        prepare=lambda: (engine(), events()),
        runs=1,
    )


def _apart(event: Event) -> Event:
    if not isinstance(event, PodSeen) or event.pod.spec.scheduling_group is None:
        return event
    label = {"job": event.pod.spec.scheduling_group.pod_group_name or ""}
    term = api.PodAffinityTerm(
        topology_key="kubernetes.io/hostname", label_selector=LabelSelector(match_labels=label)
    )
    apart = api.Affinity(pod_anti_affinity=api.PodAffinity(required=(term,)))
    pod = event.pod
    return PodSeen(
        msgspec.structs.replace(
            pod,
            metadata=msgspec.structs.replace(pod.metadata, labels=label),
            spec=msgspec.structs.replace(pod.spec, affinity=apart),
        )
    )


def an_event() -> Row:
    """Pods of gangs that aren't complete yet: nothing is decided, everything is counted."""
    made = engine()
    events = arrivals(1_000, 3)[:-1]
    row = timed(
        "an event, with the pods of 5,000 nodes known",
        lambda fresh: [fresh.handle(event, 1.0) for event in events],
        prepare=engine,
    )
    assert made.next_wake() is None
    each = round(1000 * row.value / len(events), 3)
    return msgspec.structs.replace(row, value=each, unit="us CPU", reference=60.0, ratio=each / 60)


def tree(title: str, shape: dict[str, Any], *, limit_ms: float) -> Row:
    """Three levels: eight composite groups of eight groups of eight pods."""
    pods = 8 * 8 * 8
    assert bound(engine(), a_tree(**shape)) == pods
    return timed(
        f"{title}, by the engine",
        lambda prepared: bound(*prepared),
        prepare=lambda: (engine(), a_tree(**shape)),
        limit_ms=limit_ms,
    )


def tree_in_a_tight_place() -> Row:
    """128 nodes with 4 cpus for 512 pods; the groups made last may only go to 16 of them."""

    def prepared() -> tuple[Engine, list[Event]]:
        made = Engine()
        for index in range(128):
            one = node(index)
            labels = {"kind": "rare" if index < 16 else "common"}
            made.handle(
                NodeSeen(
                    api.Node(
                        metadata=ObjectMeta(name=one.metadata.name, labels=labels),
                        status=api.NodeStatus(
                            allocatable={"cpu": "4", "memory": "64Gi", "pods": "110"}
                        ),
                    )
                ),
                0.0,
            )
        made.handle(Synced(), 0.0)
        made.handle(LeaseHeld(()), 0.0)
        return made, a_tree(picky=True)

    assert bound(*prepared()) == 8 * 8 * 8
    return timed(
        "such a tree that needs another order than that of its making, by the engine",
        lambda ready: bound(*ready),
        prepare=prepared,
        limit_ms=300,
    )


def a_tree(*, picky: bool = False, policy: str = "gang") -> list[Event]:
    """With `picky`, the last groups fit only on nodes that the others would take first."""
    events: list[Event] = [CompositeSeen(composite("top", 8, None))]
    for branch in range(8):
        above = f"branch-{branch}"
        events.append(CompositeSeen(composite(above, 8, "top")))
        for leaf in range(8):
            name = f"leaf-{branch}-{leaf}"
            events.append(GroupSeen(group(name, 8, policy=policy, parent=above)))
            for index in range(8):
                one = member(name, 1, index)
                if picky and branch == 7:
                    spec = msgspec.structs.replace(one.spec, node_selector={"kind": "rare"})
                    one = msgspec.structs.replace(one, spec=spec)
                events.append(PodSeen(one))
    return events


def hopeless(title: str, spec: dict[str, Any], *, limit_ms: float) -> Row:
    """A turn that refuses a gang of 1,000 and says so on each of its pods."""

    def prepared() -> Engine:
        made = engine()
        for event in hopeless_gang("huge", 1_000, spec):
            made.handle(event, 1.0)
        return made

    assert not any(isinstance(action, Bind) for action in prepared().turn(1.0))
    return timed(
        f"refusing a hopeless gang of 1,000, {title}, by the engine",
        lambda made: made.turn(1.0),
        prepare=prepared,
        limit_ms=limit_ms,
    )


def hopeless_gang(name: str, size: int, spec: dict[str, Any]) -> Iterator[Event]:
    yield GroupSeen(group(name, size))
    for index in range(size):
        one = member(name, 0, index)
        fields = dict(spec)
        if "cpu" in fields:
            requests = api.ResourceRequirements(requests={"cpu": fields.pop("cpu")})
            fields["containers"] = (api.Container(resources=requests),)
        yield PodSeen(
            msgspec.structs.replace(one, spec=msgspec.structs.replace(one.spec, **fields))
        )


def beside_hopeless_ones(count: int) -> Iterator[Row]:
    """What gangs that fit cost while others wait that never will."""

    def crowded() -> Engine:
        made = engine()
        for number in range(count):
            for event in hopeless_gang(f"never-{number}", 2, {"cpu": "90"}):
                made.handle(event, 0.0)
        while (wake := made.next_wake()) is not None and wake <= 5.0:
            made.turn(max(wake, 0.0))
        return made

    def in_time(made: Engine) -> Row:
        return timed(
            f"1,000 gangs of 3 beside {count:,} hopeless gangs, by the engine",
            lambda events: bound(made, events, 10.0),
            prepare=lambda: arrivals(1_000, 3),
            runs=1,
        )

    alone, beside = in_time(engine()), in_time(crowded())
    ratio = round(beside.value / alone.value, 3)
    yield msgspec.structs.replace(
        beside, value=ratio, unit="times as alone", reference=1.1, ratio=round(ratio / 1.1, 3)
    )


def growth() -> Row:
    """The exponent with which the cost of a gang grows with its size."""
    small, large = (gangs(1, size, limit_ms=1_000).value for size in (300, 3_000))
    exponent = round(math.log10(large / small), 3)
    return Row(
        name="exponent of a gang's cost from 300 to 3,000 pods, by the engine",
        value=exponent,
        unit="",
        better="lower",
        cpu_s=0.0,
        wall_s=0.0,
        reference=1.1,
        ratio=round(exponent / 1.1, 3),
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


def arrivals(
    count: int, size: int, *, order: str = "the group first", policy: str = "gang"
) -> list[Event]:
    groups: list[Event] = []
    pods: list[Event] = []
    late: list[Event] = []
    events: list[Event] = []
    for number in range(count):
        name = f"gang-{number}"
        groups.append(GroupSeen(group(name, size, policy=policy)))
        members = [PodSeen(member(name, number, index)) for index in range(size)]
        pods += members[:-1]
        late.append(members[-1])
        events += [groups[-1], *members]
    match order:
        case "the group last":
            return [*pods, *late, *groups]
        case "the last pod late":
            return [*groups, *pods, *late]
        case _:
            return events


def group(
    name: str, size: int, *, policy: str = "gang", parent: str | None = None
) -> scheduling.PodGroup:
    return msgspec.convert(
        {
            "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
            "spec": {
                "schedulingPolicy": {"gang": {"minCount": size}}
                if policy == "gang"
                else {"basic": {}},
                **({"parentCompositePodGroupName": parent} if parent else {}),
            },
        },
        scheduling.PodGroup,
    )


def composite(name: str, count: int, parent: str | None) -> scheduling.CompositePodGroup:
    return msgspec.convert(
        {
            "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
            "spec": {
                "schedulingPolicy": {"gang": {"minGroupCount": count}},
                **({"parentCompositePodGroupName": parent} if parent else {}),
            },
        },
        scheduling.CompositePodGroup,
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


def bound(made: Engine, events: list[Event], now: float = 1.0) -> int:
    """How many bindings come out, once every intent is written at once."""
    bindings = 0
    for event in events:
        made.handle(event, now)
    actions = made.turn(now)
    while actions:
        for action in actions:
            match action:
                case WriteIntent(number):
                    made.handle(IntentWritten(number), now)
                case Bind():
                    bindings += 1
                case _:
                    pass
        actions = made.turn(now)
    return bindings
