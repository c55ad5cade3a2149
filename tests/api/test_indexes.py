"""Completion indexes in their short form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutti.api import indexes


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        pytest.param([], "", id="none"),
        pytest.param([4], "4", id="one"),
        pytest.param([4, 5], "4,5", id="two neighbours are listed"),
        pytest.param([4, 5, 6], "4-6", id="three are a range"),
        pytest.param([0, 1, 2, 7, 9, 10], "0-2,7,9,10", id="mixed"),
    ],
)
def test_indexes_are_written_as_a_job_shows_them(numbers: list[int], text: str):
    assert indexes.written(numbers) == text
    assert indexes.read(text, below=100) == set(numbers)


@pytest.mark.parametrize("text", ["x", "-", "1-x", ",", "3-"])
def test_what_is_no_index_is_left_out(text: str):
    assert indexes.read(text, below=10) <= {3}


def test_indexes_past_the_last_one_are_left_out():
    assert indexes.read("1-8,20", below=4) == {1, 2, 3}


@given(st.sets(st.integers(0, 200)))
def test_what_was_written_is_read_again(numbers: set[int]):
    assert indexes.read(indexes.written(numbers), below=201) == numbers
