"""A wire between a client and a real server, on which a test does to connections what networks do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

ANY = 2**16


class Between:
    """Passes bytes both ways; knows nothing of what they mean."""

    def __init__(self, port: int) -> None:
        self._there = port
        self._open: set[asyncio.Transport] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._passing = asyncio.Event()
        self._passing.set()
        self.lost_answers = 0
        self.swallowing = False
        self.delay = 0.0
        """Seconds that every answer takes longer."""
        self.pace = 0.0
        """Seconds between any two pieces on their way to the server: a narrow wire."""
        self._narrow = asyncio.Lock()

    def cut(self) -> None:
        """Reset every connection that is open now."""
        for transport in list(self._open):
            transport.abort()

    def stall(self) -> None:
        """From now on nothing comes through, and nobody is told."""
        self._passing.clear()

    def go_on(self) -> None:
        self._passing.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._there)
        except OSError:
            writer.transport.abort()
            return
        ends = (writer.transport, back.transport)
        self._open.update(ends)
        try:
            async with asyncio.TaskGroup() as pumps:
                pumps.create_task(self._pump(reader, back))
                pumps.create_task(self._pump(there, writer, answers=True))
        except* (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._open.difference_update(ends)
            for transport in ends:
                transport.abort()
            self._tasks.discard(task)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, answers: bool = False
    ) -> None:
        while data := await source.read(ANY):
            await self._passing.wait()
            if self.pace and not answers:
                async with self._narrow:
                    await asyncio.sleep(self.pace)
            if answers and self.delay:
                await asyncio.sleep(self.delay)
            if answers and self.swallowing:
                self.lost_answers += 1
                raise ConnectionResetError
            sink.write(data)
            await sink.drain()
        raise ConnectionResetError  # one end is gone, so the other goes too


@asynccontextmanager
async def between(port: int) -> AsyncIterator[tuple[Between, int]]:
    wire = Between(port)
    server = await asyncio.start_server(wire.serve, "127.0.0.1", 0)
    try:
        yield wire, server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await wire.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                await server.wait_closed()
