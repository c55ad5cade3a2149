"""What a Job asks of the gang of its pods, where they are in no PodGroup."""

from typing import Any

from tutti.api.batch import Job
from tutti.controllers.jobs import gangs
from tutti.controllers.jobs.gangs import Role, Rule
from tutti.engine import implied
from tutti.engine.implied import Asked
from tutti.engine.messages import JobSeen


def asked_by(job: Job, rule: Rule) -> Asked:
    """By its annotation, by that of its template, by its `spec.scheduling` or by the rule."""
    of_template: dict[str, Any] = job.spec.template.get("metadata") or {}
    for annotations in (job.metadata.annotations, of_template.get("annotations") or {}):
        if implied.GANG in annotations:
            return implied.read(annotations[implied.GANG])
    return Asked(gangs.quorum(job, rule)) if gangs.role(job) is Role.ROOT else Asked()


def as_seen(job: Job, rule: Rule) -> JobSeen:
    """All that the engine hears of a Job."""
    asked = asked_by(job, rule)
    return JobSeen(job.metadata.uid, job.wanted_at_once, asked.quorum, asked.wrong)
