"""Patches do what Kubernetes' patches do, and refuse what they refuse."""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutti.api import patch, schema
from tutti.api.errors import ApiError, BadRequest, Invalid, UnsupportedMediaType

PODS = schema.load("", "v1", "Pod")


def pod(*containers: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a", **metadata}, "spec": {"containers": list(containers)}}


def names(items: list[dict[str, Any]]) -> list[str]:
    return [item["name"] for item in items]


@pytest.mark.parametrize(
    ("before", "operation", "after"),
    [
        ({"a": 1}, {"op": "add", "path": "/b", "value": 2}, {"a": 1, "b": 2}),
        ({"a": [1, 3]}, {"op": "add", "path": "/a/1", "value": 2}, {"a": [1, 2, 3]}),
        ({"a": [1]}, {"op": "add", "path": "/a/-", "value": 2}, {"a": [1, 2]}),
        ({"a": 1, "b": 2}, {"op": "remove", "path": "/a"}, {"b": 2}),
        ({"a": 1}, {"op": "replace", "path": "/a", "value": None}, {"a": None}),
        ({"a": 1}, {"op": "replace", "path": "/b", "value": 2}, {"a": 1, "b": 2}),
        ({"a": {"b": 1}}, {"op": "move", "from": "/a/b", "path": "/c"}, {"a": {}, "c": 1}),
        ({"a": [1]}, {"op": "copy", "from": "/a", "path": "/b"}, {"a": [1], "b": [1]}),
        ({"a/b~": 1}, {"op": "replace", "path": "/a~1b~0", "value": 2}, {"a/b~": 2}),
        ({"a": 1}, {"op": "test", "path": "/a", "value": 1}, {"a": 1}),
    ],
)
def test_a_json_patch_operates(before: Any, operation: Any, after: Any) -> None:
    untouched = deepcopy(before)
    assert patch.json_patch(before, [operation]) == after
    assert before == untouched


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/nothing"},
        {"op": "replace", "path": "/list/1", "value": 1},
        {"op": "add", "path": "/nothing/x", "value": 1},
        {"op": "add", "path": "/list/5", "value": 1},
        {"op": "add", "path": "/list/01", "value": 1},
        {"op": "test", "path": "/one", "value": True},
        {"op": "move", "from": "/map", "path": "/map/inner"},
        {"op": "invent", "path": "/one"},
        {"op": "add", "path": "one", "value": 1},
        {"op": "add", "path": "", "value": 1},
        {"op": "add", "path": "/one/x", "value": 1},
    ],
    ids=json.dumps,
)
def test_a_json_patch_that_does_not_fit_fails(operation: Any) -> None:
    with pytest.raises(patch.Failed):
        patch.json_patch({"one": 1, "list": [1], "map": {}}, [operation])


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        ({"a": 1, "b": {"c": 1}}, {"b": {"d": 2}}, {"a": 1, "b": {"c": 1, "d": 2}}),
        ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
    ],
)
def test_a_merge_patch_merges_maps_and_replaces_lists(before: Any, change: Any, after: Any) -> None:
    assert patch.merge(before, change) == after


def test_containers_are_merged_by_name_and_keep_their_place() -> None:
    before = pod({"name": "x", "image": "1"}, {"name": "y", "image": "1"})
    after = patch.strategic(
        before, {"spec": {"containers": [{"name": "z"}, {"name": "y", "image": "2"}]}}, PODS
    )
    assert after["spec"]["containers"] == [
        {"name": "z"},
        {"name": "x", "image": "1"},
        {"name": "y", "image": "2"},
    ]


def test_a_list_takes_the_order_that_the_patch_sets() -> None:
    before = pod({"name": "x"}, {"name": "server-only"}, {"name": "y"})
    change = {"spec": {"$setElementOrder/containers": [{"name": "y"}, {"name": "x"}]}}
    after = patch.strategic(before, change, PODS)
    assert names(after["spec"]["containers"]) == ["server-only", "y", "x"]


def test_items_and_keys_are_deleted_by_directive() -> None:
    before = pod({"name": "x"}, {"name": "y"}, finalizers=["a/b", "a/c"], labels={"l": "1"})
    change = {
        "metadata": {"$deleteFromPrimitiveList/finalizers": ["a/b"], "labels": None},
        "spec": {"containers": [{"name": "x", "$patch": "delete"}]},
    }
    after = patch.strategic(before, change, PODS)
    assert after == pod({"name": "y"}, finalizers=["a/c"])


def test_a_list_or_a_map_is_replaced_by_directive() -> None:
    before = pod({"name": "x"}, {"name": "y"}, labels={"a": "1"})
    change = {
        "metadata": {"labels": {"$patch": "replace", "b": "2"}},
        "spec": {"containers": [{"name": "z"}, {"$patch": "replace"}]},
    }
    assert patch.strategic(before, change, PODS) == pod({"name": "z"}, labels={"b": "2"})


def test_only_retained_keys_are_left_of_a_volume() -> None:
    before = {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}
    change = {
        "spec": {
            "volumes": [
                {"name": "v", "$retainKeys": ["name", "secret"], "secret": {"secretName": "s"}}
            ]
        }
    }
    after = patch.strategic(before, change, PODS)
    assert after == {"spec": {"volumes": [{"name": "v", "secret": {"secretName": "s"}}]}}


def test_conditions_are_merged_by_type() -> None:
    before = {
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}, {"type": "B", "status": "True"}]
        }
    }
    change = {"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "R"}]}}
    after = patch.strategic(before, change, PODS)
    assert {c["type"]: c["status"] for c in after["status"]["conditions"]} == {
        "Ready": "False",
        "B": "True",
    }


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"spec": {"containers": [{"image": "x"}]}}, "map: map[image:x] does not contain declared merge key: name"),
        ({"spec": {"$patch": "foo"}}, "unknown patch type: foo in map: map[$patch:foo]"),
        ({"spec": {"$retainKeys": ["foo"], "nodeName": "x"}}, "invalid patch format of retainKeys"),
        ({"spec": {"containers": [{"name": "c", "$patch": "merge"}]}}, "merging lists cannot yet be specified in the patch"),
        ({"metadata": {"$deleteFromPrimitiveList/finalizers": "x"}}, "invalid patch format of primitive list"),
        ({"spec": {"$setElementOrder/containers": "x"}}, "expected a []interface {}, but received a string"),
        (
            {"metadata": {"finalizers": ["a/a"], "$setElementOrder/finalizers": ["a/b"]}},
            "The order in patch list:\n[a/a]\n doesn't match $setElementOrder list:\n[a/b]\n",
        ),
    ],
)  # fmt: skip
def test_a_strategic_patch_that_makes_no_sense_is_refused(change: Any, why: str) -> None:
    with pytest.raises(BadRequest) as refused:
        patch.apply(patch.STRATEGIC_PATCH, pod({"name": "c"}), json.dumps(change).encode(), PODS)
    assert refused.value.message == why


@pytest.mark.parametrize(
    ("media_type", "body", "error", "message"),
    [
        (patch.JSON_PATCH, '{"a":1}', BadRequest, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        (patch.JSON_PATCH, "[{", BadRequest, "invalid JSON patch"),
        (patch.JSON_PATCH, '[{"op":"remove","path":"/x"}]', Invalid, "the server rejected our request due to an error in our request"),
        (patch.MERGE_PATCH, "[]", BadRequest, "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"),
        (patch.MERGE_PATCH, "null", BadRequest, "Invalid JSON Patch"),
        ("application/apply-patch+yaml", "{}", UnsupportedMediaType, "415: Unsupported Media Type"),
    ],
)  # fmt: skip
def test_a_patch_body_is_refused_as_a_real_server_does(
    media_type: str, body: str, error: type[ApiError], message: str
) -> None:
    with pytest.raises(error) as refused:
        patch.apply(media_type, pod({"name": "c"}), body.encode(), PODS)
    assert refused.value.message == message


@pytest.mark.parametrize("media_type", [patch.MERGE_PATCH, patch.STRATEGIC_PATCH])
@pytest.mark.parametrize("depth", [140, 1_000, 100_000])
def test_a_patch_that_is_nested_without_end_is_refused(media_type: str, depth: int) -> None:
    body = '{"metadata":' + '{"x":' * depth + "1" + "}" * depth + "}"
    if depth > 140:
        with pytest.raises(BadRequest, match="invalid JSON patch"):
            patch.apply(media_type, {}, body.encode(), PODS)
    else:
        patched, _ = patch.apply(media_type, {}, body.encode(), PODS)
        assert patched["metadata"] == {}


def test_a_patch_that_spoils_a_type_names_the_field() -> None:
    with pytest.raises(Invalid) as refused:
        patch.apply(patch.MERGE_PATCH, {}, b'{"spec":{"priority":"x"}}', PODS)
    assert refused.value.message == (
        ' "" is invalid: patch: Invalid value: "{\\"spec\\":{\\"priority\\":\\"x\\"}}": '
        "json: cannot unmarshal string into Go struct field PodSpec.spec.priority of type int32"
    )
    assert refused.value.causes[0]["field"] == "patch"


def test_unknown_fields_of_a_patch_go_or_are_refused() -> None:
    patched, complaints = patch.apply(patch.STRATEGIC_PATCH, {}, b'{"spec":{"foo":"x"}}', PODS)
    assert "foo" not in patched["spec"]
    assert complaints == ['unknown field "spec.foo"']
    with pytest.raises(Invalid, match=r'strict decoding error: unknown field "spec\.foo"'):
        patch.apply(patch.STRATEGIC_PATCH, {}, b'{"spec":{"foo":"x"}}', PODS, strict=True)


def test_apply_touches_only_what_the_manifest_says_or_said() -> None:
    original = pod({"name": "x", "image": "1"}, {"name": "old"}, labels={"a": "1", "b": "1"})
    modified = pod({"name": "x", "image": "2"}, labels={"a": "1"})
    current = pod(
        {"name": "x", "image": "1", "imagePullPolicy": "Always"},
        {"name": "old"},
        {"name": "injected"},
        labels={"a": "1", "b": "1", "c": "1"},
    )
    change = patch.three_way(original, modified, current, PODS)
    after = patch.strategic(current, change, PODS)
    assert after["metadata"]["labels"] == {"a": "1", "c": "1"}
    assert after["spec"]["containers"] == [
        {"name": "x", "image": "2", "imagePullPolicy": "Always"},
        {"name": "injected"},
    ]


def test_applying_the_same_again_is_no_change() -> None:
    manifest = pod({"name": "x", "image": "1"}, finalizers=["a/b"])
    current = pod({"name": "x", "image": "1", "stdin": True}, {"name": "injected"}, finalizers=["a/b", "a/c"], uid="u")  # fmt: skip
    assert patch.three_way(manifest, manifest, current, PODS) == {}


labels = st.dictionaries(st.sampled_from("abc"), st.sampled_from("12"), max_size=3)
containers = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from("wxyz")},
        optional={
            "image": st.sampled_from("12"),
            "args": st.lists(st.sampled_from("pq"), max_size=2),
            "env": st.lists(st.sampled_from("EF"), unique=True, max_size=2).map(
                lambda keys: [{"name": key, "value": "1"} for key in keys]
            ),
        },
    ),
    max_size=4,
    unique_by=lambda container: container["name"],
)
volumes = st.lists(
    st.builds(
        lambda name, source: {"name": name, source: {}},
        st.sampled_from("uv"),
        st.sampled_from(["emptyDir", "configMap"]),
    ),
    max_size=2,
    unique_by=lambda volume: volume["name"],
)
pods = st.builds(
    lambda labels, containers, finalizers, volumes: {
        "metadata": {"labels": labels, "finalizers": finalizers},
        "spec": {"containers": containers, "volumes": volumes},
    },
    labels,
    containers,
    st.lists(st.sampled_from(["a/a", "a/b", "a/c"]), unique=True),
    volumes,
)


@given(pods, pods)
def test_the_patch_between_two_objects_makes_the_one_of_the_other(one: Any, other: Any) -> None:
    before = deepcopy((one, other))
    assert patch.strategic(one, patch.two_way(one, other, PODS), PODS) == other
    assert (one, other) == before


@given(pods, pods, pods)
def test_whatever_is_applied_holds_afterwards(original: Any, modified: Any, current: Any) -> None:
    after = patch.strategic(current, patch.three_way(original, modified, current, PODS), PODS)
    assert after["metadata"]["labels"].items() >= modified["metadata"]["labels"].items()
    for wanted in modified["spec"]["containers"]:
        there = next(c for c in after["spec"]["containers"] if c["name"] == wanted["name"])
        assert there.get("image") == wanted.get("image", there.get("image"))
    wanted_names = [c["name"] for c in modified["spec"]["containers"]]
    assert [n for n in names(after["spec"]["containers"]) if n in wanted_names] == wanted_names
    assert patch.three_way(modified, modified, after, PODS) == {}


changes = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "x", "replace", "delete"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["metadata", "spec", "containers", "name", "finalizers", "$patch", "$retainKeys",
                 "$setElementOrder/containers", "$deleteFromPrimitiveList/finalizers", "env"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)  # fmt: skip


@given(pods, changes, st.sampled_from([patch.JSON_PATCH, patch.MERGE_PATCH, patch.STRATEGIC_PATCH]))
def test_any_patch_is_applied_or_refused(obj: Any, change: Any, media_type: str) -> None:
    untouched = deepcopy(obj)
    try:
        patched, _ = patch.apply(media_type, obj, json.dumps(change).encode(), PODS)
    except ApiError as refused:
        code = refused.code
    else:
        code = 200
        assert PODS.mend(deepcopy(patched)) == []
    assert code in (200, 400, 422)
    assert obj == untouched
