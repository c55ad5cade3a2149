"""Parts are started, watched, started again, and ended together."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tutti.cli.offspring import Ended
from tutti.cli.parts import Part
from tutti.cli.supervisor import Supervisor

STEADY = """
import os, sys
print("listening:", sys.argv[1] if sys.argv[1] != "0" else 4711, flush=True)
print("pid", os.getpid(), file=sys.stderr, flush=True)
print("ready", flush=True)
sys.stdin.read()
"""
HOPELESS = "import sys; sys.exit('no such folder')"


def part(name: str, program: str) -> Part:
    return Part(name, lambda port: [sys.executable, "-c", program, str(port)])


class Heard:
    """What the supervisor told people."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._news = asyncio.Condition()
        self._loop = asyncio.get_running_loop()

    def __call__(self, line: str) -> None:
        self.lines.append(line)
        self._loop.create_task(self._tell())

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()

    async def pids(self, count: int) -> list[int]:
        """The process ids that were said, once there are so many."""
        async with asyncio.timeout(10), self._news:
            await self._news.wait_for(lambda: len(self._pids()) >= count)
        return self._pids()

    def _pids(self) -> list[int]:
        return [int(line.split()[-1]) for line in self.lines if line.startswith("[")]


@contextlib.asynccontextmanager
async def supervised() -> AsyncIterator[tuple[Supervisor, Heard]]:
    heard = Heard()
    async with asyncio.TaskGroup() as group:
        supervisor = Supervisor(group, heard)
        try:
            yield supervisor, heard
        finally:
            await supervisor.stop()


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def test_a_part_is_started_and_ended():
    async with supervised() as (supervisor, heard):
        assert await supervisor.start(part("thing", STEADY)) == 4711
        [pid] = await heard.pids(1)
        assert is_alive(pid)
    assert not is_alive(pid)
    assert not [line for line in heard.lines if "ended" in line]


async def test_a_part_that_dies_is_named_and_started_again_on_its_port():
    async with supervised() as (supervisor, heard):
        await supervisor.start(part("thing", STEADY))
        [first] = await heard.pids(1)
        os.kill(first, signal.SIGKILL)
        _, second = await heard.pids(2)
        assert is_alive(second)
    obituary = next(line for line in heard.lines if "ended" in line)
    assert obituary.startswith(
        "the thing ended (signal SIGKILL); it is started again; it said last:"
    )
    assert "listening: 4711" in obituary


async def test_a_part_that_never_works_is_a_mistake():
    with pytest.raises(ExceptionGroup) as failed:
        async with supervised() as (supervisor, _):
            await supervisor.start(part("thing", HOPELESS))
    [ended] = failed.value.exceptions
    assert isinstance(ended, Ended)
    assert "no such folder" in str(ended)
