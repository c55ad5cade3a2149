"""An app on a loopback port, and a client that shows every byte."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec

from tutti.web import tls
from tutti.web.app import App
from tutti.web.serve import serve


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> dict[str, object]:
        return msgspec.json.decode(self.body, type=dict[str, object])


@dataclass
class Connection:
    """One connection to the app; what it sends and reads is up to the test."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, method: str, path: str, *headers: str, body: bytes = b"") -> None:
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *headers]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        self.writer.write("\r\n".join([*lines, "", ""]).encode() + body)

    async def answer(self) -> Answer:
        answer = await self.head()
        length = int(answer.headers.get("content-length", "0"))
        return answer._replace(body=await self.reader.readexactly(length))

    async def head(self) -> Answer:
        first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        return Answer(int(first.split()[1]), headers, b"")

    async def chunk(self) -> bytes:
        """The next part of a chunked answer; empty at its proper end."""
        size = int(await self.reader.readuntil(b"\r\n"), 16)
        return (await self.reader.readexactly(size + 2))[:-2]

    async def rest(self) -> bytes:
        """All that comes until the connection ends, in whatever way."""
        received = b""
        with contextlib.suppress(ConnectionError):
            while part := await self.reader.read(65536):
                received += part
        return received

    async def ask(self, method: str, path: str, *headers: str, body: bytes = b"") -> Answer:
        self.send(method, path, *headers, body=body)
        return await self.answer()


@dataclass
class Served:
    """A served app."""

    port: int
    context: ssl.SSLContext | None
    stop: asyncio.Event
    serving: asyncio.Task[None]
    _connections: list[Connection] = field(default_factory=list)

    async def connect(self) -> Connection:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=self.context, limit=2**24
        )
        connection = Connection(reader, writer)
        self._connections.append(connection)
        return connection

    async def ask(self, method: str, path: str, *headers: str, body: bytes = b"") -> Answer:
        return await (await self.connect()).ask(method, path, *headers, body=body)

    async def close(self) -> None:
        for connection in self._connections:
            connection.writer.close()
            with contextlib.suppress(OSError):
                await connection.writer.wait_closed()


@contextlib.asynccontextmanager
async def served(
    app: App, folder: Path | None = None, *, grace_s: float = 5
) -> AsyncIterator[Served]:
    """Serve `app` on a free port: with TLS where there is a folder for its certificates."""
    pair = context = None
    if folder is not None:
        authority = tls.make_authority(folder)
        pair = tls.issue(authority, folder, "server", ["127.0.0.1"])
        context = ssl.create_default_context(cafile=authority.certificate)
    listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    serving = asyncio.create_task(
        serve(
            app,
            host="127.0.0.1",
            port=0,
            tls=pair,
            on_listening=listening.set_result,
            stop=stop,
            grace_s=grace_s,
        )
    )
    here = Served(await listening, context, stop, serving)
    try:
        yield here
    finally:
        await here.close()
        stop.set()
        await serving
