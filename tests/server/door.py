"""The server in this process: its verbs by plain calls, its watches on a loopback port."""

import itertools
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from tests.web.loopback import Served, served
from tutti.server import seeds
from tutti.server.app import Server, is_open
from tutti.server.context import Context
from tutti.server.discovery import Discovery
from tutti.server.gates import Gates
from tutti.server.objects import Objects
from tutti.server.view import View
from tutti.store import Store
from tutti.web.app import App
from tutti.web.health import Health
from tutti.web.metrics import Metrics
from tutti.web.tokens import Tokens, User

Object = dict[str, Any]

TOKEN = "a-token"
NOON = datetime(2026, 11, 19, 12, 0, 0, tzinfo=UTC)
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"


@dataclass
class Clock:
    """Stands still until told otherwise."""

    moment: datetime = NOON

    def __call__(self) -> datetime:
        return self.moment

    def advance(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


@dataclass(frozen=True)
class Answer:
    """What came back."""

    code: int
    headers: Sequence[tuple[str, str]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        """The sentence of a Status."""
        message: str = self.json["message"]
        return message

    @property
    def warnings(self) -> list[str]:
        return [value for name, value in self.headers if name == "warning"]


@dataclass
class Door:
    """Requests as a client makes them, without a network."""

    app: App
    store: Store
    clock: Clock
    accept: str = "application/json"
    token: str | None = TOKEN
    _served: list[Served] = field(default_factory=list)

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        accept: str | None = None,
        token: str | None = TOKEN,
        **query: Any,
    ) -> Answer:
        headers = [(b"accept", (accept or self.accept).encode())]
        if token is not None:
            headers.append((b"authorization", f"Bearer {token}".encode()))
        content = body if isinstance(body, bytes) else b"" if body is None else _json(body)
        if content:
            headers.append((b"content-type", content_type.encode()))
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": urlencode(query, doseq=True).encode(),
            "headers": headers,
        }
        sent: list[Any] = []

        async def receive() -> Object:
            return {"type": "http.request", "body": content, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        start, *parts = sent
        pairs = [(name.decode(), value.decode("latin-1")) for name, value in start["headers"]]
        return Answer(start["status"], pairs, b"".join(part["body"] for part in parts))

    async def get(self, path: str, **more: Any) -> Answer:
        return await self.ask("GET", path, **more)

    async def post(self, path: str, body: Any, **more: Any) -> Answer:
        return await self.ask("POST", path, body, **more)

    async def put(self, path: str, body: Any, **more: Any) -> Answer:
        return await self.ask("PUT", path, body, **more)

    async def patch(self, path: str, body: Any, kind: str = MERGE, **more: Any) -> Answer:
        return await self.ask("PATCH", path, body, content_type=kind, **more)

    async def delete(self, path: str, body: Any = None, **more: Any) -> Answer:
        return await self.ask("DELETE", path, body, **more)

    async def made(self, path: str, body: Object) -> Object:
        """A new object; the test ends where it can't be made."""
        answer = await self.post(path, body)
        assert answer.code == 201, answer.body
        found: Object = answer.json
        return found


@asynccontextmanager
async def opened(
    gates: Gates | None = None, store: Store | None = None, bookmark_every_s: float = 60
) -> AsyncIterator[Door]:
    """A server over a store in memory, with everything that a cluster has from the start."""
    store = store or Store.open(None)
    clock, uids, view = Clock(), itertools.count(1), View()
    gates = gates or Gates()
    objects = Objects(store, view)
    context = Context(objects, view, gates, clock, lambda: f"uid-{next(uids)}", bookmark_every_s)
    await seeds.plant(context)
    server = Server(context, Discovery(gates), Health(), Metrics())
    tokens = Tokens({TOKEN: User("tester", ("system:masters",))})
    try:
        yield Door(App(server.handle, tokens=tokens, is_open=is_open), store, clock)
    finally:
        await store.close()


class Watcher:
    """One watch on a loopback connection: events as they come."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._rest = b""

    async def event(self) -> Object:
        while b"\n" not in self._rest:
            chunk = await self._connection.chunk()
            assert chunk, "the watch has ended"
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        found: Object = json.loads(line)
        return found

    async def events(self, count: int) -> list[tuple[str, str]]:
        """The types of the next events, and the names of what they are about."""
        found = [await self.event() for _ in range(count)]
        return [(one["type"], one["object"]["metadata"].get("name", "")) for one in found]

    def pause(self) -> None:
        """Read nothing any more, not even into a buffer."""
        self._connection.writer.transport.pause_reading()

    def go_on(self) -> None:
        self._connection.writer.transport.resume_reading()

    async def ends(self) -> bool:
        return not self._rest and await self._connection.chunk() == b""


@asynccontextmanager
async def listening(door: Door) -> AsyncIterator[Served]:
    """The same server on a loopback port."""
    async with served(door.app) as here:
        yield here


async def watch(here: Served, path: str, accept: str = "application/json", **query: Any) -> Watcher:
    """Begin a watch; it has begun when this returns."""
    connection = await here.connect()
    options = urlencode({"watch": "true", **query})
    headers = (f"Authorization: Bearer {TOKEN}", f"Accept: {accept}")
    connection.send("GET", f"{path}?{options}", *headers)
    assert (await connection.head()).status == 200
    return Watcher(connection)


def _json(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()
