"""Which groups a Job's pods are scheduled in: the Workload and the PodGroup that it gets.

    root Job                     its own Workload, and a PodGroup of its only template
    Job of another controller    with `scheduling.k8s.io/group-template-name`: a PodGroup of that
                                 template of its controller's Workload; else none
    schedulingGroup in the pods' template: none, whoever made that group looks after it

Pure: what is there goes in, what is to be made comes out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import msgspec

from tutti.api.batch import Job
from tutti.api.meta import ObjectMeta, OwnerReference
from tutti.api.scheduling import PodGroup, PodGroupTemplate, Workload, WorkloadSpec
from tutti.controllers.jobs import names

TEMPLATE_NAME: Final = "scheduling.k8s.io/group-template-name"
PARENT_GROUP: Final = "scheduling.k8s.io/parent-compositepodgroup"
MANAGED_BY: Final = "app.kubernetes.io/managed-by"
OURSELVES: Final = "tutti"

Manifest = dict[str, Any]
Ref = tuple[str, str, str, str]
"""Namespace, API group, kind and name of a controller."""


class Rule(Enum):
    """Which Jobs become gangs."""

    AUTO = "auto"
    """Those that ask, and every Indexed Job that runs all its indexes at once."""
    ASK = "ask"
    """Those that ask, as in Kubernetes 1.37."""
    OFF = "off"
    """None: no groups are made, as with the gate WorkloadWithJob closed."""


class Role(Enum):
    ROOT = "root"
    DELEGATED = "delegated"
    LEFT_ALONE = "left alone"


@dataclass(frozen=True, slots=True)
class Fallback:
    """The Job's pods run without a group, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class Missing:
    """The Workload of the Job's controller, or its template, isn't there yet."""

    parent: Ref
    why: str


def role(job: Job) -> Role:
    if job.spec.pod.get("schedulingGroup"):
        return Role.LEFT_ALONE
    owner = job.metadata.controller
    if owner is None or owner.kind == "CronJob":
        return Role.ROOT
    return Role.DELEGATED if TEMPLATE_NAME in job.metadata.annotations else Role.LEFT_ALONE


def is_new(job: Job, *, has_pods: bool) -> bool:
    """Whether nothing of it ran yet, so that its group can still be made.

    A Job that was suspended from the first is new until it is resumed.
    """
    status = job.status
    untouched = not (status.succeeded or status.failed or status.active)
    waits = any(c.type == "Suspended" and c.status == "True" for c in status.conditions)
    return untouched and not has_pods and (status.start_time is None or waits)


def qualifies(job: Job) -> bool:
    """Whether it is a gang without asking: all its indexes run at once."""
    spec = job.spec
    return spec.is_indexed and spec.pods_at_once > 1 and spec.pods_at_once == spec.completions


def quorum(job: Job, rule: Rule) -> int | None:
    """How many pods must start together; None: each starts by itself."""
    asked = job.spec.scheduling.scheduling_policy if job.spec.scheduling else None
    if asked is not None and asked.gang is not None:
        return asked.gang.min_count or max(1, job.spec.pods_at_once)
    if asked is not None and asked.basic is not None:
        return None
    return job.spec.pods_at_once if rule is Rule.AUTO and qualifies(job) else None


def workload_of(job: Job, candidates: Sequence[Workload]) -> Workload | Fallback | None:
    """The one Workload that names the Job as its controller, whoever made it."""
    if not candidates:
        return None
    where = f"{job.metadata.namespace}/{job.metadata.name}"
    if len(candidates) > 1:
        return Fallback(
            f"found {len(candidates)} Workloads referencing Job {where}, "
            "falling back to default scheduling"
        )
    (found,) = candidates
    if len(templates(found)) != 1:
        return Fallback(
            f"Workload {found.metadata.name} referencing Job {where} has "
            f"{len(templates(found))} podGroupTemplates, falling back to default scheduling"
        )
    return found


def group_of(workload: Workload, candidates: Sequence[PodGroup]) -> PodGroup | Fallback | None:
    """The one PodGroup that was made of this Workload."""
    if len(candidates) > 1:
        where = f"{workload.metadata.namespace}/{workload.metadata.name}"
        return Fallback(
            f"found {len(candidates)} PodGroups referencing Workload {where}, "
            "falling back to default scheduling"
        )
    return candidates[0] if candidates else None


def templates(workload: Workload) -> tuple[PodGroupTemplate, ...]:
    return workload.spec.pod_group_templates or ()


def is_controlled(meta: ObjectMeta, job: Job) -> bool:
    return meta.controller is not None and meta.controller.uid == job.metadata.uid


def is_ours(meta: ObjectMeta, job: Job) -> bool:
    """Whether it was made for this Job, here or by Kubernetes' own controller: others stay as they are."""
    return is_controlled(meta, job)


def workload(job: Job, rule: Rule) -> Manifest:
    name = job.metadata.name
    template: Manifest = {"name": names.template(name), "schedulingPolicy": policy(job, rule)}
    asked = job.spec.scheduling
    if asked is not None:
        constraints = asked.scheduling_constraints
        if constraints is not None and constraints.topology:
            template["schedulingConstraints"] = msgspec.to_builtins(constraints)
        if asked.disruption_mode is not None:
            template["disruptionMode"] = msgspec.to_builtins(asked.disruption_mode)
        if asked.resource_claims:
            template["resourceClaims"] = msgspec.to_builtins(asked.resource_claims)
    if priority_class := job.spec.pod.get("priorityClassName"):
        template["priorityClassName"] = priority_class
    return {
        "metadata": _metadata(job, names.workload(name, job.metadata.uid)),
        "spec": {
            "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": name},
            "podGroupTemplates": [template],
        },
    }


def policy(job: Job, rule: Rule) -> Manifest:
    count = quorum(job, rule)
    return {"basic": {}} if count is None else {"gang": {"minCount": count}}


def pod_group(
    job: Job, workload: Workload, template: PodGroupTemplate, *, name: str, api_version: str
) -> Manifest:
    """A group of this template; one of our own Workload goes with the Workload, too."""
    spec: Manifest = {
        "workloadRef": {"workloadName": workload.metadata.name, "templateName": template.name},
        "schedulingPolicy": _written(template.scheduling_policy),
    }
    for field, value in (
        ("schedulingConstraints", template.scheduling_constraints),
        ("disruptionMode", template.disruption_mode),
        ("resourceClaims", template.resource_claims or None),
        ("priorityClassName", template.priority_class_name or None),
        ("priority", template.priority),
        ("preemptionPolicy", template.preemption_policy),
        ("parentCompositePodGroupName", job.metadata.annotations.get(PARENT_GROUP)),
    ):
        if value is not None:
            spec[field] = _written(value)
    metadata = _metadata(job, name)
    if is_controlled(workload.metadata, job):
        metadata["ownerReferences"].append(
            {
                "apiVersion": api_version,
                "kind": "Workload",
                "name": workload.metadata.name,
                "uid": workload.metadata.uid,
            }
        )
    return {"metadata": metadata, "spec": spec}


def delegated_template(parent: Workload, name: str) -> PodGroupTemplate | None:
    """The template of this name, wherever in the parent's tree."""
    found = {template.name: template for template in _all_templates(parent.spec)}
    return found.get(name)


def as_read(manifest: Manifest) -> Workload:
    return msgspec.convert(manifest, Workload)


def follows(job: Job, rule: Rule, there: PodGroupTemplate | PodGroup) -> Manifest | None:
    """The quorum that a gang should have by now, as a patch of its policy, where it has another."""
    policy = (
        there.spec.scheduling_policy if isinstance(there, PodGroup) else there.scheduling_policy
    )
    wanted = quorum(job, rule)
    if policy.gang is None or wanted is None or policy.gang.min_count == wanted:
        return None
    return {"schedulingPolicy": {"gang": {"minCount": wanted}}}


def _all_templates(spec: WorkloadSpec) -> list[PodGroupTemplate]:
    found = list(spec.pod_group_templates or ())
    waiting = list(spec.composite_pod_group_templates or ())
    while waiting:
        composite = waiting.pop()
        found += composite.pod_group_templates or ()
        waiting += composite.composite_pod_group_templates or ()
    return found


def _metadata(job: Job, name: str) -> Manifest:
    owner = owner_reference(job)
    return {
        "name": name,
        "namespace": job.metadata.namespace,
        "labels": {MANAGED_BY: OURSELVES},
        "ownerReferences": [msgspec.to_builtins(owner)],
    }


def owner_reference(job: Job) -> OwnerReference:
    return OwnerReference(
        api_version="batch/v1",
        kind="Job",
        name=job.metadata.name,
        uid=job.metadata.uid,
        controller=True,
        block_owner_deletion=True,
    )


def _written(value: object) -> Any:
    return msgspec.to_builtins(value)
