"""binding and eviction of pods."""

import asyncio

import pytest

from tests.server.door import Door
from tests.server.objects import PODS, binding, pod


async def test_a_binding_gives_the_pod_its_node_and_what_it_carries(door: Door) -> None:
    made = await door.made(PODS, pod("p", labels={"app": "web"}))
    sent = binding(
        "p",
        "n1",
        uid=made["metadata"]["uid"],
        annotations={"tutti.dev/commit": "c7"},
        labels={"rack": "r1"},
    )

    answer = await door.post(f"{PODS}/p/binding", sent)

    bound = (await door.get(f"{PODS}/p")).json
    assert (answer.code, answer.json["status"]) == (201, "Success")
    assert bound["spec"]["nodeName"] == "n1"
    assert bound["metadata"]["annotations"] == {"tutti.dev/commit": "c7"}
    assert bound["metadata"]["labels"] == {"app": "web", "rack": "r1"}
    assert bound["metadata"]["generation"] == 1
    assert bound["status"]["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": "2026-11-19T12:00:00Z",
        }
    ]


async def test_a_pod_is_bound_once_though_two_try_at_the_same_time(door: Door) -> None:
    await door.made(PODS, pod("p"))

    answers = await asyncio.gather(
        *(door.post(f"{PODS}/p/binding", binding("p", f"n{at}")) for at in range(4))
    )

    assert sorted(answer.code for answer in answers) == [201, 409, 409, 409]


@pytest.mark.parametrize(
    ("prepare", "sent", "code", "sentence"),
    [
        pytest.param(
            {},
            binding("p", "n", uid="namesake"),
            409,
            "Precondition failed: UID in precondition: namesake",
            id="a namesake is never bound",
        ),
        pytest.param(
            {"schedulingGates": [{"name": "wait"}]},
            binding("p", "n"),
            409,
            'Operation cannot be fulfilled on pods/binding "p": '
            "pod p has non-empty .spec.schedulingGates",
            id="gated",
        ),
        pytest.param(
            {"nodeName": "taken"},
            binding("p", "n"),
            409,
            'pod p is already assigned to node "taken"',
            id="bound already",
        ),
        pytest.param(
            {},
            binding("q", "n"),
            400,
            "name in URL does not match name in Binding",
            id="other name",
        ),
        pytest.param({}, binding("p", ""), 500, "target.name: Required value", id="no node"),
    ],
)
async def test_a_pod_that_cannot_be_bound_stays_as_it_was(
    door: Door, prepare: dict[str, object], sent: object, code: int, sentence: str
) -> None:
    made = await door.made(PODS, pod("p", **prepare))

    answer = await door.post(f"{PODS}/p/binding", sent)

    assert answer.code == code
    assert sentence in answer.text
    assert (await door.get(f"{PODS}/p")).json == made


async def test_a_pod_that_is_going_is_not_bound(door: Door) -> None:
    await door.made(PODS, pod("p") | {"metadata": {"name": "p", "finalizers": ["x.example/hold"]}})
    await door.delete(f"{PODS}/p")

    answer = await door.post(f"{PODS}/p/binding", binding("p", "n"))

    assert answer.code == 409
    assert "pod p is being deleted, cannot be assigned to a host" in answer.text


async def test_a_dry_run_binds_nothing(door: Door) -> None:
    await door.made(PODS, pod("p"))

    answer = await door.post(f"{PODS}/p/binding", binding("p", "n"), dryRun="All")

    assert answer.code == 201
    assert "nodeName" not in (await door.get(f"{PODS}/p")).json["spec"]


async def test_an_eviction_is_a_delete_that_says_what_it_was(door: Door) -> None:
    await door.made(PODS, pod("p", nodeName="n"))

    answer = await door.post(f"{PODS}/p/eviction", {"metadata": {"name": "p"}})

    left = (await door.get(f"{PODS}/p")).json
    assert (answer.code, answer.json["status"]) == (201, "Success")
    assert left["metadata"]["deletionGracePeriodSeconds"] == 30
    (condition,) = left["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == (
        "DisruptionTarget",
        "EvictionByEvictionAPI",
    )


async def test_an_eviction_honours_its_preconditions(door: Door) -> None:
    await door.made(PODS, pod("p"))
    options = {"preconditions": {"uid": "another"}}

    answer = await door.post(
        f"{PODS}/p/eviction", {"metadata": {"name": "p"}, "deleteOptions": options}
    )

    assert answer.code == 409
    assert (await door.get(f"{PODS}/p")).code == 200
