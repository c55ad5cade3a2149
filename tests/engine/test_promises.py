"""Random lives of a small cluster, with clumsy hands and sudden deaths; the promises hold at rest.

P1 no gang is left with part of its quorum by Tutti's own doing · P2 no node is overfull · P5 the
counts are what the objects say (`check`) · P6 nobody who fits is left waiting · P7 a condition that
was True stays True.
"""

from __future__ import annotations

from typing import ClassVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.engine.stage import Stage, basic, composite, gang, node, pod
from tutti.api.core_v1 import Pod
from tutti.api.scheduling import PodGroup
from tutti.engine.messages import Action, Bind, LeaseHeld, LeaseLost, SetGroupCondition

GROUPS = ["a", "b", "c"]
QUORUM_OF_TOP = 2
CPU = {"a": 1, "b": 2, "c": 3, "": 1}
"""Members of one group are alike here, so that what fits can be told by counting."""
FATES = ["yes", "yes", "yes", "refused", "lost", "late", "never"]


class WatchedStage(Stage):
    def _carry_out(self, action: Action) -> None:
        if isinstance(action, SetGroupCondition) and action.condition.type.endswith("Scheduled"):
            made = self.groups.get(f"{action.group.kind}/{action.group.name}")
            if made is not None and made.metadata.uid == action.group.uid:
                was = self.initially(action.group.name)
                assert not (was.startswith("True") and action.condition.status == "False"), "P7"
        super()._carry_out(action)


class Life(RuleBasedStateMachine):
    parents: ClassVar[dict[str, str]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.stage = WatchedStage()
        self.made = 0
        self.excused: set[str] = set()
        self.fates: list[str] = []
        self.cursed: set[str] = set()
        self.stage.answer = self._fate_of

    @initialize(nodes=st.lists(st.integers(3, 12), min_size=1, max_size=3))
    def there_are_nodes(self, nodes: list[int]) -> None:
        for cpu in nodes:
            self.add_node(cpu)

    # --- people ---

    @rule(name=st.sampled_from(GROUPS), count=st.integers(0, 4))
    def make_or_change_group(self, name: str, count: int) -> None:
        was = self.stage.groups.get(f"PodGroup/{name}")
        if isinstance(was, PodGroup):
            is_gang = was.spec.scheduling_policy.gang is not None
            if not is_gang or count == 0:
                return
            uid = was.metadata.uid
            self._excuse(name)
        else:
            self.made += 1
            uid = f"{name}-{self.made}"
            self._excuse(name)
        parent = self.parents.get(name)
        made = gang(name, count, uid=uid, parent=parent) if count else None
        self.stage.add(made or basic(name, uid=uid, parent=parent))

    @rule(name=st.sampled_from(GROUPS), really=st.integers(0, 3))
    def delete_group(self, name: str, really: int) -> None:
        if not really:
            self._excuse(name)
            self.stage.remove(name)

    @rule(group=st.sampled_from([*GROUPS, ""]), count=st.integers(1, 4), gated=st.booleans())
    def make_pods(self, group: str, count: int, gated: bool) -> None:
        for _ in range(count):
            self.made += 1
            name = f"{group or 'lone'}-{self.made}"
            gates = ["hold"] if gated and self.made % 5 == 0 else []
            self.stage.add(pod(name, group or None, cpu=str(CPU[group]), gates=gates))

    @rule(name=st.sampled_from(GROUPS), count=st.integers(2, 4), cursed=st.booleans())
    def a_gang_arrives_whole(self, name: str, count: int, cursed: bool) -> None:
        if f"PodGroup/{name}" in self.stage.groups:
            return
        if any(known.startswith(f"{name}-") for known in self.stage.places()):
            return
        self.make_or_change_group(name, count)
        self.make_pods(name, count, gated=False)
        if cursed:
            self.cursed.add(f"{name}-{self.made}")

    @rule(
        pick=st.integers(0, 50),
        how=st.sampled_from(["remove", "terminate", "finish", "open"]),
        really=st.booleans(),
    )
    def something_happens_to_a_pod(self, pick: int, how: str, really: bool) -> None:
        if not self.stage.pods or not really:
            return
        known = sorted(self.stage.pods.values(), key=lambda known: known.metadata.name)
        chosen = known[pick % len(known)]
        name, group = chosen.metadata.name, chosen.spec.scheduling_group
        if how == "open":
            self.stage.change(name, scheduling_gates=())
            return
        if group is not None and group.pod_group_name:
            self._excuse(group.pod_group_name)
        if how == "remove":
            self.stage.remove(name)
        elif how == "terminate":
            self.stage.terminate(name)
        elif chosen.spec.node_name:
            self.stage.finish(name)

    @rule(cpu=st.integers(1, 12))
    def add_node(self, cpu: int) -> None:
        self.made += 1
        self.stage.add(node(f"n{self.made}", str(cpu)))

    @rule(pick=st.integers(0, 50), really=st.integers(0, 3))
    def lose_node(self, pick: int, really: int) -> None:
        if (names := sorted(self.stage.nodes)) and not really:
            self.stage.remove(names[pick % len(names)])

    # --- trouble ---

    @rule(fates=st.lists(st.sampled_from(FATES), max_size=8))
    def hands_turn_clumsy(self, fates: list[str]) -> None:
        self.fates = [fate for fate in fates if fate != "never"]

    @rule(pick=st.integers(0, 50))
    def nobody_will_ever_bind_this_pod(self, pick: int) -> None:
        if waiting := sorted(k.metadata.name for k in self.stage.pods.values() if _is_pending(k)):
            self.cursed.add(waiting[pick % len(waiting)])

    def _fate_of(self, bind: Bind) -> str:
        if bind.pod.name in self.cursed:
            return "refused"
        return self.fates.pop() if self.fates else "yes"

    @rule(bound=st.integers(0, 3))
    def the_scheduler_dies_in_the_middle(self, bound: int) -> None:
        self.fates = ["never"] * 40 + ["yes"] * bound
        self.stage.turn()
        self.stage.turn()
        self.fates = []
        self.stage.restart()

    @rule()
    def the_lease_is_lost_and_found(self) -> None:
        self.stage.turn()
        self.stage.tell(LeaseLost())
        self.stage.turn()
        self.stage.tell(LeaseHeld(self.stage.units))

    # --- time ---

    @rule()
    def turn(self) -> None:
        self.stage.turn()

    @rule(seconds=st.sampled_from([0.1, 1.0, 10.0]))
    def time_goes_by(self, seconds: float) -> None:
        self.stage.play(seconds)

    @rule()
    def rest(self) -> None:
        self.fates = []
        self.stage.play(200.0)
        self._check_at_rest()

    def teardown(self) -> None:
        self.rest()

    # --- promises ---

    @invariant()
    def counts_are_right(self) -> None:
        assert self.stage.engine.check() == []

    @invariant()
    def no_node_is_overfull(self) -> None:
        for name, cpu in self._free().items():
            assert cpu >= 0, f"P2: {name}"

    def _check_at_rest(self) -> None:
        free = self._free()
        for name in GROUPS:
            made = self.stage.groups.get(f"PodGroup/{name}")
            bound, finished, pending, gated = self._counts(name)
            counted = bound + finished
            if not counted:
                self.excused.discard(name)
            if made is None:
                continue
            policy = made.spec.scheduling_policy.gang
            quorum = policy.min_count if policy else 1
            if name not in self.excused:
                assert counted == 0 or counted >= quorum, f"P1: {name} has {counted} of {quorum}"
            satisfied = self.stage.satisfied(name) == "Bound"
            assert satisfied == (counted >= quorum), f"{name}: {counted} of {quorum}"
            if name in self.parents:
                continue
            if counted >= quorum:
                assert self.stage.initially(name).startswith("True")
            if (policy is None and gated) or self._has_cursed(name):
                continue
            room = sum(cpu // CPU[name] for cpu in free.values())
            enough = min(room, pending) + counted >= quorum
            assert not (pending and room and enough), f"P6: {name} could be bound"
        if any(cpu >= 1 for cpu in free.values()):
            waiting = [k for k in self.stage.pods.values() if k.spec.scheduling_group is None]
            stuck = [k.metadata.name for k in waiting if _is_pending(k)]
            assert set(stuck) <= self.cursed, "P6: lone"

    def _has_cursed(self, group: str) -> bool:
        return any(
            known.metadata.name in self.cursed and _is_pending(known)
            for known in self.stage.pods.values()
            if known.metadata.name.startswith(f"{group}-")
        )

    def _counts(self, name: str) -> tuple[int, int, int, int]:
        bound = finished = pending = gated = 0
        for known in self.stage.pods.values():
            group = known.spec.scheduling_group
            if group is None or group.pod_group_name != name:
                continue
            if known.metadata.deletion_timestamp is not None or known.status.phase == "Succeeded":
                continue
            bound += bool(known.spec.node_name)
            gated += bool(known.spec.scheduling_gates) and not known.spec.node_name
            pending += _is_pending(known)
        return bound, finished, pending, gated

    def _free(self) -> dict[str, int]:
        free = {
            name: int(made.status.allocatable["cpu"]) for name, made in self.stage.nodes.items()
        }
        for known in self.stage.pods.values():
            if known.spec.node_name in free and known.status.phase != "Succeeded":
                requests = known.spec.containers[0].resources.requests
                free[known.spec.node_name] -= int(requests["cpu"])
        return free

    def _excuse(self, name: str) -> None:
        """What people do to members that run is not Tutti's doing."""
        bound, finished, _, _ = self._counts(name)
        if bound + finished:
            self.excused.add(name)


def _is_pending(known: Pod) -> bool:
    return (
        not known.spec.node_name
        and not known.spec.scheduling_gates
        and known.metadata.deletion_timestamp is None
        and known.status.phase == "Pending"
    )


class LifeOfTrees(Life):
    """Two of the groups are children of a composite that needs both."""

    parents: ClassVar[dict[str, str]] = {"a": "top", "b": "top"}

    @rule(really=st.integers(0, 3))
    def make_or_delete_the_tree(self, really: int) -> None:
        if "CompositePodGroup/top" not in self.stage.groups:
            self.stage.add(composite("top", QUORUM_OF_TOP))
        elif not really:
            self._excuse("a")
            self._excuse("b")
            self.stage.remove("top")

    def _check_at_rest(self) -> None:
        super()._check_at_rest()
        made = self.stage.groups.get("CompositePodGroup/top")
        if made is None or self.excused & {"a", "b"}:
            return
        standing = [name for name in self.parents if any(self._counts(name)[:2])]
        assert len(standing) in (0, QUORUM_OF_TOP), f"P1: only {standing} of the tree are bound"
        if standing:
            assert self.stage.satisfied("top") == "Bound"


TestLife = Life.TestCase
TestLifeOfTrees = LifeOfTrees.TestCase
TestLifeOfTrees.settings = settings(stateful_step_count=40)
TestLife.settings = settings(stateful_step_count=40)
