"""What is counted about Jobs."""

from msgspec import structs

from tests.controllers.jobs.world import START, indexed, pod
from tutti.api.batch import JobCondition, JobStatus
from tutti.controllers.jobs.metrics import JobMetrics
from tutti.controllers.jobs.plan import plan
from tutti.web.metrics import Metrics


def test_a_look_at_a_job_is_told_by_what_was_done():
    all_ = Metrics()
    metrics = JobMetrics(all_)
    asked = indexed(2)
    metrics.looked_at(asked, plan(asked, [], START), 0.5)
    metrics.looked_at(asked, plan(asked, [pod(0), pod(1)], START), 0.5)
    metrics.looked_at(asked, None, 0.5)
    text = all_.exposition().decode()
    name = "job_controller_job_sync_duration_seconds_count"
    for result, action in (
        ("success", "pods_created"),
        ("success", "tracking"),
        ("error", "reconciling"),
    ):
        labels = f'completion_mode="Indexed",result="{result}",action="{action}"'
        assert f"{name}{{{labels}}} 1" in text


def test_only_jobs_that_are_over_are_counted_as_such():
    all_ = Metrics()
    metrics = JobMetrics(all_)
    failed = JobCondition(type="Failed", status="True", reason="DeadlineExceeded")
    metrics.finished(indexed(2))
    metrics.finished(structs.replace(indexed(2), status=JobStatus(conditions=(failed,))))
    wanted = 'completion_mode="Indexed",result="failed",reason="DeadlineExceeded"'
    assert f"job_controller_jobs_finished_total{{{wanted}}} 1" in all_.exposition().decode()


def test_groups_are_counted_by_kind_and_result():
    all_ = Metrics()
    metrics = JobMetrics(all_)
    metrics.group_made("Workload", well=True)
    metrics.group_made("PodGroup", well=False)
    text = all_.exposition().decode()
    assert 'tutti_group_creations_total{kind="Workload",result="success"} 1' in text
    assert 'tutti_group_creations_total{kind="PodGroup",result="error"} 1' in text
