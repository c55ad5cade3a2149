"""What a pod must look like, and what of it may change: the rules that people meet.

Kinds of mistakes that only kubelets or storage drivers care about are not looked for here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from tutti.api import names, quantity
from tutti.api.affinity_rules import affinity, topology_spread
from tutti.api.errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from tutti.api.gates import Gates
from tutti.api.metadata_rules import annotation_map, label_map

Json = dict[str, Any]

TAINT_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
_PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_DNS_POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_MESSAGE_POLICIES: Final = ("File", "FallbackToLogsOnError")
_OPERATORS: Final = ("Equal", "Exists")
_STANDARD_RESOURCES: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_KNOWN_RESOURCES: Final = _STANDARD_RESOURCES | {"storage", "pods", "services", "secrets"}
_UPDATABLE: Final = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_MOST_SECONDS: Final = 2**31 - 1


def created(pod: Json, gates: Gates) -> Iterator[FieldError]:
    spec = pod["spec"]
    yield from _spec(spec)
    if spec.get("ephemeralContainers"):
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        said = "cannot be set until all schedulingGates have been cleared"
        yield forbidden("spec.nodeName", said)


def template(path: str, found: Json) -> Iterator[FieldError]:
    """A template of pods, at this path of another kind's object."""
    metadata, spec = found.get("metadata") or {}, found.get("spec") or {}
    yield from label_map(f"{path}.labels", metadata.get("labels") or {})
    yield from annotation_map(f"{path}.annotations", metadata.get("annotations") or {})
    for error in _spec(spec):
        yield replace(error, field=f"{path}.{error.field}")
    if spec.get("ephemeralContainers"):
        said = "ephemeral containers not allowed in pod template"
        yield forbidden(f"{path}.spec.ephemeralContainers", said)


def updated(new: Json, old: Json, gates: Gates) -> Iterator[FieldError]:
    """An update of the pod itself: nearly all of a pod is settled when it is made."""
    ours, theirs = new["spec"], old["spec"]
    if ours == theirs:
        return
    yield from _spec(ours)
    for field in ("containers", "initContainers"):
        if len(ours.get(field) or ()) != len(theirs.get(field) or ()):
            yield forbidden(f"spec.{field}", "pod updates may not add or remove containers")
            return
    yield from _deadline(ours.get("activeDeadlineSeconds"), theirs.get("activeDeadlineSeconds"))
    yield from _tolerations_only_added(ours, theirs)
    yield from _gates_only_removed(ours, theirs)
    comparable = _with_what_may_change(ours, theirs)
    if theirs.get("schedulingGates"):
        yield from _node_selector_only_narrowed(ours, theirs)
        comparable["nodeSelector"] = theirs.get("nodeSelector")
        comparable["affinity"] = _with_node_affinity_of(ours, theirs)
    if changed := _changed(comparable, theirs):
        shown = "\n".join(changed)
        yield forbidden(
            "spec", f"pod updates may not change fields other than {_UPDATABLE}\n{shown}\n"
        )


def status_updated(new: Json, old: Json, gates: Gates) -> Iterator[FieldError]:
    ours, theirs = new.get("status") or {}, old.get("status") or {}
    seen: set[str] = set()
    for index, condition in enumerate(ours.get("conditions") or ()):
        if (kind := condition.get("type") or "") in seen:
            yield duplicate(f"status.conditions[{index}].type", kind)
        seen.add(kind)
    nominated = ours.get("nominatedNodeName") or ""
    if nominated and nominated != theirs.get("nominatedNodeName"):
        for problem in names.subdomain(nominated, "characters"):
            yield invalid("status.nominatedNodeName", nominated, problem)
        if old["spec"].get("nodeName"):
            said = "may not be set on pods that are already bound to a node"
            yield forbidden("status.nominatedNodeName", said)
    if ours.get("qosClass") not in (None, theirs.get("qosClass")):
        yield invalid("status.qosClass", ours["qosClass"], "field is immutable")


def bound(binding: Json) -> Iterator[FieldError]:
    """A Binding: it names a node."""
    target = binding.get("target") or {}
    kind, name = target.get("kind") or "", target.get("name") or ""
    if kind not in ("", "Node"):
        yield not_supported("target.kind", kind, ("Node", "<empty>"))
    if not name:
        yield required("target.name")
    elif kind in ("", "Node"):
        yield from (invalid("target.name", name, p) for p in names.subdomain(name, "characters"))


def taint_effect(path: str, effect: str) -> Iterator[FieldError]:
    if effect not in TAINT_EFFECTS:
        yield not_supported(path, effect, TAINT_EFFECTS)


# -- the spec --------------------------------------------------------------------------------------


def _spec(spec: Json) -> Iterator[FieldError]:
    volumes: set[str] = set()
    yield from _volumes(spec.get("volumes") or [], volumes)
    claims = {claim.get("name") for claim in spec.get("resourceClaims") or ()}
    containers = spec.get("containers") or []
    if not containers:
        yield required("spec.containers")
    seen: set[str] = set()
    for index, container in enumerate(containers):
        yield from _container(f"spec.containers[{index}]", container, seen, volumes, claims)
    yield from _host_ports("spec.containers", containers)
    for index, container in enumerate(spec.get("initContainers") or ()):
        path = f"spec.initContainers[{index}]"
        yield from _container(path, container, seen, volumes, claims)
        yield from _init_container(path, container)
    if spec.get("resources"):
        yield from _resources("spec.resources", spec["resources"], claims, of_pod=True)
    yield from _one_of("spec.restartPolicy", spec.get("restartPolicy"), _RESTART_POLICIES)
    yield from _one_of("spec.dnsPolicy", spec.get("dnsPolicy"), _DNS_POLICIES)
    yield from label_map("spec.nodeSelector", spec.get("nodeSelector") or {})
    yield from affinity("spec.affinity", spec.get("affinity") or {})
    yield from _gates(spec.get("schedulingGates") or [])
    yield from topology_spread(spec.get("topologySpreadConstraints") or [])
    yield from _names(spec)
    yield from _tolerations(spec.get("tolerations") or [])
    yield from _group(spec)


def _names(spec: Json) -> Iterator[FieldError]:
    for field in ("serviceAccountName", "nodeName"):
        if value := spec.get(field):
            yield from (invalid(f"spec.{field}", value, p) for p in _subdomain(value))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _MOST_SECONDS:
        said = f"must be between 1 and {_MOST_SECONDS}, inclusive"
        yield invalid("spec.activeDeadlineSeconds", deadline, said)
    for field in ("hostname", "subdomain"):
        if value := spec.get(field):
            yield from (
                invalid(f"spec.{field}", value, p) for p in names.label(value, "characters")
            )
    for field in ("priorityClassName", "runtimeClassName"):
        if value := spec.get(field):
            yield from (invalid(f"spec.{field}", value, p) for p in _subdomain(value))
    policy = spec.get("preemptionPolicy")
    if policy is not None and policy not in ("Never", "PreemptLowerPriority"):
        yield not_supported("spec.preemptionPolicy", policy, ("PreemptLowerPriority", "Never"))


def _subdomain(name: str) -> tuple[str, ...]:
    return names.subdomain(name, "characters")


def _group(spec: Json) -> Iterator[FieldError]:
    group = spec.get("schedulingGroup")
    if group is None:
        return
    path, name = "spec.schedulingGroup.podGroupName", group.get("podGroupName")
    if name is None:
        yield invalid(path, None, "must specify one of: `podGroupName`")
        return
    yield from (invalid(path, name, problem) for problem in _subdomain(name))
    if spec.get("evictionResponders"):
        said = "may not be set when evictionResponders is set"
        yield forbidden("spec.schedulingGroup", said)


def _gates(found: list[Json]) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, gate in enumerate(found):
        path, name = f"spec.schedulingGates[{index}]", gate.get("name") or ""
        yield from (invalid(path, name, problem) for problem in names.qualified_name(name))
        if name in seen:
            yield duplicate(path, name)
        seen.add(name)


def _tolerations(found: list[Json]) -> Iterator[FieldError]:
    for index, toleration in enumerate(found):
        path = f"spec.tolerations[{index}]"
        key, operator = toleration.get("key") or "", toleration.get("operator") or ""
        value, effect = toleration.get("value") or "", toleration.get("effect") or ""
        for problem in names.qualified_name(key) if key else ():
            yield invalid(f"{path}.key", key, problem)
        if not key and operator != "Exists":
            said = (
                "operator must be Exists when `key` is empty, "
                'which means "match all values and all keys"'
            )
            yield invalid(f"{path}.operator", operator, said)
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            said = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield invalid(f"{path}.effect", effect, said)
        if operator in ("Equal", ""):
            if problems := names.label_value(value):
                yield invalid(f"{path}.operator", value, ";".join(problems))
        elif operator == "Exists":
            if value:
                said = "value must be empty when `operator` is 'Exists'"
                yield invalid(f"{path}.operator", value, said)
        elif operator in ("Lt", "Gt"):
            yield not_supported(f"{path}.operator", operator, (*_OPERATORS, "Lt", "Gt"))
        else:
            yield not_supported(f"{path}.operator", operator, _OPERATORS)
        if effect:
            yield from taint_effect(f"{path}.effect", effect)


def _one_of(path: str, value: str | None, supported: tuple[str, ...]) -> Iterator[FieldError]:
    if not value:
        yield required(path)
    elif value not in supported:
        yield not_supported(path, value, supported)


# -- containers and volumes ------------------------------------------------------------------------


def _volumes(volumes: list[Json], good: set[str]) -> Iterator[FieldError]:
    """Fills `good` with the names that containers may mount."""
    for index, volume in enumerate(volumes):
        path, name = f"spec.volumes[{index}]", volume.get("name") or ""
        problems: list[FieldError] = []
        sources = [
            field for field, value in volume.items() if field != "name" and value is not None
        ]
        if not sources:
            problems.append(required(path, "must specify a volume type"))
        problems += [
            forbidden(f"{path}.{source}", "may not specify more than 1 volume type")
            for source in sources[1:]
        ]
        problems += _label(f"{path}.name", name)
        if name in good:
            problems.append(duplicate(f"{path}.name", name))
        if not problems:
            good.add(name)
        yield from problems


def _label(path: str, name: str) -> list[FieldError]:
    if not name:
        return [required(path)]
    return [invalid(path, name, problem) for problem in names.label(name, "characters")]


def _container(
    path: str, container: Json, seen: set[str], volumes: set[str], claims: set[Any]
) -> Iterator[FieldError]:
    name, image = container.get("name") or "", container.get("image") or ""
    yield from _label(f"{path}.name", name)
    if not image:
        yield required(f"{path}.image")
    policy = container.get("terminationMessagePolicy")
    yield from _one_of(f"{path}.terminationMessagePolicy", policy, _MESSAGE_POLICIES)
    yield from _ports(f"{path}.ports", container.get("ports") or [])
    yield from _environment(f"{path}.env", container.get("env") or [])
    yield from _mounts(f"{path}.volumeMounts", container.get("volumeMounts") or [], volumes)
    pulled = container.get("imagePullPolicy")
    yield from _one_of(f"{path}.imagePullPolicy", pulled, _PULL_POLICIES)
    yield from _resources(f"{path}.resources", container.get("resources") or {}, claims)
    if name in seen:
        yield duplicate(f"{path}.name", name)
    seen.add(name)
    if image != image.strip():
        yield invalid(f"{path}.image", image, "must not have leading or trailing whitespace")


def _init_container(path: str, container: Json) -> Iterator[FieldError]:
    policy = container.get("restartPolicy")
    if policy is not None and policy not in _RESTART_POLICIES:
        yield not_supported(f"{path}.restartPolicy", policy, ("Always", "Never", "OnFailure"))
    if policy == "Always":
        return
    for field in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(field) is not None:
            said = "may not be set for init containers without restartPolicy=Always"
            yield forbidden(f"{path}.{field}", said)


def _ports(path: str, ports: list[Json]) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, port in enumerate(ports):
        here = f"{path}[{index}]"
        if name := port.get("name"):
            problems = names.port_name(name)
            yield from (invalid(f"{here}.name", name, problem) for problem in problems)
            if not problems and name in seen:
                yield duplicate(f"{here}.name", name)
            seen.add(name)
        number = port.get("containerPort") or 0
        if not number:
            yield required(f"{here}.containerPort")
        yield from _port_number(f"{here}.containerPort", number)
        yield from _port_number(f"{here}.hostPort", port.get("hostPort") or 0)
        protocol = port.get("protocol")
        yield from _one_of(f"{here}.protocol", protocol, _PROTOCOLS)


def _port_number(path: str, number: int) -> Iterator[FieldError]:
    if number and not 1 <= number <= 65535:
        yield invalid(path, number, "must be between 1 and 65535, inclusive")


def _host_ports(path: str, containers: list[Json]) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, container in enumerate(containers):
        for at, port in enumerate(container.get("ports") or ()):
            if not port.get("hostPort"):
                continue
            place = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if place in seen:
                yield duplicate(f"{path}[{index}].ports[{at}].hostPort", place)
            seen.add(place)


def _environment(path: str, variables: list[Json]) -> Iterator[FieldError]:
    for index, variable in enumerate(variables):
        here, name = f"{path}[{index}]", variable.get("name") or ""
        if not name:
            yield required(f"{here}.name")
        for problem in names.environment_name(name) if name else ():
            yield invalid(f"{here}.name", name, problem)
        if variable.get("value") and variable.get("valueFrom"):
            said = "may not be specified when `value` is not empty"
            yield invalid(f"{here}.valueFrom", "", said)


def _mounts(path: str, mounts: list[Json], volumes: set[str]) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, mount in enumerate(mounts):
        here, name = f"{path}[{index}]", mount.get("name") or ""
        if not name:
            yield required(f"{here}.name")
        if name not in volumes:
            yield not_found(f"{here}.name", name)
        place = mount.get("mountPath") or ""
        if not place:
            yield required(f"{here}.mountPath")
        if place in seen:
            yield invalid(f"{here}.mountPath", place, "must be unique")
        seen.add(place)


def _resources(
    path: str, resources: Json, claims: set[Any], *, of_pod: bool = False
) -> Iterator[FieldError]:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, amount in limits.items():
        yield from _resource(f"{path}.limits[{name}]", name, amount, of_pod=of_pod)
    for name, amount in requests.items():
        yield from _resource(f"{path}.requests[{name}]", name, amount, of_pod=of_pod)
        yield from _within_limit(path, name, amount, limits)
    asked = {*limits, *requests}
    if any(map(_is_huge_pages, asked)) and not asked & {"cpu", "memory"}:
        yield forbidden(path, "HugePages require cpu or memory")
    for index, claim in enumerate(resources.get("claims") or ()):
        if (name := claim.get("name") or "") not in claims:
            which = "" if claims else " which is empty"
            said = f"must be one of the names in pod.spec.resourceClaims{which}"
            yield not_found(f"{path}.claims[{index}]", name, said)


def _resource(path: str, name: str, amount: str, *, of_pod: bool) -> Iterator[FieldError]:
    if of_pod:
        if name not in ("cpu", "memory") and not _is_huge_pages(name):
            yield not_supported(path, name, ("cpu", "hugepages-", "memory"))
    else:
        yield from _container_resource(path, name)
    value = quantity.parse(amount)
    if value < 0:
        yield invalid(path, amount, "must be greater than or equal to 0")
    if not _is_native(name) and value.denominator != 1:
        yield invalid(path, amount, "must be an integer")


def _container_resource(path: str, name: str) -> Iterator[FieldError]:
    problems = names.qualified_name(name)
    yield from (invalid(path, name, problem) for problem in problems)
    if "/" not in name and name not in _STANDARD_RESOURCES and not _is_huge_pages(name):
        if not problems and name not in _KNOWN_RESOURCES:
            yield invalid(path, name, "must be a standard resource type or fully qualified")
        yield invalid(path, name, "must be a standard resource for containers")


def _is_huge_pages(name: str) -> bool:
    return name.startswith("hugepages-")


def _is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def _within_limit(path: str, name: str, amount: str, limits: Json) -> Iterator[FieldError]:
    """Devices and huge pages cannot be promised twice: their request is their limit."""
    overcommitted = _is_native(name) and not _is_huge_pages(name)
    if name not in limits:
        if not overcommitted:
            said = "Limit must be set for non overcommitable resources"
            yield required(f"{path}.limits", said)
        return
    asked, limit = quantity.parse(amount), quantity.parse(limits[name])
    if asked != limit and not overcommitted:
        said = f"must be equal to {name} limit of {limits[name]}"
        yield invalid(f"{path}.requests", amount, said)
    elif asked > limit:
        said = f"must be less than or equal to {name} limit of {limits[name]}"
        yield invalid(f"{path}.requests", amount, said)


# -- what may change -------------------------------------------------------------------------------


def _deadline(new: int | None, old: int | None) -> Iterator[FieldError]:
    path = "spec.activeDeadlineSeconds"
    if new is None and old is not None:
        yield invalid(path, None, "must not update from a positive integer to nil value")
    elif new is not None and old is not None and old < new:
        yield invalid(path, new, "must be less than or equal to previous value")


def _tolerations_only_added(new: Json, old: Json) -> Iterator[FieldError]:
    kept = [_without_seconds(toleration) for toleration in new.get("tolerations") or ()]
    if any(_without_seconds(old_one) not in kept for old_one in old.get("tolerations") or ()):
        said = "existing toleration can not be modified except its tolerationSeconds"
        yield forbidden("spec.tolerations", said)


def _without_seconds(toleration: Json) -> Json:
    return {field: value for field, value in toleration.items() if field != "tolerationSeconds"}


def _gates_only_removed(new: Json, old: Json) -> Iterator[FieldError]:
    before = {gate.get("name") for gate in old.get("schedulingGates") or ()}
    for index, gate in enumerate(new.get("schedulingGates") or ()):
        if gate.get("name") not in before:
            said = f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'"
            yield forbidden(f"spec.schedulingGates[{index}].name", said)


def _node_selector_only_narrowed(new: Json, old: Json) -> Iterator[FieldError]:
    ours = new.get("nodeSelector") or {}
    if any(ours.get(key) != value for key, value in (old.get("nodeSelector") or {}).items()):
        said = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield invalid("spec.nodeSelector", ours, said)


def _with_node_affinity_of(new: Json, old: Json) -> Json | None:
    """The new affinity with the old affinity to nodes, which a gated pod may still narrow."""
    merged = dict(new.get("affinity") or {})
    merged.pop("nodeAffinity", None)
    if before := (old.get("affinity") or {}).get("nodeAffinity"):
        merged["nodeAffinity"] = before
    return merged or old.get("affinity")


def _with_what_may_change(new: Json, old: Json) -> Json:
    """The new spec with the old value of everything that an update may touch."""
    spec = dict(new)
    for field in ("containers", "initContainers"):
        if spec.get(field):
            spec[field] = [
                {**ours, "image": theirs.get("image")}
                for ours, theirs in zip(spec[field], old[field], strict=True)
            ]
    for field in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        spec[field] = old.get(field)
    grace = "terminationGracePeriodSeconds"
    if (old.get(grace) or 0) < 0 and spec.get(grace) == 1:
        spec[grace] = old[grace]
    return spec


def _changed(new: Json, old: Json) -> list[str]:
    """Every field that differs, as a line with its old and one with its new value."""
    lines: list[str] = []
    for field in sorted({*new, *old}):
        before, after = old.get(field), new.get(field)
        if before == after:
            continue
        if before is not None:
            lines.append(f"- {field}: {json.dumps(before, ensure_ascii=False)}")
        if after is not None:
            lines.append(f"+ {field}: {json.dumps(after, ensure_ascii=False)}")
    return lines
