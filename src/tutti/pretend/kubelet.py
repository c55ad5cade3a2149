"""What a pretend kubelet does with a pod, as pure functions of the pod and the time.

    bound, Pending ──Start──> Running ──deleted──Stop──> Failed ──Remove──> gone
                                 └──its time is over──Finish──> Succeeded or Failed

Each step is one request whose outcome comes back on the watch and asks for the next step, so a
kubelet that is started anew goes on where the last one was.
"""

import hashlib
import re
from collections.abc import Container
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tutti.api.core_v1 import Container as PodContainer
from tutti.api.core_v1 import Pod

STOPS_AFTER = "tutti.dev/stops-after"
"""Annotation: how many seconds a pod's containers take to end once they are told to (0 if absent)."""

RUNS_FOR = "tutti.dev/runs-for"
"""Annotation: how many seconds a pod's containers run before they end by themselves (for ever if absent)."""

EXIT_CODE = "tutti.dev/exit-code"
"""Annotation: what they end with then (0 if absent)."""

ENDED_BY_SIGTERM = 128 + 15

Status = dict[str, Any]


class Start(msgspec.Struct, frozen=True):
    """The pod's containers start now."""


class Stop(msgspec.Struct, frozen=True):
    """The pod's containers have ended at this time."""

    at: datetime


class Finish(msgspec.Struct, frozen=True):
    """The pod's containers have done their work at this time."""

    at: datetime


class Remove(msgspec.Struct, frozen=True):
    """Nothing of the pod is left: it may go from the API."""


Step = Start | Stop | Finish | Remove


def next_step(pod: Pod) -> Step | None:
    """What comes next for a pod that is bound to a pretend node, if anything does."""
    ended = pod.status.phase in ("Succeeded", "Failed")
    told_at = pod.metadata.deletion_timestamp
    if told_at is None:
        return Start() if pod.status.phase in ("", "Pending") else _own_end(pod)
    if not ended:
        return Stop(_end(pod, told_at))
    # A finalizer may keep a pod whose removal was asked for already: that is for others to end.
    return None if pod.metadata.deletion_grace_period_seconds == 0 else Remove()


def _end(pod: Pod, last_moment: datetime) -> datetime:
    """When the containers are gone: as fast as the pod says, but never past its grace period."""
    grace = timedelta(seconds=pod.metadata.deletion_grace_period_seconds or 0)
    wanted = _seconds(pod, STOPS_AFTER) or 0.0
    return min(last_moment, last_moment - grace + timedelta(seconds=wanted))


def _own_end(pod: Pod) -> Finish | None:
    """When a running pod ends by itself, if it does."""
    wanted, since = _seconds(pod, RUNS_FOR), pod.status.start_time
    if pod.status.phase != "Running" or wanted is None or since is None:
        return None
    return Finish(since + timedelta(seconds=wanted))


def _seconds(pod: Pod, annotation: str) -> float | None:
    """What the annotation says; None where it says nothing that is a number of seconds."""
    text = pod.metadata.annotations.get(annotation, "").removesuffix("s")
    return float(text) if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", text) else None


def running(pod: Pod, *, pod_ip: str, host_ip: str, now: datetime) -> Status:
    """The status, as a strategic merge patch, of a pod all of whose containers run."""
    at = _written(now)
    ready = ("PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready")
    status: Status = {
        "phase": "Running",
        "startTime": at,
        "podIP": pod_ip,
        "podIPs": [{"ip": pod_ip}],
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": at} for kind in ready
        ],
        "containerStatuses": [_running(pod, c, at) for c in pod.spec.containers],
    }
    if host_ip:  # a node may have no address
        status |= {"hostIP": host_ip, "hostIPs": [{"ip": host_ip}]}
    if pod.spec.init_containers:
        status["initContainerStatuses"] = [
            _running(pod, c, at) if c.restart_policy == "Always" else _ended(pod, c, at, at, 0)
            for c in pod.spec.init_containers
        ]
    return status


def lost(pod: Pod, *, now: datetime) -> Status:
    """The status of a pod whose node is gone, as Kubernetes' pod garbage collector writes it."""
    disruption = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByPodGC",
        "message": "PodGC: node no longer exists",
        "lastTransitionTime": _written(now),
    }
    status = stopped(pod, now=now)
    return {**status, "conditions": [*status["conditions"], disruption]}


def stopped(pod: Pod, *, now: datetime) -> Status:
    """The status, as a strategic merge patch, of a pod whose containers obeyed a SIGTERM."""
    return _over(pod, ENDED_BY_SIGTERM, now)


def finished(pod: Pod, *, now: datetime) -> Status:
    """The same of a pod whose containers ended by themselves, with the code that it asks for."""
    text = pod.metadata.annotations.get(EXIT_CODE, "")
    code = int(text) if re.fullmatch(r"\d{1,3}", text) else 0
    return _over(pod, code, now)


def _over(pod: Pod, code: int, now: datetime) -> Status:
    at = _written(now)
    started = at if pod.status.start_time is None else _written(pod.status.start_time)
    return {
        "phase": "Failed" if code else "Succeeded",
        "conditions": [
            {
                "type": kind,
                "status": "False",
                "reason": "PodFailed" if code else "PodCompleted",
                "lastTransitionTime": at,
            }
            for kind in ("ContainersReady", "Ready")
        ],
        "containerStatuses": [_ended(pod, c, started, at, code) for c in pod.spec.containers],
    }


def address(uid: str, taken: Container[str]) -> str:
    """An address of 10.0.0.0/8 that nobody has: the pod's own uid says which, if it can."""
    number = int.from_bytes(hashlib.blake2b(uid.encode(), digest_size=3).digest())
    while True:
        candidate = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        if candidate not in taken:
            return candidate
        number += 1


def _running(pod: Pod, container: PodContainer, at: str) -> Status:
    return {
        **_identity(pod, container),
        "ready": True,
        "started": True,
        "state": {"running": {"startedAt": at}},
    }


def _ended(pod: Pod, container: PodContainer, started: str, at: str, code: int) -> Status:
    identity = _identity(pod, container)
    end = {
        "exitCode": code,
        "reason": "Completed" if code == 0 else "Error",
        "startedAt": started,
        "finishedAt": at,
        "containerID": identity["containerID"],
    }
    return {**identity, "ready": False, "started": False, "state": {"terminated": end}}


def _identity(pod: Pod, container: PodContainer) -> Status:
    """What a container status must always say; the id is the same however often it is asked for."""
    digest = hashlib.sha256(f"{pod.metadata.uid}/{container.name}".encode()).hexdigest()
    return {
        "name": container.name,
        "image": container.image,
        "imageID": f"pretend://{container.image}",
        "containerID": f"pretend://{digest}",
        "restartCount": 0,
    }


def _written(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
