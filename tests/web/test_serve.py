"""The server under an app: connections, streams, and how it stops."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.web.loopback import served
from tutti.web.app import App, Request, Response, Stream, json_response


class Endless:
    """A stream that ends when it is closed, and tells."""

    def __init__(self, chunk: bytes = b"line\n") -> None:
        self.chunk = chunk
        self.sent = 0
        self.closed = asyncio.Event()
        self.held = asyncio.Event()
        self.released = asyncio.Event()

    async def __call__(self, request: Request) -> Response | Stream:
        if request.path == "/stream":
            return Stream(200, self._chunks())
        if request.path == "/held":
            self.held.set()
            await self.released.wait()
        return json_response(200, request.path)

    async def _chunks(self) -> AsyncIterator[bytes]:
        try:
            while True:
                yield self.chunk
                self.sent += 1
                await asyncio.sleep(0)
        finally:
            self.closed.set()


async def test_a_stream_is_closed_when_its_client_goes_away() -> None:
    endless = Endless()
    async with served(App(endless, tokens=None)) as here:
        connection = await here.connect()
        connection.send("GET", "/stream")
        assert (await connection.head()).headers["transfer-encoding"] == "chunked"
        assert await connection.chunk() == b"line\n"

        connection.writer.close()

        async with asyncio.timeout(5):
            await endless.closed.wait()


async def test_a_client_that_stops_reading_holds_the_stream_up_and_is_dropped() -> None:
    endless = Endless(b"x" * 65536)
    async with served(App(endless, tokens=None, stalled_after_s=0.2)) as here:
        connection = await here.connect()
        connection.send("GET", "/stream")
        await connection.head()
        connection.writer.transport.pause_reading()  # type: ignore[attr-defined]

        async with asyncio.timeout(5):
            await endless.closed.wait()

    assert endless.sent * len(endless.chunk) < 64 * 2**20, "not more than sockets can hold"


async def test_a_stop_ends_streams_properly_and_answers_what_is_in_flight() -> None:
    endless = Endless()
    async with served(App(endless, tokens=None)) as here:
        stream, request, idle = [await here.connect() for _ in range(3)]
        stream.send("GET", "/stream")
        await stream.head()
        await stream.chunk()
        request.send("GET", "/held")
        await endless.held.wait()
        await idle.ask("GET", "/")

        here.stop.set()

        while await stream.chunk():
            pass
        endless.released.set()
        assert (await request.answer()).body == b'"/held"'
        assert await idle.reader.read() == b"", "an idle connection is closed"
        await here.serving


async def test_a_stop_waits_for_nobody_who_does_not_read(tmp_path: Path) -> None:
    endless = Endless(b"x" * 65536)
    async with served(App(endless, tokens=None), tmp_path, grace_s=0.2) as here:
        connection = await here.connect()
        connection.send("GET", "/stream")
        await connection.head()
        connection.writer.transport.pause_reading()  # type: ignore[attr-defined]

        here.stop.set()

        async with asyncio.timeout(5):
            await here.serving
        assert endless.closed.is_set()


async def test_who_asks_for_another_protocol_is_answered_in_this_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served(App(Endless(), tokens=None)) as here:
        connection = await here.connect()
        wish = ("Connection: Upgrade", "Upgrade: websocket")
        answer = await connection.ask("GET", "/exec", *wish)

    assert (answer.status, answer.body) == (200, b'"/exec"')
    assert caplog.text == ""


async def test_a_stream_that_fails_does_not_look_complete(caplog: pytest.LogCaptureFixture) -> None:
    async def fails(request: Request) -> Stream:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"line\n"
            raise RuntimeError("a mistake of ours")

        return Stream(200, chunks())

    async with served(App(fails, tokens=None)) as here:
        connection = await here.connect()
        connection.send("GET", "/")
        await connection.head()
        rest = await connection.rest()

    assert not rest.endswith(b"0\r\n\r\n")
    assert "a mistake of ours" in caplog.text


async def test_requests_in_one_packet_are_answered_in_order() -> None:
    async def path(request: Request) -> Response:
        return json_response(200, request.path)

    async with served(App(path, tokens=None)) as here:
        connection = await here.connect()
        for name in "abc":
            connection.send("GET", f"/{name}")
        answers = [await connection.answer() for _ in "abc"]

    assert [answer.body for answer in answers] == [b'"/a"', b'"/b"', b'"/c"']


@pytest.mark.parametrize(
    "garbage",
    [
        pytest.param(b"what is this\r\n\r\n", id="no request line"),
        pytest.param(b"GET / HTTP/1.1\r\nbad header\r\n\r\n", id="no colon"),
        pytest.param(b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n", id="no number"),
        pytest.param(b"GET /\xff\xfe HTTP/1.1\r\n\r\n", id="no path"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", id="TLS to a plain port"),
    ],
)
async def test_what_is_not_http_is_a_400_and_stops_nothing(garbage: bytes) -> None:
    async with served(App(Endless(), tokens=None)) as here:
        connection = await here.connect()
        connection.writer.write(garbage)
        assert (await connection.head()).status == 400

        assert (await here.ask("GET", "/")).status == 200


@pytest.mark.parametrize("before", [b"", b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"])
async def test_a_head_without_end_is_cut_off(before: bytes) -> None:
    async def hello(request: Request) -> Response:
        await request.body()
        return json_response(200, "hello")

    async with served(App(hello, tokens=None)) as here:
        connection = await here.connect()
        connection.writer.write(before + b"GET / HTTP/1.1\r\nX-Long: ")
        if before:
            assert (await connection.answer()).status == 200
        for _ in range(40):
            connection.writer.write(b"x" * 32_768)
        assert (await connection.head()).status == 431
        await connection.rest()

        assert (await here.ask("GET", "/")).status == 200


SERVES = """
import asyncio
from tutti.web.app import App, Response
from tutti.web.serve import serve, stop_on_signals, stop_with_input

async def hello(request):
    return Response(200, b"hello")

async def main():
    stop = stop_on_signals()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(stop_with_input(stop))
        tasks.create_task(serve(
            App(hello, tokens=None), host="127.0.0.1", port=0, tls=None, stop=stop,
            on_listening=lambda port: print(port, flush=True),
        ))
    print("stopped in good order", flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT", "its input ends"])
def test_a_process_stops_in_good_order(how: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout:
        assert int(process.stdout.readline()) > 0

        if how == "its input ends":
            process.stdin.close()
        else:
            process.send_signal(signal.Signals[how])

        assert process.stdout.read() == "stopped in good order\n"
        assert process.wait(10) == 0
