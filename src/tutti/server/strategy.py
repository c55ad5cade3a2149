"""What the server itself decides about an object of each kind when it is written.

Whatever the client sent, status belongs to the status subresource, generations to the server, and so on.
A strategy changes the new object in place, after defaulting and admission and before validation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tutti.server import jobs, pods

Object = dict[str, Any]
Prepare = Callable[[Object], None]
Adjust = Callable[[Object, Object], None]
"""Takes the new and the old object."""


def as_it_is(new: Object, old: Object) -> None:
    """Everything may be changed."""


def nothing(new: Object) -> None:
    """Everything may be given."""


def keeps_status(new: Object, old: Object) -> None:
    """The main resource doesn't write status."""
    _take(new, old, "status")


def keeps_spec(new: Object, old: Object) -> None:
    """The status subresource doesn't write the spec; labels and annotations go through."""
    _take(new, old, "spec")


def keeps_spec_and_metadata(new: Object, old: Object) -> None:
    """The status subresource of the scheduling kinds writes status and nothing else."""
    version = new["metadata"].get("resourceVersion")
    new["metadata"] = dict(old["metadata"])
    if version is not None:
        new["metadata"]["resourceVersion"] = version
    _take(new, old, "spec")


@dataclass(frozen=True, slots=True)
class Strategy:
    """How one kind is created, updated and deleted."""

    created: Prepare = nothing
    updated: Adjust = as_it_is
    subresources: tuple[tuple[str, Adjust], ...] = ()
    creates_on_update: bool = False
    updates_unconditionally: bool = True
    returns_deleted: bool = False
    orphans_by_default: bool = False
    """Whether a delete that says nothing of dependents leaves them alone."""
    collected: bool = True
    """Whether finalizers of the garbage collector may be put on it."""

    def adjust(self, subresource: str | None) -> Adjust:
        """The rule for an update of the object, or of one of its subresources."""
        if subresource is None:
            return self.updated
        return dict(self.subresources)[subresource]


def of(key: str) -> Strategy:
    """The strategy of a storage; what isn't listed has no rules of its own."""
    return _STRATEGIES.get(key, _PLAIN)


def _take(new: Object, old: Object, field: str) -> None:
    if field in old:
        new[field] = old[field]
    else:
        new.pop(field, None)


def _with_empty_status(new: Object) -> None:
    new["status"] = {}


def _first_generation(new: Object) -> None:
    new["metadata"]["generation"] = 1


def _fresh_namespace(new: Object) -> None:
    spec = new.setdefault("spec", {})
    finalizers = spec.setdefault("finalizers", [])
    if KUBERNETES not in finalizers:
        finalizers.append(KUBERNETES)
    new["status"] = {"phase": "Active"}
    _name_label(new)


def _namespace_updated(new: Object, old: Object) -> None:
    new["spec"] = {**new.get("spec", {}), "finalizers": old.get("spec", {}).get("finalizers", [])}
    if not new["spec"]["finalizers"]:
        new["spec"] = {}
    _take(new, old, "status")
    _name_label(new)


def _name_label(new: Object) -> None:
    """The label that a namespace always carries, also when its name was generated."""
    metadata = new["metadata"]
    if name := metadata.get("name"):
        metadata.setdefault("labels", {})["kubernetes.io/metadata.name"] = name


def new_generation(new: Object, old: Object) -> None:
    """A change of the spec is a new generation."""
    if new.get("spec") != old.get("spec"):
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def _not_attached(new: Object) -> None:
    new["status"] = {"attached": False}


def _fresh_owner(new: Object) -> None:
    jobs.fresh(new)
    new["status"] = {"replicas": 0}


def _fresh_stateful_set(new: Object) -> None:
    _fresh_owner(new)
    new["status"]["availableReplicas"] = 0


def _fresh_budget(new: Object) -> None:
    """Nothing is allowed until somebody has counted."""
    jobs.fresh(new)
    counts = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
    new["status"] = dict.fromkeys(counts, 0)


def _fresh_service(new: Object) -> None:
    """A service without an address of its own says so in the newer fields, too."""
    new["status"] = {"loadBalancer": {}}
    spec = new["spec"]
    if address := spec.get("clusterIP"):
        spec.setdefault("clusterIPs", [address])
    if spec.get("type") != "ExternalName":
        spec.setdefault("ipFamilies", ["IPv4"])
        spec.setdefault("ipFamilyPolicy", "SingleStack")


def _fresh_volume(new: Object) -> None:
    born = new["metadata"]["creationTimestamp"]
    new["status"] = {"phase": "Pending", "lastPhaseTransitionTime": born}


def _fresh_claim(new: Object) -> None:
    new["status"] = {"phase": "Pending"}


def _fresh_node(new: Object) -> None:
    new.setdefault("spec", {})
    new.setdefault("status", {})


KUBERNETES = "kubernetes"
"""The namespace controller's own finalizer, in a namespace's spec."""

_PLAIN = Strategy()
_COUNTED = Strategy(
    created=_fresh_owner, updated=jobs.updated, subresources=(("status", keeps_spec),)
)
_GROUP = Strategy(
    created=_with_empty_status,
    updated=keeps_status,
    subresources=(("status", keeps_spec_and_metadata),),
    updates_unconditionally=False,
)
_STRATEGIES = {
    "pods": Strategy(
        created=pods.created,
        updated=pods.updated,
        subresources=(("status", pods.status_updated),),
        returns_deleted=True,
    ),
    "nodes": Strategy(
        created=_fresh_node, updated=keeps_status, subresources=(("status", keeps_spec),)
    ),
    "namespaces": Strategy(
        created=_fresh_namespace,
        updated=_namespace_updated,
        subresources=(("status", keeps_spec), ("finalize", keeps_status)),
        returns_deleted=True,
    ),
    "serviceaccounts": Strategy(returns_deleted=True),
    "events": Strategy(creates_on_update=True, collected=False),
    "jobs.batch": Strategy(
        created=jobs.created,
        updated=jobs.updated,
        subresources=(("status", keeps_spec),),
        orphans_by_default=True,
    ),
    "cronjobs.batch": Strategy(
        created=jobs.fresh, updated=jobs.updated, subresources=(("status", keeps_spec),)
    ),
    "services": Strategy(
        created=_fresh_service,
        updated=keeps_status,
        subresources=(("status", keeps_spec),),
        creates_on_update=True,
        returns_deleted=True,
    ),
    "replicationcontrollers": _COUNTED,
    "replicasets.apps": _COUNTED,
    "statefulsets.apps": Strategy(
        created=_fresh_stateful_set, updated=jobs.updated, subresources=(("status", keeps_spec),)
    ),
    "persistentvolumes": Strategy(
        created=_fresh_volume,
        updated=keeps_status,
        subresources=(("status", keeps_spec),),
        returns_deleted=True,
    ),
    "persistentvolumeclaims": Strategy(
        created=_fresh_claim,
        updated=keeps_status,
        subresources=(("status", keeps_spec),),
        returns_deleted=True,
    ),
    "storageclasses.storage.k8s.io": Strategy(returns_deleted=True),
    "csidrivers.storage.k8s.io": Strategy(
        updated=new_generation, updates_unconditionally=False, returns_deleted=True
    ),
    "csinodes.storage.k8s.io": Strategy(
        created=_with_empty_status,
        updated=keeps_status,
        subresources=(("status", keeps_spec_and_metadata),),
        updates_unconditionally=False,
        returns_deleted=True,
    ),
    "csistoragecapacities.storage.k8s.io": Strategy(updates_unconditionally=False),
    "volumeattachments.storage.k8s.io": Strategy(
        created=_not_attached,
        updated=keeps_status,
        subresources=(("status", keeps_spec_and_metadata),),
        updates_unconditionally=False,
        returns_deleted=True,
    ),
    "poddisruptionbudgets.policy": Strategy(
        created=_fresh_budget,
        updated=jobs.updated,
        subresources=(("status", keeps_spec),),
        updates_unconditionally=False,
    ),
    "deviceclasses.resource.k8s.io": Strategy(
        created=_first_generation, updated=new_generation, returns_deleted=True
    ),
    "devicetaintrules.resource.k8s.io": Strategy(
        created=jobs.fresh,
        updated=jobs.updated,
        subresources=(("status", keeps_spec_and_metadata),),
        returns_deleted=True,
    ),
    "resourceclaims.resource.k8s.io": Strategy(
        created=_with_empty_status,
        updated=keeps_status,
        subresources=(("status", keeps_spec_and_metadata),),
        returns_deleted=True,
    ),
    "resourceclaimtemplates.resource.k8s.io": Strategy(returns_deleted=True),
    "resourceslices.resource.k8s.io": Strategy(
        created=_first_generation, updated=new_generation, returns_deleted=True
    ),
    "leases.coordination.k8s.io": Strategy(creates_on_update=True, updates_unconditionally=False),
    "priorityclasses.scheduling.k8s.io": Strategy(created=_first_generation),
    "workloads.scheduling.k8s.io": Strategy(updates_unconditionally=False),
    "podgroups.scheduling.k8s.io": _GROUP,
    "compositepodgroups.scheduling.k8s.io": _GROUP,
}
