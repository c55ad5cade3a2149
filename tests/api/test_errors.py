"""Errors say on the wire what Kubernetes says, and come back as what they were."""

import json

import pytest

from tutti.api import errors


@pytest.mark.parametrize(
    "error",
    [
        errors.NotFound.of("pods", "a"),
        errors.AlreadyExists.of("podgroups.scheduling.k8s.io", "g"),
        errors.Conflict.of("pods", "a"),
        errors.Expired("too old"),
        errors.Gone("gone"),
        errors.Invalid.of("Pod", "a", [errors.required("spec.containers")]),
        errors.TooLarge.over(3),
        errors.Unauthorized(),
        errors.InsufficientStorage("full"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_survives_the_wire(error: errors.ApiError) -> None:
    back = errors.from_status(error.code, json.dumps(error.status()).encode())
    assert type(back) is type(error)
    assert back.status() == error.status()


def test_a_missing_object_is_named_with_its_group() -> None:
    status = errors.NotFound.of("podgroups.scheduling.k8s.io", "g").status()
    assert status["message"] == 'podgroups.scheduling.k8s.io "g" not found'
    assert status["details"] == {"name": "g", "group": "scheduling.k8s.io", "kind": "podgroups"}


def test_several_field_errors_are_listed_once_each_but_all_are_causes() -> None:
    twice = errors.forbidden("spec.a", "item may not be removed")
    error = errors.Invalid.of(
        "Workload.scheduling.k8s.io", "w", [twice, twice, errors.required("spec.b")]
    )
    assert error.message == (
        'Workload.scheduling.k8s.io "w" is invalid: '
        "[spec.a: Forbidden: item may not be removed, spec.b: Required value]"
    )
    assert len(error.causes) == 3


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (errors.invalid("f", "", "no"), 'f: Invalid value: "": no'),
        (errors.invalid("f", None, "no"), "f: Invalid value: null: no"),
        (errors.invalid("f", 3, "no"), "f: Invalid value: 3: no"),
        (errors.duplicate("f", {"name": "a"}), 'f: Duplicate value: {"name":"a"}'),
        (errors.too_many("f", 2, 1), "f: Too many: 2: must have at most 1 item"),
        (errors.too_many("f", 9, 8), "f: Too many: 9: must have at most 8 items"),
        (errors.too_long("f", 1024), "f: Too long: may not be more than 1024 bytes"),
        (
            errors.not_supported("f", "x", ["A", "B"]),
            'f: Unsupported value: "x": supported values: "A", "B"',
        ),
        (errors.forbidden("f"), "f: Forbidden"),
    ],
)
def test_field_errors_read_as_in_kubernetes(error: errors.FieldError, text: str) -> None:
    assert error.sentence == text


@pytest.mark.parametrize(("code", "body"), [(502, b"<html>bad gateway"), (404, b""), (418, b"[]")])
def test_an_answer_without_a_status_still_makes_an_error(code: int, body: bytes) -> None:
    assert errors.from_status(code, body).code == code
