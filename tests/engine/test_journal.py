"""A journal gives the same actions again, whatever happened in the run."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.engine.stage import Stage, composite, gang, node, pod
from tutti.engine.journal import RecordedEngine, Replay
from tutti.engine.messages import Bind
from tutti.engine.settings import Settings


class Recorded(Stage):
    """A stage whose engine keeps a journal, in segments."""

    def __init__(self, segment_bytes: int = 1 << 30) -> None:
        self.segments: list[list[bytes]] = []
        self.segment_bytes = segment_bytes
        super().__init__()

    def _fresh_engine(self) -> RecordedEngine:  # type: ignore[override]
        self.sessions += 1
        return RecordedEngine(
            replace(self.settings, session=f"s{self.sessions}"),
            write=lambda line: self.segments[-1].append(line),
            begin=lambda: self.segments.append([]),
            segment_bytes=self.segment_bytes,
        )


def a_day(stage: Stage) -> None:
    fates = {"g-1": "refused", "t-0": "late"}
    stage.answer = lambda bind: fates.pop(bind.pod.name, "yes")
    stage.add(node("n0"), node("n1", "2"), gang("g", 3), *(pod(f"g-{i}", "g") for i in range(4)))
    stage.play(5)
    stage.add(composite("top", 1), gang("t", 2, parent="top"))
    stage.add(*(pod(f"t-{i}", "t") for i in range(2)), gang("huge", 9), pod("lone"))
    stage.play(5)
    stage.remove("n1", "g-0")
    stage.add(*(pod(f"huge-{i}", "huge") for i in range(9)))
    stage.play(30)


@pytest.mark.parametrize("segment_bytes", [1 << 30, 4000], ids=["one segment", "several"])
def test_replaying_gives_the_same_actions(segment_bytes):
    stage = Recorded(segment_bytes)
    a_day(stage)
    assert (len(stage.segments) > 1) is (segment_bytes < 1 << 20)
    actions = []
    for lines in stage.segments:
        for step in Replay(lines).steps():
            assert step.same
            actions.extend(step.actions)
    assert actions == stage.log


def test_a_replay_can_stop_and_show_how_things_stood():
    stage = Recorded()
    a_day(stage)
    replay = Replay(stage.segments[0])
    steps = list(replay.steps(until=4.0))
    assert {bind.pod.name for step in steps for bind in step.actions if isinstance(bind, Bind)} == {
        "g-0",
        "g-1",
        "g-2",
        "g-3",
    }
    shown = replay.engine.explain("PodGroup/default/g")
    assert shown is not None
    assert shown.groups[0].bound == 4
    assert replay.engine.explain("PodGroup/default/huge") is None


def test_a_new_segment_knows_what_the_old_one_knew():
    stage = Recorded(segment_bytes=4000)
    a_day(stage)
    engine = stage.engine.engine
    assert engine.check() == []
    assert engine.explain("PodGroup/default/g").groups[0].bound == stage.bound("g")
    assert stage.satisfied("huge") == "ProvedImpossible"


def test_a_line_that_was_cut_off_is_left_out():
    stage = Recorded()
    a_day(stage)
    lines = stage.segments[0]
    cut = [*lines[:-1], lines[-1][:10]]
    assert len(list(Replay(cut).steps())) == len(list(Replay(lines).steps())) - 1


DAY = """
from tests.engine.test_journal import Stage, a_day
from tutti.engine.journal import digest
stage = Stage()
a_day(stage)
print(digest(stage.log))
"""


def test_the_order_of_hashes_changes_nothing():
    """P5."""

    def a_day_with(seed: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-c", DAY],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        return ran.stdout

    assert a_day_with("1") == a_day_with("2")


def test_the_settings_come_back():
    settings = Settings(scheduler_names=("a", "b"), seed=7, work_per_turn=5, session="x")
    lines: list[bytes] = []
    RecordedEngine(settings, lines.append, lambda: None)
    replay = Replay(lines)
    assert list(replay.steps()) == []
    assert replay.engine.settings == replace(settings, session="x.1")
