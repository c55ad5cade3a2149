"""What a pretend kubelet does next with a pod, and what the pod's status says then."""

from datetime import UTC, datetime, timedelta

import pytest

from tutti.api.core_v1 import Container, Pod, PodSpec, PodStatus
from tutti.api.meta import ObjectMeta
from tutti.pretend import kubelet
from tutti.pretend.kubelet import Finish, Remove, Start, Stop

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def pod(
    phase: str = "Pending",
    *,
    deleted: datetime | None = None,
    grace: int | None = None,
    stops_after: str | None = None,
    runs_for: str | None = None,
    exit_code: str | None = None,
    **spec: object,
) -> Pod:
    return Pod(
        metadata=ObjectMeta(
            name="p",
            uid="1",
            deletion_timestamp=deleted,
            deletion_grace_period_seconds=grace,
            annotations={
                key: text
                for key, text in (
                    (kubelet.STOPS_AFTER, stops_after),
                    (kubelet.RUNS_FOR, runs_for),
                    (kubelet.EXIT_CODE, exit_code),
                )
                if text is not None
            },
        ),
        spec=PodSpec(containers=(Container(name="c", image="i"),), **spec),
        status=PodStatus(phase=phase, start_time=NOW if phase == "Running" else None),
    )


@pytest.mark.parametrize(
    ("pod", "step"),
    [
        pytest.param(pod("Pending"), Start(), id="a bound pod is started"),
        pytest.param(pod("Running"), None, id="a running pod runs on"),
        pytest.param(pod("Succeeded"), None, id="a pod that has ended stays as it is"),
        pytest.param(
            pod("Running", deleted=NOW + timedelta(seconds=30), grace=30),
            Stop(NOW),
            id="a deleted pod ends at once",
        ),
        pytest.param(
            pod("Running", deleted=NOW + timedelta(seconds=30), grace=30, stops_after="12"),
            Stop(NOW + timedelta(seconds=12)),
            id="unless it takes its time",
        ),
        pytest.param(
            pod("Running", deleted=NOW + timedelta(seconds=30), grace=30, stops_after="90s"),
            Stop(NOW + timedelta(seconds=30)),
            id="but never more than its grace period",
        ),
        pytest.param(
            pod("Running", deleted=NOW + timedelta(seconds=30), grace=30, stops_after="soon"),
            Stop(NOW),
            id="an annotation that is no number counts as none",
        ),
        pytest.param(
            pod("Pending", deleted=NOW + timedelta(seconds=30), grace=30),
            Stop(NOW),
            id="a pod that is deleted before it started isn't started",
        ),
        pytest.param(
            pod("Running", runs_for="1.5"),
            Finish(NOW + timedelta(seconds=1.5)),
            id="a pod with a time to run ends after it",
        ),
        pytest.param(pod("Pending", runs_for="0"), Start(), id="but not before it has begun"),
        pytest.param(pod("Running", runs_for="-1"), None, id="a time that is none is no time"),
        pytest.param(
            pod("Failed", deleted=NOW, grace=30), Remove(), id="what has ended is removed"
        ),
        pytest.param(pod("Failed", deleted=NOW, grace=0), None, id="and removed only once"),
    ],
)
def test_the_next_step(pod, step):
    assert kubelet.next_step(pod) == step


def test_a_running_pod_is_ready_in_all_its_containers():
    status = kubelet.running(pod(), pod_ip="10.0.0.1", host_ip="172.16.0.1", now=NOW)
    assert status["phase"] == "Running"
    assert status["podIPs"] == [{"ip": "10.0.0.1"}]
    assert {c["type"]: c["status"] for c in status["conditions"]}["Ready"] == "True"
    [container] = status["containerStatuses"]
    assert container["ready"]
    assert container["state"] == {"running": {"startedAt": "2026-01-01T12:00:00Z"}}


def test_init_containers_have_ended_but_sidecars_run():
    init = (
        Container(name="once", image="i"),
        Container(name="beside", image="i", restart_policy="Always"),
    )
    status = kubelet.running(pod(init_containers=init), pod_ip="a", host_ip="b", now=NOW)
    once, beside = status["initContainerStatuses"]
    assert once["state"]["terminated"]["exitCode"] == 0
    assert "running" in beside["state"]


def test_a_stopped_pod_has_failed_by_the_signal():
    status = kubelet.stopped(pod("Running"), now=NOW)
    assert status["phase"] == "Failed"
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 143
    assert {c["type"]: c["status"] for c in status["conditions"]} == {
        "Ready": "False",
        "ContainersReady": "False",
    }


@pytest.mark.parametrize(
    ("asked", "code", "phase"),
    [(None, 0, "Succeeded"), ("0", 0, "Succeeded"), ("3", 3, "Failed"), ("x", 0, "Succeeded")],
)
def test_a_pod_ends_by_itself_with_the_code_that_it_asks_for(asked, code, phase):
    status = kubelet.finished(pod("Running", runs_for="1", exit_code=asked), now=NOW)
    assert status["phase"] == phase
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == code


def test_a_lost_pod_says_that_it_was_disrupted():
    status = kubelet.lost(pod("Running"), now=NOW)
    assert status["phase"] == "Failed"
    disruption = next(c for c in status["conditions"] if c["type"] == "DisruptionTarget")
    assert (disruption["status"], disruption["reason"]) == ("True", "DeletionByPodGC")


def test_a_pod_keeps_its_address_and_shares_it_with_nobody():
    taken: set[str] = set()
    for number in range(500):
        address = kubelet.address(str(number), taken)
        assert kubelet.address(str(number), taken) == address
        taken.add(address)
    assert len(taken) == 500
    again = kubelet.address("7", taken)
    assert again not in taken
