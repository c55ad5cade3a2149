"""What a pod asks of its node: Kubernetes' own arithmetic, exact until it is rounded up once.

Containers run together, init containers one after the other before them, and sidecars (init
containers that are always restarted) from their turn on beside all that follows. Requests for the
whole pod replace the sums; the overhead of its runtime comes on top. On a node the kubelet may
hold more than the spec says, while it resizes.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Final, TypeAlias

from tutti.api import quantity
from tutti.api.core_v1 import Container, ContainerStatus, Pod

Requests: TypeAlias = dict[str, Fraction]
Texts: TypeAlias = Mapping[str, str]
Reading: TypeAlias = Callable[[Container, ContainerStatus | None], Texts]

DEFAULTS: Final[Texts] = {"cpu": "100m", "memory": "200Mi"}
"""What NodeResourcesFit counts for a container that doesn't say."""


def held(pod: Pod) -> Requests:
    """What the pod takes of its node."""
    return _held(pod, {})


def held_for_scores(pod: Pod) -> Requests:
    """What it counts for when nodes are scored: unstated requests of containers have a default.

    With requests for the whole pod, only what is stated on neither level has one.
    """
    if not _whole_pod(pod):
        return _held(pod, DEFAULTS)
    stated = held(pod)
    return _held(pod, {name: text for name, text in DEFAULTS.items() if name not in stated})


def scored_while_pending(pod: Pod) -> Requests:
    """What NodeResourcesFit counts for the pod that it is placing: its containers alone."""
    return _sum((_of_containers(pod, _spec, DEFAULTS), _parsed(pod.spec.overhead)))


def base_units(requests: Requests) -> dict[str, int]:
    """Millicores of cpu, whole units of all else; rounded up."""
    return {name: _rounded_up(name, amount) for name, amount in requests.items()}


def _held(pod: Pod, defaults: Texts) -> Requests:
    infeasible = _is_resize_infeasible(pod)
    views = list(_on_the_node(pod, infeasible, defaults))
    if not infeasible:
        views.append(_of_containers(pod, _spec, defaults))
    total = _largest(views)
    if _whole_pod(pod):
        total.update(_largest(_whole_pod_views(pod, infeasible)))
    return _sum((total, _parsed(pod.spec.overhead)))


def _on_the_node(pod: Pod, infeasible: bool, defaults: Texts) -> Iterable[Requests]:
    """What the kubelet has allotted and what it has carried out, as far as the status says."""
    status = pod.status
    if status.allocated_resources and status.resources and status.resources.requests:
        yield _parsed(status.allocated_resources)
        yield _parsed(status.resources.requests)
    elif infeasible or status.container_statuses or status.init_container_statuses:
        asked: Reading = _nothing if infeasible else _spec
        yield _of_containers(pod, _allotted_or(asked), defaults)
        yield _of_containers(pod, _carried_out_or(_allotted_or(asked)), defaults)


def _spec(container: Container, _: ContainerStatus | None) -> Texts:
    return container.resources.requests


def _nothing(_: Container, __: ContainerStatus | None) -> Texts:
    return {}


def _allotted_or(otherwise: Reading) -> Reading:
    def allotted(container: Container, status: ContainerStatus | None) -> Texts:
        stated = status.allocated_resources if status else {}
        return stated or otherwise(container, status)

    return allotted


def _carried_out_or(otherwise: Reading) -> Reading:
    def carried_out(container: Container, status: ContainerStatus | None) -> Texts:
        stated = status.resources.requests if status and status.resources else {}
        return stated or otherwise(container, status)

    return carried_out


def _of_containers(pod: Pod, reading: Reading, defaults: Texts) -> Requests:
    statuses = {
        status.name: status
        for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)
    }

    def requests(container: Container) -> Requests:
        return _parsed({**defaults, **reading(container, statuses.get(container.name))})

    running = _sum(requests(container) for container in pod.spec.containers)
    sidecars: Requests = {}
    peak: Requests = {}
    for container in pod.spec.init_containers:
        own = requests(container)
        step = _sum((sidecars, own))
        if container.restart_policy == "Always":
            running, sidecars = _sum((running, own)), step
        peak = _largest((peak, step))
    return _largest((running, peak))


def _whole_pod(pod: Pod) -> Texts:
    """The requests on the pod's own level, of the resources that can be asked for there."""
    return _of_whole_pods(pod.spec.resources.requests) if pod.spec.resources else {}


def _whole_pod_views(pod: Pod, infeasible: bool) -> Iterable[Requests]:
    if pod.status.resources is None:
        yield _parsed(_whole_pod(pod))
        return
    if not infeasible:
        yield _parsed(_whole_pod(pod))
    yield _parsed(_of_whole_pods(pod.status.resources.requests))
    yield _parsed(_of_whole_pods(pod.status.allocated_resources))


def _of_whole_pods(requests: Texts) -> Texts:
    return {
        name: text
        for name, text in requests.items()
        if name in ("cpu", "memory") or name.startswith("hugepages-")
    }


def _is_resize_infeasible(pod: Pod) -> bool:
    pending = (c for c in pod.status.conditions if c.type == "PodResizePending")
    return any(condition.reason == "Infeasible" for condition in pending)


def _parsed(texts: Texts) -> Requests:
    return {name: quantity.parse(text) for name, text in texts.items()}


def _sum(parts: Iterable[Requests]) -> Requests:
    total: Requests = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total.get(name, Fraction()) + amount
    return total


def _largest(parts: Iterable[Requests]) -> Requests:
    largest: Requests = {}
    for part in parts:
        for name, amount in part.items():
            largest[name] = max(largest.get(name, amount), amount)
    return largest


def _rounded_up(name: str, amount: Fraction) -> int:
    if name == "cpu":
        amount *= 1000
    return -(-amount.numerator // amount.denominator)
