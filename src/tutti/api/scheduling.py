"""Workloads, groups of pods and priority classes, as far as scheduling reads them.

One projection stands for v1alpha3 and v1beta1: their Workload and PodGroup have the same fields.
"""

from __future__ import annotations

from tutti.api.meta import Condition, ObjectMeta, Wire


class PriorityClass(
    Wire,
    frozen=True,
    kw_only=True,
    rename={"global_default": "globalDefault", "preemption_policy": "preemptionPolicy"},
):
    metadata: ObjectMeta
    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None


class Basic(Wire, frozen=True, kw_only=True):
    """As many members as fit, each for itself."""


class Gang(Wire, frozen=True, kw_only=True, rename={"min_count": "minCount"}):
    """At least `min_count` members, or none."""

    min_count: int = 0


class CompositeGang(Wire, frozen=True, kw_only=True, rename={"min_group_count": "minGroupCount"}):
    """At least `min_group_count` child groups, or none."""

    min_group_count: int = 0


class SchedulingPolicy(Wire, frozen=True, kw_only=True):
    basic: Basic | None = None
    gang: Gang | None = None


class CompositeSchedulingPolicy(Wire, frozen=True, kw_only=True):
    basic: Basic | None = None
    gang: CompositeGang | None = None


class TopologyConstraint(Wire, frozen=True, kw_only=True):
    key: str = ""


class SchedulingConstraints(Wire, frozen=True, kw_only=True):
    topology: tuple[TopologyConstraint, ...] = ()


class DisruptionMode(Wire, frozen=True, kw_only=True):
    """`single`: members may be evicted one by one. `all`: only the whole group."""

    single: Basic | None = None
    all: Basic | None = None


class GroupResourceClaim(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "resource_claim_name": "resourceClaimName",
        "resource_claim_template_name": "resourceClaimTemplateName",
    },
):
    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class WorkloadReference(
    Wire,
    frozen=True,
    kw_only=True,
    rename={"workload_name": "workloadName", "template_name": "templateName"},
):
    workload_name: str = ""
    template_name: str = ""


_GROUP_NAMES = {
    "parent_composite_pod_group_name": "parentCompositePodGroupName",
    "workload_ref": "workloadRef",
    "scheduling_policy": "schedulingPolicy",
    "scheduling_constraints": "schedulingConstraints",
    "resource_claims": "resourceClaims",
    "disruption_mode": "disruptionMode",
    "priority_class_name": "priorityClassName",
    "preemption_policy": "preemptionPolicy",
}


class PodGroupSpec(Wire, frozen=True, kw_only=True, rename=_GROUP_NAMES):
    parent_composite_pod_group_name: str | None = None
    workload_ref: WorkloadReference | None = None
    scheduling_policy: SchedulingPolicy = SchedulingPolicy()
    scheduling_constraints: SchedulingConstraints | None = None
    resource_claims: tuple[GroupResourceClaim, ...] = ()
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: int | None = None
    preemption_policy: str | None = None


class ResourceClaimStatus(
    Wire, frozen=True, kw_only=True, rename={"resource_claim_name": "resourceClaimName"}
):
    name: str = ""
    resource_claim_name: str | None = None


class PodGroupStatus(
    Wire, frozen=True, kw_only=True, rename={"resource_claim_statuses": "resourceClaimStatuses"}
):
    conditions: tuple[Condition, ...] = ()
    resource_claim_statuses: tuple[ResourceClaimStatus, ...] = ()


class PodGroup(Wire, frozen=True, kw_only=True):
    metadata: ObjectMeta
    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()


class CompositePodGroupSpec(Wire, frozen=True, kw_only=True, rename=_GROUP_NAMES):
    parent_composite_pod_group_name: str | None = None
    workload_ref: WorkloadReference | None = None
    scheduling_policy: CompositeSchedulingPolicy = CompositeSchedulingPolicy()
    scheduling_constraints: SchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: int | None = None
    preemption_policy: str | None = None


class CompositePodGroupStatus(Wire, frozen=True, kw_only=True):
    conditions: tuple[Condition, ...] = ()


class CompositePodGroup(Wire, frozen=True, kw_only=True):
    metadata: ObjectMeta
    spec: CompositePodGroupSpec = CompositePodGroupSpec()
    status: CompositePodGroupStatus = CompositePodGroupStatus()


_TEMPLATE_NAMES = {
    "scheduling_policy": "schedulingPolicy",
    "scheduling_constraints": "schedulingConstraints",
    "resource_claims": "resourceClaims",
    "disruption_mode": "disruptionMode",
    "priority_class_name": "priorityClassName",
    "preemption_policy": "preemptionPolicy",
    "pod_group_templates": "podGroupTemplates",
    "composite_pod_group_templates": "compositePodGroupTemplates",
}


class PodGroupTemplate(Wire, frozen=True, kw_only=True, rename=_TEMPLATE_NAMES):
    name: str = ""
    scheduling_policy: SchedulingPolicy = SchedulingPolicy()
    scheduling_constraints: SchedulingConstraints | None = None
    resource_claims: tuple[GroupResourceClaim, ...] = ()
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: int | None = None
    preemption_policy: str | None = None


class CompositePodGroupTemplate(Wire, frozen=True, kw_only=True, rename=_TEMPLATE_NAMES):
    name: str = ""
    scheduling_policy: CompositeSchedulingPolicy = CompositeSchedulingPolicy()
    scheduling_constraints: SchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: int | None = None
    preemption_policy: str | None = None
    pod_group_templates: tuple[PodGroupTemplate, ...] | None = None
    composite_pod_group_templates: tuple[CompositePodGroupTemplate, ...] | None = None


class ControllerReference(Wire, frozen=True, kw_only=True, rename={"api_group": "apiGroup"}):
    api_group: str = ""
    kind: str = ""
    name: str = ""


class WorkloadSpec(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "controller_ref": "controllerRef",
        "pod_group_templates": "podGroupTemplates",
        "composite_pod_group_templates": "compositePodGroupTemplates",
    },
):
    """A list that is not there comes as null: `podGroupTemplates` is always on the wire."""

    controller_ref: ControllerReference | None = None
    pod_group_templates: tuple[PodGroupTemplate, ...] | None = None
    composite_pod_group_templates: tuple[CompositePodGroupTemplate, ...] | None = None


class Workload(Wire, frozen=True, kw_only=True):
    metadata: ObjectMeta
    spec: WorkloadSpec = WorkloadSpec()
