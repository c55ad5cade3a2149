"""What a Job's own rules say about failures and about success."""

from typing import Literal, NamedTuple

from tutti.api import indexes
from tutti.api.batch import FailureRule, Job, OnExitCodes, SuccessRule
from tutti.api.core_v1 import ContainerStatus, Pod
from tutti.controllers.undone import was_undone

Action = Literal["Count", "Ignore", "FailIndex", "FailJob"]
ACTIONS: dict[str, Action] = {
    "Count": "Count",
    "Ignore": "Ignore",
    "FailIndex": "FailIndex",
    "FailJob": "FailJob",
}


class Verdict(NamedTuple):
    """What a failed pod means to its Job; `why` is said where it ends the Job."""

    action: Action | None = None
    why: str = ""

    @property
    def counts(self) -> bool:
        return self.action != "Ignore"


def verdict(job: Job, pod: Pod) -> Verdict:
    """The first rule that fits decides; without one a failure counts.

    What the scheduler undid didn't fail: no undo ends a Job.
    """
    if was_undone(pod):
        return Verdict("Ignore")
    rules = job.spec.pod_failure_policy.rules if job.spec.pod_failure_policy else ()
    for place, rule in enumerate(rules):
        found = _match(rule, pod)
        action = ACTIONS.get(rule.action)
        if found and action:
            return Verdict(action, f"{found} matching {action} rule at index {place}")
    return Verdict()


def success(job: Job, succeeded: frozenset[int]) -> str | None:
    """Which rule of success is met, in a sentence."""
    rules = job.spec.success_policy.rules if job.spec.success_policy else ()
    for place, rule in enumerate(rules):
        if succeeded and _is_met(rule, succeeded, job.spec.completions or 0):
            return f"Matched rules at index {place}"
    return None


def _is_met(rule: SuccessRule, succeeded: frozenset[int], completions: int) -> bool:
    count = rule.succeeded_count
    if rule.succeeded_indexes is None:
        return count is not None and len(succeeded) >= count
    wanted = indexes.read(rule.succeeded_indexes, below=completions)
    there = wanted & succeeded
    return bool(wanted) and (there == wanted or (count is not None and len(there) >= count))


def _match(rule: FailureRule, pod: Pod) -> str | None:
    """What of the pod fits the rule, in words."""
    if rule.on_exit_codes is not None:
        status = pod.status
        for container in (*status.container_statuses, *status.init_container_statuses):
            code = _exit_code(container)
            if code and _names(rule.on_exit_codes, container.name, code):
                where = f"{pod.metadata.namespace}/{pod.metadata.name}"
                return f"Container {container.name} for pod {where} failed with exit code {code}"
        return None
    for condition in pod.status.conditions:
        for pattern in rule.on_pod_conditions:
            if (condition.type, condition.status) == (pattern.type, pattern.status or "True"):
                where = f"{pod.metadata.namespace}/{pod.metadata.name}"
                return f"Pod {where} has condition {condition.type}"
    return None


def _exit_code(container: ContainerStatus) -> int | None:
    ended = container.state.terminated
    return ended.exit_code if ended else None


def _names(wanted: OnExitCodes, container: str, code: int) -> bool:
    if wanted.container_name not in (None, container):
        return False
    return (code in wanted.values) == (wanted.operator == "In")
