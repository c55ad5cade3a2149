"""Admission: what a new object gets, and what keeps it out, by what else is in the cluster.

Each rule is a function of the object and the view; it changes the object in place or raises.
They run after defaulting and before the kind's strategy and validation.
"""

from typing import Any

from tutti.api.errors import Forbidden, NotFound
from tutti.server.gates import Gates
from tutti.server.routes import Target
from tutti.server.view import PriorityClass, View

Object = dict[str, Any]

GROUP_PROTECTION = "scheduling.k8s.io/podgroup-protection"

_IMMORTAL = frozenset({"default", "kube-system", "kube-public"})
_PATIENCE_SECONDS = 300
_LOWER = "PreemptLowerPriority"


def create(target: Target, new: Object, view: View, gates: Gates) -> None:
    """All rules for a new object."""
    namespace_takes_new_objects(target, view)
    match target.storage.key:
        case "pods":
            pod_priority(target, new, view)
            default_tolerations(new)
        case "podgroups.scheduling.k8s.io":
            group_priority(target, new, view, gates, "pod group")
            group_protection(new)
        case "compositepodgroups.scheduling.k8s.io":
            group_priority(target, new, view, gates, "composite pod group")
        case "priorityclasses.scheduling.k8s.io":
            only_one_default(target, new, view, fresh=True)


def update(target: Target, new: Object, old: Object, view: View) -> None:
    """All rules for a change of an object itself (not of a subresource)."""
    match target.storage.key:
        case "pods":
            keep_priority(new, old)
            default_tolerations(new)
        case "priorityclasses.scheduling.k8s.io":
            only_one_default(target, new, view, fresh=False)


def delete(target: Target) -> None:
    """All rules for a deletion."""
    if target.storage.key == "namespaces" and target.name in _IMMORTAL:
        raise Forbidden.of("namespaces", target.name, "this namespace may not be deleted")


def namespace_takes_new_objects(target: Target, view: View) -> None:
    """Nothing is created where there is no namespace, or one that is going."""
    namespace = target.namespace
    if namespace is None:
        return
    phase = view.phase(namespace)
    if phase is None:
        raise NotFound.of("namespaces", namespace)
    if phase == "Terminating":
        why = (
            f"unable to create new content in namespace {namespace} because it is being terminated"
        )
        refusal = _forbidden(target, why)
        refusal.details["causes"] = [
            {
                "reason": "NamespaceTerminating",
                "message": f"namespace {namespace} is being terminated",
                "field": "metadata.namespace",
            }
        ]
        raise refusal


def pod_priority(target: Target, pod: Object, view: View) -> None:
    """The class of a pod gives it its priority; a number that contradicts it is refused."""
    spec = pod["spec"]
    name, found = _class_of(target, spec, view)
    if spec.get("priority", found.value) != found.value:
        raise _forbidden(
            target,
            f"the integer value of priority ({spec['priority']}) must not be provided in pod spec; "
            f"priority admission controller computed {found.value} from the given PriorityClass name",
        )
    if spec.get("preemptionPolicy", found.preemption_policy) != found.preemption_policy:
        raise _forbidden(target, _policy_sentence(spec, found, "pod"))
    spec["priority"] = found.value
    spec["preemptionPolicy"] = found.preemption_policy
    if name:
        spec["priorityClassName"] = name


def keep_priority(new: Object, old: Object) -> None:
    """What was filled in at first stays; a client that doesn't send it back means no harm."""
    for field in ("priority", "preemptionPolicy"):
        if field in old["spec"]:
            new["spec"].setdefault(field, old["spec"][field])


def group_priority(target: Target, group: Object, view: View, gates: Gates, said: str) -> None:
    """As for pods; the preemption policy only counts where its gate is open."""
    spec = group.setdefault("spec", {})
    name, found = _class_of(target, spec, view)
    if spec.get("priority", found.value) != found.value:
        raise _forbidden(
            target,
            f"priority set in the {said} ({spec['priority']}) must match the priority computed "
            f"({found.value}) based on the priority class set in the spec",
        )
    spec["priority"] = found.value
    if name:
        spec["priorityClassName"] = name
    if gates.on("PodGroupPreemptionPolicy"):
        if spec.get("preemptionPolicy", found.preemption_policy) != found.preemption_policy:
            raise _forbidden(target, _policy_sentence(spec, found, said))
        spec["preemptionPolicy"] = found.preemption_policy


def default_tolerations(pod: Object) -> None:
    """A pod stays for a while on a node that is not ready or can't be reached."""
    tolerations = pod["spec"].setdefault("tolerations", [])
    for taint in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        if not any(_tolerates_eviction(toleration, taint) for toleration in tolerations):
            tolerations.append(
                {
                    "key": taint,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": _PATIENCE_SECONDS,
                }
            )


def group_protection(group: Object) -> None:
    """A PodGroup stays as long as pods are in it: the protection controller lets it go."""
    finalizers = group["metadata"].setdefault("finalizers", [])
    if GROUP_PROTECTION not in finalizers:
        finalizers.append(GROUP_PROTECTION)


def only_one_default(target: Target, new: Object, view: View, *, fresh: bool) -> None:
    """There is one default priority class at most."""
    if not new.get("globalDefault"):
        return
    default = view.default_class()
    if default is not None and (fresh or default[0] != new["metadata"]["name"]):
        raise _forbidden(
            target,
            f"PriorityClass {default[0]} is already marked as default. Only one default can exist",
        )


def _class_of(target: Target, spec: Object, view: View) -> tuple[str, PriorityClass]:
    name = spec.get("priorityClassName")
    if not name:
        return view.default_class() or ("", PriorityClass())
    found = view.priority_class(name)
    if found is None:
        raise _forbidden(target, f"no PriorityClass with name {name} was found")
    return name, found


def _policy_sentence(spec: Object, found: PriorityClass, said: str) -> str:
    return (
        f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be provided in "
        f"{said} spec; priority admission controller computed {found.preemption_policy} "
        "from the given PriorityClass name"
    )


def _tolerates_eviction(toleration: Object, taint: str) -> bool:
    return toleration.get("key", "") in ("", taint) and toleration.get("effect", "") in (
        "",
        "NoExecute",
    )


def _forbidden(target: Target, why: str) -> Forbidden:
    return Forbidden.of(target.storage.key, target.name or "", why)
