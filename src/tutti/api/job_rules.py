"""What a Job and a CronJob must look like, and what of them may change."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Iterator
from typing import Any, Final

from tutti.api import names, pod_rules, schedules, selectors
from tutti.api.affinity_rules import label_selector
from tutti.api.errors import (
    OMITTED,
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from tutti.api.gates import WORKLOAD_WITH_JOB, Gates
from tutti.api.rules import Rule, Struct, Walk
from tutti.api.scheduling_rules import CLAIM, CONSTRAINTS, DISRUPTION, at_least_one

Json = dict[str, Any]

_MOST_INDEXED: Final = 100_000
_MOST_WITH_LIMIT_PER_INDEX: Final = 10_000
_MOST_RULES: Final = 20
_MOST_EXIT_CODES: Final = 255
_LONGEST_MANAGER: Final = 63
_LONGEST_INDEXES: Final = 64 * 1024
_LONGEST_CRON_NAME: Final = 52
_IMMUTABLE: Final = (
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)
_NONNEGATIVE: Final = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")

_SCHEDULING: Final = Struct(
    fields=(
        Rule(
            "schedulingPolicy",
            settled=True,
            inside=Struct(
                union=("basic", "gang"),
                fields=(
                    Rule("basic", inside=Struct()),
                    Rule(
                        "gang",
                        inside=Struct(fields=(Rule("minCount", pointer=True, check=at_least_one),)),
                    ),
                ),
            ),
        ),
        Rule("schedulingConstraints", immutable=True, inside=CONSTRAINTS),
        Rule("disruptionMode", immutable=True, inside=DISRUPTION),
        Rule("resourceClaims", immutable=True, most=4, key="name", inside=CLAIM),
    )
)
_SPEC: Final = Struct(
    fields=(Rule("scheduling", gate=WORKLOAD_WITH_JOB, settled=True, inside=_SCHEDULING),)
)


def job(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    spec, metadata = new["spec"], new["metadata"]
    if old is None and not spec.get("manualSelector") and spec.get("selector") is not None:
        yield from _generated_selector(new)
    yield from _spec(spec, "spec")
    yield from _selector(spec)
    if old is not None:
        yield from _changes(spec, old["spec"], old.get("status") or {})
    completions = spec.get("completions") or 0
    if spec.get("completionMode") == "Indexed" and completions > 0:
        longest = f"{metadata.get('name', '')}-{completions - 1}"
        if names.label(longest):
            said = f"will not able to create pod with invalid DNS label: {longest}"
            yield invalid("metadata.name", metadata.get("name"), said)
    walk = Walk(gates, update=old is not None)
    yield from walk.struct(_SPEC, "spec", spec, old["spec"] if old else None)


def cron_job(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    spec, before = new["spec"], (old or {}).get("spec") or {}
    yield from _schedule(spec, before)
    deadline = spec.get("startingDeadlineSeconds")
    yield from _nonnegative("spec.startingDeadlineSeconds", deadline)
    if old is None or spec.get("timeZone") != before.get("timeZone"):
        yield from _time_zone("spec.timeZone", spec.get("timeZone"))
    policy = spec.get("concurrencyPolicy") or ""
    if policy not in ("Allow", "Forbid", "Replace"):
        yield not_supported("spec.concurrencyPolicy", policy, ("Allow", "Forbid", "Replace"))
    path, inner = "spec.jobTemplate.spec", spec["jobTemplate"]["spec"]
    yield from _spec(inner, path)
    if inner.get("selector") is not None:
        said = "`selector` will be auto-generated"
        yield invalid(f"{path}.selector", inner["selector"], said)
    if inner.get("manualSelector"):
        yield not_supported(f"{path}.manualSelector", True, ("nil", "false"))
    for field in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        yield from _nonnegative(f"spec.{field}", spec.get(field))
    name = new["metadata"].get("name") or ""
    if old is None and len(name) > _LONGEST_CRON_NAME:
        said = f"must be no more than {_LONGEST_CRON_NAME} characters"
        yield invalid("metadata.name", name, said)
    if not spec.get("schedule"):
        yield required("spec.schedule")
    walk = Walk(gates, update=old is not None)
    yield from walk.struct(_SPEC, path, inner, before["jobTemplate"]["spec"] if old else None)


# -- the spec of a Job, in a Job and in the template of a CronJob --------------------------------


def _spec(spec: Json, path: str) -> Iterator[FieldError]:
    for field in _NONNEGATIVE:
        yield from _nonnegative(f"{path}.{field}", spec.get(field))
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        yield required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    yield from _manager(f"{path}.managedBy", spec.get("managedBy"))
    indexed = spec.get("completionMode") == "Indexed"
    if spec.get("completionMode") not in (None, "Indexed", "NonIndexed"):
        supported = ("NonIndexed", "Indexed")
        yield not_supported(f"{path}.completionMode", spec["completionMode"], supported)
    elif indexed:
        yield from _indexed(spec, path)
    else:
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if (limit := spec.get(field)) is not None:
                yield invalid(f"{path}.{field}", limit, "requires indexed completion mode")
    yield from _failure_policy(spec, f"{path}.podFailurePolicy")
    if (success := spec.get("successPolicy")) is not None:
        if indexed:
            yield from _success_policy(success, spec, f"{path}.successPolicy")
        else:
            said = "requires indexed completion mode"
            yield invalid(f"{path}.successPolicy", success, said)
    yield from _replacement_policy(spec, f"{path}.podReplacementPolicy")
    yield from _gang(spec, f"{path}.scheduling")
    yield from pod_rules.template(f"{path}.template", spec.get("template") or {})
    yield from _restart_policy(spec, f"{path}.template.spec.restartPolicy")


def _indexed(spec: Json, path: str) -> Iterator[FieldError]:
    completions, parallelism = spec.get("completions"), spec.get("parallelism") or 0
    failed = spec.get("maxFailedIndexes")
    if completions is None:
        yield required(f"{path}.completions", "when completion mode is Indexed")
    if parallelism > _MOST_INDEXED:
        said = f"must be less than or equal to {_MOST_INDEXED} when completion mode is Indexed"
        yield invalid(f"{path}.parallelism", parallelism, said)
    if completions is not None and failed is not None and failed > completions:
        said = "must be less than or equal to completions"
        yield invalid(f"{path}.maxFailedIndexes", failed, said)
    if failed is not None and failed > _MOST_INDEXED:
        said = f"must be less than or equal to {_MOST_INDEXED}"
        yield invalid(f"{path}.maxFailedIndexes", failed, said)
    many = completions is not None and completions > _MOST_INDEXED
    if not many or spec.get("backoffLimitPerIndex") is None:
        return
    if failed is None:
        said = f"must be specified when completions is above {_MOST_INDEXED}"
        yield required(f"{path}.maxFailedIndexes", said)
    said = (
        f"must be less than or equal to {_MOST_WITH_LIMIT_PER_INDEX} when completions are above "
        f"{_MOST_INDEXED} and used with backoff limit per index"
    )
    if parallelism > _MOST_WITH_LIMIT_PER_INDEX:
        yield invalid(f"{path}.parallelism", parallelism, said)
    if failed is not None and failed > _MOST_WITH_LIMIT_PER_INDEX:
        yield invalid(f"{path}.maxFailedIndexes", failed, said)


def _gang(spec: Json, path: str) -> Iterator[FieldError]:
    """What a Job's gang and its parallelism must agree about, on every write."""
    scheduling = spec.get("scheduling") or {}
    policy = scheduling.get("schedulingPolicy") or {}
    count = (policy.get("gang") or {}).get("minCount")
    parallelism = 1 if spec.get("parallelism") is None else spec["parallelism"]
    if count is not None and count > parallelism:
        said = f"must not be greater than parallelism ({parallelism})"
        yield invalid(f"{path}.schedulingPolicy.gang.minCount", count, said)
    mode = scheduling.get("disruptionMode") or {}
    if list(mode) == ["all"] and policy.get("gang") is None:
        said = "the disruptionMode `all` is not supported with the Basic scheduling policy"
        yield invalid(f"{path}.disruptionMode", "", said)


def _failure_policy(spec: Json, path: str) -> Iterator[FieldError]:
    rules = (spec.get("podFailurePolicy") or {}).get("rules") or []
    if len(rules) > _MOST_RULES:
        yield too_many(f"{path}.rules", len(rules), _MOST_RULES)
    inside = (spec.get("template") or {}).get("spec") or {}
    containers = {
        container.get("name")
        for field in ("containers", "initContainers")
        for container in inside.get(field) or ()
    }
    for index, rule in enumerate(rules):
        yield from _failure_rule(spec, rule, f"{path}.rules[{index}]", containers)


def _failure_rule(spec: Json, rule: Json, path: str, containers: set[Any]) -> Iterator[FieldError]:
    action = rule.get("action") or ""
    if not action:
        yield required(f"{path}.action", f"valid values: {_quoted(_ACTIONS)}")
    elif action == "FailIndex":
        if spec.get("backoffLimitPerIndex") is None:
            said = "requires the backoffLimitPerIndex to be set"
            yield invalid(f"{path}.action", action, said)
    elif action not in _ACTIONS:
        yield not_supported(f"{path}.action", action, _ACTIONS)
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or []
    if codes is not None:
        yield from _exit_codes(codes, f"{path}.onExitCodes", containers)
    if len(conditions) > _MOST_RULES:
        yield too_many(f"{path}.onPodConditions", len(conditions), _MOST_RULES)
    for index, pattern in enumerate(conditions):
        yield from _pod_condition(pattern, f"{path}.onPodConditions[{index}]")
    if codes is not None and conditions:
        said = "specifying both OnExitCodes and OnPodConditions is not supported"
        yield invalid(path, OMITTED, said)
    if codes is None and not conditions:
        said = "specifying one of OnExitCodes and OnPodConditions is required"
        yield invalid(path, OMITTED, said)


def _exit_codes(codes: Json, path: str, containers: set[Any]) -> Iterator[FieldError]:
    operator, values = codes.get("operator") or "", codes.get("values") or []
    if not operator:
        yield required(f"{path}.operator", f"valid values: {_quoted(('In', 'NotIn'))}")
    elif operator not in ("In", "NotIn"):
        yield not_supported(f"{path}.operator", operator, ("In", "NotIn"))
    name = codes.get("containerName")
    if name is not None and name not in containers:
        said = "must be one of the container or initContainer names in the pod template"
        yield invalid(f"{path}.containerName", name, said)
    if not values:
        yield invalid(f"{path}.values", values, "at least one value is required")
    elif len(values) > _MOST_EXIT_CODES:
        yield too_many(f"{path}.values", len(values), _MOST_EXIT_CODES)
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            said = "must not be 0 for the In operator"
            yield invalid(f"{path}.values[{index}]", value, said)
        if value in values[:index]:
            yield duplicate(f"{path}.values[{index}]", value)
    if values != sorted(values):
        yield invalid(f"{path}.values", values, "must be ordered")


def _pod_condition(pattern: Json, path: str) -> Iterator[FieldError]:
    kind, status = pattern.get("type") or "", pattern.get("status") or ""
    yield from (invalid(f"{path}.type", kind, problem) for problem in names.qualified_name(kind))
    if status not in ("False", "True", "Unknown"):
        yield not_supported(f"{path}.status", status, ("False", "True", "Unknown"))


def _success_policy(policy: Json, spec: Json, path: str) -> Iterator[FieldError]:
    rules = policy.get("rules") or []
    if not rules:
        said = "at least one rules must be specified when the successPolicy is specified"
        yield required(f"{path}.rules", said)
    if len(rules) > _MOST_RULES:
        yield too_many(f"{path}.rules", len(rules), _MOST_RULES)
    for index, rule in enumerate(rules):
        yield from _success_rule(rule, spec.get("completions") or 0, f"{path}.rules[{index}]")


def _success_rule(rule: Json, completions: int, path: str) -> Iterator[FieldError]:
    indexes, count = rule.get("succeededIndexes"), rule.get("succeededCount")
    if indexes is None and count is None:
        said = "at least one of succeededCount or succeededIndexes must be specified"
        yield required(path, said)
    named = 0
    if indexes is not None:
        if len(indexes) > _LONGEST_INDEXES:
            yield too_long(f"{path}.succeededIndexes", _LONGEST_INDEXES)
        try:
            named = _count_indexes(indexes, completions)
        except ValueError as error:
            said = f"error parsing succeededIndexes: {error}"
            yield invalid(f"{path}.succeededIndexes", indexes, said)
    if count is None:
        return
    yield from _nonnegative(f"{path}.succeededCount", count)
    if count > completions:
        said = f"must be less than or equal to {completions} (the number of specified completions)"
        yield invalid(f"{path}.succeededCount", count, said)
    if indexes is not None and count > named:
        said = (
            f"must be less than or equal to {named} "
            "(the number of indexes in the specified succeededIndexes field)"
        )
        yield invalid(f"{path}.succeededCount", count, said)


def _count_indexes(text: str, completions: int) -> int:
    """How many indexes `0-3,5` names. Raises ValueError with the reason."""
    total, last = 0, -1
    for interval in text.split(",") if text else ():
        parts = interval.split("-")
        if len(parts) > 2:
            raise ValueError(
                f'the fragment "{interval}" violates the requirement that an index interval '
                "can have at most two parts separated by '-'"
            )
        first, end = _index(parts[0], completions), _index(parts[-1], completions)
        if len(parts) == 2 and first >= end:
            raise ValueError(f"non-increasing order, previous: {first}, current: {end}")
        if last >= first:
            raise ValueError(f"non-increasing order, previous: {last}, current: {first}")
        total, last = total + end - first + 1, end
    return total


def _index(text: str, completions: int) -> int:
    if not re.fullmatch(r"[-+]?[0-9]+", text):
        raise ValueError(f'cannot convert string to integer for index: "{text}"')
    if int(text) >= completions:
        raise ValueError(f'too large index: "{text}"')
    return int(text)


def _replacement_policy(spec: Json, path: str) -> Iterator[FieldError]:
    policy = spec.get("podReplacementPolicy")
    judged = spec.get("podFailurePolicy") is not None
    supported = ("Failed",) if judged else ("Failed", "TerminatingOrFailed")
    if policy is not None and policy not in supported:
        yield not_supported(path, policy, supported)


def _restart_policy(spec: Json, path: str) -> Iterator[FieldError]:
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy") or ""
    if policy in ("", "Always"):
        yield required(path, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        yield not_supported(path, policy, ("OnFailure", "Never"))
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        said = 'only "Never" is supported when podFailurePolicy is specified'
        yield invalid(path, policy, said)


def _manager(path: str, manager: str | None) -> Iterator[FieldError]:
    """`example.com/controller`: who runs this Job."""
    if manager is None:
        return
    domain, slash, rest = manager.partition("/")
    if not manager:
        yield required(path)
    elif not slash or not domain or not rest:
        said = 'must be a domain-prefixed path (such as "acme.io/foo")'
        yield invalid(path, manager, said)
    else:
        yield from (
            invalid(path, domain, problem) for problem in names.subdomain(domain, "characters")
        )
    if len(manager) > _LONGEST_MANAGER:
        yield too_long(path, _LONGEST_MANAGER)


# -- what selects a Job's pods, and what may change ------------------------------------------------


def _generated_selector(new: Json) -> Iterator[FieldError]:
    """The labels that the server gave the template must be there, whatever the client sent."""
    metadata, spec = new["metadata"], new["spec"]
    uid, name = metadata.get("uid") or "", metadata.get("name") or ""
    found = _labels(spec) or {}
    expected = {
        "controller-uid": uid,
        "job-name": name,
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
    }
    for label, value in expected.items():
        path = f"spec.template.metadata.labels[{label}]"
        if label not in found:
            yield required(path, f"must be '{value}'")
        elif found[label] != value:
            yield invalid(path, found, f"must be '{value}'")
    if not selectors.from_label_selector(spec["selector"]).matches(expected):
        yield invalid("spec.selector", spec["selector"], "`selector` not auto-generated")


def _selector(spec: Json) -> Iterator[FieldError]:
    selector = spec.get("selector")
    if selector is None:
        yield required("spec.selector")
    problems = list(label_selector("spec.selector", selector or {}))
    yield from problems
    found = _labels(spec)
    if not problems and not selectors.from_label_selector(selector).matches(found):
        said = "`selector` does not match template `labels`"
        yield invalid("spec.template.metadata.labels", found, said)


def _labels(spec: Json) -> Json | None:
    """The labels of the pod template, in order; None where there are none."""
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    return dict(sorted(labels.items())) or None


def _changes(new: Json, old: Json, status: Json) -> Iterator[FieldError]:
    if new.get("completions") != old.get("completions"):
        if new.get("completionMode") != "Indexed":
            yield invalid("spec.completions", new.get("completions"), "field is immutable")
        elif new.get("completions") not in (None, new.get("parallelism")):
            said = "can only be modified in tandem with spec.parallelism"
            yield invalid("spec.completions", new["completions"], said)
    if new.get("selector") != old.get("selector"):
        yield invalid("spec.selector", new.get("selector"), "field is immutable")
    yield from _template_changes(new, old, status)
    for field in _IMMUTABLE:
        if new.get(field) != old.get(field):
            yield invalid(f"spec.{field}", new.get(field), "field is immutable")
    yield from _policy_changes(new, old)


def _template_changes(new: Json, old: Json, status: Json) -> Iterator[FieldError]:
    """A suspended Job's template can be steered elsewhere and resized, but not made another."""
    ours, theirs = new.get("template") or {}, old.get("template") or {}
    if not old.get("suspend"):
        if ours != theirs:
            yield invalid("spec.template", ours, "field is immutable")
        return
    if status.get("active"):
        steered = theirs
    else:
        steered = _steered(theirs, ours)
        if {**ours, "spec": None} != {**steered, "spec": None}:
            yield invalid("spec.template", ours, "field is immutable")
    if ours.get("spec") != _resized(steered.get("spec") or {}, ours.get("spec") or {}):
        yield invalid("spec.template.spec", ours.get("spec"), "field is immutable")


def _steered(old: Json, new: Json) -> Json:
    """The old template with the scheduling directives of the new one."""
    spec, wanted = dict(old.get("spec") or {}), new.get("spec") or {}
    for field in ("nodeSelector", "tolerations", "schedulingGates"):
        _take(spec, wanted, field)
    affinity, wanted_affinity = dict(spec.get("affinity") or {}), wanted.get("affinity") or {}
    _take(affinity, wanted_affinity, "nodeAffinity")
    if affinity or wanted.get("affinity") is not None:
        spec["affinity"] = affinity
    else:
        spec.pop("affinity", None)
    metadata = dict(old.get("metadata") or {})
    for field in ("labels", "annotations"):
        _take(metadata, new.get("metadata") or {}, field)
    return {**old, "metadata": metadata, "spec": spec}


def _resized(old: Json, new: Json) -> Json:
    """The old spec with the resources of the new one's containers of the same names."""
    spec = dict(old)
    for field in ("containers", "initContainers"):
        ours, theirs = new.get(field) or [], old.get(field) or []
        if [c.get("name") for c in ours] == [c.get("name") for c in theirs] and theirs:
            spec[field] = [
                {**their, "resources": our.get("resources", {})}
                for our, their in zip(ours, theirs, strict=True)
            ]
    return spec


def _policy_changes(new: Json, old: Json) -> Iterator[FieldError]:
    ours, theirs = ((spec.get("scheduling") or {}).get("schedulingPolicy") for spec in (new, old))
    if ours is None or theirs is None:
        return
    if (ours.get("basic") is None) != (theirs.get("basic") is None):
        said = (
            "the basic/gang policy variant is immutable after creation; "
            "only schedulingPolicy.gang.minCount may be updated"
        )
        yield invalid("spec.scheduling.schedulingPolicy", None, said)


def _take(to: Json, source: Json, field: str) -> None:
    if field in source:
        to[field] = source[field]
    else:
        to.pop(field, None)


# -- a CronJob's own -------------------------------------------------------------------------------


def _schedule(spec: Json, before: Json) -> Iterator[FieldError]:
    path, schedule = "spec.schedule", spec.get("schedule") or ""
    if not schedule:
        return  # said at the end: the newer rules come last
    try:
        schedules.parse(schedule)
    except ValueError as error:
        yield invalid(path, schedule, str(error))
    if "TZ" not in schedule:
        return
    if "TZ" not in (before.get("schedule") or ""):
        said = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        yield invalid(path, schedule, said)
    elif spec.get("timeZone") is not None:
        said = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
        yield invalid(path, schedule, said)


def _time_zone(path: str, zone: str | None) -> Iterator[FieldError]:
    if zone is None:
        return
    if not zone:
        yield invalid(path, zone, "timeZone must be nil or non-empty string")
        return
    if zone.lower() == "local":
        said = (
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
        yield invalid(path, zone, said)
    if zone == "Local":  # Go knows this one
        return
    try:
        zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        yield invalid(path, zone, f"unknown time zone {zone}")


def _nonnegative(path: str, value: int | None) -> Iterator[FieldError]:
    if value is not None and value < 0:
        yield invalid(path, value, "must be greater than or equal to 0")


def _quoted(values: tuple[str, ...]) -> str:
    """As Go prints a list of strings."""
    inside = " ".join(f'"{value}"' for value in values)
    return f"[{inside}]"
