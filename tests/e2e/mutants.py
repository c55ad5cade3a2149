"""Tutti with one mistake in it: a rule left out, a score weighed otherwise, something overlooked."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from tests.e2e.comparison import (
    FILTERS,
    PROFILES,
    SCORES,
    Case,
    differences_in_nodes,
    differences_in_scores,
)
from tutti.api.core_v1 import Affinity, Container, Node, Pod, PodAffinity
from tutti.core.profile import DEFAULT, Profile

revised = msgspec.structs.replace


@dataclass(frozen=True)
class Mutant:
    """A profile with a mistake. Filters are to be found out by nodes and words, scores by scores."""

    scheduler: str
    mistake: str
    profile: Profile
    is_filter: bool

    def __str__(self) -> str:
        return f"{self.scheduler}: {self.mistake}"

    def is_noticed(self, case: Case) -> bool:
        if case.question.pod.spec.scheduler_name != self.scheduler:
            return False
        compare = differences_in_nodes if self.is_filter else differences_in_scores
        return any(compare(case, self.profile))


def mutants() -> Iterator[Mutant]:
    """Each rule of the default profile, and of the others those that are their own."""
    for scheduler, profile in PROFILES.items():
        for kind in (*FILTERS, *SCORES):
            rules = getattr(profile, kind)
            for index, rule in enumerate(rules):
                if scheduler != "default-scheduler" and rule in getattr(DEFAULT, kind):
                    continue
                for name, instead in _mistakes(rule):
                    changed = {kind: (*rules[:index], *instead, *rules[index + 1 :])}
                    mutant = replace(profile, name=f"{scheduler} {name}", **changed)
                    yield Mutant(scheduler, name, mutant, kind in FILTERS)


def _mistakes(rule: Any) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """A name, and what stands in the rule's place."""
    yield f"without {rule.plugin}{' ' * hasattr(rule, 'reason')}{getattr(rule, 'reason', '')}", ()
    if hasattr(rule, "weight"):
        yield f"{rule.plugin} too heavy", (replace(rule, weight=rule.weight + 1),)


Oversight = Callable[[Case], Case]
"""A case as one sees it who overlooks something. Only who fits where is to give it away."""


def ports(case: Case) -> Case:
    return _asking(case, lambda pod: _with_containers(pod, lambda one: revised(one, ports=())))


def sidecars(case: Case) -> Case:
    return _asking(case, lambda pod: _with_steps(pod, lambda one: one.restart_policy != "Always"))


def init_containers(case: Case) -> Case:
    return _asking(case, lambda pod: _with_steps(pod, lambda one: one.restart_policy == "Always"))


def overhead(case: Case) -> Case:
    return _asking(case, lambda pod: revised(pod, spec=revised(pod.spec, overhead={})))


def requests_of_the_whole_pod(case: Case) -> Case:
    return _asking(case, lambda pod: revised(pod, spec=revised(pod.spec, resources=None)))


def taints_policies(case: Case) -> Case:
    return _asking(case, lambda pod: _with_spread(pod, node_taints_policy=None))


def namespaces_of_terms(case: Case) -> Case:
    return _asking(case, lambda pod: _with_terms(pod, namespaces=()))


def selectors_of_namespaces(case: Case) -> Case:
    return _asking(case, lambda pod: _with_terms(pod, namespace_selector=None))


def limits_on_the_number_of_pods(case: Case) -> Case:
    def endless(node: Node) -> Node:
        allocatable = {**node.status.allocatable, "pods": "1000"}
        return revised(node, status=revised(node.status, allocatable=allocatable))

    return replace(case, nodes=[endless(node) for node in case.nodes])


def sizes_that_kubelets_tell(case: Case) -> Case:
    return _running(case, lambda pod: revised(pod.status, container_statuses=()))


def that_pods_end(case: Case) -> Case:
    return _running(case, lambda pod: revised(pod.status, phase="Running"))


def that_pods_leave(case: Case) -> Case:
    staying = [
        revised(pod, metadata=revised(pod.metadata, deletion_timestamp=None))
        for pod in case.running
    ]
    return replace(case, running=staying)


def resource(name: str) -> Oversight:
    def overlooked(case: Case) -> Case:
        return _asking(case, lambda pod: _with_containers(pod, without))

    def without(container: Container) -> Container:
        asked = container.resources.requests
        left = {key: amount for key, amount in asked.items() if key != name}
        return revised(container, resources=revised(container.resources, requests=left))

    overlooked.__name__ = name
    return overlooked


OVERSIGHTS: Final[Sequence[Oversight]] = (
    ports,
    sidecars,
    init_containers,
    overhead,
    requests_of_the_whole_pod,
    taints_policies,
    namespaces_of_terms,
    selectors_of_namespaces,
    limits_on_the_number_of_pods,
    sizes_that_kubelets_tell,
    that_pods_end,
    that_pods_leave,
    *map(resource, ("cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi")),
)


def _asking(case: Case, change: Callable[[Pod], Pod]) -> Case:
    question = case.question
    return replace(case, question=revised(question, pod=change(question.pod)))


def _running(case: Case, status: Callable[[Pod], Any]) -> Case:
    return replace(case, running=[revised(pod, status=status(pod)) for pod in case.running])


def _with_containers(pod: Pod, change: Callable[[Container], Container]) -> Pod:
    containers = tuple(map(change, pod.spec.containers))
    steps = tuple(map(change, pod.spec.init_containers))
    return revised(pod, spec=revised(pod.spec, containers=containers, init_containers=steps))


def _with_steps(pod: Pod, kept: Callable[[Container], bool]) -> Pod:
    steps = tuple(filter(kept, pod.spec.init_containers))
    return revised(pod, spec=revised(pod.spec, init_containers=steps))


def _with_spread(pod: Pod, **changes: Any) -> Pod:
    constraints = tuple(revised(c, **changes) for c in pod.spec.topology_spread_constraints)
    return revised(pod, spec=revised(pod.spec, topology_spread_constraints=constraints))


def _with_terms(pod: Pod, **changes: Any) -> Pod:
    """Of required terms: those are what filters ask."""
    affinity = pod.spec.affinity or Affinity()
    near = affinity.pod_affinity or PodAffinity()
    away = affinity.pod_anti_affinity or PodAffinity()
    near = revised(near, required=tuple(revised(term, **changes) for term in near.required))
    away = revised(away, required=tuple(revised(term, **changes) for term in away.required))
    affinity = revised(affinity, pod_affinity=near, pod_anti_affinity=away)
    return revised(pod, spec=revised(pod.spec, affinity=affinity))
