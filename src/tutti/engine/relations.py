"""What a pod asks about other pods, from Kubernetes' words into the core's."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from tutti.api import core_v1 as api
from tutti.api.meta import LabelSelector
from tutti.core.relations import (
    NONE,
    Attraction,
    Audience,
    Carried,
    Counted,
    Identity,
    Pull,
    Relations,
    Role,
    Rule,
    Spread,
)


class CountRows(Protocol):
    """The owner of the table, as far as relations need rows of it."""

    def counted_row(self, counted: Counted) -> int: ...

    def carried_row(self, carried: Carried) -> int: ...


def asks_about_others(pod: api.Pod) -> bool:
    affinity = pod.spec.affinity
    between_pods = affinity and (affinity.pod_affinity or affinity.pod_anti_affinity)
    return bool(pod.spec.topology_spread_constraints or between_pods)


def keys_asked_about(pod: api.Pod) -> Iterator[str]:
    """The label keys that decide whom the pod's terms speak of."""
    for constraint in pod.spec.topology_spread_constraints:
        yield from constraint.match_label_keys
        yield from _keys(constraint.label_selector)
    for term in _terms(pod):
        yield from term.match_label_keys
        yield from term.mismatch_label_keys
        yield from _keys(term.label_selector)


def whole_identity(pod: api.Pod) -> Identity:
    labels = tuple(sorted(pod.metadata.labels.items()))
    return Identity(pod.metadata.namespace, labels, pod.metadata.deletion_timestamp is not None)


def relations_of(pod: api.Pod, rows: CountRows) -> Relations:
    if not asks_about_others(pod):
        return NONE
    affinity = pod.spec.affinity or api.Affinity()
    near = affinity.pod_affinity or api.PodAffinity()
    away = affinity.pod_anti_affinity or api.PodAffinity()
    weighed = [(t.weight, t.pod_affinity_term) for t in near.preferred] + [
        (-t.weight, t.pod_affinity_term) for t in away.preferred
    ]
    carried = [
        *(Carried(Role.REPELS, t.topology_key, audience_of(t, pod)) for t in away.required),
        *(Carried(Role.REQUIRES, t.topology_key, audience_of(t, pod)) for t in near.required),
        *(Carried(Role.PREFERS, t.topology_key, audience_of(t, pod), w) for w, t in weighed),
    ]
    return Relations(
        spread=tuple(_spread(c, pod, rows) for c in pod.spec.topology_spread_constraints),
        attraction=_attraction(near.required, pod, rows),
        repulsion=tuple(_pull(term, pod, rows) for term in away.required),
        preferences=tuple(_pull(term, pod, rows, weight) for weight, term in weighed if weight),
        carries=tuple((term, rows.carried_row(term)) for term in carried),
    )


def audience_of(term: api.PodAffinityTerm, pod: api.Pod) -> Audience:
    """Whom a term speaks of. An empty namespace selector stands for every namespace.

    One that asks for other labels than the name doesn't come this far: it is reported on the pod.
    """
    namespaces: tuple[str, ...] | None = tuple(sorted(term.namespaces))
    if term.namespace_selector == LabelSelector():
        namespaces = None
    elif not namespaces and term.namespace_selector is None:
        namespaces = (pod.metadata.namespace,)
    namespace_rules = _rules(term.namespace_selector, ())
    labels = pod.metadata.labels
    merged = _merged(term.match_label_keys, "In", labels) + _merged(
        term.mismatch_label_keys, "NotIn", labels
    )
    return Audience(namespaces, _rules(term.label_selector, merged), namespace_rules)


def _attraction(
    terms: tuple[api.PodAffinityTerm, ...], pod: api.Pod, rows: CountRows
) -> Attraction | None:
    if not terms:
        return None
    counted = Counted(tuple(audience_of(term, pod) for term in terms))
    keys = tuple(dict.fromkeys(term.topology_key for term in terms))
    return Attraction(keys, rows.counted_row(counted), counted.includes(whole_identity(pod)))


def _pull(term: api.PodAffinityTerm, pod: api.Pod, rows: CountRows, weight: int = 0) -> Pull:
    row = rows.counted_row(Counted((audience_of(term, pod),)))
    return Pull(term.topology_key, row, weight)


def _spread(constraint: api.TopologySpreadConstraint, pod: api.Pod, rows: CountRows) -> Spread:
    merged = _merged(constraint.match_label_keys, "In", pod.metadata.labels)
    rules = _rules(constraint.label_selector, merged)
    audience = Audience((pod.metadata.namespace,), rules)
    return Spread(
        key=constraint.topology_key,
        row=rows.counted_row(Counted((audience,), for_spread=True)),
        max_skew=constraint.max_skew,
        counts_itself=audience.includes(whole_identity(pod)),
        required=constraint.when_unsatisfiable != "ScheduleAnyway",
        min_domains=constraint.min_domains or 1,
        honors_affinity=constraint.node_affinity_policy != "Ignore",
        honors_taints=constraint.node_taints_policy == "Honor",
    )


def _rules(selector: LabelSelector | None, merged: tuple[Rule, ...]) -> tuple[Rule, ...] | None:
    """A selector that isn't there speaks of no pod; an empty one of every pod."""
    if selector is None:
        return None
    labels = (Rule(key, "In", (value,)) for key, value in sorted(selector.match_labels.items()))
    expressions = (Rule(e.key, e.operator, e.values) for e in selector.match_expressions)
    return (*labels, *expressions, *merged)


def _merged(keys: tuple[str, ...], operator: str, labels: Mapping[str, str]) -> tuple[Rule, ...]:
    return tuple(Rule(key, operator, (labels[key],)) for key in keys if key in labels)


def _terms(pod: api.Pod) -> Iterator[api.PodAffinityTerm]:
    affinity = pod.spec.affinity or api.Affinity()
    for side in (affinity.pod_affinity, affinity.pod_anti_affinity):
        if side is not None:
            yield from side.required
            yield from (weighted.pod_affinity_term for weighted in side.preferred)


def _keys(selector: LabelSelector | None) -> Iterator[str]:
    if selector is not None:
        yield from selector.match_labels
        yield from (expression.key for expression in selector.match_expressions)
