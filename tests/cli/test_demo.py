"""The newcomer's demonstration, without a terminal: what it shows, and that it ends."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def shown() -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "tutti.cli", "demo"], capture_output=True, text=True, timeout=50
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_it_shows_a_gang_that_starts_and_a_job_that_waits_starts_and_finishes(shown: str):
    lines = shown.splitlines()
    story = [
        "  [P] pretrain  8 of 8 run",
        "research, a Job of 8 pods with 4 GPUs each, is a gang by itself.",
        "  [R] research  8 of 8 run",
        "  [R] research  8 of 8 have finished",
    ]
    places = [lines.index(line) for line in story]
    assert places == sorted(places)


def test_the_gang_that_waits_says_why(shown: str):
    waits = next(line for line in shown.splitlines() if "0 of 8 run" in line)
    assert "7 fit" in waits
    assert "Insufficient nvidia.com/gpu" in waits


def test_without_a_terminal_nothing_but_text_is_written(shown: str):
    assert "\x1b" not in shown


def test_what_it_recommends_to_try_is_there(shown: str):
    recommended = [word for word in shown.split() if word.startswith("examples/")]
    assert recommended
    for file in recommended:
        assert (Path(__file__).parents[2] / file).is_file()
