"""Trees that can't be scheduled as they are laid out, and what makes a tree wait by its objects.

Everything is a sentence that names the culprit. It is looked at when a group, a parent or a Workload
changes, and not in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

from tutti.api.scheduling import (
    CompositePodGroupTemplate,
    PodGroup,
    PodGroupTemplate,
    Workload,
)
from tutti.engine.groups import Group, named
from tutti.engine.members import ASSUMED

DEEPEST = 4
Workloads: TypeAlias = Mapping[tuple[str, str], Workload]


class Template(NamedTuple):
    made_from: PodGroupTemplate | CompositePodGroupTemplate
    parent: str | None


def lay_out(root: Group, workloads: Workloads) -> None:
    """Look at the tree anew, and note on its groups what is wrong, and what they wait for."""
    root.laid_out = True
    root.fault = _fault_in(root, workloads)
    root.unserved = None
    if root.fault is None:
        root.unserved = next((why for group in root.all() if (why := _unserved(group))), None)
        for group in root.all():
            group.awaited = _awaited(group, workloads)


def _fault_in(root: Group, workloads: Workloads) -> str | None:
    if root.parent is not None:
        return _ring(root)
    if root.asked is not None and root.asked.wrong:
        return root.asked.wrong
    groups = list(_with_depth(root, 1))
    for group, depth in groups:
        if depth > DEEPEST:
            return f"{named(group)} is {depth} levels deep, at most {DEEPEST} are allowed"
    for group, _ in groups:
        wrong = (
            _other_workload(group, root)
            or _other_priority(group, root)
            or _unlike_its_template(group, workloads)
        )
        if wrong:
            return wrong
    return None


def _with_depth(group: Group, depth: int) -> Iterator[tuple[Group, int]]:
    """Depth first, but no deeper than it takes to see that it is too deep."""
    yield group, depth
    if depth <= DEEPEST:
        for child in group.ordered_children():
            yield from _with_depth(child, depth + 1)


def _ring(first: Group) -> str:
    names, at = [first.name], first.parent
    while at is not None and at is not first:
        names.append(at.name)
        at = at.parent
    return f"the parents of {named(first)} form a cycle: {' -> '.join([*names, first.name])}"


def _other_workload(group: Group, root: Group) -> str | None:
    mine, its = group.workload, root.workload
    if mine is None or its is None or mine == its:
        return None
    return f'{named(group)} belongs to Workload "{mine}", {named(root)} to Workload "{its}"'


def _other_priority(group: Group, root: Group) -> str | None:
    if group.object is None or root.object is None:
        return None
    mine, its = group.object.spec, root.object.spec
    if (mine.priority, mine.priority_class_name) == (its.priority, its.priority_class_name):
        return None
    return (
        f"all groups of a tree must have the same priority and priorityClassName: {named(group)} "
        f'has {mine.priority} ("{mine.priority_class_name}"), '
        f'{named(root)} {its.priority} ("{its.priority_class_name}")'
    )


def _unlike_its_template(group: Group, workloads: Workloads) -> str | None:
    """Only what runs under nothing yet is held to it: a policy is copied when a group is made."""
    workload = workloads.get((group.namespace, group.workload or ""))
    if workload is None or group.object is None or _runs(group):
        return None
    ref = group.object.spec.workload_ref
    name = ref.template_name if ref is not None else ""
    where = f'Workload "{workload.metadata.name}"'
    template = templates_of(workload).get(name)
    if template is None:
        return f'{where} has no template "{name}", which {named(group)} was made from'
    is_leaf = isinstance(template.made_from, PodGroupTemplate)
    if is_leaf is not (group.kind == "PodGroup"):
        kind = "PodGroup" if is_leaf else "CompositePodGroup"
        return f'template "{name}" of {where} is for a {kind}, {named(group)} is none'
    above = group.parent
    if above is not None and above.object is None:
        return None
    if (above.template if above is not None else None) != template.parent:
        should = f'under template "{template.parent}"' if template.parent else "at the top"
        return f'template "{name}" of {where} is {should}, {named(group)} is elsewhere'
    policy, its = template.made_from.scheduling_policy, group.object.spec.scheduling_policy
    if (policy.gang is None) is not (its.gang is None):
        variant = "basic" if policy.gang is None else "gang"
        return f'template "{name}" of {where} has policy {variant}, {named(group)} has another'
    return None


def _runs(group: Group) -> bool:
    return any(leaf.counted or leaf.counts[ASSUMED] for leaf in group.leaves())


def templates_of(workload: Workload) -> dict[str, Template]:
    """All templates of a Workload by name, with the name of the template above."""
    found: dict[str, Template] = {}
    spec = workload.spec
    for leaf in spec.pod_group_templates or ():
        found[leaf.name] = Template(leaf, None)
    waiting: list[tuple[str | None, CompositePodGroupTemplate]] = []
    waiting += [(None, top) for top in spec.composite_pod_group_templates or ()]
    while waiting:
        parent, composite = waiting.pop()
        found[composite.name] = Template(composite, parent)
        for leaf in composite.pod_group_templates or ():
            found[leaf.name] = Template(leaf, composite.name)
        waiting += [(composite.name, low) for low in composite.composite_pod_group_templates or ()]
    return found


def _unserved(group: Group) -> str | None:
    made = group.object
    if made is None:
        return None
    constraints = made.spec.scheduling_constraints
    if constraints is not None and constraints.topology:
        asked = "spec.schedulingConstraints.topology"
    elif isinstance(made, PodGroup) and made.spec.resource_claims:
        asked = "spec.resourceClaims"
    else:
        return None
    return f"{named(group)} asks for {asked}, which Tutti doesn't support yet"


def _awaited(group: Group, workloads: Workloads) -> tuple[str, ...]:
    """Templates under this group's own of which there is no group yet."""
    workload = workloads.get((group.namespace, group.workload or ""))
    if workload is None or group.kind != "CompositePodGroup" or group.template is None:
        return ()
    here = {child.template for child in group.children.values()}
    return tuple(
        name
        for name, template in templates_of(workload).items()
        if template.parent == group.template and name not in here
    )
