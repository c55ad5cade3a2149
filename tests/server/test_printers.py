"""The cells of `kubectl get`, kind by kind."""

from typing import Any

import pytest

from tests.server.door import NOON, TABLE, Door
from tests.server.objects import CLASSES, GROUPS, PODS, group, named, pod
from tutti.server import pod_status, printers

Object = dict[str, Any]

BORN = "2026-11-19T11:55:00Z"


def cells(key: str, found: Object) -> list[Any]:
    found.setdefault("metadata", {}).setdefault("name", "x")
    found["metadata"].setdefault("creationTimestamp", BORN)
    printer = printers.of(key)
    row = printer.cells(found, NOON)
    assert len(row) == len(printer.columns)
    return row


def a_pod(status: Object, metadata: Object | None = None, **spec: Any) -> Object:
    containers = [{"name": "main"}]
    return {
        "metadata": {"name": "x", "creationTimestamp": BORN, **(metadata or {})},
        "spec": {"containers": containers, **spec},
        "status": status,
    }


def container(state: Object, **more: Any) -> Object:
    return {"name": "main", "state": state, **more}


RUNS = {"running": {"startedAt": BORN}}
READY = {"type": "Ready", "status": "True"}


@pytest.mark.parametrize(
    ("found", "ready", "word", "restarts"),
    [
        pytest.param(a_pod({"phase": "Pending"}), "0/1", "Pending", "0", id="pending"),
        pytest.param(
            a_pod({"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]}),
            "0/1",
            "SchedulingGated",
            "0",
            id="gated",
        ),
        pytest.param(
            a_pod({"phase": "Running", "containerStatuses": [container(RUNS, ready=True)]}),
            "1/1",
            "Running",
            "0",
            id="running",
        ),
        pytest.param(
            a_pod({"phase": "Running", "containerStatuses": [container({"waiting": {"reason": "CrashLoopBackOff"}}, restartCount=3, lastState={"terminated": {"finishedAt": "2026-11-19T11:59:00Z"}})]}),
            "0/1",
            "CrashLoopBackOff",
            "3 (60s ago)",
            id="crashing",
        ),
        pytest.param(
            a_pod({"phase": "Failed", "containerStatuses": [container({"terminated": {"exitCode": 137, "signal": 9}})]}),
            "0/1",
            "Signal:9",
            "0",
            id="killed by a signal",
        ),
        pytest.param(
            a_pod({"phase": "Failed", "containerStatuses": [container({"terminated": {"exitCode": 2}})]}),
            "0/1",
            "ExitCode:2",
            "0",
            id="ended badly",
        ),
        pytest.param(
            a_pod({"phase": "Succeeded", "containerStatuses": [container({"terminated": {"exitCode": 0, "reason": "Completed"}})]}),
            "0/1",
            "Completed",
            "0",
            id="completed",
        ),
        pytest.param(
            a_pod({"phase": "Failed", "reason": "Evicted"}), "0/1", "Evicted", "0", id="evicted"
        ),
        pytest.param(
            a_pod({"phase": "Running", "containerStatuses": [container(RUNS, ready=True)]}, {"deletionTimestamp": BORN}),
            "1/1",
            "Terminating",
            "0",
            id="going",
        ),
        pytest.param(
            a_pod({"phase": "Succeeded"}, {"deletionTimestamp": BORN}),
            "0/1",
            "Succeeded",
            "0",
            id="going, but ended already",
        ),
        pytest.param(
            a_pod({"phase": "Running", "reason": "NodeLost"}, {"deletionTimestamp": BORN}),
            "0/1",
            "Unknown",
            "0",
            id="going from a lost node",
        ),
        pytest.param(
            a_pod(
                {"phase": "Pending", "initContainerStatuses": [{"name": "a", "state": {"terminated": {"exitCode": 0}}}, {"name": "b", "state": {"waiting": {"reason": "PodInitializing"}}}]},
                initContainers=[{"name": "a"}, {"name": "b"}],
            ),
            "0/1",
            "Init:1/2",
            "0",
            id="second init container",
        ),
        pytest.param(
            a_pod(
                {"phase": "Pending", "initContainerStatuses": [{"name": "a", "restartCount": 2, "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}]},
                initContainers=[{"name": "a"}],
            ),
            "0/1",
            "Init:Error",
            "2",
            id="failed init container",
        ),
        pytest.param(
            a_pod(
                {"phase": "Running", "initContainerStatuses": [{"name": "side", "started": True, "ready": True, "restartCount": 1, "state": RUNS}], "containerStatuses": [container(RUNS, ready=True)]},
                initContainers=[{"name": "side", "restartPolicy": "Always"}],
            ),
            "2/2",
            "Running",
            "1",
            id="a sidecar counts",
        ),
        pytest.param(
            a_pod({"phase": "Running", "conditions": [READY], "containerStatuses": [container(RUNS, ready=True), container({"terminated": {"exitCode": 0, "reason": "Completed"}})]}),
            "1/1",
            "Running",
            "0",
            id="one is done, one runs",
        ),
    ],
)  # fmt: skip
def test_one_word_says_how_a_pod_is(found: Object, ready: str, word: str, restarts: str) -> None:
    assert cells("pods", found)[1:4] == [ready, word, restarts]


def test_the_wide_columns_of_a_pod() -> None:
    status = {
        "phase": "Running",
        "podIPs": [{"ip": "10.0.0.7"}],
        "nominatedNodeName": "n2",
        "conditions": [{"type": "net/up", "status": "True"}],
    }
    gates = [{"conditionType": "net/up"}, {"conditionType": "disk/up"}]

    row = cells("pods", a_pod(status, nodeName="n1", readinessGates=gates))

    assert row[4:] == ["5m", "10.0.0.7", "n1", "n2", "1/2"]
    assert pod_status.readiness_gates(a_pod({})) == ""


@pytest.mark.parametrize(
    ("conditions", "unschedulable", "status"),
    [
        ([], False, "Unknown"),
        ([{"type": "Ready", "status": "True"}], False, "Ready"),
        ([{"type": "Ready", "status": "Unknown"}], False, "NotReady"),
        ([{"type": "Ready", "status": "True"}], True, "Ready,SchedulingDisabled"),
    ],
)
def test_how_a_node_is(conditions: list[Object], unschedulable: bool, status: str) -> None:
    node = {"spec": {"unschedulable": unschedulable}, "status": {"conditions": conditions}}

    assert cells("nodes", node)[1] == status


def test_the_columns_of_a_node() -> None:
    node = {
        "metadata": {"name": "n", "labels": {"node-role.kubernetes.io/gpu": "", "kubernetes.io/role": "a"}},
        "status": {
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            "nodeInfo": {"kubeletVersion": "v1.37.1", "kernelVersion": "6.1", "architecture": "arm64"},
        },
    }  # fmt: skip

    assert cells("nodes", node) == [
        "n",
        "Unknown",
        "a,gpu",
        "5m",
        "v1.37.1",
        "10.0.0.1",
        "<none>",
        "<unknown>",
        "6.1 (arm64)",
        "<unknown>",
    ]


@pytest.mark.parametrize(
    ("conditions", "status"),
    [
        ([], "Pending"),
        ([{"type": "PodGroupInitiallyScheduled", "status": "True"}], "Scheduled"),
        ([{"type": "PodGroupInitiallyScheduled", "status": "False"}], "Unschedulable"),
        ([{"type": "PodGroupInitiallyScheduled", "status": "Unknown"}], "Unschedulable"),
        (
            [
                {"type": "PodGroupInitiallyScheduled", "status": "True"},
                {"type": "DisruptionTarget", "status": "False", "reason": "PreemptionByScheduler"},
            ],
            "PreemptionByScheduler",
        ),
    ],
)
def test_the_status_of_a_group(conditions: list[Object], status: str) -> None:
    found = group("g") | {"status": {"conditions": conditions}}

    assert cells("podgroups.scheduling.k8s.io", found) == ["g", "Gang", "<none>", status, "5m"]


def test_the_columns_of_the_other_kinds() -> None:
    reference = {"workloadName": "w", "templateName": "t"}
    spec = {"schedulingPolicy": {"basic": {}}, "workloadRef": reference}

    composite = cells("compositepodgroups.scheduling.k8s.io", {"spec": spec})
    assert composite == ["x", "Basic", "w", "5m"]
    assert cells("workloads.scheduling.k8s.io", {}) == ["x", "5m"]
    assert cells("namespaces", {"status": {"phase": "Active"}}) == ["x", "Active", "5m"]
    assert cells("configmaps", {"data": {"a": "b"}, "binaryData": {"c": "d"}}) == ["x", 2, "5m"]
    lease = cells("leases.coordination.k8s.io", {"spec": {"holderIdentity": "me"}})
    assert lease == ["x", "me", "5m"]
    assert cells(
        "priorityclasses.scheduling.k8s.io", {"value": 7, "preemptionPolicy": "Never"}
    ) == [
        "x",
        7,
        False,
        "5m",
        "Never",
    ]


@pytest.mark.parametrize(
    ("times", "last", "first", "count"),
    [
        (
            {"firstTimestamp": BORN, "lastTimestamp": "2026-11-19T11:59:00Z", "count": 3},
            "60s",
            "5m",
            3,
        ),
        ({"eventTime": "2026-11-19T11:59:30.000000Z"}, "30s", "30s", 1),
        (
            {
                "eventTime": "2026-11-19T11:55:00.000000Z",
                "series": {"count": 9, "lastObservedTime": "2026-11-19T11:59:55.000000Z"},
            },
            "5s",
            "5m",
            9,
        ),
    ],
)
def test_when_an_event_was_seen(times: Object, last: str, first: str, count: int) -> None:
    event = {
        "type": "Normal",
        "reason": "Scheduled",
        "message": " said \n",
        "involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec"},
        "source": {"component": "tutti", "host": "h"},
        **times,
    }

    assert cells("events", event) == [
        last, "Normal", "Scheduled", "pod/p", "spec", "tutti, h", "said", first, count, "x",
    ]  # fmt: skip


async def test_a_table_shows_each_object_by_its_metadata_unless_asked_otherwise(door: Door) -> None:
    await door.made(PODS, pod("p"))

    usual = (await door.get(PODS, accept=TABLE)).json["rows"][0]
    whole = (await door.get(PODS, accept=TABLE, includeObject="Object")).json["rows"][0]
    none = (await door.get(PODS, accept=TABLE, includeObject="None")).json["rows"][0]
    wrong = await door.get(PODS, accept=TABLE, includeObject="Half")

    assert usual["object"]["kind"] == "PartialObjectMetadata"
    assert whole["object"]["spec"]["containers"][0]["name"] == "main"
    assert none["object"] is None
    assert (wrong.code, wrong.json["reason"]) == (400, "BadRequest")


async def test_a_table_of_one(door: Door) -> None:
    await door.made(GROUPS, group("g"))
    await door.made(CLASSES, named("high", value=9))

    table = (await door.get(f"{GROUPS}/g", accept=TABLE)).json
    high = (await door.get(f"{CLASSES}/high", accept=TABLE)).json

    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert [one["name"] for one in table["columnDefinitions"]] == [
        "Name",
        "Policy",
        "Workload",
        "Status",
        "Age",
    ]
    assert table["rows"][0]["cells"] == ["g", "Gang", "<none>", "Pending", "0s"]
    assert high["rows"][0]["cells"] == ["high", 9, False, "0s", "PreemptLowerPriority"]
