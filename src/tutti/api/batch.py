"""Jobs and cron jobs, as far as the controllers that run them and the scheduler read them.

Templates stay what they are on the wire: pods and Jobs are made from them whole.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from msgspec import field

from tutti.api import indexes
from tutti.api.core_v1 import ObjectReference
from tutti.api.meta import LabelSelector, ObjectMeta, Wire
from tutti.api.scheduling import (
    Basic,
    DisruptionMode,
    GroupResourceClaim,
    SchedulingConstraints,
)

INDEXED: Final = "Indexed"


class JobGang(Wire, frozen=True, kw_only=True, rename={"min_count": "minCount"}):
    """A gang of a Job; without a count it follows the Job's parallelism."""

    min_count: int | None = None


class JobSchedulingPolicy(Wire, frozen=True, kw_only=True):
    basic: Basic | None = None
    gang: JobGang | None = None


class JobScheduling(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "scheduling_policy": "schedulingPolicy",
        "scheduling_constraints": "schedulingConstraints",
        "disruption_mode": "disruptionMode",
        "resource_claims": "resourceClaims",
    },
):
    """What a Job asks of the group that is made of its pods."""

    scheduling_policy: JobSchedulingPolicy | None = None
    scheduling_constraints: SchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    resource_claims: tuple[GroupResourceClaim, ...] = ()


class OnExitCodes(Wire, frozen=True, kw_only=True, rename={"container_name": "containerName"}):
    container_name: str | None = None
    operator: str = ""
    values: tuple[int, ...] = ()


class OnPodCondition(Wire, frozen=True, kw_only=True):
    type: str = ""
    status: str = ""


class FailureRule(
    Wire,
    frozen=True,
    kw_only=True,
    rename={"on_exit_codes": "onExitCodes", "on_pod_conditions": "onPodConditions"},
):
    action: str = ""
    on_exit_codes: OnExitCodes | None = None
    on_pod_conditions: tuple[OnPodCondition, ...] = ()


class FailurePolicy(Wire, frozen=True, kw_only=True):
    """The first rule that fits a failed pod decides."""

    rules: tuple[FailureRule, ...] = ()


class SuccessRule(
    Wire,
    frozen=True,
    kw_only=True,
    rename={"succeeded_indexes": "succeededIndexes", "succeeded_count": "succeededCount"},
):
    succeeded_indexes: str | None = None
    succeeded_count: int | None = None


class SuccessPolicy(Wire, frozen=True, kw_only=True):
    """The Job has succeeded as soon as any rule is met."""

    rules: tuple[SuccessRule, ...] = ()


Template = dict[str, Any]
"""A template as it came; `spec` and `metadata` may be missing."""


class JobSpec(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "active_deadline_seconds": "activeDeadlineSeconds",
        "pod_failure_policy": "podFailurePolicy",
        "success_policy": "successPolicy",
        "backoff_limit": "backoffLimit",
        "backoff_limit_per_index": "backoffLimitPerIndex",
        "max_failed_indexes": "maxFailedIndexes",
        "manual_selector": "manualSelector",
        "ttl_seconds_after_finished": "ttlSecondsAfterFinished",
        "completion_mode": "completionMode",
        "pod_replacement_policy": "podReplacementPolicy",
        "managed_by": "managedBy",
    },
):
    parallelism: int | None = None
    completions: int | None = None
    active_deadline_seconds: int | None = None
    pod_failure_policy: FailurePolicy | None = None
    success_policy: SuccessPolicy | None = None
    backoff_limit: int | None = None
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    selector: LabelSelector | None = None
    manual_selector: bool | None = None
    template: Template = field(default_factory=dict)
    ttl_seconds_after_finished: int | None = None
    completion_mode: str = ""
    suspend: bool | None = None
    pod_replacement_policy: str = ""
    managed_by: str | None = None
    scheduling: JobScheduling | None = None

    @property
    def is_indexed(self) -> bool:
        return self.completion_mode == INDEXED

    @property
    def pods_at_once(self) -> int:
        return 1 if self.parallelism is None else self.parallelism

    @property
    def pod(self) -> Template:
        """The spec of its pods."""
        spec: Template = self.template.get("spec") or {}
        return spec

    @property
    def own_group(self) -> str | None:
        """The group that the template puts its pods into."""
        group = self.pod.get("schedulingGroup") or {}
        return group.get("podGroupName")


class JobCondition(
    Wire,
    frozen=True,
    kw_only=True,
    rename={"last_probe_time": "lastProbeTime", "last_transition_time": "lastTransitionTime"},
):
    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None


class UncountedPods(Wire, frozen=True, kw_only=True):
    """Pods that ended and still have the Job's finalizer: their uids are in no counter yet."""

    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class JobStatus(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "start_time": "startTime",
        "completion_time": "completionTime",
        "completed_indexes": "completedIndexes",
        "failed_indexes": "failedIndexes",
        "uncounted_terminated_pods": "uncountedTerminatedPods",
    },
):
    conditions: tuple[JobCondition, ...] = ()
    start_time: datetime | None = None
    completion_time: datetime | None = None
    active: int = 0
    succeeded: int = 0
    failed: int = 0
    ready: int | None = None
    terminating: int | None = None
    completed_indexes: str = ""
    failed_indexes: str | None = None
    uncounted_terminated_pods: UncountedPods | None = None


class Job(Wire, frozen=True, kw_only=True):
    metadata: ObjectMeta
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def ending(self) -> JobCondition | None:
        """The condition that says that it is over, once it is."""
        return next(
            (
                condition
                for condition in self.status.conditions
                if condition.type in ("Complete", "Failed") and condition.status == "True"
            ),
            None,
        )

    @property
    def wanted_at_once(self) -> int:
        """How many pods it still wants to run at the same time, were it not suspended.

        Pods that ended count as soon as the status says so; what succeeded and isn't needed again,
        and indexes that failed for good, are wanted no more.
        """
        spec, status = self.spec, self.status
        uncounted = status.uncounted_terminated_pods or UncountedPods()
        succeeded = status.succeeded + len(uncounted.succeeded)
        if spec.completions is None:
            return min(spec.pods_at_once, status.active) if succeeded else spec.pods_at_once
        lost = len(indexes.read(status.failed_indexes or "", below=spec.completions))
        return max(0, min(spec.pods_at_once, spec.completions - succeeded - lost))


class CronJobSpec(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "time_zone": "timeZone",
        "starting_deadline_seconds": "startingDeadlineSeconds",
        "concurrency_policy": "concurrencyPolicy",
        "job_template": "jobTemplate",
        "successful_jobs_history_limit": "successfulJobsHistoryLimit",
        "failed_jobs_history_limit": "failedJobsHistoryLimit",
    },
):
    schedule: str = ""
    time_zone: str | None = None
    starting_deadline_seconds: int | None = None
    concurrency_policy: str = ""
    suspend: bool | None = None
    job_template: Template = field(default_factory=dict)
    successful_jobs_history_limit: int | None = None
    failed_jobs_history_limit: int | None = None


class CronJobStatus(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "last_schedule_time": "lastScheduleTime",
        "last_successful_time": "lastSuccessfulTime",
    },
):
    active: tuple[ObjectReference, ...] = ()
    last_schedule_time: datetime | None = None
    last_successful_time: datetime | None = None


class CronJob(Wire, frozen=True, kw_only=True):
    metadata: ObjectMeta
    spec: CronJobSpec = CronJobSpec()
    status: CronJobStatus = CronJobStatus()
