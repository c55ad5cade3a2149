"""Selectors read as kubectl writes them, and select what Kubernetes selects."""

import pytest

from tutti.api import selectors
from tutti.api.meta import LabelSelector, LabelSelectorRequirement


@pytest.mark.parametrize(
    ("text", "labels", "selected"),
    [
        ("", {}, True),
        ("a=1", {"a": "1"}, True),
        ("a==1", {"a": "2"}, False),
        ("a!=1", {}, True),
        ("a!=1", {"a": "1"}, False),
        ("a in (1, 2)", {"a": "2"}, True),
        ("a in (1,2)", {}, False),
        ("a notin (1,2)", {}, True),
        ("a", {"a": ""}, True),
        ("!a", {"a": ""}, False),
        ("!a", {}, True),
        ("a>3", {"a": "4"}, True),
        ("a<3", {"a": "4"}, False),
        ("a>3", {"a": "x"}, False),
        ("a=", {"a": ""}, True),
        ("a=,b", {"a": "", "b": "x"}, True),
        ("example.com/a=1,b!=2", {"example.com/a": "1", "b": "3"}, True),
        ("x in (,a)", {"x": ""}, True),
        ("in in (in)", {"in": "in"}, True),
    ],
)
def test_labels_are_selected(text: str, labels: dict[str, str], selected: bool) -> None:
    assert selectors.parse_labels(text).matches(labels) is selected


@pytest.mark.parametrize(
    "text",
    [
        "a in",
        "a in (1",
        "a=1,",
        "a===",
        "a=(",
        "=1",
        "a b",
        "!",
        "a in 1",
        "-a=1",
        "a=b=c",
        "a>x",
        "a/b/c=1",
    ],
)
def test_what_is_no_label_selector_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="unable to parse requirement"):
        selectors.parse_labels(text)


def test_fields_are_selected() -> None:
    selector = selectors.parse_fields("spec.nodeName=,status.phase!=Failed,metadata.name==a")
    assert selector.names == ("spec.nodeName", "status.phase", "metadata.name")
    assert selector.matches({"metadata.name": "a", "status.phase": "Running"})
    assert not selector.matches({"metadata.name": "a", "status.phase": "Failed"})
    assert selector.pinned("metadata.name") == "a"
    assert selector.pinned("status.phase") is None


def test_what_is_no_field_selector_is_refused() -> None:
    with pytest.raises(ValueError, match="invalid selector: 'x'; can't understand 'x'"):
        selectors.parse_fields("x")


def test_an_absent_selector_in_an_object_selects_nothing_and_an_empty_one_everything() -> None:
    assert not selectors.from_label_selector(None).matches({"a": "1"})
    assert selectors.from_label_selector(LabelSelector()).matches({"a": "1"})
    assert selectors.from_label_selector({}).matches(None)


def test_a_selector_in_an_object_means_the_same_typed_and_untyped() -> None:
    typed = LabelSelector(
        match_labels={"a": "1"},
        match_expressions=(
            LabelSelectorRequirement(key="b", operator="NotIn", values=("2",)),
            LabelSelectorRequirement(key="c", operator="DoesNotExist"),
        ),
    )
    untyped = {
        "matchLabels": {"a": "1"},
        "matchExpressions": [
            {"key": "b", "operator": "NotIn", "values": ["2"]},
            {"key": "c", "operator": "DoesNotExist"},
        ],
    }
    assert selectors.from_label_selector(typed) == selectors.from_label_selector(untyped)
    assert selectors.from_label_selector(typed).matches({"a": "1", "b": "3"})
