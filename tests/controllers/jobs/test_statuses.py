"""What changed of a Job's status, as a merge patch."""

from tests.controllers.jobs.world import START
from tutti.api.batch import JobStatus, UncountedPods
from tutti.controllers.jobs.statuses import change


def test_only_what_changed_is_sent():
    before = JobStatus(active=2, start_time=START, ready=1)
    assert change(before, JobStatus(active=1, start_time=START, ready=1)) == {"active": 1}
    assert change(before, before) == {}


def test_what_is_gone_is_null():
    before = JobStatus(active=2, uncounted_terminated_pods=UncountedPods(succeeded=("a",)))
    after = JobStatus(uncounted_terminated_pods=UncountedPods(failed=("b",)))
    assert change(before, after) == {
        "active": None,
        "uncountedTerminatedPods": {"succeeded": None, "failed": ("b",)},
    }
