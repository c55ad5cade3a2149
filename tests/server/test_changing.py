"""update and patch: who wins, what stays as it was, what is no change at all."""

import pytest

from tests.server.door import JSON_PATCH, MERGE, STRATEGIC, Door
from tests.server.objects import GROUPS, LEASES, MAPS, NODES, PODS, group, named, pod

APPLY = "application/apply-patch+yaml"


async def test_an_update_of_the_newest_version_is_written(door: Door) -> None:
    made = await door.made(MAPS, named("a"))

    answer = await door.put(f"{MAPS}/a", made | {"data": {"k": "v"}})

    assert answer.code == 200
    assert answer.json["data"] == {"k": "v"}
    assert int(answer.json["metadata"]["resourceVersion"]) > int(
        made["metadata"]["resourceVersion"]
    )


async def test_an_update_of_an_older_version_is_a_conflict(door: Door) -> None:
    made = await door.made(MAPS, named("a"))
    await door.put(f"{MAPS}/a", made | {"data": {"k": "first"}})

    answer = await door.put(f"{MAPS}/a", made | {"data": {"k": "second"}})

    assert (answer.code, answer.json["reason"]) == (409, "Conflict")
    assert answer.text == (
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    assert (await door.get(f"{MAPS}/a")).json["data"] == {"k": "first"}


async def test_an_update_without_a_version_wins_where_kubernetes_permits_it(door: Door) -> None:
    await door.made(MAPS, named("a"))
    await door.made(GROUPS, group("g"))

    assert (await door.put(f"{MAPS}/a", named("a", data={"k": "v"}))).code == 200
    refused = await door.put(f"{GROUPS}/g", group("g", 5))

    assert refused.code == 422
    assert refused.text == (
        'podgroups.scheduling.k8s.io "g" is invalid: metadata.resourceVersion: '
        "Invalid value: 0: must be specified for an update"
    )


async def test_a_lease_may_be_created_by_an_update_and_a_map_may_not(door: Door) -> None:
    assert (await door.put(f"{LEASES}/l", named("l", spec={"holderIdentity": "me"}))).code == 201
    assert (await door.put(f"{MAPS}/m", named("m"))).code == 404


async def test_a_change_of_nothing_writes_nothing(door: Door) -> None:
    made = await door.made(MAPS, named("a", data={"b": "1", "a": "2"}))
    before = door.store.revision

    again = await door.put(f"{MAPS}/a", {"data": {"a": "2", "b": "1"}, "metadata": {"name": "a"}})
    patched = await door.patch(f"{MAPS}/a", {"data": {"a": "2"}})

    assert again.json["metadata"] == patched.json["metadata"] == made["metadata"]
    assert door.store.revision == before


async def test_a_dry_run_shows_the_change_and_writes_nothing(door: Door) -> None:
    await door.made(MAPS, named("a"))
    before = door.store.revision

    answer = await door.patch(f"{MAPS}/a", {"data": {"k": "v"}}, dryRun="All")

    assert answer.json["data"] == {"k": "v"}
    assert door.store.revision == before


async def test_the_main_resource_does_not_write_status_nor_status_the_rest(door: Door) -> None:
    await door.made(GROUPS, group("g"))
    condition = {
        "type": "Fake",
        "status": "True",
        "reason": "Test",
        "message": "m",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    wanted = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 9}}},
        "status": {"conditions": [condition]},
    }

    main = (await door.patch(f"{GROUPS}/g", {"status": wanted["status"]})).json
    status = (await door.patch(f"{GROUPS}/g/status", wanted)).json

    assert main["status"] == {}
    assert status["status"]["conditions"] == [condition]
    assert status["spec"]["schedulingPolicy"] == {"gang": {"minCount": 2}}
    assert "labels" not in status["metadata"]


async def test_a_kubelet_may_label_its_node_with_the_status(door: Door) -> None:
    await door.made(NODES, named("n"))

    answer = await door.patch(
        f"{NODES}/n/status",
        {"metadata": {"labels": {"a": "b"}}, "spec": {"unschedulable": True}},
    )

    assert answer.json["metadata"]["labels"] == {"a": "b"}
    assert answer.json["spec"] == {}


async def test_a_pod_has_a_new_generation_with_each_change_of_its_spec(door: Door) -> None:
    made = await door.made(PODS, pod("p"))

    labelled = (await door.patch(f"{PODS}/p", {"metadata": {"labels": {"a": "b"}}})).json
    image = [{"name": "main", "image": "other"}]
    changed = (await door.patch(f"{PODS}/p", {"spec": {"containers": image}}, STRATEGIC)).json

    assert made["metadata"]["generation"] == 1
    assert labelled["metadata"]["generation"] == 1
    assert changed["metadata"]["generation"] == 2


async def test_groups_have_no_generation(door: Door) -> None:
    await door.made(GROUPS, group("g"))

    changed = await door.patch(
        f"{GROUPS}/g", {"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}
    )

    assert "generation" not in changed.json["metadata"]


@pytest.mark.parametrize(
    ("kind", "body", "data"),
    [
        pytest.param(MERGE, {"data": {"a": None, "c": "3"}}, {"b": "2", "c": "3"}, id="merge"),
        pytest.param(STRATEGIC, {"data": {"a": "9"}}, {"a": "9", "b": "2"}, id="strategic"),
        pytest.param(
            JSON_PATCH,
            [{"op": "remove", "path": "/data/a"}, {"op": "add", "path": "/data/c", "value": "3"}],
            {"b": "2", "c": "3"},
            id="json",
        ),
    ],
)
async def test_three_kinds_of_patch(
    door: Door, kind: str, body: object, data: dict[str, str]
) -> None:
    await door.made(MAPS, named("m", data={"a": "1", "b": "2"}))

    answer = await door.patch(f"{MAPS}/m", body, kind)

    assert (answer.code, answer.json["data"]) == (200, data)


@pytest.mark.parametrize(
    ("kind", "body", "code", "sentence"),
    [
        pytest.param(MERGE, b'{"a', 400, "invalid JSON patch", id="broken"),
        pytest.param(APPLY, {"data": {}}, 415, "server-side apply is not served", id="apply"),
        pytest.param("application/json", {}, 415, "415: Unsupported Media Type", id="no patch"),
        pytest.param(
            MERGE,
            {"metadata": {"name": "other"}},
            400,
            "the name of the object (other) does not match the name on the URL (m)",
            id="another name",
        ),
        pytest.param(
            MERGE,
            {"metadata": {"uid": "other"}},
            422,
            'metadata.uid: Invalid value: "other": field is immutable',
            id="another uid",
        ),
        pytest.param(
            MERGE,
            {"kind": "Secret"},
            422,
            'no kind "Secret" is registered for version "v1"',
            id="another kind",
        ),
        pytest.param(
            MERGE,
            {"data": 5},
            422,
            "json: cannot unmarshal number into Go struct field ConfigMap.data",
            id="a wrong type",
        ),
        pytest.param(
            MERGE,
            {"metadata": {"resourceVersion": "1"}},
            409,
            "the object has been modified",
            id="an old version",
        ),
        pytest.param(
            JSON_PATCH,
            [{"op": "test", "path": "/data/a", "value": "2"}],
            422,
            "the server rejected our request due to an error in our request",
            id="a test that fails",
        ),
    ],
)
async def test_a_patch_that_cannot_be_is_refused(
    door: Door, kind: str, body: object, code: int, sentence: str
) -> None:
    await door.made(MAPS, named("m", data={"a": "1"}))
    before = door.store.revision

    answer = await door.patch(f"{MAPS}/m", body, kind)

    assert answer.code == code
    assert sentence in answer.text
    assert door.store.revision == before


@pytest.mark.parametrize(
    ("body", "code", "sentence"),
    [
        pytest.param({"metadata": {}}, 400, "name must be provided", id="no name"),
        pytest.param(named("x"), 400, "does not match the name on the URL (m)", id="another name"),
        pytest.param(
            {"metadata": {"name": "m", "namespace": "x"}},
            400,
            "the namespace of the provided object does not match",
            id="another namespace",
        ),
        pytest.param(
            {"metadata": {"name": "m", "uid": "gone"}},
            409,
            "Precondition failed: UID in precondition: gone",
            id="another object of this name",
        ),
        pytest.param(
            {"metadata": {"name": "m", "resourceVersion": "new"}},
            500,
            'strconv.ParseUint: parsing "new": invalid syntax',
            id="a version that is none",
        ),
    ],
)
async def test_an_update_that_cannot_be_is_refused(
    door: Door, body: object, code: int, sentence: str
) -> None:
    await door.made(MAPS, named("m"))

    answer = await door.put(f"{MAPS}/m", body)

    assert answer.code == code
    assert sentence in answer.text


async def test_an_event_is_one_object_in_both_of_its_groups(door: Door) -> None:
    modern = "/apis/events.k8s.io/v1/namespaces/default/events"
    event = {
        "metadata": {"name": "e"},
        "regarding": {"kind": "Pod", "namespace": "default", "name": "p"},
        "note": "said",
        "reason": "Because",
        "type": "Normal",
        "action": "Saying",
        "reportingController": "tester",
        "reportingInstance": "here",
        "eventTime": "2026-11-19T12:00:00.000000Z",
    }

    await door.made(modern, event)
    await door.patch(
        f"{modern}/e", {"series": {"count": 2, "lastObservedTime": "2026-11-19T12:00:01.000000Z"}}
    )

    core = (await door.get("/api/v1/namespaces/default/events/e")).json
    assert (core["message"], core["involvedObject"]["name"]) == ("said", "p")
    assert (core["reportingComponent"], core["series"]["count"]) == ("tester", 2)
    assert (await door.get(f"{modern}/e")).json["note"] == "said"
