"""A small world for the engine: an API of a few dictionaries, and hands that can be clumsy.

The engine under test is the real one. The API here keeps what the real one would: a binding needs
the right uid and an unbound pod, deleting is by uid. What goes wrong is asked for by the test.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

import msgspec

from tutti.api.core_v1 import (
    Container,
    Node,
    NodeSpec,
    NodeStatus,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    SchedulingGate,
    SchedulingGroup,
    Taint,
)
from tutti.api.meta import Condition, ObjectMeta, OwnerReference
from tutti.api.scheduling import (
    Basic,
    CompositeGang,
    CompositePodGroup,
    CompositePodGroupSpec,
    CompositeSchedulingPolicy,
    Gang,
    PodGroup,
    PodGroupSpec,
    SchedulingPolicy,
    WorkloadReference,
)
from tutti.engine.commit import MARK
from tutti.engine.engine import Engine
from tutti.engine.messages import (
    Action,
    Bind,
    BindRefused,
    BindUnknown,
    Bound,
    CompositeGone,
    CompositeSeen,
    Deleted,
    DeleteFailed,
    Edition,
    Event,
    GroupGone,
    GroupRef,
    GroupSeen,
    IntentWritten,
    LeaseHeld,
    NodeGone,
    NodeSeen,
    Note,
    PodGone,
    PodRead,
    PodRef,
    PodSeen,
    ReadPod,
    SetGroupCondition,
    SetPodCondition,
    Synced,
    UndoBind,
    Unit,
    WriteIntent,
)
from tutti.engine.settings import Settings

DAWN = datetime(2026, 1, 1, tzinfo=UTC)


def node(
    name: str, cpu: str = "4", *, pods: int = 110, taints: Iterable[Taint] = (), **labels: str
) -> Node:
    return Node(
        metadata=ObjectMeta(name=name, uid=f"node-{name}", labels=labels),
        spec=NodeSpec(taints=tuple(taints)),
        status=NodeStatus(allocatable={"cpu": cpu, "memory": "64Gi", "pods": str(pods)}),
    )


def pod(
    name: str,
    group: str | None = None,
    *,
    cpu: str = "1",
    uid: str | None = None,
    priority: int | None = None,
    gates: Iterable[str] = (),
    scheduler: str = "tutti",
    on: str = "",
    restart: str = "Always",
    age: int = 0,
    namespace: str = "default",
    job: str | None = None,
    **selector: str,
) -> Pod:
    return Pod(
        metadata=ObjectMeta(
            name=name,
            namespace=namespace,
            uid=uid or f"pod-{name}",
            creation_timestamp=DAWN + timedelta(seconds=age),
            owner_references=(OwnerReference(kind="Job", uid=job, controller=True),) if job else (),
        ),
        spec=PodSpec(
            containers=(Container(resources=ResourceRequirements(requests={"cpu": cpu})),),
            scheduling_group=SchedulingGroup(pod_group_name=group) if group else None,
            scheduling_gates=tuple(SchedulingGate(name=gate) for gate in gates),
            scheduler_name=scheduler,
            priority=priority,
            node_name=on,
            node_selector=selector,
            restart_policy=restart,
        ),
        status=PodStatus(phase="Pending"),
    )


def gang(
    name: str,
    count: int,
    *,
    parent: str | None = None,
    priority: int | None = None,
    uid: str | None = None,
    age: int = 0,
    template: str | None = None,
    workload: str = "w",
) -> PodGroup:
    return _group(name, Gang(min_count=count), parent, priority, uid, age, template, workload)


def basic(name: str, **more: object) -> PodGroup:
    known = {"parent": None, "priority": None, "uid": None, "age": 0, "template": None}
    return _group(name, None, *{**known, **more}.values(), "w")  # type: ignore[arg-type]


def _group(
    name: str,
    policy: Gang | None,
    parent: str | None,
    priority: int | None,
    uid: str | None,
    age: int,
    template: str | None,
    workload: str,
) -> PodGroup:
    return PodGroup(
        metadata=ObjectMeta(
            name=name,
            namespace="default",
            uid=uid or f"group-{name}",
            creation_timestamp=DAWN + timedelta(seconds=age),
        ),
        spec=PodGroupSpec(
            parent_composite_pod_group_name=parent,
            workload_ref=WorkloadReference(workload_name=workload, template_name=template)
            if template
            else None,
            scheduling_policy=SchedulingPolicy(gang=policy)
            if policy
            else SchedulingPolicy(basic=Basic()),
            priority=priority,
        ),
    )


def composite(
    name: str,
    count: int | None = None,
    *,
    parent: str | None = None,
    priority: int | None = None,
    age: int = 0,
    template: str | None = None,
    workload: str = "w",
) -> CompositePodGroup:
    policy = (
        CompositeSchedulingPolicy(basic=Basic())
        if count is None
        else CompositeSchedulingPolicy(gang=CompositeGang(min_group_count=count))
    )
    return CompositePodGroup(
        metadata=ObjectMeta(
            name=name,
            namespace="default",
            uid=f"composite-{name}",
            creation_timestamp=DAWN + timedelta(seconds=age),
        ),
        spec=CompositePodGroupSpec(
            parent_composite_pod_group_name=parent,
            workload_ref=WorkloadReference(workload_name=workload, template_name=template)
            if template
            else None,
            scheduling_policy=policy,
            priority=priority,
        ),
    )


Answer = Callable[[Bind], str]
"""How a binding ends: "yes", "refused", "lost" (nobody knows, it wasn't done), "late" (nobody
knows, it was done), or "never" (no answer comes)."""


class Stage:
    """One engine, one API. `play` goes on until nothing moves any more."""

    def __init__(self, *, settings: Settings | None = None, lease: bool = True) -> None:
        self.settings = settings or Settings()
        self.now = 0.0
        self.pods: dict[str, Pod] = {}
        self.nodes: dict[str, Node] = {}
        self.groups: dict[str, PodGroup | CompositePodGroup] = {}
        self.units: tuple[Unit, ...] = ()
        self.log: list[Action] = []
        self.answer: Answer = lambda bind: "yes"
        self.deleting = True
        self.graceful = False
        self.writes_intents = True
        self.sessions = 0
        self.engine = self._fresh_engine()
        if lease:
            self.sync()

    # --- the cluster changes ------------------------------------------------------------------

    def add(self, *things: Pod | Node | PodGroup | CompositePodGroup) -> None:
        for thing in things:
            match thing:
                case Pod():
                    self.pods[thing.metadata.uid] = thing
                    self.tell(PodSeen(thing))
                case Node():
                    self.nodes[thing.metadata.name] = thing
                    self.tell(NodeSeen(thing))
                case PodGroup():
                    was = self.groups.get(f"PodGroup/{thing.metadata.name}")
                    self.groups[f"PodGroup/{thing.metadata.name}"] = _keeping_status(was, thing)
                    self.tell(GroupSeen(self.groups[f"PodGroup/{thing.metadata.name}"]))  # type: ignore[arg-type]
                case CompositePodGroup():
                    self.groups[f"CompositePodGroup/{thing.metadata.name}"] = thing
                    self.tell(CompositeSeen(thing))

    def remove(self, *names: str) -> None:
        """Pods, nodes and groups by name; pods are gone at once."""
        for name in names:
            for uid, known in list(self.pods.items()):
                if known.metadata.name == name:
                    del self.pods[uid]
                    self.tell(PodGone(ref_of(known)))
            if name in self.nodes:
                del self.nodes[name]
                self.tell(NodeGone(name))
            for kind, gone in (("PodGroup", GroupGone), ("CompositePodGroup", CompositeGone)):
                made = self.groups.pop(f"{kind}/{name}", None)
                if made is not None:
                    self.tell(gone(GroupRef(kind, "default", name, made.metadata.uid)))  # type: ignore[arg-type]

    def change(self, name: str, **changes: object) -> None:
        """Fields of a pod's spec or status, by name."""
        was = self.pod(name)
        spec = {k: v for k, v in changes.items() if k in PodSpec.__struct_fields__}
        status = {k: v for k, v in changes.items() if k in PodStatus.__struct_fields__}
        meta = {k: v for k, v in changes.items() if k in ObjectMeta.__struct_fields__}
        self._put(
            msgspec.structs.replace(
                was,
                metadata=msgspec.structs.replace(was.metadata, **meta),
                spec=msgspec.structs.replace(was.spec, **spec),
                status=msgspec.structs.replace(was.status, **status),
            )
        )

    def finish(self, *names: str, phase: str = "Succeeded") -> None:
        for name in names:
            self.change(name, phase=phase)

    def terminate(self, *names: str) -> None:
        for name in names:
            self.change(name, deletion_timestamp=DAWN + timedelta(seconds=self.now))

    # --- the engine runs ----------------------------------------------------------------------

    def tell(self, event: Event) -> None:
        self.engine.handle(event, self.now)

    def sync(self) -> None:
        self.tell(Edition(composites=True, group_status=True))
        self.tell(Synced())
        self.tell(LeaseHeld(self.units))

    def turn(self) -> list[Action]:
        actions = self.engine.turn(self.now)
        self.log.extend(actions)
        for action in actions:
            self._carry_out(action)
        return actions

    def play(self, seconds: float = 0.0) -> None:
        """Turn until nothing moves, letting this much time go by."""
        end = self.now + seconds
        turns = 0
        while True:
            self.turn()
            wake = self.engine.next_wake()
            if wake is None or wake > end:
                break
            turns = 0 if wake > self.now else turns + 1
            assert turns < 200, "the engine never comes to rest"
            self.now = max(self.now, wake)
        self.now = end
        assert self.engine.check() == []

    def restart(self) -> None:
        """The scheduler died; another one starts, and finds what is on the Lease."""
        self.engine = self._fresh_engine()
        for made in self.groups.values():
            self.tell(GroupSeen(made) if isinstance(made, PodGroup) else CompositeSeen(made))
        for known in self.pods.values():
            self.tell(PodSeen(known))
        for known_node in self.nodes.values():
            self.tell(NodeSeen(known_node))
        self.sync()

    def _fresh_engine(self) -> Engine:
        self.sessions += 1
        session = f"s{self.sessions}"
        return Engine(dataclasses.replace(self.settings, session=session))

    # --- what can be asked --------------------------------------------------------------------

    def pod(self, name: str) -> Pod:
        return next(known for known in self.pods.values() if known.metadata.name == name)

    def bound(self, prefix: str = "") -> int:
        return len(self.places(prefix))

    def places(self, prefix: str = "") -> dict[str, str]:
        return {
            known.metadata.name: known.spec.node_name
            for known in sorted(self.pods.values(), key=lambda known: known.metadata.name)
            if known.spec.node_name and known.metadata.name.startswith(prefix)
        }

    def condition(self, name: str, type: str) -> Condition | None:
        """Of a group (PodGroup first), or of a pod."""
        made = self.groups.get(f"PodGroup/{name}") or self.groups.get(f"CompositePodGroup/{name}")
        holder = made.status if made is not None else self.pod(name).status
        return next((c for c in holder.conditions if c.type == type), None)

    def satisfied(self, name: str) -> str:
        condition = self.condition(name, "tutti.dev/Satisfied")
        return condition.reason if condition else ""

    def initially(self, name: str) -> str:
        kind = "PodGroup" if f"PodGroup/{name}" in self.groups else "CompositePodGroup"
        condition = self.condition(name, f"{kind}InitiallyScheduled")
        return f"{condition.status}/{condition.reason}" if condition else ""

    def said(self, name: str) -> str:
        condition = self.condition(name, "PodScheduled")
        return f"{condition.reason}: {condition.message}" if condition else ""

    def logged(self, kind: type) -> list[Action]:
        return [action for action in self.log if isinstance(action, kind)]

    # --- the hands ----------------------------------------------------------------------------

    def _carry_out(self, action: Action) -> None:
        match action:
            case WriteIntent(number, units):
                if self.writes_intents:
                    self.units = units
                    self.tell(IntentWritten(number))
            case Bind():
                self._bind(action)
            case ReadPod(ref):
                found = self.pods.get(ref.uid)
                self.tell(PodRead(ref, found))
            case UndoBind(ref):
                self._delete(ref)
            case SetPodCondition(ref, condition):
                if ref.uid in self.pods:
                    was = self.pods[ref.uid]
                    status = msgspec.structs.replace(
                        was.status, conditions=_with(was.status.conditions, condition)
                    )
                    self._put(msgspec.structs.replace(was, status=status))
            case SetGroupCondition(group, condition):
                made = self.groups.get(f"{group.kind}/{group.name}")
                if made is not None and made.metadata.uid == group.uid:
                    status = msgspec.structs.replace(
                        made.status, conditions=_with(made.status.conditions, condition)
                    )
                    self.add(msgspec.structs.replace(made, status=status))
            case Note():
                pass

    def _bind(self, bind: Bind) -> None:
        ref = bind.pod
        answer = self.answer(bind)
        known = self.pods.get(ref.uid)
        if answer == "never":
            return
        if answer == "refused":
            self.tell(BindRefused(ref, bind.node, bind.commit, "Forbidden", "a webhook says no"))
        elif answer == "lost":
            self.tell(BindUnknown(ref, bind.node, bind.commit, "timed out"))
        elif known is None:
            self.tell(BindRefused(ref, bind.node, bind.commit, "NotFound", "no such pod"))
        elif known.spec.node_name or known.metadata.deletion_timestamp is not None:
            self.tell(BindRefused(ref, bind.node, bind.commit, "Conflict", "already bound"))
        else:
            meta = msgspec.structs.replace(
                known.metadata, annotations={**known.metadata.annotations, MARK: bind.commit}
            )
            spec = msgspec.structs.replace(known.spec, node_name=bind.node)
            status = msgspec.structs.replace(
                known.status,
                conditions=_with(
                    known.status.conditions, Condition(type="PodScheduled", status="True")
                ),
            )
            fresh = msgspec.structs.replace(known, metadata=meta, spec=spec, status=status)
            if answer == "late":
                self.tell(BindUnknown(ref, bind.node, bind.commit, "timed out"))
                self.pods[ref.uid] = fresh
                return
            self.pods[ref.uid] = fresh
            self.tell(Bound(ref, bind.node, bind.commit))
            self.tell(PodSeen(fresh))

    def _delete(self, ref: PodRef) -> None:
        if not self.deleting:
            self.tell(DeleteFailed(ref, "timed out"))
            return
        known = self.pods.get(ref.uid)
        self.tell(Deleted(ref))
        if known is not None and self.graceful:
            meta = msgspec.structs.replace(known.metadata, deletion_timestamp=DAWN)
            self._put(msgspec.structs.replace(known, metadata=meta))
        elif known is not None:
            del self.pods[ref.uid]
            self.tell(PodGone(ref))

    def _put(self, changed: Pod) -> None:
        self.pods[changed.metadata.uid] = changed
        self.tell(PodSeen(changed))


def _keeping_status(
    was: PodGroup | CompositePodGroup | None, made: PodGroup
) -> PodGroup | CompositePodGroup:
    """Who changes a spec leaves the status as it is."""
    if was is None or was.metadata.uid != made.metadata.uid or made.status.conditions:
        return made
    return msgspec.structs.replace(made, status=was.status)


def ref_of(known: Pod) -> PodRef:
    return PodRef(known.metadata.namespace, known.metadata.name, known.metadata.uid)


def _with(conditions: tuple[Condition, ...], fresh: Condition) -> tuple[Condition, ...]:
    return (*(c for c in conditions if c.type != fresh.type), fresh)
