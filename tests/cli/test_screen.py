"""Where a picture is drawn over, and where it is written once."""

import io

import pytest

from tutti.cli.screen import HOME_AND_CLEAR, Screen


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def ordinary_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_a_terminal_is_drawn_over_and_only_for_news():
    out = Terminal()
    screen = Screen(out)
    for lines in (["a"], ["a"], ["b"]):
        screen.draw(lines)
    assert out.getvalue() == f"{HOME_AND_CLEAR}a\n{HOME_AND_CLEAR}b\n"
    assert screen.colour


def test_a_file_gets_plain_text():
    out = io.StringIO()
    screen = Screen(out)
    screen.draw(["a"])
    assert out.getvalue() == "a\n"
    assert not screen.colour


def test_no_color_means_no_colour_on_a_terminal_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "1")
    screen = Screen(Terminal())
    assert (screen.is_live, screen.colour) == (True, False)


def test_a_dumb_terminal_cannot_be_drawn_over(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "dumb")
    assert not Screen(Terminal()).is_live
