"""delete: at once, after a grace period, or held by finalizers."""

import pytest

from tests.server.door import Door
from tests.server.objects import (
    GROUPS,
    MAPS,
    NAMESPACES,
    NODES,
    PODS,
    binding,
    group,
    named,
    pod,
)


async def running(door: Door, name: str) -> None:
    """A pod that a kubelet has."""
    await door.made(PODS, pod(name))
    await door.post(f"{PODS}/{name}/binding", binding(name, "n"))


async def test_most_objects_go_at_once_and_a_status_says_so(door: Door) -> None:
    made = await door.made(MAPS, named("a"))

    answer = await door.delete(f"{MAPS}/a")

    assert answer.json["status"] == "Success"
    assert answer.json["details"] == {
        "name": "a",
        "kind": "configmaps",
        "uid": made["metadata"]["uid"],
    }
    assert (await door.get(f"{MAPS}/a")).code == 404


async def test_a_pod_without_a_node_goes_at_once(door: Door) -> None:
    await door.made(PODS, pod("p"))

    answer = await door.delete(f"{PODS}/p")

    assert answer.json["kind"] == "Pod"
    assert (await door.get(f"{PODS}/p")).code == 404


async def test_a_pod_on_a_node_waits_for_its_kubelet(door: Door) -> None:
    await running(door, "p")

    marked = (await door.delete(f"{PODS}/p")).json["metadata"]

    assert marked["deletionTimestamp"] == "2026-11-19T12:00:30Z"
    assert marked["deletionGracePeriodSeconds"] == 30
    assert marked["generation"] == 2
    assert (await door.get(f"{PODS}/p")).code == 200
    assert (await door.delete(f"{PODS}/p", {"gracePeriodSeconds": 0})).code == 200
    assert (await door.get(f"{PODS}/p")).code == 404


async def test_a_grace_period_can_only_be_made_shorter(door: Door) -> None:
    await running(door, "p")
    await door.delete(f"{PODS}/p", gracePeriodSeconds=20)

    longer = (await door.delete(f"{PODS}/p", gracePeriodSeconds=40)).json["metadata"]
    shorter = (await door.delete(f"{PODS}/p", gracePeriodSeconds=5)).json["metadata"]

    assert longer["deletionTimestamp"] == "2026-11-19T12:00:20Z"
    assert shorter["deletionTimestamp"] == "2026-11-19T12:00:05Z"


async def test_an_ended_pod_goes_at_once(door: Door) -> None:
    await running(door, "p")
    await door.patch(f"{PODS}/p/status", {"status": {"phase": "Succeeded"}})

    await door.delete(f"{PODS}/p")

    assert (await door.get(f"{PODS}/p")).code == 404


async def test_finalizers_hold_an_object_until_the_last_is_taken(door: Door) -> None:
    await door.made(GROUPS, group("g"))

    marked = await door.delete(f"{GROUPS}/g")
    unchanged = await door.patch(f"{GROUPS}/g", {"metadata": {"labels": {"a": "b"}}})
    last = await door.patch(f"{GROUPS}/g", {"metadata": {"finalizers": None}})

    assert marked.json["metadata"]["deletionTimestamp"] == "2026-11-19T12:00:00Z"
    assert marked.json["metadata"]["deletionGracePeriodSeconds"] == 0
    assert unchanged.code == last.code == 200
    assert (await door.get(f"{GROUPS}/g")).code == 404


@pytest.mark.parametrize(
    ("options", "finalizers"),
    [
        pytest.param({"propagationPolicy": "Foreground"}, ["foregroundDeletion"], id="foreground"),
        pytest.param({"propagationPolicy": "Orphan"}, ["orphan"], id="orphan"),
        pytest.param({"orphanDependents": True}, ["orphan"], id="orphan, said in the old way"),
        pytest.param({"propagationPolicy": "Background"}, None, id="background"),
        pytest.param({}, None, id="nothing asked"),
    ],
)
async def test_the_garbage_collector_is_told_by_a_finalizer(
    door: Door, options: dict[str, object], finalizers: list[str] | None
) -> None:
    await door.made(MAPS, named("a"))

    await door.delete(f"{MAPS}/a", options)

    left = await door.get(f"{MAPS}/a")
    assert left.code == (200 if finalizers else 404)
    if finalizers:
        assert left.json["metadata"]["finalizers"] == finalizers


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        pytest.param(
            {"preconditions": {"uid": "other"}},
            409,
            "the UID in the precondition (other) does not match the UID in record",
            id="another uid",
        ),
        pytest.param(
            {"preconditions": {"resourceVersion": "1"}},
            409,
            "the ResourceVersion in the precondition (1) does not match",
            id="another version",
        ),
        pytest.param(
            {"propagationPolicy": "Sideways"},
            422,
            'propagationPolicy: Unsupported value: "Sideways": supported values: '
            '"Foreground", "Background", "Orphan", "nil"',
            id="an unknown policy",
        ),
        pytest.param(
            {"propagationPolicy": "Orphan", "orphanDependents": True},
            422,
            "orphanDependents and deletionPropagation cannot be both set",
            id="both ways at once",
        ),
        pytest.param(
            {"gracePeriodSeconds": "soon"},
            400,
            "json: cannot unmarshal string into Go struct field "
            "DeleteOptions.gracePeriodSeconds of type int64",
            id="a wrong type",
        ),
        pytest.param(
            {"kind": "Pod", "apiVersion": "v1"},
            400,
            'no kind "Pod" is registered for version "v1"',
            id="another kind",
        ),
        pytest.param(b"{", 400, "unexpected end of JSON input", id="broken"),
    ],
)
async def test_a_delete_that_cannot_be_is_refused(
    door: Door, options: object, code: int, sentence: str
) -> None:
    await door.made(MAPS, named("a"))

    answer = await door.delete(f"{MAPS}/a", options)

    assert answer.code == code
    assert sentence in answer.text
    assert (await door.get(f"{MAPS}/a")).code == 200


async def test_a_dry_run_deletes_nothing(door: Door) -> None:
    await door.made(MAPS, named("a"))

    assert (await door.delete(f"{MAPS}/a", {"dryRun": ["All"]})).json["status"] == "Success"
    assert (await door.get(f"{MAPS}/a")).code == 200


async def test_a_collection_is_deleted_by_selector(door: Door) -> None:
    for name, colour in (("a", "red"), ("b", "red"), ("c", "blue")):
        await door.made(MAPS, {"metadata": {"name": name, "labels": {"colour": colour}}})

    answer = await door.delete(MAPS, labelSelector="colour=red")

    assert [one["metadata"]["name"] for one in answer.json["items"]] == ["a", "b"]
    left = (await door.get(MAPS)).json["items"]
    assert [one["metadata"]["name"] for one in left] == ["c"]


@pytest.mark.parametrize("path", ["/api/v1/configmaps", NAMESPACES])
async def test_some_collections_are_not_deleted_as_a_whole(door: Door, path: str) -> None:
    assert (await door.delete(path)).code == 405


async def test_a_namespace_is_emptied_before_it_goes(door: Door) -> None:
    await door.made(NAMESPACES, named("team"))

    marked = (await door.delete(f"{NAMESPACES}/team")).json
    refused = await door.post(f"{NAMESPACES}/team/configmaps", named("late"))
    again = await door.delete(f"{NAMESPACES}/team")

    assert marked["status"]["phase"] == "Terminating"
    assert marked["metadata"]["deletionTimestamp"] == "2026-11-19T12:00:00Z"
    assert refused.code == 403
    assert refused.text == (
        'configmaps "late" is forbidden: unable to create new content in namespace team '
        "because it is being terminated"
    )
    assert refused.json["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    assert again.code == 200
    await door.put(f"{NAMESPACES}/team/finalize", named("team", spec={"finalizers": []}))
    assert (await door.get(f"{NAMESPACES}/team")).code == 404


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
async def test_some_namespaces_stay(door: Door, name: str) -> None:
    answer = await door.delete(f"{NAMESPACES}/{name}")

    assert answer.code == 403
    assert answer.text == f'namespaces "{name}" is forbidden: this namespace may not be deleted'


async def test_what_is_not_there_is_not_deleted(door: Door) -> None:
    answer = await door.delete(f"{NODES}/n")

    assert (answer.code, answer.text) == (404, 'nodes "n" not found')
