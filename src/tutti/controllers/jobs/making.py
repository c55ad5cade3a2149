"""The pods of a Job, made of its template."""

import copy
from collections.abc import Callable
from typing import Any, Final

import msgspec

from tutti.api.batch import Job
from tutti.api.scheduling import PodGroup
from tutti.controllers.jobs import facts, gangs, names
from tutti.controllers.jobs.managing import New

ENV: Final = "JOB_COMPLETION_INDEX"
_FROM_LABEL: Final = {"fieldRef": {"fieldPath": f"metadata.labels['{facts.INDEX}']"}}
RANDOM_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"

Manifest = dict[str, Any]


def pod(job: Job, new: New, group: PodGroup | None, choose: Callable[[str], str]) -> Manifest:
    """`choose` picks a random letter of a text: the name is ours, so that an unanswered request
    can be sent again without making a second pod."""
    template = copy.deepcopy(job.spec.template)
    meta, spec = template.get("metadata") or {}, template.get("spec") or {}
    labels, annotations = dict(meta.get("labels") or {}), dict(meta.get("annotations") or {})
    if new.index is not None:
        labels[facts.INDEX] = annotations[facts.INDEX] = str(new.index)
        spec["hostname"] = f"{job.metadata.name}-{new.index}"
        for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
            _tell_index(container)
    if new.failures is not None:
        annotations[facts.FAILURES] = str(new.failures)
        if new.ignored_failures:
            annotations[facts.IGNORED_FAILURES] = str(new.ignored_failures)
    owners = [msgspec.to_builtins(gangs.owner_reference(job))]
    if group is not None:
        spec["schedulingGroup"] = {"podGroupName": group.metadata.name}
        owners.append(_of_group(group))
    prefix = names.pod_prefix(job.metadata.name, new.index)
    finalizers = [name for name in meta.get("finalizers") or () if name != facts.FINALIZER]
    return {
        "metadata": {
            "name": prefix + "".join(choose(RANDOM_LETTERS) for _ in range(5)),
            "generateName": prefix,
            "namespace": job.metadata.namespace,
            "labels": labels,
            "annotations": annotations,
            "finalizers": [*finalizers, facts.FINALIZER],
            "ownerReferences": owners,
        },
        "spec": spec,
    }


def _tell_index(container: Manifest) -> None:
    env = container.setdefault("env", [])
    if all(variable.get("name") != ENV for variable in env):
        env.append({"name": ENV, "valueFrom": _FROM_LABEL})


def _of_group(group: PodGroup) -> Manifest:
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "name": group.metadata.name,
        "uid": group.metadata.uid,
    }
