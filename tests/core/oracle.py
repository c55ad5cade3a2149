"""A slow, obvious scheduler: one pod at a time, one loop per rule. The columns must agree with it.

It reads Kubernetes' objects and shares no code with the core but the order of ties.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from tutti.api.core_v1 import Node, NodeSelectorRequirement, NodeSelectorTerm, Pod, Taint

Tie = Callable[[str], int]

MEBI = 1 << 20


@dataclass
class Oracle:
    """The cluster as lists of objects. `tie` says which of equal nodes is taken: the highest."""

    nodes: list[Node]
    tie: Tie
    running: list[tuple[Pod, str]] = field(default_factory=list)

    def place(self, pod: Pod) -> str | None:
        """Put the pod on the best node of those that pass, if any does."""
        passing = [node for node in self.nodes if not self.why_not(pod, node)]
        if not passing:
            return None
        scores = self.scores(pod, passing)
        best = max((node.metadata.name for node in passing), key=lambda n: (scores[n], self.tie(n)))
        self.running.append((pod, best))
        return best

    def why_not(self, pod: Pod, node: Node) -> list[str]:
        """The reasons of the first rule that keeps the pod off the node."""
        if node.spec.unschedulable and not tolerated(
            pod, Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
        ):
            return ["node(s) were unschedulable"]
        for taint in node.spec.taints:
            if taint.effect in ("NoSchedule", "NoExecute") and not tolerated(pod, taint):
                return ["node(s) had untolerated taint(s)"]
        if not selected(pod, node):
            return ["node(s) didn't match Pod's node affinity/selector"]
        here = [other for other, name in self.running if name == node.metadata.name]
        if any(clash(a, b) for other in here for a in ports(other) for b in ports(pod)):
            return ["node(s) didn't have free ports for the requested pod ports"]
        return self.insufficient(pod, node, here)

    def insufficient(self, pod: Pod, node: Node, here: list[Pod]) -> list[str]:
        reasons = []
        if len(here) + 1 > capacity(node, "pods"):
            reasons.append("Too many pods")
        for resource in requested_names(pod):
            wanted = request(pod, resource)
            free = capacity(node, resource) - sum(request(other, resource) for other in here)
            if wanted > 0 and wanted > free:
                reasons.append(f"Insufficient {resource}")
        return reasons

    def scores(self, pod: Pod, passing: list[Node]) -> dict[str, int]:
        """The weighted sum of all scores, over the nodes that pass."""
        taints = scaled([unwelcome(pod, node) for node in passing], reverse=True)
        affinity = scaled([preference(pod, node) for node in passing])
        return {
            node.metadata.name: 3 * taints[index]
            + 2 * affinity[index]
            + self.least_allocated(pod, node)
            + self.balanced_allocation(pod, node)
            for index, node in enumerate(passing)
        }

    def least_allocated(self, pod: Pod, node: Node) -> int:
        total = weights = 0
        for resource, default in (("cpu", 100), ("memory", 200 * MEBI)):
            allocatable = capacity(node, resource)
            if allocatable == 0:
                continue
            used = sum(
                request(other, resource, default)
                for other, name in self.running
                if name == node.metadata.name
            )
            wanted = used + request(pod, resource, default)
            total += 0 if wanted > allocatable else (allocatable - wanted) * 100 // allocatable
            weights += 1
        return total // weights if weights else 0

    def balanced_allocation(self, pod: Pod, node: Node) -> int:
        if request(pod, "cpu") == 0 and request(pod, "memory") == 0:
            return 0
        before, after = [], []
        for resource in ("cpu", "memory"):
            allocatable = capacity(node, resource)
            if allocatable == 0:
                continue
            used = sum(
                request(other, resource)
                for other, name in self.running
                if name == node.metadata.name
            )
            before.append(min(1.0, used / allocatable))
            after.append(min(1.0, (used + request(pod, resource)) / allocatable))
        return 50 + (50 + evenness(after) - evenness(before)) // 2


def evenness(fractions: list[float]) -> int:
    deviation = abs((fractions[0] - fractions[1]) / 2) if len(fractions) == 2 else 0.0
    return int((1 - deviation) * 100)


def scaled(values: list[int], reverse: bool = False) -> list[int]:
    most = max(values)
    shares = [100 * value // most if most else 0 for value in values]
    return [100 - share for share in shares] if reverse else shares


def number(resource: str, text: str) -> int:
    """The few forms of amounts that the tests use."""
    for suffix, factor in (("Gi", 1 << 30), ("Mi", 1 << 20), ("m", 0)):
        if text.endswith(suffix):
            return int(text[: -len(suffix)]) * (factor or 1)
    return int(text) * (1000 if resource == "cpu" else 1)


def capacity(node: Node, resource: str) -> int:
    return number(resource, node.status.allocatable.get(resource, "0"))


def requested_names(pod: Pod) -> list[str]:
    return sorted({name for c in pod.spec.containers for name in c.resources.requests})


def request(pod: Pod, resource: str, default: int = 0) -> int:
    """Of containers alone: init containers and the like have tests of their own."""
    return sum(
        number(resource, c.resources.requests[resource])
        if resource in c.resources.requests
        else default
        for c in pod.spec.containers
    )


def ports(pod: Pod) -> list[tuple[str, str, int]]:
    return [
        (port.protocol or "TCP", port.host_ip or "0.0.0.0", port.host_port)
        for c in pod.spec.containers
        for port in c.ports
        if port.host_port
    ]


def clash(a: tuple[str, str, int], b: tuple[str, str, int]) -> bool:
    same_address = a[1] == b[1] or "0.0.0.0" in (a[1], b[1])
    return a[0] == b[0] and a[2] == b[2] and same_address


def tolerated(pod: Pod, taint: Taint) -> bool:
    for toleration in pod.spec.tolerations:
        if toleration.effect and toleration.effect != taint.effect:
            continue
        if toleration.key and toleration.key != taint.key:
            continue
        if toleration.operator == "Exists" or toleration.value == taint.value:
            return True
    return False


def unwelcome(pod: Pod, node: Node) -> int:
    return sum(
        taint.effect == "PreferNoSchedule" and not tolerated(pod, taint)
        for taint in node.spec.taints
    )


def selected(pod: Pod, node: Node) -> bool:
    for key, value in pod.spec.node_selector.items():
        if node.metadata.labels.get(key) != value:
            return False
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    if affinity is None or affinity.required is None:
        return True
    return any(meets(node, term) for term in affinity.required.node_selector_terms)


def preference(pod: Pod, node: Node) -> int:
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    if affinity is None:
        return 0
    return sum(p.weight for p in affinity.preferred if meets(node, p.preference))


def meets(node: Node, term: NodeSelectorTerm) -> bool:
    if not term.match_expressions and not term.match_fields:
        return False
    fields = {"metadata.name": node.metadata.name}
    return all(rule_met(node.metadata.labels, r) for r in term.match_expressions) and all(
        rule_met(fields, r) for r in term.match_fields
    )


def rule_met(labels: dict[str, str], rule: NodeSelectorRequirement) -> bool:
    value = labels.get(rule.key)
    if rule.operator == "In":
        return value is not None and value in rule.values
    if rule.operator == "NotIn":
        return value is None or value not in rule.values
    if rule.operator == "Exists":
        return value is not None
    if rule.operator == "DoesNotExist":
        return value is None
    try:
        theirs, bound = int(value or "none"), int(rule.values[0])
    except ValueError:
        return False
    return theirs > bound if rule.operator == "Gt" else theirs < bound
