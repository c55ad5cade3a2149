"""Admission: namespaces, priorities, tolerations, the finalizer of groups."""

import pytest

from tests.server.door import Door, opened
from tests.server.objects import CLASSES, GROUPS, PODS, group, named, pod
from tutti.server import gates

COMPOSITES = "/apis/scheduling.k8s.io/v1alpha3/namespaces/default/compositepodgroups"


def composite(name: str, **spec: object) -> dict[str, object]:
    reference = {"workloadName": "w", "templateName": "t"}
    return named(name, spec={"schedulingPolicy": {"basic": {}}, "workloadRef": reference, **spec})


async def classes(door: Door) -> None:
    await door.made(CLASSES, named("high", value=1000))
    await door.made(CLASSES, named("polite", value=500, preemptionPolicy="Never"))


@pytest.mark.parametrize(
    ("spec", "name", "priority", "policy"),
    [
        pytest.param({}, None, 0, "PreemptLowerPriority", id="no class"),
        pytest.param(
            {"priorityClassName": "high"}, "high", 1000, "PreemptLowerPriority", id="class"
        ),
        pytest.param(
            {"priorityClassName": "high", "priority": 1000},
            "high",
            1000,
            "PreemptLowerPriority",
            id="a number that agrees",
        ),
        pytest.param(
            {"priorityClassName": "polite"},
            "polite",
            500,
            "Never",
            id="a class that never preempts",
        ),
        pytest.param(
            {"priorityClassName": "system-node-critical"},
            "system-node-critical",
            2000001000,
            "PreemptLowerPriority",
            id="a system class",
        ),
    ],
)
async def test_a_pod_has_the_priority_of_its_class(
    door: Door, spec: dict[str, object], name: str | None, priority: int, policy: str
) -> None:
    await classes(door)

    made = (await door.made(PODS, pod("p", **spec)))["spec"]

    assert made.get("priorityClassName") == name
    assert (made["priority"], made["preemptionPolicy"]) == (priority, policy)


async def test_the_default_class_is_everybodys_who_names_none(door: Door) -> None:
    await door.made(CLASSES, named("usual", value=7, globalDefault=True))

    made_pod, made_group = await door.made(PODS, pod("p")), await door.made(GROUPS, group("g"))

    for made in (made_pod, made_group):
        assert (made["spec"]["priorityClassName"], made["spec"]["priority"]) == ("usual", 7)


async def test_there_is_one_default_class(door: Door) -> None:
    await door.made(CLASSES, named("usual", value=7, globalDefault=True))
    await door.made(CLASSES, named("other", value=8))

    created = await door.post(CLASSES, named("second", value=8, globalDefault=True))
    changed = await door.patch(f"{CLASSES}/other", {"globalDefault": True})
    itself = await door.patch(f"{CLASSES}/usual", {"description": "for most"})

    assert created.code == changed.code == 403
    assert created.text.endswith(
        "PriorityClass usual is already marked as default. Only one default can exist"
    )
    assert itself.code == 200


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        pytest.param(
            PODS,
            pod("p", priorityClassName="lost"),
            'pods "p" is forbidden: no PriorityClass with name lost was found',
            id="pod, unknown class",
        ),
        pytest.param(
            PODS,
            pod("p", priorityClassName="high", priority=5),
            'pods "p" is forbidden: the integer value of priority (5) must not be provided in pod '
            "spec; priority admission controller computed 1000 from the given PriorityClass name",
            id="pod, another number",
        ),
        pytest.param(
            PODS,
            pod("p", priorityClassName="high", preemptionPolicy="Never"),
            'pods "p" is forbidden: the string value of PreemptionPolicy (Never) must not be '
            "provided in pod spec; priority admission controller computed PreemptLowerPriority "
            "from the given PriorityClass name",
            id="pod, another policy",
        ),
        pytest.param(
            GROUPS,
            group("g", priorityClassName="lost"),
            'podgroups.scheduling.k8s.io "g" is forbidden: no PriorityClass with name lost was found',
            id="group, unknown class",
        ),
        pytest.param(
            GROUPS,
            group("g", priorityClassName="high", priority=5),
            'podgroups.scheduling.k8s.io "g" is forbidden: priority set in the pod group (5) must '
            "match the priority computed (1000) based on the priority class set in the spec",
            id="group, another number",
        ),
        pytest.param(
            GROUPS,
            group("g", priorityClassName="polite"),
            'podgroups.scheduling.k8s.io "g" is forbidden: the string value of PreemptionPolicy '
            "(PreemptLowerPriority) must not be provided in pod group spec; priority admission "
            "controller computed Never from the given PriorityClass name",
            id="group, the default policy contradicts a class that never preempts",
        ),
        pytest.param(
            COMPOSITES,
            composite("c", priorityClassName="high", priority=5),
            'compositepodgroups.scheduling.k8s.io "c" is forbidden: priority set in the composite '
            "pod group (5) must match the priority computed (1000) based on the priority class set "
            "in the spec",
            id="composite, another number",
        ),
    ],
)
async def test_a_contradiction_is_refused(
    door: Door, path: str, body: object, sentence: str
) -> None:
    await classes(door)

    answer = await door.post(path, body)

    assert (answer.code, answer.json["reason"]) == (403, "Forbidden")
    assert answer.text == sentence


async def test_groups_cannot_have_a_system_class(door: Door) -> None:
    answer = await door.post(GROUPS, group("g", priorityClassName="system-cluster-critical"))

    assert answer.code == 422
    assert (
        "spec.priority: Invalid value: 2000000000: must be less than or equal to 1000000000"
        in answer.text
    )


async def test_a_new_group_is_held_as_long_as_it_is_in_use(door: Door) -> None:
    made_group = await door.made(GROUPS, group("g"))
    made_composite = await door.made(COMPOSITES, composite("c"))

    assert made_group["metadata"]["finalizers"] == ["scheduling.k8s.io/podgroup-protection"]
    assert "finalizers" not in made_composite["metadata"]


async def test_a_pod_stays_a_while_on_a_node_that_is_not_ready(door: Door) -> None:
    made = await door.made(PODS, pod("p"))

    assert made["spec"]["tolerations"] == [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    ]


async def test_a_pod_may_be_put_back_without_what_admission_gave_it(door: Door) -> None:
    sent = pod("p", priorityClassName="system-node-critical")
    made = await door.made(PODS, sent)

    again = await door.put(f"{PODS}/p", sent)

    assert (again.code, again.json["spec"]) == (200, made["spec"])


async def test_who_tolerates_everything_gets_no_more_tolerations(door: Door) -> None:
    made = await door.made(PODS, pod("p", tolerations=[{"operator": "Exists"}]))

    assert made["spec"]["tolerations"] == [{"operator": "Exists"}]


async def test_without_its_gate_the_policy_of_a_group_is_left_alone() -> None:
    async with opened(gates.parse("PodGroupPreemptionPolicy=false")) as door:
        await classes(door)

        made = await door.made(GROUPS, group("g", priorityClassName="polite"))

    assert "preemptionPolicy" not in made["spec"]
    assert made["spec"]["priority"] == 500
