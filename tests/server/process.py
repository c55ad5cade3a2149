"""The server as a process of its own, started and ended as `tutti up` does it."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from tests.web.loopback import Answer, Connection

PATIENCE_S = 20


@dataclass
class Running:
    """A server process that listens."""

    process: asyncio.subprocess.Process
    port: int

    async def connect(self) -> Connection:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**24)
        return Connection(reader, writer)

    async def ask(self, method: str, path: str, body: bytes = b"") -> Answer:
        connection = await self.connect()
        try:
            return await connection.ask(method, path, body=body)
        finally:
            connection.writer.close()

    async def kill(self) -> None:
        """As the kernel kills: at any instruction, without a last word."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)
        await self.process.wait()


@contextlib.asynccontextmanager
async def started(*flags: str) -> AsyncIterator[Running]:
    """A server with these flags; whatever is left of it at the end is killed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tutti.server", "--exit-with-parent", *flags),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE_S):
            line = (await process.stdout.readline()).decode()
        assert line.startswith("listening: "), f"the server did not start: {line!r}"
        yield Running(process, int(line.removeprefix("listening: ")))
    finally:
        if process.returncode is None:
            process.kill()
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()


def on_disk(folder: Path) -> tuple[str, str]:
    """The flags of a server that keeps its objects."""
    return "--data-dir", str(folder)
