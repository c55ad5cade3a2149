"""A pod's wishes, from Kubernetes' words into the core's: `core.pods.Asks`."""

from collections.abc import Iterable
from typing import Protocol

import msgspec

from tutti.api import core_v1 as api
from tutti.core.pods import Asks, Preference, Requirement, Term, Toleration
from tutti.core.relations import Identity
from tutti.core.resources import EVERY_ADDRESS, FIXED, PODS, SCORED_CPU, SCORED_MEMORY, Port
from tutti.core.volumes import Mounts
from tutti.engine import requests
from tutti.engine.relations import CountRows, relations_of


class TableRows(CountRows, Protocol):
    """The owner of the table: it has a row for whatever a pod asks for."""

    def resource_row(self, name: str) -> int: ...

    def port_row(self, port: Port) -> int: ...


_encoder = msgspec.json.Encoder(order="deterministic")


def signature(pod: api.Pod, keys: Iterable[str] | None) -> bytes:
    """Equal for pods that ask for the same in the same words; quick to make.

    `keys` are the labels that some pod's terms look at; None while no pod has any.
    """
    spec, status, meta = pod.spec, pod.status, pod.metadata
    known = None
    if keys is not None:
        labels = [(key, meta.labels.get(key)) for key in keys]
        known = meta.namespace, labels, meta.deletion_timestamp is not None
    return _encoder.encode(
        (
            known,
            spec.topology_spread_constraints,
            spec.host_network,
            spec.host_users,
            [volume.image for volume in spec.volumes if volume.image],
            spec.containers,
            spec.init_containers,
            spec.overhead,
            spec.resources,
            spec.node_selector,
            spec.affinity,
            spec.tolerations,
            [(s.name, s.allocated_resources, s.resources) for s in status.container_statuses],
            [(s.name, s.allocated_resources, s.resources) for s in status.init_container_statuses],
            status.allocated_resources,
            status.resources,
            [c.reason for c in status.conditions if c.type == "PodResizePending"],
        )
    )


def asks_of(
    pod: api.Pod,
    rows: TableRows,
    keys: Iterable[str] | None,
    mounts: Mounts,
    *,
    with_images: bool,
) -> Asks:
    """What bears on the placement of the pod, with all that is counted as rows.

    Images tell pods apart only where nodes say which ones they have.
    """
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    return Asks(
        amounts=_amounts(pod, rows),
        scored=_scored(pod, rows),
        ports=tuple((port, rows.port_row(port)) for port in _host_ports(pod)),
        selector=tuple(
            Requirement(key, "In", (value,))
            for key, value in sorted(pod.spec.node_selector.items())
        ),
        required=terms_of(affinity.required) if affinity and affinity.required else None,
        preferred=preferences_of(affinity.preferred if affinity else ()),
        tolerations=tuple(
            Toleration(t.key, t.operator or "Equal", t.value, t.effect)
            for t in pod.spec.tolerations
        ),
        features=tuple(_features(pod.spec)),
        images=tuple(sorted(_images(pod.spec))) if with_images else (),
        identity=_identity(pod, keys),
        relations=relations_of(pod, rows),
        mounts=mounts,
    )


def _features(spec: api.PodSpec) -> Iterable[str]:
    """What the kubelet must be able to do, in the order of the names."""
    containers = (*spec.containers, *spec.init_containers)
    rules = (rule for container in containers for rule in container.restart_policy_rules)
    if any(rule.action == "RestartAllContainers" for rule in rules):
        yield "RestartAllContainersOnContainerExits"
    if spec.host_network and spec.host_users is False:
        yield "UserNamespacesHostNetworkSupport"
    if any(mount.bind_mount_options for c in containers for mount in c.volume_mounts):
        yield "VolumeBindMountOptions"


def _images(spec: api.PodSpec) -> Iterable[str]:
    for container in (*spec.containers, *spec.init_containers):
        yield full_name(container.image)
    for volume in spec.volumes:
        if volume.image is not None:
            yield full_name(volume.image.reference)


def full_name(image: str) -> str:
    """An image without a tag is the latest."""
    return image if ":" in image.rpartition("/")[2] else f"{image}:latest"


def _identity(pod: api.Pod, keys: Iterable[str] | None) -> Identity:
    """Who the pod is to others, as far as anybody asks."""
    if keys is None:
        return Identity()
    labels = pod.metadata.labels
    return Identity(
        pod.metadata.namespace,
        tuple((key, labels[key]) for key in sorted(keys) if key in labels),
        leaving=pod.metadata.deletion_timestamp is not None,
    )


def _amounts(pod: api.Pod, rows: TableRows) -> tuple[tuple[int, int], ...]:
    by_name = requests.base_units(requests.held(pod))
    for_scores = requests.base_units(requests.held_for_scores(pod))
    by_row = {
        rows.resource_row(name): amount for name, amount in by_name.items() if is_counted(name)
    }
    by_row[PODS] = 1
    by_row[SCORED_CPU] = for_scores.get("cpu", 0)
    by_row[SCORED_MEMORY] = for_scores.get("memory", 0)
    return tuple(sorted((row, amount) for row, amount in by_row.items() if amount))


def _scored(pod: api.Pod, rows: TableRows) -> tuple[tuple[int, int], ...]:
    scored_rows = {"cpu": SCORED_CPU, "memory": SCORED_MEMORY}
    by_name = requests.base_units(requests.scored_while_pending(pod))
    return tuple(
        sorted(
            (scored_rows[name] if name in scored_rows else rows.resource_row(name), amount)
            for name, amount in by_name.items()
            if amount and is_counted(name)
        )
    )


def is_counted(resource: str) -> bool:
    """Whether nodes and pods are matched in this resource; others are ignored, as in Kubernetes."""
    return (
        resource in FIXED[:PODS]
        or "/" in resource
        or resource.startswith(("hugepages-", "attachable-volumes-"))
    )


def _host_ports(pod: api.Pod) -> Iterable[Port]:
    sidecars = (c for c in pod.spec.init_containers if c.restart_policy == "Always")
    ports = {
        Port(port.protocol or "TCP", port.host_ip or EVERY_ADDRESS, port.host_port): None
        for container in (*sidecars, *pod.spec.containers)
        for port in container.ports
        if port.host_port > 0
    }
    return sorted(ports)


def preferences_of(preferred: Iterable[api.PreferredSchedulingTerm]) -> tuple[Preference, ...]:
    return tuple(Preference(one.weight, _term(one.preference)) for one in preferred)


def terms_of(selector: api.NodeSelector) -> tuple[Term, ...]:
    return tuple(_term(term) for term in selector.node_selector_terms)


def _term(term: api.NodeSelectorTerm) -> Term:
    return Term(
        tuple(_requirement(rule) for rule in term.match_expressions),
        tuple(_requirement(rule) for rule in term.match_fields),
    )


def _requirement(rule: api.NodeSelectorRequirement) -> Requirement:
    return Requirement(rule.key, rule.operator, rule.values)
