"""Pods, nodes and the other core kinds, as far as scheduling and the controllers read them.

Amounts stay the strings they are on the wire; `quantity.base_units` makes numbers of them.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from tutti.api.meta import Condition, LabelSelector, ObjectMeta, Wire


class ResourceClaimName(Wire, frozen=True, kw_only=True):
    name: str
    request: str = ""


class ResourceRequirements(Wire, frozen=True, kw_only=True):
    requests: dict[str, str] = field(default_factory=dict)
    limits: dict[str, str] = field(default_factory=dict)
    claims: tuple[ResourceClaimName, ...] = ()


class ContainerPort(
    Wire,
    frozen=True,
    kw_only=True,
    rename={"host_port": "hostPort", "host_ip": "hostIP", "container_port": "containerPort"},
):
    container_port: int = 0
    host_port: int = 0
    host_ip: str = ""
    protocol: str = "TCP"


class RestartRule(Wire, frozen=True, kw_only=True):
    action: str = ""


class VolumeMount(
    Wire, frozen=True, kw_only=True, rename={"bind_mount_options": "bindMountOptions"}
):
    """Of a mount only what a kubelet must be able to do is read."""

    bind_mount_options: tuple[str, ...] = ()


class Container(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "restart_policy": "restartPolicy",
        "restart_policy_rules": "restartPolicyRules",
        "volume_mounts": "volumeMounts",
    },
):
    """`restart_policy` is set on init containers that run on beside the others (sidecars)."""

    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str | None = None
    restart_policy_rules: tuple[RestartRule, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()


class Toleration(
    Wire, frozen=True, kw_only=True, rename={"toleration_seconds": "tolerationSeconds"}
):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class NodeSelectorRequirement(Wire, frozen=True, kw_only=True):
    key: str
    operator: str
    values: tuple[str, ...] = ()


class NodeSelectorTerm(
    Wire,
    frozen=True,
    kw_only=True,
    rename={"match_expressions": "matchExpressions", "match_fields": "matchFields"},
):
    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(
    Wire, frozen=True, kw_only=True, rename={"node_selector_terms": "nodeSelectorTerms"}
):
    """A node matches when it matches any one of the terms."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(Wire, frozen=True, kw_only=True):
    weight: int
    preference: NodeSelectorTerm


_AFFINITY_NAMES = {
    "required": "requiredDuringSchedulingIgnoredDuringExecution",
    "preferred": "preferredDuringSchedulingIgnoredDuringExecution",
}


class NodeAffinity(Wire, frozen=True, kw_only=True, rename=_AFFINITY_NAMES):
    required: NodeSelector | None = None
    preferred: tuple[PreferredSchedulingTerm, ...] = ()


class PodAffinityTerm(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "topology_key": "topologyKey",
        "label_selector": "labelSelector",
        "namespace_selector": "namespaceSelector",
        "match_label_keys": "matchLabelKeys",
        "mismatch_label_keys": "mismatchLabelKeys",
    },
):
    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(
    Wire, frozen=True, kw_only=True, rename={"pod_affinity_term": "podAffinityTerm"}
):
    weight: int
    pod_affinity_term: PodAffinityTerm


class PodAffinity(Wire, frozen=True, kw_only=True, rename=_AFFINITY_NAMES):
    """Affinity and anti-affinity alike."""

    required: tuple[PodAffinityTerm, ...] = ()
    preferred: tuple[WeightedPodAffinityTerm, ...] = ()


class Affinity(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "node_affinity": "nodeAffinity",
        "pod_affinity": "podAffinity",
        "pod_anti_affinity": "podAntiAffinity",
    },
):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "max_skew": "maxSkew",
        "topology_key": "topologyKey",
        "when_unsatisfiable": "whenUnsatisfiable",
        "label_selector": "labelSelector",
        "min_domains": "minDomains",
        "node_affinity_policy": "nodeAffinityPolicy",
        "node_taints_policy": "nodeTaintsPolicy",
        "match_label_keys": "matchLabelKeys",
    },
):
    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class SchedulingGate(Wire, frozen=True, kw_only=True):
    name: str


class SchedulingGroup(Wire, frozen=True, kw_only=True, rename={"pod_group_name": "podGroupName"}):
    pod_group_name: str | None = None


class PodResourceClaim(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "resource_claim_name": "resourceClaimName",
        "resource_claim_template_name": "resourceClaimTemplateName",
    },
):
    name: str
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class ClaimVolume(Wire, frozen=True, kw_only=True, rename={"claim_name": "claimName"}):
    claim_name: str = ""


class InlineVolume(Wire, frozen=True, kw_only=True):
    """A source of which only its being there is read."""


class ImageVolume(Wire, frozen=True, kw_only=True):
    reference: str = ""


class CsiVolume(Wire, frozen=True, kw_only=True):
    driver: str = ""


class Volume(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "persistent_volume_claim": "persistentVolumeClaim",
        "gce_persistent_disk": "gcePersistentDisk",
        "aws_elastic_block_store": "awsElasticBlockStore",
        "azure_disk": "azureDisk",
        "portworx": "portworxVolume",
        "vsphere": "vsphereVolume",
    },
):
    """The sources that bear on placement; a volume of another kind has none of them."""

    name: str = ""
    persistent_volume_claim: ClaimVolume | None = None
    ephemeral: InlineVolume | None = None
    csi: CsiVolume | None = None
    gce_persistent_disk: InlineVolume | None = None
    aws_elastic_block_store: InlineVolume | None = None
    azure_disk: InlineVolume | None = None
    cinder: InlineVolume | None = None
    portworx: InlineVolume | None = None
    vsphere: InlineVolume | None = None
    image: ImageVolume | None = None
    rbd: InlineVolume | None = None
    iscsi: InlineVolume | None = None


class PodOS(Wire, frozen=True, kw_only=True):
    name: str = ""


class PodSpec(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "init_containers": "initContainers",
        "node_name": "nodeName",
        "node_selector": "nodeSelector",
        "topology_spread_constraints": "topologySpreadConstraints",
        "resource_claims": "resourceClaims",
        "host_network": "hostNetwork",
        "host_users": "hostUsers",
        "scheduler_name": "schedulerName",
        "scheduling_gates": "schedulingGates",
        "scheduling_group": "schedulingGroup",
        "priority_class_name": "priorityClassName",
        "preemption_policy": "preemptionPolicy",
        "termination_grace_period_seconds": "terminationGracePeriodSeconds",
        "active_deadline_seconds": "activeDeadlineSeconds",
        "restart_policy": "restartPolicy",
        "runtime_class_name": "runtimeClassName",
        "service_account_name": "serviceAccountName",
    },
):
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: dict[str, str] = field(default_factory=dict)
    resources: ResourceRequirements | None = None
    node_name: str = ""
    node_selector: dict[str, str] = field(default_factory=dict)
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    volumes: tuple[Volume, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    host_network: bool = False
    host_users: bool | None = None
    os: PodOS | None = None
    scheduler_name: str = ""
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    scheduling_group: SchedulingGroup | None = None
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    termination_grace_period_seconds: int | None = None
    active_deadline_seconds: int | None = None
    restart_policy: str = ""
    runtime_class_name: str | None = None
    service_account_name: str = ""


class ContainerStateTerminated(
    Wire, frozen=True, kw_only=True, rename={"exit_code": "exitCode", "finished_at": "finishedAt"}
):
    exit_code: int = 0
    reason: str = ""
    finished_at: datetime | None = None


class ContainerState(Wire, frozen=True, kw_only=True):
    terminated: ContainerStateTerminated | None = None


class ContainerStatus(
    Wire,
    frozen=True,
    kw_only=True,
    rename={"restart_count": "restartCount", "allocated_resources": "allocatedResources"},
):
    name: str = ""
    ready: bool = False
    restart_count: int = 0
    state: ContainerState = ContainerState()
    allocated_resources: dict[str, str] = field(default_factory=dict)
    resources: ResourceRequirements | None = None


class PodStatus(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "nominated_node_name": "nominatedNodeName",
        "start_time": "startTime",
        "container_statuses": "containerStatuses",
        "init_container_statuses": "initContainerStatuses",
        "qos_class": "qosClass",
        "pod_ip": "podIP",
        "host_ip": "hostIP",
        "allocated_resources": "allocatedResources",
    },
):
    phase: str = ""
    reason: str = ""
    message: str = ""
    conditions: tuple[Condition, ...] = ()
    nominated_node_name: str = ""
    start_time: datetime | None = None
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    allocated_resources: dict[str, str] = field(default_factory=dict)
    resources: ResourceRequirements | None = None
    qos_class: str = ""
    pod_ip: str = ""
    host_ip: str = ""


class Pod(Wire, frozen=True, kw_only=True):
    metadata: ObjectMeta
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class Taint(Wire, frozen=True, kw_only=True, rename={"time_added": "timeAdded"}):
    key: str
    effect: str
    value: str = ""
    time_added: datetime | None = None


class NodeSpec(
    Wire, frozen=True, kw_only=True, rename={"pod_cidr": "podCIDR", "provider_id": "providerID"}
):
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    pod_cidr: str = ""
    provider_id: str = ""


class ContainerImage(Wire, frozen=True, kw_only=True, rename={"size_bytes": "sizeBytes"}):
    names: tuple[str, ...] | None = None
    size_bytes: int = 0


class NodeAddress(Wire, frozen=True, kw_only=True):
    type: str
    address: str


class PlainCondition(
    Wire, frozen=True, kw_only=True, rename={"last_transition_time": "lastTransitionTime"}
):
    """The conditions of nodes and namespaces, which know no generation."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None


class NodeStatus(Wire, frozen=True, kw_only=True, rename={"declared_features": "declaredFeatures"}):
    capacity: dict[str, str] = field(default_factory=dict)
    allocatable: dict[str, str] = field(default_factory=dict)
    conditions: tuple[PlainCondition, ...] = ()
    addresses: tuple[NodeAddress, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    declared_features: tuple[str, ...] = ()

    @property
    def internal_ip(self) -> str:
        return next((a.address for a in self.addresses if a.type == "InternalIP"), "")


class Node(Wire, frozen=True, kw_only=True):
    metadata: ObjectMeta
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class NamespaceSpec(Wire, frozen=True, kw_only=True):
    finalizers: tuple[str, ...] = ()


class NamespaceStatus(Wire, frozen=True, kw_only=True):
    phase: str = ""
    conditions: tuple[PlainCondition, ...] = ()


class Namespace(Wire, frozen=True, kw_only=True):
    metadata: ObjectMeta
    spec: NamespaceSpec = NamespaceSpec()
    status: NamespaceStatus = NamespaceStatus()


class ObjectReference(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "api_version": "apiVersion",
        "resource_version": "resourceVersion",
        "field_path": "fieldPath",
    },
):
    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""
    field_path: str = ""


class EventSource(Wire, frozen=True, kw_only=True):
    component: str = ""
    host: str = ""


class EventSeries(
    Wire, frozen=True, kw_only=True, rename={"last_observed_time": "lastObservedTime"}
):
    count: int = 0
    last_observed_time: datetime | None = None


class Event(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "involved_object": "involvedObject",
        "first_timestamp": "firstTimestamp",
        "last_timestamp": "lastTimestamp",
        "event_time": "eventTime",
        "reporting_controller": "reportingComponent",
        "reporting_instance": "reportingInstance",
    },
):
    """An event in its core form, which is also how it is stored."""

    metadata: ObjectMeta
    involved_object: ObjectReference = ObjectReference()
    type: str = ""
    reason: str = ""
    action: str = ""
    message: str = ""
    source: EventSource = EventSource()
    count: int = 0
    first_timestamp: datetime | None = None
    last_timestamp: datetime | None = None
    event_time: datetime | None = None
    series: EventSeries | None = None
    related: ObjectReference | None = None
    reporting_controller: str = ""
    reporting_instance: str = ""


class ConfigMap(Wire, frozen=True, kw_only=True, rename={"binary_data": "binaryData"}):
    metadata: ObjectMeta
    data: dict[str, str] = field(default_factory=dict)
    binary_data: dict[str, str] = field(default_factory=dict)
    immutable: bool | None = None


class ServiceAccount(Wire, frozen=True, kw_only=True):
    metadata: ObjectMeta
