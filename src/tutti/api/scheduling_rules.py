"""What a Workload, a PodGroup, a CompositePodGroup and a PriorityClass must look like.

The tables are read by `rules.Walk`; the functions below them are the rules that look at more than one
field, and come first in every error list.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tutti.api import names
from tutti.api.errors import FieldError, duplicate, forbidden, invalid, not_supported, required
from tutti.api.gates import COMPOSITE_POD_GROUP, PREEMPTION_POLICY, TOPOLOGY, Gates
from tutti.api.metadata_rules import conditions
from tutti.api.rules import Rule, Struct, Walk

Json = dict[str, Any]

HIGHEST_USER_PRIORITY: Final = 1_000_000_000
SYSTEM_PRIORITIES: Final = {
    "system-node-critical": 2_000_001_000,
    "system-cluster-critical": 2_000_000_000,
}
PREEMPTION_POLICIES: Final = ("Never", "PreemptLowerPriority")
_DEEPEST: Final = 4
_MOST_TEMPLATES: Final = 8
_MOST_CLAIMS: Final = 4


def _long_name(path: str, value: Any) -> Iterator[FieldError]:
    yield from (invalid(path, value, problem) for problem in names.subdomain(value))


def _short_name(path: str, value: Any) -> Iterator[FieldError]:
    yield from (invalid(path, value, problem) for problem in names.label(value))


def _label_key(path: str, value: Any) -> Iterator[FieldError]:
    yield from (invalid(path, value, problem) for problem in names.qualified_name(value))


def _path_segment(path: str, value: Any) -> Iterator[FieldError]:
    yield from (invalid(path, value, problem) for problem in names.path_segment(value))


def at_least_one(path: str, value: Any) -> Iterator[FieldError]:
    if value < 1:
        yield invalid(path, value, "must be greater than or equal to 1")


def _user_priority(path: str, value: Any) -> Iterator[FieldError]:
    if value > HIGHEST_USER_PRIORITY:
        yield invalid(path, value, f"must be less than or equal to {HIGHEST_USER_PRIORITY}")


def _preemption_policy(path: str, value: Any) -> Iterator[FieldError]:
    if value not in PREEMPTION_POLICIES:
        yield not_supported(path, value, PREEMPTION_POLICIES)


_NOTHING: Final = Struct()


def _policy(count: str) -> Struct:
    """`basic`, or `gang` with its count. The variant is settled at creation, the count is not."""
    gang = Struct(fields=(Rule(count, required=True, check=at_least_one),))
    return Struct(
        union=("basic", "gang"),
        fields=(
            Rule("basic", immutable=True, inside=_NOTHING),
            Rule("gang", settled=True, inside=gang),
        ),
    )


_POLICY: Final = _policy("minCount")
_COMPOSITE_POLICY: Final = _policy("minGroupCount")
CONSTRAINTS: Final = Struct(
    fields=(
        Rule(
            "topology",
            most=1,
            inside=Struct(fields=(Rule("key", required=True, check=_label_key),)),
        ),
    )
)
DISRUPTION: Final = Struct(union=("single", "all"))
CLAIM: Final = Struct(
    union=("resourceClaimName", "resourceClaimTemplateName"),
    fields=(
        Rule("name", required=True, check=_short_name),
        Rule("resourceClaimName", pointer=True, check=_long_name),
        Rule("resourceClaimTemplateName", pointer=True, check=_long_name),
    ),
)
_REFERENCE: Final = Struct(
    fields=(
        Rule("workloadName", required=True, check=_long_name),
        Rule("templateName", required=True, check=_short_name),
    )
)
_CLAIMS: Final = Rule("resourceClaims", immutable=True, most=_MOST_CLAIMS, key="name", inside=CLAIM)
_PRIORITY: Final = (
    Rule("priorityClassName", immutable=True, check=_long_name),
    Rule("priority", pointer=True, immutable=True, check=_user_priority),
    Rule(
        "preemptionPolicy",
        pointer=True,
        gate=PREEMPTION_POLICY,
        immutable=True,
        check=_preemption_policy,
    ),
)

_TEMPLATE: Final = Struct(
    fields=(
        Rule("name", required=True, check=_short_name),
        Rule("schedulingPolicy", inside=_POLICY),
        Rule("schedulingConstraints", gate=TOPOLOGY, immutable=True, inside=CONSTRAINTS),
        _CLAIMS,
        Rule("disruptionMode", immutable=True, inside=DISRUPTION),
        *_PRIORITY,
    )
)
_TEMPLATES: Final = Rule(
    "podGroupTemplates", most=_MOST_TEMPLATES, key="name", keeps_items=True, inside=_TEMPLATE
)
_COMPOSITE_TEMPLATE: Final = Struct(
    recursive="compositePodGroupTemplates",
    fields=(
        Rule("name", required=True, check=_short_name),
        Rule("schedulingPolicy", inside=_COMPOSITE_POLICY),
        Rule("schedulingConstraints", immutable=True, inside=CONSTRAINTS),
        Rule("disruptionMode", immutable=True, inside=DISRUPTION),
        *_PRIORITY,
        _TEMPLATES,
        Rule("compositePodGroupTemplates", most=_MOST_TEMPLATES, key="name", keeps_items=True),
    ),
)
_WORKLOAD: Final = Struct(
    union=("podGroupTemplates", "compositePodGroupTemplates"),
    fields=(
        Rule(
            "controllerRef",
            immutable=True,
            inside=Struct(
                fields=(
                    Rule("apiGroup", check=_long_name),
                    Rule("kind", required=True, check=_path_segment),
                    Rule("name", required=True, check=_path_segment),
                )
            ),
        ),
        _TEMPLATES,
        Rule(
            "compositePodGroupTemplates",
            gate=COMPOSITE_POD_GROUP,
            most=_MOST_TEMPLATES,
            key="name",
            keeps_items=True,
            inside=_COMPOSITE_TEMPLATE,
        ),
    ),
)
_POD_GROUP: Final = Struct(
    fields=(
        Rule(
            "parentCompositePodGroupName",
            pointer=True,
            gate=COMPOSITE_POD_GROUP,
            immutable=True,
            check=_long_name,
        ),
        Rule("workloadRef", immutable=True, inside=_REFERENCE),
        Rule("schedulingPolicy", inside=_POLICY),
        Rule("schedulingConstraints", gate=TOPOLOGY, immutable_by_gate=True, inside=CONSTRAINTS),
        _CLAIMS,
        Rule("disruptionMode", required=True, immutable=True, inside=DISRUPTION),
        *_PRIORITY,
    )
)
_COMPOSITE: Final = Struct(
    fields=(
        Rule("parentCompositePodGroupName", pointer=True, immutable=True, check=_long_name),
        Rule("workloadRef", required=True, immutable=True, inside=_REFERENCE),
        Rule("schedulingPolicy", immutable=True, inside=_COMPOSITE_POLICY),
        Rule("schedulingConstraints", immutable=True, inside=CONSTRAINTS),
        Rule("disruptionMode", required=True, immutable=True, inside=DISRUPTION),
        *_PRIORITY,
    )
)
_CLAIM_STATUSES: Final = Struct(
    fields=(
        Rule(
            "resourceClaimStatuses",
            most=_MOST_CLAIMS,
            key="name",
            inside=Struct(fields=(Rule("resourceClaimName", pointer=True, check=_long_name),)),
        ),
    )
)


def workload(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    spec = new["spec"]
    yield from _names_unique(spec)
    for index, root in enumerate(_composites(spec)):
        if _depth(root) >= _DEEPEST:
            yield invalid(
                f"spec.compositePodGroupTemplates[{index}]",
                _composites(root),
                f"maximum template hierarchy depth is {_DEEPEST}",
            )
    yield from _one_priority(spec)
    for index, root in enumerate(_composites(spec)):
        yield from _has_children(root, f"spec.compositePodGroupTemplates[{index}]")
    yield from _spec(_WORKLOAD, new, old, gates)


def pod_group(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    spec = new["spec"]
    has_parent = spec.get("parentCompositePodGroupName") is not None
    if old is None and has_parent and spec.get("workloadRef") is None:
        yield required("spec.workloadRef", "must be set when parentCompositePodGroupName is set")
    yield from _spec(_POD_GROUP, new, old, gates)


def pod_group_status(new: Json, old: Json, gates: Gates) -> Iterator[FieldError]:
    status = new.get("status") or {}
    yield from conditions("status.conditions", status.get("conditions") or [])
    known = {claim["name"] for claim in new["spec"].get("resourceClaims") or ()}
    for index, claim in enumerate(status.get("resourceClaimStatuses") or ()):
        if claim["name"] not in known:
            yield invalid(
                f"status.resourceClaimStatuses[{index}].name",
                claim["name"],
                "must match the name of an entry in `spec.resourceClaims`",
            )
    walk = Walk(gates, update=True)
    yield from walk.struct(_CLAIM_STATUSES, "status", status, old.get("status") or {})


def composite_pod_group(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    yield from _spec(_COMPOSITE, new, old, gates)


def composite_pod_group_status(new: Json, old: Json, gates: Gates) -> Iterator[FieldError]:
    status = new.get("status") or {}
    yield from conditions("status.conditions", status.get("conditions") or [])


def priority_class(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    if old is not None:
        if new["value"] != old["value"]:
            yield forbidden("value", "may not be changed in an update.")
        if new.get("preemptionPolicy") != old.get("preemptionPolicy"):
            yield invalid("preemptionPolicy", new.get("preemptionPolicy"), "field is immutable")
        return
    name = new["metadata"].get("name", "")
    if name.startswith("system-"):
        if why := _no_system_class(name, new):
            yield forbidden(
                "metadata.name",
                "priority class names with 'system-' prefix are reserved for system use only. "
                f"error: {why}",
            )
    elif new["value"] > HIGHEST_USER_PRIORITY:
        yield forbidden(
            "value",
            f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}",
        )
    policy = new.get("preemptionPolicy")
    if policy is not None and policy not in PREEMPTION_POLICIES:
        yield not_supported("preemptionPolicy", policy, ("PreemptLowerPriority", "Never"))


def _spec(struct: Struct, new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    walk = Walk(gates, update=old is not None)
    return walk.struct(struct, "spec", new["spec"], old["spec"] if old else None)


def _no_system_class(name: str, new: Json) -> str:
    """Why this is not one of the system's own classes, whose every field is known."""
    if name not in SYSTEM_PRIORITIES:
        return f"{name} is not a known system priority class"
    value = SYSTEM_PRIORITIES[name]
    if new["value"] != value:
        return f"value of {name} PriorityClass must be {value}"
    if new.get("globalDefault"):
        return f"globalDefault of {name} PriorityClass must be false"
    return ""


# -- the tree of templates ------------------------------------------------------------------------


def _leaves(template: Json) -> list[Json]:
    return template.get("podGroupTemplates") or []


def _composites(template: Json) -> list[Json]:
    return template.get("compositePodGroupTemplates") or []


def _names_unique(spec: Json) -> Iterator[FieldError]:
    """Names that were seen in another list; twice in one list is said elsewhere."""
    seen = {leaf.get("name") for leaf in _leaves(spec)}
    yield from _composite_names(spec, "spec", seen)


def _composite_names(parent: Json, path: str, seen: set[Any]) -> Iterator[FieldError]:
    children = f"{path}.compositePodGroupTemplates"
    yield from _list_names(_composites(parent), children, seen)
    for index, child in enumerate(_composites(parent)):
        yield from _list_names(_leaves(child), f"{children}[{index}].podGroupTemplates", seen)
        yield from _composite_names(child, f"{children}[{index}]", seen)


def _list_names(templates: list[Json], path: str, seen: set[Any]) -> Iterator[FieldError]:
    for index, template in enumerate(templates):
        if template.get("name") in seen:
            yield duplicate(f"{path}[{index}].name", template.get("name"))
    seen.update(template.get("name") for template in templates)


def _depth(template: Json) -> int:
    """How many levels of composites there are from here down."""
    return 1 + max(map(_depth, _composites(template)), default=0)


def _one_priority(spec: Json) -> Iterator[FieldError]:
    if len({_priority(leaf) for leaf in _leaves(spec)}) > 1:
        yield invalid("spec", None, "detected multiple priority configurations")
    elif len({_priority(template) for template in _all_templates(spec)}) > 1:
        yield invalid(
            "spec",
            None,
            "all priority and priorityClassName values must be identical, detected multiple values",
        )


def _priority(template: Json) -> tuple[str, int | None]:
    return template.get("priorityClassName") or "", template.get("priority")


def _all_templates(parent: Json) -> Iterator[Json]:
    yield from _leaves(parent)
    for child in _composites(parent):
        yield child
        yield from _all_templates(child)


def _has_children(template: Json, path: str) -> Iterator[FieldError]:
    if not _leaves(template) and not _composites(template):
        yield invalid(
            path,
            template.get("name", ""),
            "must have at least one child PodGroupTemplate or CompositePodGroupTemplate",
        )
    for index, child in enumerate(_composites(template)):
        yield from _has_children(child, f"{path}.compositePodGroupTemplates[{index}]")
