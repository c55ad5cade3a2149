from pathlib import Path

import pytest

from tutti.controllers import journal as module
from tutti.controllers.journal import Journal, segments


def test_each_segment_is_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.begin()
    journal.write(b"one\n")
    journal.begin()
    journal.write(b"two\n")
    journal.close()
    files = segments(tmp_path / "j")
    assert [file.read_bytes() for file in files] == [b"one\n", b"two\n"]
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]


def test_numbers_go_on_after_a_restart(tmp_path: Path) -> None:
    for _ in range(2):
        journal = Journal(tmp_path)
        journal.begin()
        journal.close()
    assert [file.name for file in segments(tmp_path)] == [
        "segment-00000001.jsonl",
        "segment-00000002.jsonl",
    ]


def test_the_oldest_segments_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 3)
    journal = Journal(tmp_path)
    for _ in range(5):
        journal.begin()
    journal.close()
    assert [file.name[15:16] for file in segments(tmp_path)] == ["3", "4", "5"]


def test_what_was_flushed_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.begin()
    journal.write(b"one\n")
    journal.flush()
    assert segments(tmp_path)[0].read_bytes() == b"one\n"
    journal.close()


def test_a_folder_that_is_gone_ends_the_journal_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    journal = Journal(tmp_path / "j")
    (tmp_path / "j").rmdir()
    journal.begin()
    journal.write(b"lost\n")
    journal.flush()
    journal.close()
    assert caplog.text.count("the journal ends here") == 1
