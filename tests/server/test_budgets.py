"""Evictions and disruption budgets."""

import pytest

from tests.server.door import Answer, Door
from tests.server.objects import PODS, named, pod

BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
READY = [{"type": "Ready", "status": "True"}]


async def guarded(door: Door, *, ready: bool = True, **status: object) -> None:
    """A running pod, and a budget that has been counted so."""
    await door.made(PODS, pod("p", labels={"app": "a"}, nodeName="n"))
    running: dict[str, object] = {"phase": "Running"}
    await door.patch(
        f"{PODS}/p/status", {"status": running | ({"conditions": READY} if ready else {})}
    )
    selector = {"matchLabels": {"app": "a"}}
    await door.made(BUDGETS, named("b", spec={"minAvailable": 1, "selector": selector}))
    counted = {"observedGeneration": 1, "desiredHealthy": 1, "currentHealthy": 1, **status}
    await door.patch(f"{BUDGETS}/b/status", {"status": counted})


async def evict(door: Door) -> Answer:
    return await door.post(f"{PODS}/p/eviction", named("p"))


async def test_each_eviction_takes_one_from_the_budget(door: Door) -> None:
    await guarded(door, disruptionsAllowed=1, currentHealthy=2)

    assert (await evict(door)).code == 201

    status = (await door.get(f"{BUDGETS}/b")).json["status"]
    assert status["disruptionsAllowed"] == 0
    assert status["disruptedPods"] == {"p": "2026-11-19T12:00:00Z"}
    assert status["conditions"][0]["reason"] == "InsufficientPods"


@pytest.mark.parametrize(
    ("status", "code", "cause"),
    [
        pytest.param(
            {"observedGeneration": 0},
            429,
            "The disruption budget b is still being processed by the server.",
            id="nobody has counted yet",
        ),
        pytest.param(
            {"desiredHealthy": 3},
            429,
            "The disruption budget b needs 3 healthy pods and has 1 currently",
            id="too few are left",
        ),
        pytest.param(
            {"disruptionsAllowed": -1},
            403,
            "The disruption budget b does not allow evicting pods currently: "
            "pdb disruptions allowed is negative",
            id="overdrawn",
        ),
    ],
)
async def test_nothing_is_evicted_that_the_budget_does_not_allow(
    door: Door, status: dict[str, object], code: int, cause: str
) -> None:
    await guarded(door, **status)

    answer = await evict(door)

    assert answer.code == code
    assert answer.json["details"]["causes"] == [{"reason": "DisruptionBudget", "message": cause}]
    assert "deletionTimestamp" not in (await door.get(f"{PODS}/p")).json["metadata"]
    if code == 429:
        assert answer.text == REFUSED


async def test_a_pod_that_is_not_ready_is_no_loss_where_the_others_are_enough(door: Door) -> None:
    await guarded(door, ready=False)

    assert (await evict(door)).code == 201
    assert (await door.get(f"{BUDGETS}/b")).json["status"]["disruptionsAllowed"] == 0


async def test_two_budgets_for_one_pod_are_more_than_can_be_heeded(door: Door) -> None:
    await guarded(door, disruptionsAllowed=1)
    await door.made(BUDGETS, named("c", spec={"maxUnavailable": "50%", "selector": {}}))

    answer = await evict(door)

    assert answer.code == 500
    assert answer.text.startswith("This pod has more than one PodDisruptionBudget")


async def test_a_plain_delete_heeds_no_budget(door: Door) -> None:
    await guarded(door)

    assert (await door.delete(f"{PODS}/p")).code == 200


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (
            {"minAvailable": "most"},
            'spec.minAvailable: Invalid value: "most": a valid percent string',
        ),
        (
            {"maxUnavailable": "101%"},
            'spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
        ),
        (
            {"minAvailable": 1, "maxUnavailable": 1},
            "minAvailable and maxUnavailable cannot be both",
        ),
        ({"unhealthyPodEvictionPolicy": "Never"}, 'Unsupported value: "Never"'),
    ],
)
async def test_a_budget_that_makes_no_sense_is_refused(
    door: Door, spec: dict[str, object], sentence: str
) -> None:
    answer = await door.post(BUDGETS, named("b", spec=spec))

    assert answer.code == 422
    assert sentence in answer.text
