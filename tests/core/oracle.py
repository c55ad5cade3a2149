"""A slow, obvious scheduler: one pod at a time, one loop per rule. The columns must agree with it.

It reads Kubernetes' objects and shares no code with the core but the order of ties.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from tests.core.disks import Disks
from tutti.api.core_v1 import (
    Affinity,
    Node,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    Taint,
    TopologySpreadConstraint,
)
from tutti.api.meta import LabelSelector, ObjectMeta
from tutti.api.storage import PersistentVolume

Tie = Callable[[str], int]

MEBI = 1 << 20
SOFT = "ScheduleAnyway"
SKEWED = "node(s) didn't match pod topology spread constraints"


@dataclass
class Oracle:
    """The cluster as lists of objects. `tie` says which of equal nodes is taken: the highest."""

    nodes: list[Node]
    tie: Tie
    running: list[tuple[Pod, str]] = field(default_factory=list)
    disks: Disks = field(default_factory=Disks)

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
        return (
            self.insufficient(pod, node, here)
            or self.bad_volumes(pod, node, here)
            or self.spreads_badly(pod, node)
            or self.bad_neighbours(pod, node)
            or cannot_mount(pod, node)
        )

    def bad_volumes(self, pod: Pod, node: Node, here: list[Pod]) -> list[str]:
        """Of claims that are all bound."""
        for name in claims_of(pod):
            alone = "ReadWriteOncePod" in self.disks.claims[name].spec.access_modes
            if alone and any(name in claims_of(other) for other, _ in self.running):
                return [
                    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod "
                    "access mode already in-use by another pod"
                ]
        for driver, limit in self.disks.limits.get(node.metadata.name, {}).items():
            there = {handle for other in here for handle in self.handles(other, driver)}
            fresh = self.handles(pod, driver) - there
            if fresh and len(there) + len(fresh) > limit:
                return ["node(s) exceed max volume count"]
        volumes = [self.volume_of(name) for name in claims_of(pod)]
        if not all(reaches(node, volume) for volume in volumes):
            return ["node(s) didn't match PersistentVolume's node affinity"]
        if not all(in_zone_of(node, volume) for volume in volumes):
            return ["node(s) had no available volume zone"]
        return []

    def volume_of(self, claim: str) -> PersistentVolume:
        return self.disks.volumes[self.disks.claims[claim].spec.volume_name]

    def handles(self, pod: Pod, driver: str) -> set[str]:
        sources = [self.volume_of(name).spec.csi for name in claims_of(pod)]
        return {s.volume_handle for s in sources if s is not None and s.driver == driver}

    def spreads_badly(self, pod: Pod, node: Node) -> list[str]:
        hard = [c for c in pod.spec.topology_spread_constraints if c.when_unsatisfiable != SOFT]
        for constraint in hard:
            if constraint.topology_key not in node.metadata.labels:
                return [f"{SKEWED} (missing required label)"]
            counts: dict[str, int] = {}
            for other in self.nodes:
                if all(c.topology_key in other.metadata.labels for c in hard) and included(
                    pod, other, constraint
                ):
                    domain = other.metadata.labels[constraint.topology_key]
                    counts[domain] = counts.get(domain, 0) + self.spread_count(
                        pod, other, constraint
                    )
            fewest = min(counts.values()) if len(counts) >= (constraint.min_domains or 1) else 0
            own = counts.get(node.metadata.labels[constraint.topology_key], 0)
            itself = spread_selects(pod, pod, constraint)
            if own + itself - fewest > constraint.max_skew:
                return [SKEWED]
        return []

    def spread_count(self, pod: Pod, node: Node, constraint: TopologySpreadConstraint) -> int:
        """How many pods on a node the constraint counts; with an empty selector, none."""
        if constraint.label_selector == LabelSelector() and not merged(pod, constraint):
            return 0
        return sum(
            name == node.metadata.name
            and other.metadata.namespace == pod.metadata.namespace
            and other.metadata.deletion_timestamp is None
            and spread_selects(pod, other, constraint)
            for other, name in self.running
        )

    def domain_holds(self, node: Node, key: str, wanted: Callable[[Pod], bool]) -> int:
        """How many such pods run on nodes that carry the same value of the key."""
        value = node.metadata.labels.get(key)
        there = {n.metadata.name for n in self.nodes if n.metadata.labels.get(key) == value}
        return sum(name in there and wanted(other) for other, name in self.running) if value else 0

    def bad_neighbours(self, pod: Pod, node: Node) -> list[str]:
        near, away = affinity_of(pod, "near").required, affinity_of(pod, "away").required

        def wanted(other: Pod) -> bool:
            return all(speaks_of(term, pod, other) for term in near)

        if near:
            keys = [term.topology_key for term in near]
            carried = all(key in node.metadata.labels for key in keys)
            alone = not any(
                wanted(other)
                and any(key in n.metadata.labels for n in self.nodes_named(name) for key in keys)
                for other, name in self.running
            )
            together = all(self.domain_holds(node, key, wanted) for key in keys)
            if not (carried and (together or (alone and wanted(pod)))):
                return ["node(s) didn't match pod affinity rules"]
        for term in away:
            if self.domain_holds(node, term.topology_key, partial(speaks_of, term, pod)):
                return ["node(s) didn't match pod anti-affinity rules"]
        for other, name in self.running:
            for term in affinity_of(other, "away").required:
                value = node.metadata.labels.get(term.topology_key)
                same = any(
                    n.metadata.labels.get(term.topology_key) == value
                    for n in self.nodes_named(name)
                )
                if value and same and speaks_of(term, other, pod):
                    return ["node(s) didn't satisfy existing pods anti-affinity rules"]
        return []

    def nodes_named(self, name: str) -> list[Node]:
        return [node for node in self.nodes if node.metadata.name == name]

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
        spread = self.soft_spread(pod, passing)
        company = self.company(pod, passing)
        return {
            node.metadata.name: 3 * taints[index]
            + 2 * affinity[index]
            + 2 * spread[index]
            + 2 * company[index]
            + self.images_at_hand(pod, node)
            + self.least_allocated(pod, node)
            + self.balanced_allocation(pod, node)
            for index, node in enumerate(passing)
        }

    def soft_spread(self, pod: Pod, passing: list[Node]) -> list[int]:
        soft = [c for c in pod.spec.topology_spread_constraints if c.when_unsatisfiable == SOFT]
        scored = [n for n in passing if all(c.topology_key in n.metadata.labels for c in soft)]
        if not soft or not scored:
            return [0] * len(passing)
        raw = {n.metadata.name: self.crowding(pod, n, soft, scored) for n in scored}
        most, least = max(raw.values()), min(raw.values())
        shares = {
            name: 100 * (most + least - value) // most if most else 100
            for name, value in raw.items()
        }
        return [shares.get(n.metadata.name, 0) for n in passing]

    def crowding(
        self, pod: Pod, node: Node, soft: list[TopologySpreadConstraint], scored: list[Node]
    ) -> int:
        total = 0.0
        for c in soft:
            if c.topology_key == "kubernetes.io/hostname":
                size, count = len(scored), self.spread_count(pod, node, c)
            else:
                domains = {n.metadata.labels[c.topology_key] for n in scored}
                size = len(domains)
                count = sum(
                    self.spread_count(pod, other, c)
                    for other in self.nodes
                    if other.metadata.labels.get(c.topology_key)
                    == node.metadata.labels[c.topology_key]
                    and all(s.topology_key in other.metadata.labels for s in soft)
                    and included(pod, other, c)
                )
            total += count * math.log(size + 2) + (c.max_skew - 1)
        return math.floor(total + 0.5)

    def company(self, pod: Pod, passing: list[Node]) -> list[int]:
        raw = []
        for node in passing:
            total = 0
            for sign, side in ((1, "near"), (-1, "away")):
                for weighted in affinity_of(pod, side).preferred:
                    term = weighted.pod_affinity_term
                    total += (
                        sign
                        * weighted.weight
                        * self.domain_holds(node, term.topology_key, partial(speaks_of, term, pod))
                    )
                for other, name in self.running:
                    theirs = affinity_of(other, side)
                    terms = [(w.weight, w.pod_affinity_term) for w in theirs.preferred]
                    if side == "near":
                        terms += [(1, term) for term in theirs.required]
                    for weight, term in terms:
                        value = node.metadata.labels.get(term.topology_key)
                        same = any(
                            n.metadata.labels.get(term.topology_key) == value
                            for n in self.nodes_named(name)
                        )
                        if value and same and speaks_of(term, other, pod):
                            total += sign * weight
            raw.append(total)
        most, least = max(raw), min(raw)
        return [int(100 * ((v - least) / (most - least))) if most > least else 0 for v in raw]

    def images_at_hand(self, pod: Pod, node: Node) -> int:
        total = 0
        for container in pod.spec.containers:
            name = full_name(container.image)
            if name in sizes_of(node):
                nodes_with_it = sum(name in sizes_of(other) for other in self.nodes)
                total += int(sizes_of(node)[name] * (nodes_with_it / len(self.nodes)))
        least, most = 23 * MEBI, 1000 * MEBI * len(pod.spec.containers)
        return 100 * (min(max(total, least), most) - least) // (most - least)

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


def included(pod: Pod, node: Node, constraint: TopologySpreadConstraint) -> bool:
    """Whether a constraint looks at a node, by its two policies."""
    if constraint.node_affinity_policy != "Ignore" and not selected(pod, node):
        return False
    return constraint.node_taints_policy != "Honor" or all(
        tolerated(pod, taint)
        for taint in node.spec.taints
        if taint.effect in ("NoSchedule", "NoExecute")
    )


def merged(pod: Pod, constraint: TopologySpreadConstraint) -> dict[str, str]:
    labels = pod.metadata.labels
    return {key: labels[key] for key in constraint.match_label_keys if key in labels}


def spread_selects(pod: Pod, other: Pod, constraint: TopologySpreadConstraint) -> bool:
    also = merged(pod, constraint)
    return label_selects(constraint.label_selector, other) and all(
        other.metadata.labels.get(key) == value for key, value in also.items()
    )


def label_selects(selector: LabelSelector | None, pod: Pod) -> bool:
    if selector is None:
        return False
    labels = pod.metadata.labels
    if any(labels.get(key) != value for key, value in selector.match_labels.items()):
        return False
    rules = (
        NodeSelectorRequirement(key=e.key, operator=e.operator, values=e.values)
        for e in selector.match_expressions
    )
    return all(rule_met(labels, rule) for rule in rules)


def affinity_of(pod: Pod, side: str) -> PodAffinity:
    affinity = pod.spec.affinity or Affinity()
    return (
        affinity.pod_affinity if side == "near" else affinity.pod_anti_affinity
    ) or PodAffinity()


def speaks_of(term: PodAffinityTerm, owner: Pod, other: Pod) -> bool:
    named = {"kubernetes.io/metadata.name": other.metadata.namespace}
    namespace = Pod(metadata=ObjectMeta(name="namespace", labels=named))
    if term.namespace_selector is not None and label_selects(term.namespace_selector, namespace):
        in_namespace = True
    elif term.namespaces or term.namespace_selector is not None:
        in_namespace = other.metadata.namespace in term.namespaces
    else:
        in_namespace = other.metadata.namespace == owner.metadata.namespace
    own, theirs = owner.metadata.labels, other.metadata.labels
    return (
        in_namespace
        and label_selects(term.label_selector, other)
        and all(theirs.get(k) == own[k] for k in term.match_label_keys if k in own)
        and all(theirs.get(k) != own[k] for k in term.mismatch_label_keys if k in own)
    )


def full_name(image: str) -> str:
    return image if ":" in image.split("/")[-1] else image + ":latest"


def sizes_of(node: Node) -> dict[str, int]:
    return {name: image.size_bytes for image in node.status.images for name in image.names or ()}


def claims_of(pod: Pod) -> list[str]:
    claims = [volume.persistent_volume_claim for volume in pod.spec.volumes]
    return [claim.claim_name for claim in claims if claim is not None]


def reaches(node: Node, volume: PersistentVolume) -> bool:
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return True
    return any(meets(node, term) for term in affinity.required.node_selector_terms)


def in_zone_of(node: Node, volume: PersistentVolume) -> bool:
    new, old = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
    labels = node.metadata.labels
    if new not in labels and old not in labels:
        return True
    for key in (new, old):
        zones = volume.metadata.labels.get(key, "").split("__")
        own = labels.get(key, labels.get(new))
        if "" not in zones and own not in zones:
            return False
    return True


def cannot_mount(pod: Pod, node: Node) -> list[str]:
    needs = any(m.bind_mount_options for c in pod.spec.containers for m in c.volume_mounts)
    if needs and "VolumeBindMountOptions" not in node.status.declared_features:
        return ["node(s) didn't match Pod's required features"]
    return []


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
