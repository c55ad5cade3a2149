"""Children say what they have to say, stop when asked, and never outlive us."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tutti.cli.offspring import Child, Ended

pytestmark = pytest.mark.anyio


def python(*lines: str) -> list[str]:
    return [sys.executable, "-c", "\n".join(lines)]


FOREVER = "import signal; signal.pause()"


async def spawned(*lines: str, on_line: Callable[[str], None] = lambda line: None) -> Child:
    return await Child.spawn("child", python(*lines), on_line=on_line)


async def test_its_lines_are_told_as_they_come() -> None:
    told: list[str] = []
    child = await spawned(
        "import sys",
        "print('one', flush=True)",
        "print('two', file=sys.stderr)",
        on_line=told.append,
    )
    assert await child.wait() == 0
    assert sorted(told) == ["one", "two"]


async def test_a_line_can_be_waited_for_even_when_it_was_said_already() -> None:
    child = await spawned("print('listening: 80', flush=True)", FOREVER)
    assert await child.line_starting("listening: ") == "80"
    assert await child.line_starting("listening: ") == "80"
    await child.stop(5)


async def test_who_waits_for_a_line_of_a_child_that_fails_hears_what_it_said() -> None:
    child = await spawned("raise SystemExit('the port is taken')")
    with pytest.raises(Ended, match=r"child ended \(status 1\); it said last:\nthe port is taken"):
        await child.line_starting("listening: ")


async def test_it_is_asked_to_stop_first() -> None:
    child = await spawned(
        "import signal, sys",
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))",
        "print('up', flush=True)",
        "signal.pause()",
    )
    await child.line_starting("up")
    assert await child.stop(10) == 7


async def test_it_is_killed_when_it_does_not_listen() -> None:
    child = await spawned(
        "import signal",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        "print('up', flush=True)",
        "while True: signal.pause()",
    )
    await child.line_starting("up")
    assert await child.stop(0.1) == -signal.SIGKILL


async def test_a_line_longer_than_any_reader_would_like_is_left_out() -> None:
    child = await spawned("print('x' * 200_000)", "print('after it')")
    await child.wait()
    assert child.last_words().splitlines()[-1] == "after it"


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_us_however_we_end(end: signal.Signals, tmp_path: Path) -> None:
    """The parent in between spawns a child that would live for ever."""
    parent = tmp_path / "parent.py"
    parent.write_text(
        "import asyncio, os, sys\n"
        "from tutti.cli.offspring import Child\n"
        "async def main():\n"
        f"    command = [sys.executable, '-c', {FOREVER!r}]\n"
        "    child = await Child.spawn('child', command)\n"
        "    print(child.pid, flush=True)\n"
        "    await child.wait()\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, parent], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pidfd = os.pidfd_open(int(process.stdout.readline()))
        try:
            process.send_signal(end)
            process.wait(10)
            assert ended_within(pidfd, seconds=10)
        finally:
            os.close(pidfd)


def ended_within(pidfd: int, seconds: float) -> bool:
    readable, _, _ = select.select([pidfd], [], [], seconds)
    return bool(readable)
