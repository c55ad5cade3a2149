"""HTTP/1.1 to one API server: a pool of kept-alive connections, and streams beside it.

The only file that knows HTTP. Each connection is a non-blocking socket of our own under the event
loop, not a transport of the loop's: what is sent has been handed to the kernel when `send` returns,
so that a permission asked for just before it (`allowed`) can't grow old in a buffer.

What became of a request that got no answer:
- never handed to the kernel: `Unreachable`, or a second try;
- nothing came back and it may be repeated (GET): a second try on a new connection;
- else `Unanswered`: it may have been done, or not.
"""

import asyncio
import contextlib
import logging
import socket
import ssl
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import httptools

from tutti.api.errors import Unanswered, Unreachable
from tutti.kube.config import Config
from tutti.kube.endpoint import Endpoint

log = logging.getLogger(__name__)

JSON = "application/json"
IDLE_LIMIT = 60.0
"""Seconds after which an idle connection isn't used again: kube-apiserver closes at 90."""
TOKEN_AGE = 60.0
"""Seconds after which a token file is read again."""
RECORD = 16384
"""A read that is shorter than a full TLS record is the last for now."""
WOULD_BLOCK = (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError, InterruptedError)

OnLines = Callable[[list[bytes]], None]
Allowed = Callable[[], bool]


class Answer(NamedTuple):
    status: int
    body: bytes
    retry_after: float | None


class Withheld(Exception):
    """The permission asked for just before sending was refused: nothing was sent."""


class Transport:
    """Requests over at most `connections` connections; a request beyond them waits for one."""

    def __init__(self, config: Config, *, connections: int = 128, agent: str = "tutti") -> None:
        self._endpoint = Endpoint(config)
        self._head = _Head(config, self._endpoint, agent)
        self._limit = connections
        self._open = 0
        self._idle: deque[_Connection] = deque()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._streams: set[_Connection] = set()
        self._was_there = False
        self._away_since: float | None = None

    async def request(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        *,
        content_type: str = JSON,
        accept: str = JSON,
        within: float = 10.0,
        allowed: Allowed | None = None,
    ) -> Answer:
        """One exchange. `within` counts from here, waiting for a connection included."""
        deadline = time.monotonic() + within
        request = self._head.of(method, target, body, content_type, accept) + body
        while True:
            connection = await self._take(deadline)
            fresh = connection.exchanges == 0
            try:
                answer = await connection.exchange(request, deadline, allowed)
            except _Lost as lost:
                if fresh or not (lost.unsent or (lost.unheard and method == "GET")):
                    raise lost.as_error(method, target) from lost
            else:
                return answer
            finally:
                self._give_back(connection)

    async def stream(
        self,
        target: str,
        on_lines: OnLines,
        *,
        accept: str = JSON,
        within: float = 10.0,
        silence: float = 120.0,
    ) -> Answer:
        """Hand over the lines of a long answer as they come; return when it has ended.

        `within` is for the answer's first byte, `silence` for how long nothing may come after.
        An answer other than 200 is collected and returned instead.
        """
        connection = await self._connect(time.monotonic() + within)
        self._streams.add(connection)
        try:
            request = self._head.of("GET", target, b"", "", accept)
            return await connection.listen(request, on_lines, within, silence)
        except _Lost as lost:
            raise lost.as_error("GET", target) from lost
        finally:
            self._streams.discard(connection)
            connection.close()

    async def close(self) -> None:
        self._limit = 0
        for connection in [*self._idle, *self._streams]:
            connection.close()
        self._idle.clear()

    async def _take(self, deadline: float) -> "_Connection":
        while True:
            oldest = time.monotonic() - IDLE_LIMIT
            while self._idle:
                connection = self._idle.pop()
                if connection.alive and connection.idle_since > oldest:
                    return connection
                self._drop(connection)
            if self._open < self._limit:
                self._open += 1
                try:
                    return await self._connect(deadline)
                except BaseException:
                    self._freed()
                    raise
            await self._turn_in_line(deadline)

    async def _turn_in_line(self, deadline: float) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                await turn
        except TimeoutError as error:
            raise Unreachable("no connection became free in time; nothing was sent") from error
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._next_in_line()  # it was our turn: pass it on
            raise

    def _give_back(self, connection: "_Connection") -> None:
        if connection.alive and self._limit:
            connection.idle_since = time.monotonic()
            self._idle.append(connection)
            self._next_in_line()
        else:
            self._drop(connection)

    def _drop(self, connection: "_Connection") -> None:
        connection.close()
        self._freed()

    def _freed(self) -> None:
        self._open -= 1
        self._next_in_line()

    def _next_in_line(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    async def _connect(self, deadline: float) -> "_Connection":
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                connection = _Connection(await self._endpoint.connect())
        except TimeoutError as error:
            raise self._unreachable("no answer in time") from error
        except ssl.SSLCertVerificationError as error:
            why = f"its certificate is not to be trusted: {error.verify_message}"
            raise self._unreachable(why) from error
        except OSError as error:
            raise self._unreachable(_reason(error)) from error
        if self._away_since is not None:
            seconds = round(time.monotonic() - self._away_since, 1)
            log.info("the server is reached again", extra={"after_s": seconds})
        self._away_since = None
        self._was_there = True
        return connection

    def _unreachable(self, why: str) -> Unreachable:
        """One line for an outage, however many wait for its end; none where nothing was there yet."""
        where = f"{self._endpoint.host}:{self._endpoint.port}"
        if self._was_there and self._away_since is None:
            self._away_since = time.monotonic()
            log.warning("the server is not reached", extra={"server": where, "why": why})
        return Unreachable(f"no connection to {where}: {why}")


class _Lost(Exception):
    """A connection ended under an exchange."""

    def __init__(self, why: str, *, unsent: bool, unheard: bool) -> None:
        super().__init__(why)
        self.unsent = unsent
        self.unheard = unheard

    def as_error(self, method: str, target: str) -> Unanswered:
        kind = Unreachable if self.unsent else Unanswered
        return kind(f"{method} {target.partition('?')[0]}: {self}")


class _Connection:
    """One socket, carrying one exchange at a time.

        idle --exchange--> sending/waiting --whole answer--> idle
                              └── time-out, error, end, cancelled --> closed

    `httptools` calls the `on_…` methods while it is fed.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._fd = sock.fileno()
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._answer: asyncio.Future[Answer] | None = None
        self._unsent = b""
        self._parts: list[bytes] = []
        self._retry_after: float | None = None
        self._on_lines: OnLines | None = None
        self._lines: list[bytes] = []
        self._heard = False
        self._heard_at = 0.0
        self.alive = True
        self.exchanges = 0
        self.idle_since = 0.0
        self._loop.add_reader(self._fd, self._readable)

    async def exchange(
        self, request: bytes, deadline: float | None, allowed: Allowed | None = None
    ) -> Answer:
        self._answer = self._loop.create_future()
        self._heard = False
        self._parts = []
        self._retry_after = None
        if allowed is not None and not allowed():
            self._answer = None
            raise Withheld
        self._send(request)
        self.exchanges += 1
        timer = None
        if deadline is not None:
            patience = deadline - time.monotonic()
            timer = self._loop.call_later(patience, self._lose, "no answer in time")
        try:
            return await self._answer
        except asyncio.CancelledError:
            self.close()
            raise
        finally:
            if timer is not None:
                timer.cancel()
            self._answer = None

    async def listen(
        self, request: bytes, on_lines: OnLines, within: float, silence: float
    ) -> Answer:
        self._on_lines = on_lines
        watch = self._loop.create_task(self._watch_silence(within, silence))
        try:
            return await self.exchange(request, deadline=None)
        finally:
            watch.cancel()

    def close(self) -> None:
        if self.alive:
            self.alive = False
            self._loop.remove_reader(self._fd)
            self._loop.remove_writer(self._fd)
            self._sock.close()

    async def _watch_silence(self, within: float, silence: float) -> None:
        self._heard_at = time.monotonic()
        while True:
            patience = silence if self._heard else within
            left = self._heard_at + patience - time.monotonic()
            if left <= 0:
                self._lose(f"nothing heard for {patience:g} s")
                return
            await asyncio.sleep(min(left, silence))

    # --- the socket

    def _send(self, request: bytes) -> None:
        try:
            sent = self._sock.send(request)
        except WOULD_BLOCK:
            sent = 0
        except OSError as error:
            self._lose(_reason(error), unsent=True)
            return
        if sent < len(request):
            self._unsent = request[sent:]
            self._loop.add_writer(self._fd, self._writable)

    def _writable(self) -> None:
        try:
            sent = self._sock.send(self._unsent)
        except WOULD_BLOCK:
            return
        except OSError as error:
            self._lose(_reason(error))
            return
        self._unsent = self._unsent[sent:]
        if not self._unsent:
            self._loop.remove_writer(self._fd)

    def _readable(self) -> None:
        """Take what has come: one answer, or of a stream all there is (up to a bound)."""
        for _ in range(256 if self._on_lines else 16):
            try:
                data = self._sock.recv(RECORD * 16)
            except WOULD_BLOCK:
                break
            except OSError as error:
                self._lose(_reason(error))
                return
            if not data:
                self._hand_over()
                self._lose("the server closed the connection")
                return
            self._feed(data)
            if not self.alive or (len(data) < RECORD and not self._on_lines):
                break
        self._hand_over()

    def _feed(self, data: bytes) -> None:
        if self._answer is None or self._answer.done():
            self.close()  # something unasked for: this connection can't be trusted with a request
            return
        self._heard = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._lose(f"no HTTP answer: {error}")

    def _hand_over(self) -> None:
        if self._on_lines is None or not self._lines:
            return
        self._heard_at = time.monotonic()
        lines, self._lines = self._lines, []
        try:
            self._on_lines(lines)
        except Exception as error:  # the listener's own: it belongs to the task that listens
            if self._answer is not None and not self._answer.done():
                self._answer.set_exception(error)
            self.close()

    def _lose(self, why: str, *, unsent: bool = False) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(_Lost(why, unsent=unsent, unheard=not self._heard))
        self.close()

    # --- the parser

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(name) == 11 and name.lower() == b"retry-after":
            with contextlib.suppress(ValueError):
                self._retry_after = float(value)

    def on_body(self, data: bytes) -> None:
        whole = self._on_lines is None or self._parser.get_status_code() != 200
        if whole or b"\n" not in data:
            self._parts.append(data)
        else:
            *lines, rest = (b"".join(self._parts) + data).split(b"\n")
            self._lines += filter(None, lines)
            self._parts = [rest] if rest else []

    def on_message_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200 or self._answer is None or self._answer.done():
            return
        self._hand_over()
        if self._answer.done():
            return
        self._answer.set_result(Answer(status, b"".join(self._parts), self._retry_after))
        if not self._parser.should_keep_alive():
            self.close()


class _Head:
    """The lines above a body; all but the first two are the same for every request."""

    def __init__(self, config: Config, endpoint: Endpoint, agent: str) -> None:
        self._prefix = endpoint.prefix
        self._token_file = config.token_file
        self._token = config.token
        self._read_at = float("-inf")
        self._fixed = f"Host: {endpoint.authority}\r\nUser-Agent: {agent}\r\n"

    def of(self, method: str, target: str, body: bytes, content_type: str, accept: str) -> bytes:
        token = self._fresh_token()
        secret = f"Authorization: Bearer {token}\r\n" if token else ""
        size = (
            f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
            if body or method != "GET"
            else ""
        )
        return (
            f"{method} {self._prefix}{target} HTTP/1.1\r\n"
            f"{self._fixed}Accept: {accept}\r\n{secret}{size}\r\n"
        ).encode()

    def _fresh_token(self) -> str | None:
        if self._token_file is not None and time.monotonic() > self._read_at + TOKEN_AGE:
            with contextlib.suppress(OSError):  # between two versions of a mounted file
                self._token = self._token_file.read_text().strip()
                self._read_at = time.monotonic()
        return self._token


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
