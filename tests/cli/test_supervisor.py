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
import os, socket, sys
_, port, at = sys.argv
print("listening:", port if port != "0" else 4711, flush=True)
print("ready", flush=True)
socket.create_connection(("127.0.0.1", int(at))).sendall(b"%d" % os.getpid())
sys.stdin.read()
"""
HOPELESS = "import sys; sys.exit('no such folder')"


class Bench:
    """A supervisor, what it told people, and the pids of the processes that began to work."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self.said: list[str] = []
        self.supervisor = Supervisor(group, self.said.append)
        self.port = 0
        self._pids: asyncio.Queue[int] = asyncio.Queue()

    def part(self, program: str) -> Part:
        return Part(
            "thing", lambda port: [sys.executable, "-c", program, str(port), str(self.port)]
        )

    async def next_pid(self) -> int:
        async with asyncio.timeout(10):
            return await self._pids.get()

    async def hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._pids.put_nowait(int(await reader.read()))
        writer.close()


@contextlib.asynccontextmanager
async def supervised() -> AsyncIterator[Bench]:
    async with asyncio.TaskGroup() as group:
        bench = Bench(group)
        async with await asyncio.start_server(bench.hear, "127.0.0.1") as server:
            bench.port = server.sockets[0].getsockname()[1]
            try:
                yield bench
            finally:
                await bench.supervisor.stop()


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def test_a_part_is_started_and_ended():
    async with supervised() as bench:
        assert await bench.supervisor.start(bench.part(STEADY)) == 4711
        pid = await bench.next_pid()
        assert is_alive(pid)
    assert not is_alive(pid)
    assert bench.said == []


async def test_a_part_that_dies_is_named_and_started_again_on_its_port():
    async with supervised() as bench:
        await bench.supervisor.start(bench.part(STEADY))
        os.kill(await bench.next_pid(), signal.SIGKILL)
        assert is_alive(await bench.next_pid())
    assert bench.said[0] == (
        "the thing ended (signal SIGKILL); it is started again; it said last:\n"
        "  listening: 4711\n"
        "  ready"
    )


async def test_a_part_that_never_works_is_a_mistake():
    with pytest.raises(ExceptionGroup) as failed:
        async with supervised() as bench:
            await bench.supervisor.start(bench.part(HOPELESS))
    [ended] = failed.value.exceptions
    assert isinstance(ended, Ended)
    assert "no such folder" in str(ended)
