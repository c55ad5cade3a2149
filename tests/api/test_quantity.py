"""Amounts are exact, and shown as a server shows them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutti.api import quantity

SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi", "e3", "E-2"]
amounts = st.builds(
    lambda whole, part, suffix: f"{whole}{part}{suffix}",
    st.integers(0, 99_999),
    st.sampled_from(["", ".5", ".25", ".123"]),
    st.sampled_from(SUFFIXES),
)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("0", 0),
        ("100m", Fraction(1, 10)),
        ("1.5Gi", 3 * 2**29),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("+2k", 2000),
        ("-3", -3),
        ("1e3", 1000),
        ("2E", 2 * 10**18),
        ("2E2", 200),
        ("0.1n", Fraction(1, 10**9)),
    ],
)
def test_an_amount_is_read_exactly(text: str, amount: Fraction) -> None:
    assert quantity.parse(text) == amount


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1.5", "1500m"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("1023", "1023"),
        ("1023Ki", "1023Ki"),
        ("0.5Ki", "512"),
        ("0.1Mi", "104857600m"),
        ("1000", "1k"),
        ("1e3", "1e3"),
        ("100000", "100k"),
        ("12e5", "1200e3"),
        ("0.0001", "100u"),
        ("0Gi", "0"),
        ("-500m", "-500m"),
        ("2048Ei", "9223372036854775807"),
    ],
)
def test_an_amount_is_shown_in_one_way(text: str, shown: str) -> None:
    assert quantity.canonical(text) == shown


@pytest.mark.parametrize(
    ("resource", "text", "count"),
    [
        ("cpu", "100m", 100),
        ("cpu", "1", 1000),
        ("cpu", "1u", 1),
        ("memory", "1Ki", 1024),
        ("memory", "100m", 1),
        ("nvidia.com/gpu", "8", 8),
    ],
)
def test_base_units_are_rounded_up(resource: str, text: str, count: int) -> None:
    assert quantity.base_units(resource, text) == count


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", quantity.FORMAT_ERROR),
        ("a lot", quantity.FORMAT_ERROR),
        ("1 Gi", quantity.FORMAT_ERROR),
        ("m", quantity.NUMERIC_ERROR),
        ("1KiB", quantity.FORMAT_ERROR),
        ("1mm", quantity.SUFFIX_ERROR),
        ("1e99999999", quantity.SUFFIX_ERROR),
    ],
)
def test_what_is_no_amount_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match="quantit") as refusal:
        quantity.parse(text)
    assert str(refusal.value) == sentence


@given(amounts)
def test_the_shown_form_is_the_same_amount_and_stays(text: str) -> None:
    shown = quantity.canonical(text)
    assert quantity.parse(shown) == quantity.parse(text)
    assert quantity.canonical(shown) == shown
