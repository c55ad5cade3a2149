"""Workloads and groups, refused and accepted as a real 1.37 server does.

The numbers are those of the checklist in api-and-controllers.md (5.2 to 5.5).
"""

from typing import Any

import pytest

from tests.api.door import changed, created, updated
from tutti.api.registry import COMPOSITE_POD_GROUPS, POD_GROUPS, PRIORITY_CLASSES, WORKLOADS

Json = dict[str, Any]

T = "spec.podGroupTemplates[0]"
C = "spec.compositePodGroupTemplates[0]"
IMMUTABLE = "Invalid value: null: field is immutable"
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation "
    "is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


def leaf(name: str = "a", **more: Any) -> Json:
    return {"name": name, "schedulingPolicy": {"gang": {"minCount": 1}}, **more}


def composite(name: str = "c", **more: Any) -> Json:
    return {"name": name, "schedulingPolicy": {"basic": {}}, **more}


def flat(*leaves: Json, **spec: Any) -> Json:
    return {"spec": {"podGroupTemplates": list(leaves), **spec}}


def tree(*composites: Json) -> Json:
    return {"spec": {"compositePodGroupTemplates": list(composites)}}


def nested(levels: int) -> Json:
    """That many composites in one another, and a leaf."""
    inner = composite(f"l{levels}", podGroupTemplates=[leaf()])
    for level in range(levels - 1, 0, -1):
        inner = composite(f"l{level}", compositePodGroupTemplates=[inner])
    return tree(inner)


def claim(name: str = "a", **more: Any) -> Json:
    return {"name": name, "resourceClaimName": "x", **more}


def several(make: Any, count: int) -> list[Json]:
    return [make(f"n{index}") for index in range(count)]


@pytest.mark.parametrize(
    ("workload", "errors"),
    [
        pytest.param(flat(leaf()), [], id="13"),
        pytest.param({"spec": {}}, ['spec: Invalid value: "": must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`'], id="14 absent"),
        pytest.param(flat(), ['spec: Invalid value: "": must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`'], id="14 empty"),
        pytest.param(
            {"spec": {"podGroupTemplates": [leaf("z")], "compositePodGroupTemplates": [composite(podGroupTemplates=[leaf()])]}},
            ['spec: Invalid value: "{podGroupTemplates, compositePodGroupTemplates}": must specify exactly one of: `podGroupTemplates`, `compositePodGroupTemplates`'],
            id="15",
        ),
        pytest.param(flat(*several(leaf, 9)), ["spec.podGroupTemplates: Too many: 9: must have at most 8 items"], id="16 nine"),
        pytest.param(flat(*several(leaf, 8)), [], id="16 eight"),
        pytest.param(
            tree(*(composite(f"c{i}", podGroupTemplates=[leaf(f"p{i}")]) for i in range(9))),
            ["spec.compositePodGroupTemplates: Too many: 9: must have at most 8 items"],
            id="17 root",
        ),
        pytest.param(tree(composite(podGroupTemplates=several(leaf, 9))), [f"{C}.podGroupTemplates: Too many: 9: must have at most 8 items"], id="17 nested"),
        pytest.param(flat(leaf("")), [f"{T}.name: Required value"], id="18"),
        pytest.param(flat(leaf("Bad_N")), [f'{T}.name: Invalid value: "Bad_N": {LABEL}'], id="19 letters"),
        pytest.param(flat(leaf("a.b")), [f'{T}.name: Invalid value: "a.b": must not contain dots'], id="19 dots"),
        pytest.param(flat(leaf("a" * 64)), [f'{T}.name: Invalid value: "{"a" * 64}": must be no more than 63 bytes'], id="19 long"),
        pytest.param(
            flat(leaf(), leaf()),
            ['spec.podGroupTemplates[1]: Duplicate value: {"name":"a","schedulingPolicy":{"gang":{"minCount":1}},"schedulingConstraints":null}'],
            id="20",
        ),
        pytest.param(
            tree(composite("x", podGroupTemplates=[leaf("p")]), composite("y", podGroupTemplates=[leaf("p")])),
            ['spec.compositePodGroupTemplates[1].podGroupTemplates[0].name: Duplicate value: "p"'],
            id="21",
        ),
        pytest.param(tree(composite("x", podGroupTemplates=[leaf("x")])), [f'{C}.podGroupTemplates[0].name: Duplicate value: "x"'], id="22"),
        pytest.param(
            tree(composite("x", podGroupTemplates=[leaf("p")], compositePodGroupTemplates=[composite("y", podGroupTemplates=[leaf("p")])])),
            [f'{C}.compositePodGroupTemplates[0].podGroupTemplates[0].name: Duplicate value: "p"'],
            id="23",
        ),
        pytest.param(flat(leaf(schedulingPolicy={"gang": {"minCount": 0}})), [f"{T}.schedulingPolicy.gang.minCount: Required value"], id="24 zero"),
        pytest.param(flat(leaf(schedulingPolicy={"gang": {}})), [f"{T}.schedulingPolicy.gang.minCount: Required value"], id="24 missing"),
        pytest.param(flat(leaf(schedulingPolicy={"gang": {"minCount": -1}})), [f"{T}.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1"], id="25"),
        pytest.param(flat({"name": "a"}), [f'{T}.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`'], id="26"),
        pytest.param(
            flat(leaf(schedulingPolicy={"basic": {}, "gang": {"minCount": 1}})),
            [f'{T}.schedulingPolicy: Invalid value: "{{basic, gang}}": must specify exactly one of: `basic`, `gang`'],
            id="27",
        ),
        pytest.param(
            flat(leaf(schedulingConstraints={"topology": [{"key": "a"}, {"key": "b"}]})),
            [f"{T}.schedulingConstraints.topology: Too many: 2: must have at most 1 item"],
            id="28",
        ),
        pytest.param(flat(leaf(schedulingConstraints={"topology": [{"key": ""}]})), [f"{T}.schedulingConstraints.topology[0].key: Required value"], id="29 empty"),
        pytest.param(
            flat(leaf(schedulingConstraints={"topology": [{"key": "Ex.com/Foo"}]})),
            [f'{T}.schedulingConstraints.topology[0].key: Invalid value: "Ex.com/Foo": prefix part {SUBDOMAIN}'],
            id="29 prefix",
        ),
        pytest.param(
            flat(leaf(schedulingConstraints={"topology": [{"key": "a" * 64}]})),
            [f'{T}.schedulingConstraints.topology[0].key: Invalid value: "{"a" * 64}": name part must be no more than 63 bytes'],
            id="29 long",
        ),
        pytest.param(flat(leaf(schedulingConstraints={"topology": [{"key": "a" * 253 + "/" + "b" * 63}]})), [], id="29 longest"),
        pytest.param(flat(leaf(schedulingConstraints={})), [], id="30"),
        pytest.param(flat(leaf(disruptionMode={})), [f'{T}.disruptionMode: Invalid value: "": must specify one of: `single`, `all`'], id="31 none"),
        pytest.param(
            flat(leaf(disruptionMode={"single": {}, "all": {}})),
            [f'{T}.disruptionMode: Invalid value: "{{single, all}}": must specify exactly one of: `single`, `all`'],
            id="31 both",
        ),
        pytest.param(flat(leaf(priorityClassName="hi/pri")), [f'{T}.priorityClassName: Invalid value: "hi/pri": {SUBDOMAIN}'], id="32 bad"),
        pytest.param(flat(leaf(priorityClassName="unknown")), [], id="32 unknown"),
        pytest.param(flat(leaf(priority=1000000001)), [f"{T}.priority: Invalid value: 1000000001: must be less than or equal to 1000000000"], id="33 high"),
        pytest.param(flat(leaf(priority=-2147483648)), [], id="33 low"),
        pytest.param(
            flat(leaf(preemptionPolicy="Sometimes")),
            [f'{T}.preemptionPolicy: Unsupported value: "Sometimes": supported values: "Never", "PreemptLowerPriority"'],
            id="34",
        ),
        pytest.param(flat(leaf(resourceClaims=several(claim, 5))), [f"{T}.resourceClaims: Too many: 5: must have at most 4 items"], id="35 five"),
        pytest.param(
            flat(leaf(resourceClaims=[claim(), claim()])),
            [f'{T}.resourceClaims[1]: Duplicate value: {{"name":"a","resourceClaimName":"x"}}'],
            id="35 twice",
        ),
        pytest.param(
            flat(leaf(resourceClaims=[{"name": "a"}])),
            [f'{T}.resourceClaims[0]: Invalid value: "": must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'],
            id="35 no source",
        ),
        pytest.param(
            flat(leaf(resourceClaims=[claim(resourceClaimTemplateName="y")])),
            [f'{T}.resourceClaims[0]: Invalid value: "{{resourceClaimName, resourceClaimTemplateName}}": must specify exactly one of: `resourceClaimName`, `resourceClaimTemplateName`'],
            id="35 both sources",
        ),
        pytest.param(flat(leaf(resourceClaims=[claim("")])), [f"{T}.resourceClaims[0].name: Required value"], id="35 no name"),
        pytest.param(
            flat(leaf(resourceClaims=[claim(resourceClaimName="my/claim")])),
            [f'{T}.resourceClaims[0].resourceClaimName: Invalid value: "my/claim": {SUBDOMAIN}'],
            id="35 bad name",
        ),
        pytest.param(flat(leaf(), controllerRef={"name": "n"}), ["spec.controllerRef.kind: Required value"], id="36 kind"),
        pytest.param(
            flat(leaf(), controllerRef={"apiGroup": "A_b", "kind": "a/b", "name": "c%d"}),
            [
                f'spec.controllerRef.apiGroup: Invalid value: "A_b": {SUBDOMAIN}',
                "spec.controllerRef.kind: Invalid value: \"a/b\": may not contain '/'",
                "spec.controllerRef.name: Invalid value: \"c%d\": may not contain '%'",
            ],
            id="36 three",
        ),
        pytest.param(flat(leaf("a", priorityClassName="x"), leaf("b")), ["spec: Invalid value: null: detected multiple priority configurations"], id="37 class"),
        pytest.param(flat(leaf("a", priority=0), leaf("b")), ["spec: Invalid value: null: detected multiple priority configurations"], id="37 presence"),
        pytest.param(
            tree(composite(priority=10, podGroupTemplates=[leaf(priority=20)])),
            ["spec: Invalid value: null: all priority and priorityClassName values must be identical, detected multiple values"],
            id="38",
        ),
        pytest.param(nested(3), [], id="39 three"),
        pytest.param(tree(composite()), [f'{C}: Invalid value: "c": must have at least one child PodGroupTemplate or CompositePodGroupTemplate'], id="40"),
        pytest.param(
            tree(composite(compositePodGroupTemplates=[composite("d")])),
            [f'{C}.compositePodGroupTemplates[0]: Invalid value: "d": must have at least one child PodGroupTemplate or CompositePodGroupTemplate'],
            id="40 nested",
        ),
        pytest.param(
            tree(composite(schedulingPolicy={"gang": {}}, podGroupTemplates=[leaf()])),
            [f"{C}.schedulingPolicy.gang.minGroupCount: Required value"],
            id="41 missing",
        ),
        pytest.param(
            tree(composite(schedulingPolicy={"gang": {"minGroupCount": -1}}, podGroupTemplates=[leaf()])),
            [f"{C}.schedulingPolicy.gang.minGroupCount: Invalid value: -1: must be greater than or equal to 1"],
            id="41 negative",
        ),
        pytest.param(
            tree(composite(schedulingPolicy={"gang": {"minGroupCount": 9}}, disruptionMode={"all": {}}, podGroupTemplates=[leaf(disruptionMode={"single": {}})])),
            [],
            id="42",
        ),
        pytest.param({"metadata": {"name": ".x"}, **flat(leaf())}, [f'metadata.name: Invalid value: ".x": {SUBDOMAIN}'], id="43 dot"),
        pytest.param({"metadata": {"name": "W"}, **flat(leaf())}, [f'metadata.name: Invalid value: "W": {SUBDOMAIN}'], id="43 upper"),
        pytest.param({"metadata": {"name": "a" * 254}, **flat(leaf())}, [f'metadata.name: Invalid value: "{"a" * 254}": must be no more than 253 characters'], id="43 long"),
        pytest.param({"metadata": {"name": ""}, **flat(leaf())}, ["metadata.name: Required value: name or generateName is required"], id="43 empty"),
    ],
)  # fmt: skip
def test_a_new_workload(workload: Json, errors: list[str]) -> None:
    assert created(WORKLOADS, workload) == errors


@pytest.mark.parametrize("levels", [4, 5])
def test_39_a_tree_of_templates_is_at_most_four_levels_deep(levels: int) -> None:
    (error,) = created(WORKLOADS, nested(levels))
    assert error.startswith(f"{C}: Invalid value: ")
    assert error.endswith(": maximum template hierarchy depth is 4")


TWO = flat(leaf("a"), leaf("b"))
BASIC = flat(leaf(schedulingPolicy={"basic": {}}))
OWNED = flat(leaf(), controllerRef={"kind": "Job", "name": "j"})
TREE = tree(
    composite(
        schedulingPolicy={"gang": {"minGroupCount": 1}},
        podGroupTemplates=[leaf("p")],
        compositePodGroupTemplates=[composite("d", podGroupTemplates=[leaf("q")])],
    )
)
BOTH = {"basic": {}, "gang": {"minCount": 1}}
POLICY = "spec.podGroupTemplates.0.schedulingPolicy"
ROOT = "spec.compositePodGroupTemplates.0"


@pytest.mark.parametrize(
    ("workload", "path", "value", "errors"),
    [
        pytest.param(TWO, f"{POLICY}.gang.minCount", 5, [], id="44 count"),
        pytest.param(TWO, "spec.podGroupTemplates", [leaf("b"), leaf("a")], [], id="44 order"),
        pytest.param(
            TWO, "spec.podGroupTemplates.0.name", "z",
            [f"{T}: Forbidden: item may not be added", "spec.podGroupTemplates: Forbidden: item may not be removed"],
            id="45",
        ),
        pytest.param(TWO, "spec.podGroupTemplates", [leaf("a"), leaf("b"), leaf("c")], ["spec.podGroupTemplates[2]: Forbidden: item may not be added"], id="46 add"),
        pytest.param(TWO, "spec.podGroupTemplates", [leaf("a")], ["spec.podGroupTemplates: Forbidden: item may not be removed"], id="46 remove"),
        pytest.param(
            TWO, "spec.podGroupTemplates", None,
            ['spec: Invalid value: "": must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`']
            + ["spec.podGroupTemplates: Forbidden: item may not be removed"] * 2,
            id="46 clear",
        ),
        pytest.param(TWO, "spec.controllerRef", {"kind": "Job", "name": "j"}, [f"spec.controllerRef: {IMMUTABLE}"], id="47 set"),
        pytest.param(OWNED, "spec.controllerRef.name", "k", [f"spec.controllerRef: {IMMUTABLE}"], id="47 replace"),
        pytest.param(OWNED, "spec.controllerRef", None, [f"spec.controllerRef: {IMMUTABLE}"], id="47 remove"),
        pytest.param(
            TWO, POLICY, {"basic": {}},
            [f"{T}.schedulingPolicy.basic: {IMMUTABLE}", f"{T}.schedulingPolicy.gang: Invalid value: null: field cannot be cleared once set"],
            id="48 gang to basic",
        ),
        pytest.param(
            TWO, POLICY, BOTH,
            [
                f'{T}.schedulingPolicy: Invalid value: "{{basic, gang}}": must specify exactly one of: `basic`, `gang`',
                f"{T}.schedulingPolicy.basic: {IMMUTABLE}",
            ],
            id="48 gang to both",
        ),
        pytest.param(
            TWO, POLICY, {},
            [
                f'{T}.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`',
                f"{T}.schedulingPolicy.gang: Invalid value: null: field cannot be cleared once set",
            ],
            id="48 gang to none",
        ),
        pytest.param(
            BASIC, POLICY, {"gang": {"minCount": 1}},
            [f"{T}.schedulingPolicy.basic: {IMMUTABLE}", f"{T}.schedulingPolicy.gang: Invalid value: null: field cannot be set once created"],
            id="48 basic to gang",
        ),
        *(
            pytest.param(flat(leaf()), f"spec.podGroupTemplates.0.{field}", value, [f"{T}.{field}: {IMMUTABLE}"], id=f"49 {field}")
            for field, value in {
                "schedulingConstraints": {"topology": [{"key": "a"}]},
                "resourceClaims": [claim()],
                "disruptionMode": {"all": {}},
                "priorityClassName": "x",
                "priority": 0,
                "preemptionPolicy": "Never",
            }.items()
        ),
        pytest.param(
            TWO, "spec.podGroupTemplates.0.priorityClassName", "x",
            ["spec: Invalid value: null: detected multiple priority configurations", f"{T}.priorityClassName: {IMMUTABLE}"],
            id="50",
        ),
        pytest.param(TREE, f"{ROOT}.schedulingPolicy.gang.minGroupCount", 2, [], id="51 composite"),
        pytest.param(TREE, f"{ROOT}.podGroupTemplates.0.schedulingPolicy.gang.minCount", 3, [], id="51 nested"),
        pytest.param(TREE, f"{ROOT}.podGroupTemplates", [leaf("p"), leaf("z")], [f"{C}.podGroupTemplates[1]: Forbidden: item may not be added"], id="52 add"),
        pytest.param(
            TREE, f"{ROOT}.compositePodGroupTemplates.0.podGroupTemplates", None,
            [
                f'{C}.compositePodGroupTemplates[0]: Invalid value: "d": must have at least one child PodGroupTemplate or CompositePodGroupTemplate',
                f"{C}.compositePodGroupTemplates[0].podGroupTemplates: Forbidden: item may not be removed",
            ],
            id="52 remove the last",
        ),
    ],
)  # fmt: skip
def test_a_changed_workload(workload: Json, path: str, value: Any, errors: list[str]) -> None:
    assert updated(WORKLOADS, workload, changed(workload, path, value)) == errors


def test_53_a_workload_cannot_switch_from_leaves_to_composites() -> None:
    new = tree(composite(podGroupTemplates=[leaf("p")]))
    assert updated(WORKLOADS, flat(leaf()), new) == [
        'spec.podGroupTemplates: Forbidden: item may not be removed',
        f"{C}: Forbidden: item may not be added",
    ]  # fmt: skip


def group(**spec: Any) -> Json:
    return {"spec": {"schedulingPolicy": {"gang": {"minCount": 2}}, "priority": 0, **spec}}


REF = {"workloadName": "w", "templateName": "t"}


@pytest.mark.parametrize(
    ("new", "errors"),
    [
        pytest.param(group(), [], id="54"),
        pytest.param({"spec": {}}, ['spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`'], id="56"),
        pytest.param(group(workloadRef={}), ["spec.workloadRef.workloadName: Required value", "spec.workloadRef.templateName: Required value"], id="57"),
        pytest.param(group(workloadRef={"workloadName": "w", "templateName": "a.b"}), ['spec.workloadRef.templateName: Invalid value: "a.b": must not contain dots'], id="58 template"),
        pytest.param(group(workloadRef={"workloadName": "a/b", "templateName": "a"}), [f'spec.workloadRef.workloadName: Invalid value: "a/b": {SUBDOMAIN}'], id="58 workload"),
        pytest.param(group(workloadRef=REF), [], id="59"),
        pytest.param(group(parentCompositePodGroupName="p"), ["spec.workloadRef: Required value: must be set when parentCompositePodGroupName is set"], id="60"),
        pytest.param(group(parentCompositePodGroupName="a/b", workloadRef=REF), [f'spec.parentCompositePodGroupName: Invalid value: "a/b": {SUBDOMAIN}'], id="61"),
        pytest.param({"metadata": {"name": "a." + "b" * 251}, **group()}, [], id="62 long"),
        pytest.param({"metadata": {"name": "a" * 254}, **group()}, [f'metadata.name: Invalid value: "{"a" * 254}": must be no more than 253 characters'], id="62 too long"),
        pytest.param(group(disruptionMode={}), ['spec.disruptionMode: Invalid value: "": must specify one of: `single`, `all`'], id="union"),
        pytest.param(group(priorityClassName="system-cluster-critical", priority=2000000000), ["spec.priority: Invalid value: 2000000000: must be less than or equal to 1000000000"], id="78"),
    ],
)  # fmt: skip
def test_a_new_group(new: Json, errors: list[str]) -> None:
    assert created(POD_GROUPS, new) == errors


@pytest.mark.parametrize(
    ("path", "value", "errors"),
    [
        pytest.param("spec.schedulingPolicy.gang.minCount", 5, [], id="63"),
        pytest.param("spec.schedulingPolicy.gang.minCount", 0, ["spec.schedulingPolicy.gang.minCount: Required value"], id="63 zero"),
        pytest.param("spec.schedulingPolicy.gang.minCount", -1, ["spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1"], id="63 negative"),
        *(
            pytest.param(f"spec.{field}", value, [f"spec.{field}: {IMMUTABLE}"], id=f"64 {field}")
            for field, value in {
                "workloadRef": REF,
                "parentCompositePodGroupName": "p",
                "schedulingConstraints": {"topology": [{"key": "a"}]},
                "resourceClaims": [claim()],
                "priorityClassName": "x",
                "priority": 3,
                "preemptionPolicy": "Never",
                "disruptionMode": {"all": {}},
            }.items()
        ),
        pytest.param("spec.priority", None, [f"spec.priority: {IMMUTABLE}"], id="65 priority"),
        pytest.param("spec.disruptionMode", None, [], id="65 mode"),
        pytest.param("metadata.finalizers", None, [], id="66"),
    ],
)  # fmt: skip
def test_a_changed_group(path: str, value: Any, errors: list[str]) -> None:
    old = {"metadata": {"finalizers": ["scheduling.k8s.io/podgroup-protection"]}, **group()}
    assert updated(POD_GROUPS, old, changed(old, path, value)) == errors


def condition(**more: Any) -> Json:
    moment = "2026-01-01T00:00:00Z"
    return {"type": "T", "status": "True", "reason": "R", "lastTransitionTime": moment, **more}


@pytest.mark.parametrize(
    ("conditions", "errors"),
    [
        ([condition()], []),
        ([condition(), condition()], ['status.conditions[1]: Duplicate value: "T"']),
        ([condition(status="x")], ['status.conditions[0].status: Unsupported value: "x": supported values: "False", "True", "Unknown"']),
        ([condition(reason="")], ["status.conditions[0].reason: Required value"]),
        ([condition(reason="a" * 1025)], ["status.conditions[0].reason: Too long: may not be more than 1024 bytes"]),
        ([condition(message="a" * 32769)], ["status.conditions[0].message: Too long: may not be more than 32768 bytes"]),
        ([condition(lastTransitionTime=None)], ["status.conditions[0].lastTransitionTime: Required value"]),
        ([condition(type="")], ["status.conditions[0].type: Required value: is required"]),
        ([condition(observedGeneration=-1)], ["status.conditions[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero"]),
    ],
)  # fmt: skip
def test_68_the_conditions_of_groups(conditions: list[Json], errors: list[str]) -> None:
    new = {**group(), "status": {"conditions": conditions}}
    assert updated(POD_GROUPS, group(), new, "status") == errors


@pytest.mark.parametrize(
    ("statuses", "errors"),
    [
        pytest.param([{"name": "n0"}], [], id="known"),
        pytest.param(
            [{"name": "other"}],
            ['status.resourceClaimStatuses[0].name: Invalid value: "other": must match the name of an entry in `spec.resourceClaims`'],
            id="68 unknown",
        ),
        pytest.param([{"name": "n0"}] * 2, ['status.resourceClaimStatuses[1]: Duplicate value: {"name":"n0"}'], id="69 twice"),
        pytest.param(
            [{"name": f"n{i % 4}"} for i in range(5)], ["status.resourceClaimStatuses: Too many: 5: must have at most 4 items"], id="69 five"
        ),
    ],
)  # fmt: skip
def test_the_claim_statuses_of_groups(statuses: list[Json], errors: list[str]) -> None:
    old = group(resourceClaims=several(claim, 4))
    new = {**old, "status": {"resourceClaimStatuses": statuses}}
    assert updated(POD_GROUPS, old, new, "status") == errors


def composite_group(**spec: Any) -> Json:
    policy = {"gang": {"minGroupCount": 2}}
    return {"spec": {"workloadRef": REF, "schedulingPolicy": policy, "priority": 0, **spec}}


@pytest.mark.parametrize(
    ("new", "errors"),
    [
        pytest.param(changed(composite_group(), "spec.workloadRef", None), ["spec.workloadRef: Required value"], id="70"),
        pytest.param(composite_group(parentCompositePodGroupName="x"), [], id="73"),
        pytest.param(composite_group(disruptionMode={}), ['spec.disruptionMode: Invalid value: "": must specify one of: `single`, `all`'], id="74"),
    ],
)  # fmt: skip
def test_a_new_composite_group(new: Json, errors: list[str]) -> None:
    assert created(COMPOSITE_POD_GROUPS, new) == errors


@pytest.mark.parametrize(
    ("path", "value", "errors"),
    [
        pytest.param("spec.workloadRef", None, [f"spec.workloadRef: {IMMUTABLE}", "spec.workloadRef: Required value"], id="70"),
        pytest.param("spec.schedulingPolicy.gang.minGroupCount", 3, [f"spec.schedulingPolicy: {IMMUTABLE}"], id="71 count"),
        pytest.param("spec.schedulingPolicy", {"basic": {}}, [f"spec.schedulingPolicy: {IMMUTABLE}"], id="71 variant"),
    ],
)  # fmt: skip
def test_a_changed_composite_group(path: str, value: Any, errors: list[str]) -> None:
    old = composite_group()
    assert updated(COMPOSITE_POD_GROUPS, old, changed(old, path, value)) == errors


@pytest.mark.parametrize(
    ("new", "errors"),
    [
        ({"value": 1000000000}, []),
        ({"value": 1000000001}, ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"]),
        ({"metadata": {"name": "system-node-critical"}, "value": 2000001000}, []),
        (
            {"metadata": {"name": "system-mine"}, "value": 1},
            ["metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known system priority class"],
        ),
        ({"value": 1, "preemptionPolicy": "Foo"}, ['preemptionPolicy: Unsupported value: "Foo": supported values: "PreemptLowerPriority", "Never"']),
    ],
)  # fmt: skip
def test_a_new_priority_class(new: Json, errors: list[str]) -> None:
    assert created(PRIORITY_CLASSES, new) == errors


def test_the_value_of_a_priority_class_is_settled() -> None:
    assert updated(PRIORITY_CLASSES, {"value": 5}, {"value": 6}) == [
        "value: Forbidden: may not be changed in an update."
    ]
