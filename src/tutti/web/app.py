"""A lean ASGI kit: who asks, one request, one answer or a stream, errors as a v1 Status.

The application is one function from `Request` to `Response` or `Stream`; where to route to is its
own business. What it raises of `api.errors` is answered as Kubernetes answers it.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, MutableMapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from tutti.api.errors import ApiError, InternalError, TooLarge, Unauthorized
from tutti.web.tokens import Tokens, User

log = logging.getLogger(__name__)

BODY_LIMIT = 3 * 1024 * 1024
STALLED_AFTER_S = 30.0
ABORT = "tutti.abort"  # the ASGI extension by which `serve` lends the connection's abort()

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Header = tuple[bytes, bytes]

JSON: Header = (b"content-type", b"application/json")
TEXT: Header = (b"content-type", b"text/plain; charset=utf-8")


class Disconnected(Exception):
    """The client went away before its request was complete."""


class Request:
    """One request; its user is known, its body not read yet."""

    __slots__ = ("_receive", "headers", "method", "path", "query", "user")

    def __init__(self, scope: Scope, receive: Receive, user: User | None) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers: Sequence[Header] = scope["headers"]
        self.query: list[tuple[str, str]] = _query(scope["query_string"])
        self.user = user
        self._receive = receive

    def header(self, name: bytes) -> bytes | None:
        """The first header of this name, which is given in lower case."""
        return _header(self.headers, name)

    async def body(self, limit: int = BODY_LIMIT) -> bytes:
        """The whole body; raises TooLarge beyond `limit` bytes, without reading on."""
        declared = self.header(b"content-length")
        if declared is not None and int(declared) > limit:
            raise TooLarge.over(limit)
        parts: list[bytes] = []
        size = 0
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise Disconnected
            part: bytes = message.get("body", b"")
            size += len(part)
            if size > limit:
                raise TooLarge.over(limit)
            parts.append(part)
            if not message.get("more_body", False):
                return parts[0] if len(parts) == 1 else b"".join(parts)


class Response(msgspec.Struct, frozen=True, gc=False):
    """A whole answer."""

    status: int
    body: bytes
    headers: Sequence[Header] = (JSON,)


class Stream(msgspec.Struct, frozen=True):
    """An answer that goes on: `chunks` is asked for the next part when the last one is on its way.

    It is closed when the client goes away, reads nothing for a while, or the server stops; so what
    must be let go of belongs into its `finally`.
    """

    status: int
    chunks: AsyncIterator[bytes]
    headers: Sequence[Header] = (JSON,)


Handle = Callable[[Request], Awaitable[Response | Stream]]


class App:
    """The ASGI application around one function.

    Without `tokens` everybody is let in, as nobody in particular. With them, who brings none is
    let in where `is_open` says so of the path; who brings a wrong one, nowhere.
    """

    def __init__(
        self,
        handle: Handle,
        *,
        tokens: Tokens | None,
        is_open: Callable[[str], bool] = lambda path: False,
        stalled_after_s: float = STALLED_AFTER_S,
    ) -> None:
        self._handle = handle
        self._tokens = tokens
        self._is_open = is_open
        self._stalled_after_s = stalled_after_s
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """End the streams; other requests are answered as ever."""
        self._stopping.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            answer = await self._answer(scope, receive)
        except Disconnected:
            return
        match answer:
            case Response():
                await _send_whole(answer, send)
            case Stream():
                await self._send_stream(answer, scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive) -> Response | Stream:
        try:
            return await self._handle(Request(scope, receive, self._user(scope)))
        except ApiError as error:
            return error_response(error)
        except Disconnected:
            raise
        except Exception:
            # The query is left out: it is the client's, and could hold anything.
            log.exception(
                "a request failed", extra={"method": scope["method"], "path": scope["path"]}
            )
            return error_response(InternalError.because("see the server's log"))

    def _user(self, scope: Scope) -> User | None:
        if self._tokens is None:
            return None
        authorization = _header(scope["headers"], b"authorization")
        user = self._tokens.user_of(authorization)
        if user is None and (authorization is not None or not self._is_open(scope["path"])):
            raise Unauthorized
        return user

    async def _send_stream(
        self, stream: Stream, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Until it ends by itself, the client is gone or stalls, or the server stops."""
        await send(_start(stream.status, stream.headers))
        pump = asyncio.create_task(self._pump(stream.chunks, send))
        gone = asyncio.create_task(_gone(receive))
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({pump, gone, stopping}, return_when=asyncio.FIRST_COMPLETED)
            pump.cancel()
            (failure,) = await asyncio.gather(pump, return_exceptions=True)
            if isinstance(failure, Exception):
                if not isinstance(failure, _Stalled):
                    log.error("a stream failed", exc_info=failure, extra={"path": scope["path"]})
                _abort(scope)  # a proper end would say that this was all
                await gone
            elif not gone.done():
                await self._end(send)
        finally:
            for task in (pump, gone, stopping):
                task.cancel()
            await asyncio.gather(pump, gone, stopping, return_exceptions=True)
            await _close(stream.chunks)

    async def _pump(self, chunks: AsyncIterator[bytes], send: Send) -> None:
        async for chunk in chunks:
            await self._send_in_time(send, chunk, more=True)

    async def _end(self, send: Send) -> None:
        with contextlib.suppress(_Stalled):
            await self._send_in_time(send, b"", more=False)

    async def _send_in_time(self, send: Send, chunk: bytes, *, more: bool) -> None:
        try:
            async with asyncio.timeout(self._stalled_after_s):
                await send({"type": "http.response.body", "body": chunk, "more_body": more})
        except TimeoutError:
            raise _Stalled from None


class _Stalled(Exception):
    """The client reads nothing."""


def json_response(status: int, value: object) -> Response:
    return Response(status, msgspec.json.encode(value))


def error_response(error: ApiError) -> Response:
    headers: list[Header] = [JSON]
    if error.retry_after is not None:
        headers.append((b"retry-after", b"%d" % error.retry_after))
    if isinstance(error, TooLarge):
        headers.append((b"connection", b"close"))  # what is left of the body is not read
    return Response(error.code, msgspec.json.encode(error.status()), headers)


async def _send_whole(answer: Response, send: Send) -> None:
    length = (b"content-length", b"%d" % len(answer.body))
    await send(_start(answer.status, (*answer.headers, length)))
    await send({"type": "http.response.body", "body": answer.body, "more_body": False})


def _start(status: int, headers: Iterable[Header]) -> MutableMapping[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": list(headers)}


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _abort(scope: Scope) -> None:
    """Closing would wait for the client to read what it does not read."""
    scope["extensions"][ABORT]["abort"]()


async def _close(chunks: AsyncIterator[bytes]) -> None:
    close = getattr(chunks, "aclose", None)
    if close is not None:
        await close()


def _query(query: bytes) -> list[tuple[str, str]]:
    return parse_qsl(query.decode("ascii", "replace"), keep_blank_values=True) if query else []


def _header(headers: Iterable[Header], name: bytes) -> bytes | None:
    for key, value in headers:
        if key == name:
            return value
    return None
