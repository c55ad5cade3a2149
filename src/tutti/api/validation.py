"""Whether an object may be as it is: the door to the rules of all kinds.

Objects come here decoded, checked against their schema, defaulted and admitted. What comes back is the
list of errors in Kubernetes' order and words; an empty one is consent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from tutti.api import (
    core_rules,
    job_rules,
    metadata_rules,
    names,
    pod_rules,
    policy_rules,
    replica_rules,
    scheduling_rules,
    volume_rules,
)
from tutti.api.errors import FieldError
from tutti.api.gates import ALL_OPEN, Gates
from tutti.api.registry import (
    BUDGETS,
    CLAIMS,
    COMPOSITE_POD_GROUPS,
    CONFIG_MAPS,
    CRONJOBS,
    CSI_NODES,
    DEVICE_CLAIM_TEMPLATES,
    DEVICE_CLAIMS,
    EVENTS,
    JOBS,
    LEASES,
    NAMESPACES,
    NODES,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
    STORAGE_CLASSES,
    VOLUMES,
    WORKLOADS,
    Storage,
)

Json = dict[str, Any]
Kind = Callable[[Json, Json | None, Gates], Iterator[FieldError]]
Status = Callable[[Json, Json, Gates], Iterator[FieldError]]


def created(storage: Storage, version: str, obj: Json, gates: Gates = ALL_OPEN) -> list[FieldError]:
    """What is wrong with a new object."""
    rule = names.label if storage is NAMESPACES else names.subdomain
    metadata = obj.get("metadata") or {}
    errors = list(metadata_rules.created(metadata, namespaced=storage.namespaced, name_rule=rule))
    if storage is not LEASES:
        errors += metadata_rules.qualified_finalizers(metadata)
    if storage is PODS:
        return [*errors, *pod_rules.created(obj, gates)]
    if (kind := _KINDS.get(storage.key)) is not None:
        errors += kind(obj, None, gates)
    return errors


def updated(
    storage: Storage,
    version: str,
    old: Json,
    new: Json,
    subresource: str | None = None,
    gates: Gates = ALL_OPEN,
) -> list[FieldError]:
    """What is wrong with an update of the object, or of its `status`."""
    metadata = new.get("metadata") or {}
    errors = list(metadata_rules.updated(metadata, old.get("metadata") or {}))
    if storage is not LEASES:
        errors += metadata_rules.qualified_finalizers(metadata)
    if subresource == "status":
        if (status := _STATUSES.get(storage.key)) is not None:
            errors += status(new, old, gates)
        return errors
    if storage is PODS:
        return [*errors, *pod_rules.updated(new, old, gates)]
    if (kind := _KINDS.get(storage.key)) is not None:
        errors += kind(new, old, gates)
    return errors


def bound(binding: Json) -> list[FieldError]:
    """What is wrong with a Binding."""
    return list(pod_rules.bound(binding))


_KINDS: Final[dict[str, Kind]] = {
    WORKLOADS.key: scheduling_rules.workload,
    POD_GROUPS.key: scheduling_rules.pod_group,
    COMPOSITE_POD_GROUPS.key: scheduling_rules.composite_pod_group,
    PRIORITY_CLASSES.key: scheduling_rules.priority_class,
    JOBS.key: job_rules.job,
    CRONJOBS.key: job_rules.cron_job,
    REPLICATION_CONTROLLERS.key: replica_rules.replication_controller,
    REPLICA_SETS.key: replica_rules.replica_set,
    STATEFUL_SETS.key: replica_rules.stateful_set,
    VOLUMES.key: volume_rules.volume,
    CLAIMS.key: volume_rules.claim,
    STORAGE_CLASSES.key: volume_rules.storage_class,
    CSI_NODES.key: volume_rules.csi_node,
    BUDGETS.key: policy_rules.budget,
    DEVICE_CLAIMS.key: policy_rules.device_claim,
    DEVICE_CLAIM_TEMPLATES.key: policy_rules.device_claim,
    NODES.key: core_rules.node,
    NAMESPACES.key: core_rules.namespace,
    CONFIG_MAPS.key: core_rules.config_map,
    EVENTS.key: core_rules.event,
    LEASES.key: core_rules.lease,
}
_STATUSES: Final[dict[str, Status]] = {
    PODS.key: pod_rules.status_updated,
    POD_GROUPS.key: scheduling_rules.pod_group_status,
    COMPOSITE_POD_GROUPS.key: scheduling_rules.composite_pod_group_status,
}
