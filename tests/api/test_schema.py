"""Bodies are read, refused and mended as a real 1.37 server does; the texts were seen there."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutti.api import jsontext, schema
from tutti.api.errors import BadRequest

PODS = schema.load("", "v1", "Pod")
GROUPS = schema.load("scheduling.k8s.io", "v1beta1", "PodGroup")


def refusal(of: schema.Schema, body: str) -> str:
    with pytest.raises(BadRequest) as caught:
        of.read(body.encode())
    assert caught.value.code == 400
    return caught.value.message


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ('{"containers":"x"}', "string into Go struct field PodSpec.spec.containers of type []v1.Container"),
        ('{"containers":[5]}', "number into Go struct field PodSpec.spec.containers of type v1.Container"),
        ('{"priority":2147483648}', "number 2147483648 into Go struct field PodSpec.spec.priority of type int32"),
        ('{"priority":1.5}', "number 1.5 into Go struct field PodSpec.spec.priority of type int32"),
        ('{"priority":1.0}', "number 1.0 into Go struct field PodSpec.spec.priority of type int32"),
        ('{"priority":"1"}', "string into Go struct field PodSpec.spec.priority of type int32"),
        ('{"hostNetwork":"yes"}', "string into Go struct field PodSpec.spec.hostNetwork of type bool"),
        ('{"hostNetwork":{}}', "object into Go struct field PodSpec.spec.hostNetwork of type bool"),
        ('{"restartPolicy":5}', "number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy"),
        ('{"nodeName":true}', "bool into Go struct field PodSpec.spec.nodeName of type string"),
        ("[]", "array into Go struct field Pod.spec of type v1.PodSpec"),
        ('{"affinity":5}', "number into Go struct field PodSpec.spec.affinity of type v1.Affinity"),
        (
            '{"containers":[{"livenessProbe":{"httpGet":{"port":1.5}}}]}',
            "number 1.5 into Go struct field "
            "HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32",
        ),
        (
            '{"containers":[{"livenessProbe":{"httpGet":5}}]}',
            "number into Go struct field "
            "Probe.spec.containers.livenessProbe.ProbeHandler.httpGet of type v1.HTTPGetAction",
        ),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_type_is_refused_by_name(spec: str, why: str) -> None:
    said = refusal(
        PODS, f'{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"a"}},"spec":{spec}}}'
    )
    assert said == f'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal {why}'


@pytest.mark.parametrize(
    ("metadata", "why"),
    [
        ('{"name":5}', "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string"),
        ('{"labels":{"a":1}}', "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string"),
        ('{"labels":[]}', "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string"),
        ('{"creationTimestamp":5}', "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string"),
        ('{"creationTimestamp":"yesterday"}', 'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"'),
    ],
)  # fmt: skip
def test_metadata_of_the_wrong_type_is_refused_by_name(metadata: str, why: str) -> None:
    said = refusal(PODS, f'{{"metadata":{metadata}}}')
    assert said == f'Pod in version "v1" cannot be handled as a Pod: {why}'


def test_counts_of_groups_must_be_int32() -> None:
    head = 'PodGroup in version "v1beta1" cannot be handled as a PodGroup: json: cannot unmarshal '
    tail = " into Go struct field GangSchedulingPolicy.spec.schedulingPolicy.gang.minCount of type int32"
    body = '{"spec":{"schedulingPolicy":{"gang":{"minCount":%s}}}}'
    assert refusal(GROUPS, body % '"x"') == f"{head}string{tail}"
    assert refusal(GROUPS, body % "2147483648") == f"{head}number 2147483648{tail}"


def test_amounts_must_be_amounts() -> None:
    body = '{"spec":{"containers":[{"name":"x","resources":{"requests":{"cpu":%s}}}]}}'
    for amount in ('"abc"', "true"):
        assert "quantities must match the regular expression '^([+-]?[0-9.]+)" in refusal(
            PODS, body % amount
        )


def test_binary_data_must_be_base64() -> None:
    said = refusal(schema.load("", "v1", "ConfigMap"), '{"binaryData":{"a":"@@"}}')
    assert said.endswith("cannot be handled as a ConfigMap: illegal base64 data at input byte 0")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("", "unexpected end of JSON input (<empty>)"),
        ("{", "unexpected end of JSON input ({)"),
        (
            '{"kind":"Pod","apiVersion":"v1","spec":[}}',
            'invalid character \'}\' looking for beginning of value ({"kind":"Pod","apiVersion":"v1 ...)',
        ),
        (
            "[]",
            "json: cannot unmarshal array into Go value of type struct "
            '{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (5b5d)',
        ),
        (
            '{"kind":5,"apiVersion":"v1","metadata":{}}',
            "json: cannot unmarshal number into Go struct field .kind of type string "
            '({"kind":5,"apiVersion":"v1","m ...)',
        ),
    ],
)
def test_what_is_no_object_at_all_is_refused_with_its_beginning(body: str, why: str) -> None:
    assert refusal(PODS, body) == (
        "the object provided is unrecognized (must be of type Pod): "
        f"couldn't get version/kind; json parse error: {why}"
    )


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        ("{a:1}", "invalid character 'a' looking for beginning of object key string"),
        ("[1 2]", "invalid character '2' after array element"),
        ("{}x", "invalid character 'x' after top-level value"),
        ("tru", "unexpected end of JSON input"),
        ("trux", "invalid character 'x' in literal true (expecting 'e')"),
        ('"\\x"', "invalid character 'x' in string escape code"),
        ("-x", "invalid character 'x' in numeric literal"),
    ],
)
def test_malformed_json_is_explained_as_go_does(body: str, why: str) -> None:
    with pytest.raises(jsontext.Malformed) as caught:
        jsontext.decode(body.encode())
    assert str(caught.value) == why


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            '{"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1beta1"}',
            'PodGroup in version "v1beta1" cannot be handled as a Pod: '
            "converting (v1beta1.PodGroup) to (core.Pod): unknown conversion",
        ),
        (
            '{"kind":"Foo","apiVersion":"v1"}',
            'Foo in version "v1" cannot be handled as a Pod: '
            'no kind "Foo" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
        ),
        (
            '{"kind":"Pod","apiVersion":"v2"}',
            'Pod in version "v2" cannot be handled as a Pod: '
            'no kind "Pod" is registered for version "v2" in scheme "pkg/runtime/scheme.go:111"',
        ),
    ],
)
def test_a_body_of_another_kind_or_version_is_refused(body: str, why: str) -> None:
    assert refusal(PODS, body) == why


def test_unknown_and_duplicate_fields_are_named_and_the_unknown_ones_go() -> None:
    obj, complaints = PODS.read(
        b'{"metadata":{"name":"a","name":"b","labels":{"a":"1","a":"2"}},'
        b'"spec":{"foo":1,"containers":[{"x":1,"image":"a","image":"b"}]},"bar":1}'
    )
    assert complaints == [
        'duplicate field "metadata.name"',
        'duplicate field "metadata.labels.a"',
        'duplicate field "spec.containers[0].image"',
        'unknown field "spec.foo"',
        'unknown field "spec.containers[0].x"',
        'unknown field "bar"',
    ]
    assert "foo" not in obj["spec"]
    assert obj["metadata"]["name"] == "b"
    assert PODS.strict_error(complaints[3:4]).message == (
        'Pod in version "v1" cannot be handled as a Pod: '
        'strict decoding error: unknown field "spec.foo"'
    )


@pytest.mark.parametrize(
    "text", ['{"a":":"}', '{"a":"\\":"}', '{"a" : "b"}', '{"b":{"c":[{"d":1}]}}']
)
def test_strings_that_look_like_keys_are_no_duplicates(text: str) -> None:
    assert jsontext.duplicates(text.encode(), json.loads(text)) == []


def test_a_probe_survives_and_values_are_shown_in_their_one_form() -> None:
    obj, complaints = PODS.read(
        b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{},"creationTimestamp":null},'
        b'"spec":{"nodeName":"","hostNetwork":false,"containers":[{"name":"c","image":"i",'
        b'"livenessProbe":{"httpGet":{"port":"http"},"periodSeconds":3},'
        b'"resources":{"requests":{"cpu":0.5,"memory":"1024Mi"}}}],'
        b'"terminationGracePeriodSeconds":0}}'
    )
    assert complaints == []
    assert obj == {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "a"},
        "spec": {
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "livenessProbe": {"httpGet": {"port": "http"}, "periodSeconds": 3},
                    "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}},
                }
            ],
            "terminationGracePeriodSeconds": 0,
        },
        "status": {},
    }


def test_empty_values_that_a_server_shows_are_shown() -> None:
    workloads = schema.load("scheduling.k8s.io", "v1beta1", "Workload")
    obj: dict[str, Any] = {"spec": {"podGroupTemplates": [{"name": "a", "schedulingPolicy": {}}]}}
    workloads.check(obj)
    assert obj["spec"]["podGroupTemplates"][0]["schedulingConstraints"] is None
    tree: dict[str, Any] = {"spec": {"compositePodGroupTemplates": []}}
    workloads.check(tree)
    assert tree["spec"] == {"podGroupTemplates": None}


@pytest.mark.parametrize("depth", [200, 1_000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [('{"x":', "}"), ("[", "]"), ("[", "")])
def test_what_is_nested_without_end_is_refused(opening: str, closing: str, depth: int) -> None:
    body = '{"spec":' + opening * depth + "1" + closing * depth + "}"
    assert "exceeded max depth" in refusal(PODS, body)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "metadata",
                    "spec",
                    "status",
                    "name",
                    "labels",
                    "containers",
                    "resources",
                    "requests",
                    "x",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["metadata", "spec", "status", "y"]), json_values))
def test_any_object_is_mended_for_good_or_refused(obj: dict[str, Any]) -> None:
    try:
        PODS.check(obj)
    except BadRequest:
        return
    mended = json.dumps(obj)
    assert PODS.check(obj) == []
    assert json.dumps(obj) == mended


@given(st.binary(max_size=20) | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_body_is_read_or_refused(body: bytes) -> None:
    try:
        obj, _ = PODS.read(body)
    except BadRequest:
        return
    assert "metadata" in obj
