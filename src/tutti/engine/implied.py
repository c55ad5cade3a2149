"""Gangs that no object says: made of an owner and its pods, where nobody makes PodGroups.

A pod without a schedulingGroup is in the implied group of its controller, if that asks for one:

    a Job           by its annotation `tutti.dev/gang`, by that of its template, or by the rule for
                    Jobs, as the Job itself was told of (`JobSeen`); until then its pods wait for it
    anything else   by the annotation on the pods

Left alone are owners of whose pods somebody else bound one, and Jobs with Workloads that can't say
which group is meant. Who was a gang once stays one, until its annotation says `none`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tutti.api.core_v1 import Pod
from tutti.api.meta import OwnerReference
from tutti.api.scheduling import Workload
from tutti.engine.messages import OwnerRef

GANG = "tutti.dev/gang"
"""How many pods of an owner have to start together."""
OPT_OUT = "none"
LARGEST = 10**6


@dataclass(frozen=True, slots=True)
class Asked:
    """What an owner asks: a quorum, 0 for no gang in so many words, None for nothing."""

    quorum: int | None = None
    wrong: str = ""
    """Why that can't be told: such a gang waits, and says so."""

    @property
    def is_gang(self) -> bool:
        return bool(self.quorum or self.wrong)

    def outweighs(self, other: Asked | None) -> bool:
        """Of two pods of one owner that ask differently, the larger number counts."""
        return other is None or (self.wrong, self.quorum or 0) > (
            other.wrong,
            other.quorum or 0,
        )


NOTHING = Asked()


def read(text: str) -> Asked:
    """The value of the annotation."""
    if text == OPT_OUT:
        return Asked(0)
    if text.isascii() and text.isdecimal() and 0 < int(text) <= LARGEST:
        return Asked(int(text))
    return Asked(
        wrong=f'annotation {GANG} must be "{OPT_OUT}" or a number from 1 to {LARGEST}, not "{text}"'
    )


def of_pod(pod: Pod) -> Asked:
    said = pod.metadata.annotations.get(GANG)
    return NOTHING if said is None else read(said)


def says_alike(pod: Pod, other: Pod) -> bool:
    """Whether two views of a pod say the same of whose it is."""
    mine, its = pod.metadata, other.metadata
    return mine.owner_references == its.owner_references and mine.annotations.get(
        GANG
    ) == its.annotations.get(GANG)


def is_job(owner: OwnerReference) -> bool:
    return owner.kind == "Job" and owner.api_version.startswith("batch/")


class Implied:
    """Which owners are gangs, as far as is known. `names` are those of our own schedulers."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.follows_jobs = False
        self._names = frozenset(names)
        self._jobs: dict[str, Asked] = {}
        self._left_alone: dict[str, None] = {}
        self._workloads: dict[tuple[str, str], dict[str, int]] = {}
        """By namespace and Job: the Workloads that name it, and their numbers of templates."""

    def owner_of_gang(self, pod: Pod) -> OwnerRef | None:
        """The owner whose implied group the pod is in; None where it is in none."""
        owner = self._owner_that_matters(pod)
        if owner is None or owner.uid in self._left_alone:
            return None
        namespace = pod.metadata.namespace
        if self._is_followed(owner):
            asked = self._jobs.get(owner.uid)
            if asked is not None and not asked.is_gang:
                return None
            if not self._is_clear((namespace, owner.name)):
                return None
        elif not of_pod(pod).is_gang:
            return None
        return OwnerRef(owner.api_version, owner.kind, namespace, owner.name, owner.uid)

    def asked_for(self, pod: Pod) -> Asked | None:
        """What the pod's owner asks; None while it isn't known."""
        owner = pod.metadata.controller
        if owner is None or not self._is_followed(owner):
            return of_pod(pod)
        return self._jobs.get(owner.uid)

    def uid_of_owner(self, pod: Pod) -> str | None:
        """The owner that could have its pods in an implied group some day."""
        owner = self._owner_that_matters(pod)
        return owner.uid if owner is not None else None

    def job_seen(self, uid: str, asked: Asked) -> bool:
        """Whether it asks otherwise than before. A gang that doesn't qualify any more stays one."""
        known = self._jobs.get(uid)
        if known is not None and known.quorum and asked == NOTHING:
            return False
        self._jobs[uid] = asked
        return known != asked

    def job_gone(self, uid: str) -> None:
        self._jobs.pop(uid, None)

    def asked_by_job(self, uid: str) -> Asked:
        return self._jobs.get(uid, NOTHING)

    def leave_alone(self, uid: str) -> None:
        self._left_alone[uid] = None

    def forget(self, uid: str) -> None:
        """No pod of the owner is left."""
        self._left_alone.pop(uid, None)

    def workload_seen(self, workload: Workload) -> tuple[str, str] | None:
        """The namespace and name of a Job of which this changes whether it can be a gang."""
        meta, ref = workload.metadata, workload.spec.controller_ref
        if ref is None or ref.kind != "Job" or ref.api_group != "batch":
            return None
        job = meta.namespace, ref.name
        was_clear = self._is_clear(job)
        templates = len(workload.spec.pod_group_templates or ())
        self._workloads.setdefault(job, {})[meta.name] = templates
        return job if self._is_clear(job) is not was_clear else None

    def workload_gone(self, workload: Workload) -> tuple[str, str] | None:
        meta, ref = workload.metadata, workload.spec.controller_ref
        job = meta.namespace, ref.name if ref is not None else ""
        if meta.name not in self._workloads.get(job, ()):
            return None
        was_clear = self._is_clear(job)
        del self._workloads[job][meta.name]
        if not self._workloads[job]:
            del self._workloads[job]
        return job if self._is_clear(job) is not was_clear else None

    def _owner_that_matters(self, pod: Pod) -> OwnerReference | None:
        if pod.spec.scheduler_name not in self._names:
            return None
        if (group := pod.spec.scheduling_group) is not None and group.pod_group_name:
            return None
        owner = pod.metadata.controller
        if owner is None or not (self._is_followed(owner) or GANG in pod.metadata.annotations):
            return None
        return owner

    def _is_followed(self, owner: OwnerReference) -> bool:
        return self.follows_jobs and is_job(owner)

    def _is_clear(self, job: tuple[str, str]) -> bool:
        """Not so with several Workloads for one Job, or one of other than one template."""
        return list(self._workloads.get(job, {}).values()) in ([], [1])
