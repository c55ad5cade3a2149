"""create: names, what the server adds, what it refuses."""

import re

import pytest

from tests.server.door import Door
from tests.server.objects import GROUPS, HERE, MAPS, NAMESPACES, PODS, group, named, pod


async def test_a_new_object_gets_what_only_the_server_gives(door: Door) -> None:
    sent = {"metadata": {"name": "a", "uid": "mine", "deletionTimestamp": "2020-01-01T00:00:00Z"}}

    made = await door.made(MAPS, sent)

    assert made["metadata"] == {
        "name": "a",
        "namespace": "default",
        "uid": made["metadata"]["uid"],
        "creationTimestamp": "2026-11-19T12:00:00Z",
        "resourceVersion": made["metadata"]["resourceVersion"],
    }
    assert made["metadata"]["uid"] != "mine"
    assert (made["kind"], made["apiVersion"]) == ("ConfigMap", "v1")


async def test_objects_are_kept_whole(door: Door) -> None:
    probe = {"httpGet": {"path": "/live", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 7}
    sent = pod("p")
    sent["spec"]["containers"][0]["livenessProbe"] = probe

    await door.made(PODS, sent)

    kept = (await door.get(f"{PODS}/p")).json["spec"]["containers"][0]["livenessProbe"]
    assert kept == kept | probe


async def test_a_generated_name_begins_as_asked_and_differs_each_time(door: Door) -> None:
    sent = {"metadata": {"generateName": "work-"}}

    names = {(await door.made(MAPS, sent))["metadata"]["name"] for _ in range(3)}

    assert len(names) == 3
    assert all(re.fullmatch("work-[b-z2-9]{5}", name) for name in names)


async def test_a_long_base_of_a_generated_name_is_cut(door: Door) -> None:
    made = await door.made(MAPS, {"metadata": {"generateName": "x" * 80}})

    assert len(made["metadata"]["name"]) == 63


async def test_what_was_written_in_one_version_reads_alike_in_the_other(door: Door) -> None:
    made = await door.made(GROUPS, group("g"))

    other = (await door.get(GROUPS.replace("v1beta1", "v1alpha3") + "/g")).json

    assert other == made | {"apiVersion": "scheduling.k8s.io/v1alpha3"}


async def test_a_dry_run_shows_the_object_and_writes_nothing(door: Door) -> None:
    answer = await door.post(MAPS, named("a"), dryRun="All")

    assert answer.code == 201
    assert answer.json["metadata"]["uid"]
    assert "resourceVersion" not in answer.json["metadata"]
    assert (await door.get(f"{MAPS}/a")).code == 404


async def test_a_dry_run_goes_the_whole_way(door: Door) -> None:
    await door.made(MAPS, named("a"))

    assert (await door.post(MAPS, named("a"), dryRun="All")).code == 409
    assert (await door.post(PODS, pod("Bad_Name"), dryRun="All")).code == 422


@pytest.mark.parametrize(
    ("path", "body", "code", "reason", "sentence"),
    [
        pytest.param(MAPS, '{"a":', 400, "BadRequest", "unexpected end of JSON input", id="broken"),
        pytest.param(MAPS, "[]", 400, "BadRequest", "cannot unmarshal array", id="no object"),
        pytest.param(
            MAPS,
            {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "x"}},
            400,
            "BadRequest",
            'Pod in version "v1" cannot be handled as a ConfigMap',
            id="another kind",
        ),
        pytest.param(
            MAPS,
            {"kind": "ConfigMap", "apiVersion": "v2", "metadata": {"name": "x"}},
            400,
            "BadRequest",
            'no kind "ConfigMap" is registered for version "v2"',
            id="an unknown version",
        ),
        pytest.param(
            GROUPS,
            {
                "kind": "PodGroup",
                "apiVersion": "scheduling.k8s.io/v1alpha3",
                "metadata": {"name": "x"},
            },
            400,
            "BadRequest",
            "the API version in the data (scheduling.k8s.io/v1alpha3) does not match the expected "
            "API version (scheduling.k8s.io/v1beta1)",
            id="another version",
        ),
        pytest.param(
            GROUPS,
            group("g", "three"),
            400,
            "BadRequest",
            "json: cannot unmarshal string into Go struct field "
            "GangSchedulingPolicy.spec.schedulingPolicy.gang.minCount of type int32",
            id="wrong type",
        ),
        pytest.param(
            GROUPS,
            group("g", 0),
            422,
            "Invalid",
            "spec.schedulingPolicy.gang.minCount: Required value",
            id="a value that isn't allowed",
        ),
        pytest.param(
            MAPS,
            {"metadata": {}},
            422,
            "Invalid",
            "metadata.name: Required value: name or generateName is required",
            id="no name",
        ),
        pytest.param(
            MAPS,
            {"metadata": {"name": "x", "namespace": "other"}},
            400,
            "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request",
            id="another namespace",
        ),
        pytest.param(
            "/api/v1/namespaces/nowhere/configmaps",
            named("x"),
            404,
            "NotFound",
            'namespaces "nowhere" not found',
            id="no such namespace",
        ),
        pytest.param(
            "/api/v1/configmaps",
            named("x"),
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
            id="no namespace in the path",
        ),
    ],
)
async def test_what_cannot_be_created_is_refused_in_kubernetes_words(
    door: Door, path: str, body: object, code: int, reason: str, sentence: str
) -> None:
    before = door.store.revision

    answer = await door.post(path, body)

    assert (answer.code, answer.json["reason"], answer.json["code"]) == (code, reason, code)
    assert sentence in answer.text
    assert door.store.revision == before


async def test_a_name_is_taken_once(door: Door) -> None:
    await door.made(MAPS, named("a"))

    answer = await door.post(MAPS, named("a"))

    assert (answer.code, answer.json["reason"]) == (409, "AlreadyExists")
    assert answer.text == 'configmaps "a" already exists'


async def test_a_resource_version_is_not_for_new_objects(door: Door) -> None:
    answer = await door.post(MAPS, {"metadata": {"name": "a", "resourceVersion": "5"}})

    assert answer.code == 500
    assert answer.text == "resourceVersion should not be set on objects to be created"


@pytest.mark.parametrize(
    ("validation", "code", "warnings"),
    [
        ("Strict", 400, []),
        ("Warn", 201, ['299 - "unknown field \\"spec.colour\\""']),
        ("Ignore", 201, []),
    ],
)
async def test_unknown_fields_are_pruned_and_said_as_asked(
    door: Door, validation: str, code: int, warnings: list[str]
) -> None:
    answer = await door.post(PODS, pod("p", colour="red"), fieldValidation=validation)

    assert (answer.code, answer.warnings) == (code, warnings)
    if code == 400:
        assert answer.text == (
            'Pod in version "v1" cannot be handled as a Pod: strict decoding error: '
            'unknown field "spec.colour"'
        )
    else:
        assert "colour" not in answer.json["spec"]


async def test_a_body_over_three_mebibytes_is_refused(door: Door) -> None:
    answer = await door.post(MAPS, named("a", data={"k": "x" * 3 * 1024 * 1024}))

    assert (answer.code, answer.json["reason"]) == (413, "RequestEntityTooLarge")


async def test_a_body_in_another_format_is_refused(door: Door) -> None:
    answer = await door.post(MAPS, b"name: a", content_type="application/yaml")

    assert (answer.code, answer.json["reason"]) == (415, "UnsupportedMediaType")


async def test_protobuf_that_is_none_is_refused(door: Door) -> None:
    answer = await door.post(
        MAPS, b"k8s\0\xff\xff", content_type="application/vnd.kubernetes.protobuf"
    )

    assert (answer.code, answer.json["reason"]) == (400, "BadRequest")


async def test_a_namespace_carries_its_name_as_a_label(door: Door) -> None:
    made = await door.made(NAMESPACES, {"metadata": {"generateName": "team-"}})

    name = made["metadata"]["name"]
    assert made["metadata"]["labels"] == {"kubernetes.io/metadata.name": name}
    assert (made["spec"], made["status"]) == ({"finalizers": ["kubernetes"]}, {"phase": "Active"})


async def test_status_is_not_given_at_birth_but_to_nodes(door: Door) -> None:
    made = await door.made(GROUPS, group("g") | {"status": {"conditions": []}})
    node = await door.made("/api/v1/nodes", named("n", status={"capacity": {"cpu": "4"}}))

    assert made["status"] == {}
    assert node["status"]["capacity"] == {"cpu": "4"}


async def test_a_legacy_collection_of_another_scope_is_not_there(door: Door) -> None:
    assert (await door.post(f"{HERE}/nodes", named("n"))).code == 404
