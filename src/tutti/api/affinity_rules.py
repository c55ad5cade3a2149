"""The rules of affinity and topology spread in a pod."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tutti.api import names
from tutti.api.errors import FieldError, duplicate, forbidden, invalid, not_supported, required
from tutti.api.metadata_rules import label_map

Json = dict[str, Any]

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_UNSATISFIABLE: Final = ("DoNotSchedule", "ScheduleAnyway")
_INCLUSION: Final = ("Honor", "Ignore")


def affinity(path: str, found: Json) -> Iterator[FieldError]:
    if nodes := found.get("nodeAffinity"):
        yield from _node_affinity(f"{path}.nodeAffinity", nodes)
    for field in ("podAffinity", "podAntiAffinity"):
        if pods := found.get(field):
            yield from _pod_affinity(f"{path}.{field}", pods)


def topology_spread(constraints: list[Json]) -> Iterator[FieldError]:
    pairs = [(c.get("topologyKey") or "", c.get("whenUnsatisfiable") or "") for c in constraints]
    for index, constraint in enumerate(constraints):
        path = f"spec.topologySpreadConstraints[{index}]"
        if (skew := constraint.get("maxSkew") or 0) <= 0:
            yield invalid(f"{path}.maxSkew", skew, "must be greater than zero")
        key, action = pairs[index]
        if not key:
            yield required(f"{path}.topologyKey", "can not be empty")
        else:
            yield from _key(f"{path}.topologyKey", key)
        if action not in _UNSATISFIABLE:
            yield not_supported(f"{path}.whenUnsatisfiable", action, _UNSATISFIABLE)
        if (key, action) in pairs[index + 1 :]:
            yield duplicate(f"{path}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {action}}}")
        yield from _domains(f"{path}.minDomains", constraint.get("minDomains"), action)
        for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            policy = constraint.get(field)
            if policy is not None and policy not in _INCLUSION:
                yield not_supported(f"{path}.{field}", policy, _INCLUSION)
        yield from label_selector(f"{path}.labelSelector", constraint.get("labelSelector") or {})


def label_selector(path: str, selector: Json) -> Iterator[FieldError]:
    yield from label_map(f"{path}.matchLabels", selector.get("matchLabels") or {})
    for index, asked in enumerate(selector.get("matchExpressions") or ()):
        here = f"{path}.matchExpressions[{index}]"
        operator, values = asked.get("operator") or "", asked.get("values") or []
        if operator in ("In", "NotIn"):
            if not values:
                said = "must be specified when `operator` is 'In' or 'NotIn'"
                yield required(f"{here}.values", said)
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                said = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                yield forbidden(f"{here}.values", said)
        else:
            yield invalid(f"{here}.operator", operator, "not a valid selector operator")
        yield from _key(f"{here}.key", asked.get("key") or "")


def _domains(path: str, count: int | None, action: str) -> Iterator[FieldError]:
    if count is None:
        return
    if count <= 0:
        yield invalid(path, count, "must be greater than zero")
    if action != "DoNotSchedule":
        said = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        yield invalid(path, count, said)


def _node_affinity(path: str, found: Json) -> Iterator[FieldError]:
    if (selector := found.get(_REQUIRED)) is not None:
        terms = selector.get("nodeSelectorTerms") or []
        if not terms:
            said = "must have at least one node selector term"
            yield required(f"{path}.{_REQUIRED}.nodeSelectorTerms", said)
        for index, term in enumerate(terms):
            yield from _node_term(f"{path}.{_REQUIRED}.nodeSelectorTerms[{index}]", term)
    for index, preferred in enumerate(found.get(_PREFERRED) or ()):
        here = f"{path}.{_PREFERRED}[{index}]"
        yield from _weight(f"{here}.weight", preferred.get("weight") or 0)
        yield from _node_term(f"{here}.preference", preferred.get("preference") or {})


def _node_term(path: str, term: Json) -> Iterator[FieldError]:
    for index, asked in enumerate(term.get("matchExpressions") or ()):
        here = f"{path}.matchExpressions[{index}]"
        operator, values = asked.get("operator") or "", asked.get("values") or []
        if operator in ("In", "NotIn"):
            if not values:
                said = "must be specified when `operator` is 'In' or 'NotIn'"
                yield required(f"{here}.values", said)
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                said = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                yield forbidden(f"{here}.values", said)
        elif operator in ("Gt", "Lt"):
            if len(values) != 1:
                said = "must be specified single value when `operator` is 'Lt' or 'Gt'"
                yield required(f"{here}.values", said)
        else:
            yield invalid(f"{here}.operator", operator, "not a valid selector operator")
        yield from _key(f"{here}.key", asked.get("key") or "")
        for at, value in enumerate(values):
            for problem in names.label_value(value):
                yield invalid(f"{here}.values[{at}]", value, problem)
    for index, asked in enumerate(term.get("matchFields") or ()):
        yield from _node_field(f"{path}.matchFields[{index}]", asked)


def _node_field(path: str, asked: Json) -> Iterator[FieldError]:
    operator, values = asked.get("operator") or "", asked.get("values") or []
    if operator not in ("In", "NotIn"):
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        said = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(f"{path}.values", said)
    if (key := asked.get("key") or "") != "metadata.name":
        yield invalid(f"{path}.key", key, "not a valid field selector key")


def _pod_affinity(path: str, found: Json) -> Iterator[FieldError]:
    for index, term in enumerate(found.get(_REQUIRED) or ()):
        yield from _pod_term(f"{path}.{_REQUIRED}[{index}]", term)
    for index, preferred in enumerate(found.get(_PREFERRED) or ()):
        here = f"{path}.{_PREFERRED}[{index}]"
        yield from _weight(f"{here}.weight", preferred.get("weight") or 0)
        yield from _pod_term(f"{here}.podAffinityTerm", preferred.get("podAffinityTerm") or {})


def _pod_term(path: str, term: Json) -> Iterator[FieldError]:
    yield from label_selector(f"{path}.labelSelector", term.get("labelSelector") or {})
    yield from label_selector(f"{path}.namespaceSelector", term.get("namespaceSelector") or {})
    for index, namespace in enumerate(term.get("namespaces") or ()):
        for problem in names.label(namespace, "characters"):
            yield invalid(f"{path}.namespace[{index}]", namespace, problem)
    key = term.get("topologyKey") or ""
    if not key:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from _key(f"{path}.topologyKey", key)


def _key(path: str, key: str) -> Iterator[FieldError]:
    yield from (invalid(path, key, problem) for problem in names.qualified_name(key))


def _weight(path: str, weight: int) -> Iterator[FieldError]:
    if not 1 <= weight <= 100:
        yield invalid(path, weight, "must be in the range 1-100")
