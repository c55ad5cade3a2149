from pathlib import Path

import pytest

from tutti.api.core_v1 import Node, NodeStatus
from tutti.api.meta import ObjectMeta
from tutti.cli.main import main
from tutti.controllers.journal import Journal, segments
from tutti.engine.journal import RecordedEngine
from tutti.engine.messages import Edition, LeaseHeld, NodeSeen, Synced
from tutti.engine.settings import Settings


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Of a scheduler that saw two nodes, one second apart, and had nothing to do."""
    files = Journal(tmp_path / "journal")
    engine = RecordedEngine(Settings(session="s"), files.write, files.begin)
    events = [Edition(True, True), LeaseHeld(), Synced()]
    for at, name in ((100.0, "a"), (101.0, "b")):
        status = NodeStatus(allocatable={"cpu": "4"})
        node = Node(metadata=ObjectMeta(name=name, uid=name), status=status)
        for event in [*events, NodeSeen(node)]:
            engine.handle(event, at)
        engine.turn(at)
        events = []
    files.close()
    return tmp_path / "journal"


def test_a_journal_comes_out_as_it_was(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(journal)]) == 0
    assert capsys.readouterr().out.startswith("segment-00000001.jsonl: 2 turns, ")
    assert main(["replay", str(segments(journal)[0])]) == 0
    assert capsys.readouterr().out.endswith("as it was\n")


def test_it_can_be_stopped_at_a_time(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(journal), "--until", "0.5"]) == 0
    assert "1 turns" in capsys.readouterr().out


def test_a_journal_of_other_decisions_is_told(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [segment] = segments(journal)
    lines = segment.read_text().splitlines(keepends=True)
    lines[-1] = '{"is":"Asked","at":101.0,"actions":"otherwise"}\n'
    segment.write_text("".join(lines))
    assert main(["replay", str(journal)]) == 1
    assert "otherwise from second 1.000 on" in capsys.readouterr().out


def test_a_root_that_nobody_knew_is_said_to_be_unknown(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(journal), "--root", "PodGroup/default/g"]) == 0
    assert "no PodGroup/default/g is known" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param(None, "is no journal: there is no segment in it", id="an empty folder"),
        pytest.param(b"{no json\n", "is no segment of a journal", id="another file"),
    ],
)
def test_what_is_no_journal_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, sentence: str
) -> None:
    if content is not None:
        (tmp_path / "segment-00000001.jsonl").write_bytes(content)
    assert main(["replay", str(tmp_path)]) == 1
    assert sentence in capsys.readouterr().err
