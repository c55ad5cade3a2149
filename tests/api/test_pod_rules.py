"""Pods, refused and accepted as a real 1.37 server does; its words were compared with these."""

from typing import Any

import pytest

from tests.api.door import changed, created, read, updated
from tutti.api import validation
from tutti.api.registry import PODS

Json = dict[str, Any]

CONTAINER = "spec.containers[0]"
FIXED = (
    "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"
)


def pod(container: Json | None = None, **spec: Any) -> Json:
    return {"spec": {"containers": [{"name": "c", "image": "i", **(container or {})}], **spec}}


def wanting(**resources: Any) -> Json:
    return pod({"resources": resources})


def node_affinity(**expression: Any) -> Json:
    term = {"matchExpressions": [expression]}
    selector = {"nodeSelectorTerms": [term]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}


TERM = (
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    ".nodeSelectorTerms[0].matchExpressions[0]"
)


@pytest.mark.parametrize(
    ("new", "errors"),
    [
        (pod(), []),
        ({"spec": {}}, ["spec.containers: Required value"]),
        ({"spec": {"containers": [{}]}}, [f"{CONTAINER}.name: Required value", f"{CONTAINER}.image: Required value"]),
        (pod({"image": " x "}), [f'{CONTAINER}.image: Invalid value: " x ": must not have leading or trailing whitespace']),
        (wanting(requests={"cpu": "2"}, limits={"cpu": "1"}), [f'{CONTAINER}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1']),
        (wanting(requests={"example.com/gpu": "1"}), [f"{CONTAINER}.resources.limits: Required value: Limit must be set for non overcommitable resources"]),
        (
            wanting(requests={"example.com/gpu": "1"}, limits={"example.com/gpu": "2"}),
            [f'{CONTAINER}.resources.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2'],
        ),
        (
            wanting(requests={"example.com/gpu": "1500m"}, limits={"example.com/gpu": "1500m"}),
            [
                f'{CONTAINER}.resources.limits[example.com/gpu]: Invalid value: "1500m": must be an integer',
                f'{CONTAINER}.resources.requests[example.com/gpu]: Invalid value: "1500m": must be an integer',
            ],
        ),
        (wanting(requests={"cpu": "-1"}), [f'{CONTAINER}.resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0']),
        (
            wanting(requests={"foo": "1"}),
            [
                f'{CONTAINER}.resources.requests[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
                f'{CONTAINER}.resources.requests[foo]: Invalid value: "foo": must be a standard resource for containers',
            ],
        ),
        (wanting(limits={"hugepages-2Mi": "1Gi"}), [f"{CONTAINER}.resources: Forbidden: HugePages require cpu or memory"]),
        (wanting(claims=[{"name": "x"}]), [f'{CONTAINER}.resources.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty']),
        (pod(resources={"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}), [
            f'spec.resources.{which}[example.com/gpu]: Unsupported value: "example.com/gpu": supported values: "cpu", "hugepages-", "memory"'
            for which in ("limits", "requests")
        ]),
        (pod(restartPolicy="Foo"), ['spec.restartPolicy: Unsupported value: "Foo": supported values: "Always", "OnFailure", "Never"']),
        (pod({"imagePullPolicy": "Foo"}), [f'{CONTAINER}.imagePullPolicy: Unsupported value: "Foo": supported values: "Always", "IfNotPresent", "Never"']),
        (pod({"ports": [{"containerPort": 0}]}), [f"{CONTAINER}.ports[0].containerPort: Required value"]),
        (pod({"ports": [{"containerPort": 70000}]}), [f"{CONTAINER}.ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"]),
        (pod({"ports": [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}]}), [f'{CONTAINER}.ports[1].hostPort: Duplicate value: "TCP//80"']),
        (pod({"volumeMounts": [{"name": "v", "mountPath": "/x"}]}), [f'{CONTAINER}.volumeMounts[0].name: Not found: "v"']),
        (pod(volumes=[{"name": "v"}, {"name": "v"}]), ['spec.volumes[1].name: Duplicate value: "v"']),
        (pod({"env": [{"name": ""}]}), [f"{CONTAINER}.env[0].name: Required value"]),
        (pod(initContainers=[{"name": "c", "image": "i"}]), ['spec.initContainers[0].name: Duplicate value: "c"']),
        (
            pod(initContainers=[{"name": "d", "image": "i", "livenessProbe": {"exec": {"command": ["x"]}}}]),
            ["spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always"],
        ),
        (
            pod(tolerations=[{"value": "x"}]),
            ['spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"'],
        ),
        (pod(tolerations=[{"key": "a", "operator": "Exists", "value": "x"}]), ["spec.tolerations[0].operator: Invalid value: \"x\": value must be empty when `operator` is 'Exists'"]),
        (pod(tolerations=[{"key": "a", "tolerationSeconds": 3}]), ["spec.tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set"]),
        (pod(tolerations=[{"key": "a", "effect": "Foo"}]), ['spec.tolerations[0].effect: Unsupported value: "Foo": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"']),
        (pod(schedulingGates=[{"name": "a"}, {"name": "a"}]), ['spec.schedulingGates[1]: Duplicate value: "a"']),
        (pod(schedulingGates=[{"name": "a"}], nodeName="n"), ["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"]),
        (pod(affinity=node_affinity(key="a", operator="In")), [f"{TERM}.values: Required value: must be specified when `operator` is 'In' or 'NotIn'"]),
        (pod(affinity=node_affinity(key="a", operator="Foo")), [f'{TERM}.operator: Invalid value: "Foo": not a valid selector operator']),
        (
            pod(topologySpreadConstraints=[{"maxSkew": 0, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}]),
            ["spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"],
        ),
        (pod(ephemeralContainers=[{"name": "e", "image": "i"}]), ["spec.ephemeralContainers: Forbidden: cannot be set on create"]),
        (pod(activeDeadlineSeconds=0), ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"]),
    ],
)  # fmt: skip
def test_a_new_pod(new: Json, errors: list[str]) -> None:
    assert created(PODS, new) == errors


@pytest.mark.parametrize(
    ("group", "wrong"),
    [
        ({"podGroupName": "missing"}, []),
        ({}, ["Invalid value: null: must specify one of: `podGroupName`"]),
        ({"podGroupName": ""}, ['Invalid value: "": a lowercase RFC 1123 subdomain']),
        ({"podGroupName": "A_b"}, ['Invalid value: "A_b": a lowercase RFC 1123 subdomain']),
        ({"podGroupName": "a" * 254}, [f'Invalid value: "{"a" * 254}": must be no more than 253 characters']),
    ],
)  # fmt: skip
def test_85_a_pod_names_its_group(group: Json, wrong: list[str]) -> None:
    errors = created(PODS, pod(schedulingGroup=group))
    assert len(errors) == len(wrong)
    for error, beginning in zip(errors, wrong, strict=True):
        assert error.startswith(f"spec.schedulingGroup.podGroupName: {beginning}")


GROUPED = pod(schedulingGroup={"podGroupName": "g"})


@pytest.mark.parametrize(
    ("old", "group", "difference"),
    [
        (GROUPED, {"podGroupName": "h"}, '- schedulingGroup: {"podGroupName": "g"}\n+ schedulingGroup: {"podGroupName": "h"}\n'),
        (GROUPED, None, '- schedulingGroup: {"podGroupName": "g"}\n'),
        (pod(), {"podGroupName": "h"}, '+ schedulingGroup: {"podGroupName": "h"}\n'),
    ],
    ids=["changed", "removed", "added"],
)  # fmt: skip
def test_86_the_group_of_a_pod_is_settled(old: Json, group: Json | None, difference: str) -> None:
    assert updated(PODS, old, changed(old, "spec.schedulingGroup", group)) == [FIXED + difference]


def test_87_the_reference_of_an_older_edition_is_an_unknown_field() -> None:
    assert "workloadRef" not in read(PODS, pod(workloadRef={"name": "w"}))["spec"]


GATED = pod(
    schedulingGates=[{"name": "a"}, {"name": "b"}],
    nodeSelector={"x": "y"},
    tolerations=[{"key": "k", "operator": "Exists"}],
    activeDeadlineSeconds=10,
)


@pytest.mark.parametrize(
    ("path", "value", "errors"),
    [
        ("spec.containers.0.image", "j", []),
        ("spec.containers", [], ["spec.containers: Required value", "spec.containers: Forbidden: pod updates may not add or remove containers"]),
        ("spec.schedulingGates", [{"name": "a"}], []),
        ("spec.schedulingGates", None, []),
        ("spec.schedulingGates", [{"name": "z"}], ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'z'"]),
        ("spec.nodeSelector", {"x": "y", "z": "w"}, []),
        ("spec.nodeSelector", {}, ["spec.nodeSelector: Invalid value: {}: only additions to spec.nodeSelector are allowed (no mutations or deletions)"]),
        ("spec.affinity", node_affinity(key="a", operator="Exists"), []),
        ("spec.tolerations", [{"key": "k", "operator": "Exists"}, {"key": "l", "operator": "Exists"}], []),
        ("spec.tolerations", [], ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"]),
        ("spec.activeDeadlineSeconds", 5, []),
        ("spec.activeDeadlineSeconds", 20, ["spec.activeDeadlineSeconds: Invalid value: 20: must be less than or equal to previous value"]),
        ("spec.activeDeadlineSeconds", None, ["spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"]),
        ("spec.nodeName", "n", [FIXED + '+ nodeName: "n"\n']),
        ("spec.priority", 5, [FIXED + "+ priority: 5\n"]),
    ],
)  # fmt: skip
def test_a_changed_pod(path: str, value: Any, errors: list[str]) -> None:
    assert updated(PODS, GATED, changed(GATED, path, value)) == errors


def test_a_binding_names_a_node() -> None:
    def said(**target: Any) -> list[str]:
        return [error.sentence for error in validation.bound({"target": target})]

    assert said(kind="Node", name="n") == []
    assert said(name="n") == []
    assert said() == ["target.name: Required value"]
    assert said(kind="Foo", name="n") == [
        'target.kind: Unsupported value: "Foo": supported values: "Node", "<empty>"'
    ]


def test_a_bound_pod_cannot_be_nominated_elsewhere() -> None:
    old = pod(nodeName="n")
    new = {**old, "status": {"nominatedNodeName": "m"}}
    assert updated(PODS, old, new, "status") == [
        "status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node"
    ]
