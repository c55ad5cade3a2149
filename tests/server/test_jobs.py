"""What the server makes of jobs: whose pods they are, their generation, how they look in a table."""

from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

from tutti.server import jobs, printers

UID = "b3d0e2ec"
NOW = datetime(2026, 1, 1, 0, 10, tzinfo=UTC)


def fresh(**spec: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {
        "metadata": {"name": "j", "uid": UID, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"template": template, **spec},
        "status": {"active": 7},
    }


def test_the_pods_of_a_new_job_are_told_apart_by_its_uid() -> None:
    job = fresh()
    jobs.created(job)
    labels = {
        "controller-uid": UID,
        "batch.kubernetes.io/controller-uid": UID,
        "job-name": "j",
        "batch.kubernetes.io/job-name": "j",
    }
    assert job["spec"]["template"]["metadata"]["labels"] == labels
    assert job["metadata"]["labels"] == labels
    assert job["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": UID}}
    assert (job["metadata"]["generation"], job["status"]) == (1, {})


def test_a_job_that_selects_by_hand_is_left_as_it_is() -> None:
    job = fresh(manualSelector=True, selector={"matchLabels": {"a": "b"}})
    before = deepcopy(job["spec"])
    jobs.created(job)
    assert job["spec"] == before


def test_labels_of_its_own_stay_on_a_job() -> None:
    job = fresh()
    job["metadata"]["labels"] = {"own": "label"}
    jobs.created(job)
    assert job["metadata"]["labels"] == {"own": "label"}


def test_a_change_of_the_spec_is_a_new_generation_and_status_is_not_written_with_it() -> None:
    old = fresh()
    jobs.created(old)
    new = deepcopy(old)
    new["status"] = {"succeeded": 3}
    jobs.updated(new, old)
    assert (new["metadata"]["generation"], new["status"]) == (1, {})
    new["spec"]["parallelism"] = 2
    jobs.updated(new, old)
    assert new["metadata"]["generation"] == 2


def test_a_job_shows_its_state_completions_and_duration() -> None:
    job = fresh(completions=3, selector={"matchLabels": {"a": "b"}})
    job["status"] = {"succeeded": 2, "startTime": "2026-01-01T00:08:00Z"}
    cells = printers.of("jobs.batch").cells(job, NOW)
    assert cells == ["j", "Running", "2/3", "2m", "10m", "c", "i", "a=b"]
    job["status"]["conditions"] = [{"type": "Complete", "status": "True"}]
    job["status"]["completionTime"] = "2026-01-01T00:08:05Z"
    assert printers.of("jobs.batch").cells(job, NOW)[1:4] == ["Complete", "2/3", "5s"]


def test_a_cron_job_shows_when_it_last_ran() -> None:
    cron = {
        "metadata": {"name": "c", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"schedule": "@daily", "suspend": False, "jobTemplate": {"spec": fresh()["spec"]}},
        "status": {"lastScheduleTime": "2026-01-01T00:09:00Z", "active": [{}]},
    }
    cells = printers.of("cronjobs.batch").cells(cron, NOW)
    assert cells == ["c", "@daily", "<none>", "False", 1, "60s", "10m", "c", "i", "<none>"]
