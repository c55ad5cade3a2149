"""The one word, and the counts, that `kubectl get pods` says about a pod."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tutti.server import ages

Object = dict[str, Any]


@dataclass(slots=True)
class Summary:
    """Containers that are ready, containers in all, the word, and the restarts with their age."""

    ready: int
    containers: int
    reason: str
    restarts: str


def summary(pod: Object, now: datetime) -> Summary:
    """What the columns Ready, Status and Restarts show."""
    spec, status = pod["spec"], pod.get("status", {})
    sidecars = {
        one["name"]
        for one in spec.get("initContainers", ())
        if one.get("restartPolicy") == "Always"
    }
    start = _starting(status, spec, sidecars)
    reason = start.reason or _phase(status)
    ready, restarted = start.ready, start.restarted
    if not start.reason or _is_true(status, "Initialized"):
        counted = [
            one for one in status.get("initContainerStatuses", ()) if one["name"] in sidecars
        ]
        counted = counted[: start.looked_at]
        running = status.get("containerStatuses", [])
        reason = _running(running, status, reason)
        ready += sum(_runs(one) for one in running)
        restarted = [*counted, *running]
    return Summary(
        ready,
        len(spec.get("containers", ())) + len(sidecars),
        _leaving(pod, reason),
        _restarts(restarted, now),
    )


def readiness_gates(pod: Object) -> str:
    """How many of the pod's readiness gates are open; nothing where it has none."""
    gates = pod["spec"].get("readinessGates")
    if not gates:
        return ""
    status = pod.get("status", {})
    return f"{sum(_is_true(status, gate['conditionType']) for gate in gates)}/{len(gates)}"


@dataclass(slots=True)
class _Start:
    """How far the init containers are; the reason is empty once they are done."""

    reason: str
    ready: int
    restarted: list[Object]
    looked_at: int


def _starting(status: Object, spec: Object, sidecars: set[str]) -> _Start:
    ready = 0
    seen: list[Object] = []
    for position, one in enumerate(status.get("initContainerStatuses", ())):
        seen.append(one)
        ended = one.get("state", {}).get("terminated")
        if ended is not None and ended.get("exitCode", 0) == 0:
            continue
        if one["name"] in sidecars and one.get("started"):
            ready += bool(one.get("ready"))
            continue
        total = len(spec.get("initContainers", ()))
        return _Start(_init_reason(one, position, total), ready, seen, len(seen))
    return _Start("", ready, seen, len(seen))


def _init_reason(one: Object, position: int, total: int) -> str:
    state = one.get("state", {})
    if ended := state.get("terminated"):
        return f"Init:{_end(ended)}"
    waits_for = state.get("waiting", {}).get("reason", "")
    if waits_for and waits_for != "PodInitializing":
        return f"Init:{waits_for}"
    return f"Init:{position}/{total}"


def _running(containers: list[Object], status: Object, reason: str) -> str:
    """The word of the first container that has one; "Completed" only if none failed or runs."""
    failed = ""
    for one in reversed(containers):
        state = one.get("state", {})
        if state.get("waiting", {}).get("reason"):
            reason = state["waiting"]["reason"]
        elif "terminated" in state:
            reason = _end(state["terminated"])
            if state["terminated"].get("exitCode", 0) != 0:
                failed = reason
    if reason != "Completed":
        return reason
    runs = any(_runs(one) for one in containers)
    if runs and _is_true(status, "Ready"):
        return "Running"
    return failed or ("NotReady" if runs else reason)


def _phase(status: Object) -> str:
    for condition in status.get("conditions", ()):
        if condition["type"] == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            return "SchedulingGated"
    return status.get("reason") or status.get("phase", "")


def _leaving(pod: Object, reason: str) -> str:
    status = pod.get("status", {})
    if not pod["metadata"].get("deletionTimestamp"):
        return reason
    if status.get("reason") == "NodeLost":
        return "Unknown"
    return reason if status.get("phase") in ("Succeeded", "Failed") else "Terminating"


def _restarts(containers: Iterable[Object], now: datetime) -> str:
    count, latest = 0, ""
    for one in containers:
        count += one.get("restartCount", 0)
        ended = one.get("lastState", {}).get("terminated") or {}
        latest = max(latest, ended.get("finishedAt") or "")
    return f"{count} ({ages.since(latest, now)} ago)" if count and latest else str(count)


def _runs(container: Object) -> bool:
    state = container.get("state", {})
    decided = state.get("waiting", {}).get("reason") or "terminated" in state
    return bool(not decided and container.get("ready") and "running" in state)


def _end(ended: Object) -> str:
    if ended.get("reason"):
        return ended["reason"]
    if ended.get("signal"):
        return f"Signal:{ended['signal']}"
    return f"ExitCode:{ended.get('exitCode', 0)}"


def _is_true(status: Object, kind: str) -> bool:
    found = next((one for one in status.get("conditions", ()) if one["type"] == kind), None)
    return found is not None and found.get("status") == "True"
