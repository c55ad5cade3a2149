import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from tests.kube.peer import Papers, Peer, Request, Responds, Wire, make_papers, serving, until
from tutti.api.errors import Unanswered, Unreachable
from tutti.kube import transport as transports
from tutti.kube.config import BadConfig, Config
from tutti.kube.transport import Transport, Withheld


@contextlib.asynccontextmanager
async def talking(
    papers: Papers, responds: Responds, connections: int = 4
) -> AsyncIterator[tuple[Transport, Peer]]:
    async with serving(papers, responds) as peer:
        transport = Transport(peer.config, connections=connections)
        try:
            yield transport, peer
        finally:
            await transport.close()


async def echo(request: Request, wire: Wire) -> None:
    wire.answer(200, request.body or request.target.encode())


async def test_a_connection_is_kept_for_the_next_request(papers: Papers) -> None:
    async with talking(papers, echo) as (transport, peer):
        answers = [await transport.request("POST", "/x", b"%d" % i) for i in range(3)]
    assert [answer.body for answer in answers] == [b"0", b"1", b"2"]
    assert len(peer.wires) == 1


async def test_requests_beyond_the_limit_wait_for_a_connection(papers: Papers) -> None:
    async with talking(papers, echo, connections=2) as (transport, peer):
        answers = await asyncio.gather(*(transport.request("GET", f"/{i}") for i in range(20)))
    assert [answer.body for answer in answers] == [b"/%d" % i for i in range(20)]
    assert len(peer.wires) == 2


async def test_a_request_says_who_asks_and_what_it_sends(papers: Papers) -> None:
    async with talking(papers, echo) as (transport, peer):
        await transport.request("PATCH", "/x", b"{}", content_type="application/patch", accept="a")
    [request] = peer.requests
    assert request.headers["authorization"] == "bearer s3cret"
    assert request.headers["content-type"] == "application/patch"
    assert request.headers["accept"] == "a"


async def test_a_replaced_token_file_is_read_again(
    papers: Papers, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transports, "TOKEN_AGE", -1.0)
    file = tmp_path / "token"
    async with serving(papers, echo, token=None, token_file=file) as peer:
        transport = Transport(peer.config)
        for token in ("one", "two"):
            file.write_text(token)
            await transport.request("GET", "/")
        await transport.close()
    assert [r.headers["authorization"] for r in peer.requests] == ["bearer one", "bearer two"]


async def test_a_body_larger_than_the_socket_takes_at_once_arrives_whole(papers: Papers) -> None:
    body = bytes(range(256)) * 20_000
    async with talking(papers, echo) as (transport, _):
        answer = await transport.request("POST", "/x", body)
    assert answer.body == body


async def test_a_chunked_answer_is_put_together(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.begin_stream()
        for part in (b"all ", b"or ", b"nothing"):
            wire.send_chunk(part)
        wire.end_stream()

    async with talking(papers, responds) as (transport, _):
        assert (await transport.request("GET", "/")).body == b"all or nothing"


async def test_retry_after_is_handed_on(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(429, b"", headers="Retry-After: 3\r\n")

    async with talking(papers, responds) as (transport, _):
        answer = await transport.request("GET", "/")
    assert (answer.status, answer.retry_after) == (429, 3.0)


async def test_a_server_that_is_silent_leaves_the_fate_unknown(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        if request.target == "/silent":
            await asyncio.Event().wait()
        wire.answer()

    async with talking(papers, responds) as (transport, peer):
        with pytest.raises(Unanswered, match="POST /silent: no answer in time") as caught:
            await transport.request("POST", "/silent", within=0.05)
        assert not isinstance(caught.value, Unreachable)
        assert (await transport.request("GET", "/other")).status == 200
    assert len(peer.wires) == 2  # the silent connection isn't used again


async def hangs_up_on_the_second_request(request: Request, wire: Wire) -> None:
    if wire.requests == 2:
        wire.cut()
        raise ConnectionResetError
    wire.answer(200, b"%d" % wire.requests)


async def test_a_get_on_a_connection_that_ended_meanwhile_is_sent_again(papers: Papers) -> None:
    async with talking(papers, hangs_up_on_the_second_request) as (transport, peer):
        for _ in range(2):
            assert (await transport.request("GET", "/")).body == b"1"
    assert len(peer.requests) == 3


async def test_a_post_that_may_have_been_heard_is_never_sent_again(papers: Papers) -> None:
    async with talking(papers, hangs_up_on_the_second_request) as (transport, peer):
        await transport.request("POST", "/")
        with pytest.raises(Unanswered):
            await transport.request("POST", "/")
    assert len(peer.requests) == 2


async def test_a_connection_that_the_server_closed_while_idle_is_not_used(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer()
        wire.hang_up()

    async with talking(papers, responds) as (transport, peer):
        for _ in range(3):
            assert (await transport.request("POST", "/")).status == 200
            await until(lambda: not transport._idle[-1].alive)
    assert len(peer.wires) == 3


async def test_an_idle_connection_grows_too_old_to_be_used(
    papers: Papers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transports, "IDLE_LIMIT", -1.0)
    async with talking(papers, echo) as (transport, peer):
        for _ in range(2):
            await transport.request("POST", "/")
    assert len(peer.wires) == 2


async def test_connection_close_is_obeyed(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(headers="Connection: close\r\n")

    async with talking(papers, responds) as (transport, peer):
        for _ in range(2):
            await transport.request("POST", "/")
    assert len(peer.wires) == 2


async def test_an_answer_that_breaks_off_is_no_answer(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of")
        wire.hang_up()

    async with talking(papers, responds) as (transport, _):
        with pytest.raises(Unanswered, match="the server closed the connection"):
            await transport.request("GET", "/")


async def test_what_is_no_http_is_no_answer(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.writer.write(b"220 mail.example.org ESMTP\r\n")

    async with talking(papers, responds) as (transport, _):
        with pytest.raises(Unanswered, match="no HTTP answer"):
            await transport.request("GET", "/")


async def test_nothing_is_sent_without_permission(papers: Papers) -> None:
    async with talking(papers, echo) as (transport, peer):
        with pytest.raises(Withheld):
            await transport.request("POST", "/", allowed=lambda: False)
        await transport.request("POST", "/allowed", allowed=lambda: True)
    assert [request.target for request in peer.requests] == ["/allowed"]


async def test_permission_is_asked_for_after_the_wait_for_a_connection(papers: Papers) -> None:
    open_ = asyncio.Event()

    async def responds(request: Request, wire: Wire) -> None:
        await open_.wait()
        wire.answer()

    permitted = True
    async with talking(papers, responds, connections=1) as (transport, peer):
        async with asyncio.TaskGroup() as tasks:
            first = tasks.create_task(transport.request("POST", "/first"))
            await until(lambda: peer.requests)
            second = tasks.create_task(_withheld(transport, lambda: permitted))
            await asyncio.sleep(0)
            permitted = False
            open_.set()
        assert first.result().status == 200
        assert second.result()
    assert [request.target for request in peer.requests] == ["/first"]


async def _withheld(transport: Transport, allowed) -> bool:
    try:
        await transport.request("POST", "/second", allowed=allowed)
    except Withheld:
        return True
    return False


async def test_a_cancelled_request_takes_its_connection_with_it(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        if request.target == "/slow":
            await asyncio.Event().wait()
        wire.answer()

    async with talking(papers, responds, connections=1) as (transport, peer):
        task = asyncio.create_task(transport.request("POST", "/slow"))
        await until(lambda: peer.requests)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await transport.request("POST", "/next", within=5)).status == 200


async def test_a_server_that_is_not_there_was_never_asked() -> None:
    transport = Transport(Config(server="http://127.0.0.1:1"))
    with pytest.raises(Unreachable, match=r"no connection to 127\.0\.0\.1:1"):
        await transport.request("POST", "/")


async def test_an_outage_is_one_line_and_its_end_another(
    papers: Papers, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with serving(papers, echo) as peer:
        config = peer.config
        transport = Transport(config)
        await transport.request("GET", "/")
    await until(lambda: not transport._idle[-1].alive)
    for _ in range(5):
        with pytest.raises(Unreachable):
            await transport.request("GET", "/")
    assert [each.message for each in caplog.records] == ["the server is not reached"]
    port = int(config.server.rpartition(":")[2])
    async with serving(papers, echo, port=port):
        await transport.request("GET", "/")
        await transport.close()
    assert [each.message for each in caplog.records][1:] == ["the server is reached again"]


async def test_a_server_with_a_strange_certificate_gets_nothing(papers: Papers, tmp_path) -> None:
    stranger = make_papers(tmp_path)
    async with serving(papers, echo, ca=stranger.certificate) as peer:
        transport = Transport(peer.config)
        with pytest.raises(Unreachable, match="not to be trusted"):
            await transport.request("POST", "/")
        trusting = Transport(replace(peer.config, verify=False))
        assert (await trusting.request("POST", "/")).status == 200
        await trusting.close()
    assert len(peer.requests) == 1


async def test_a_server_of_another_name_gets_nothing(papers: Papers) -> None:
    async with serving(papers, echo, server_name="elsewhere.example") as peer:
        with pytest.raises(Unreachable, match="not to be trusted"):
            await Transport(peer.config).request("POST", "/")
    assert peer.requests == []


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(Config(server="ftp://host"), id="no HTTP"),
        pytest.param(Config(server="https://host", ca="no certificate"), id="no authority"),
        pytest.param(Config(server="https://h", certificate="a", key="b"), id="no certificate"),
    ],
)
def test_a_config_that_can_not_work_is_refused_at_once(config: Config) -> None:
    with pytest.raises(BadConfig):
        Transport(config)


async def test_a_stream_is_handed_over_line_by_line(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.begin_stream()
        for part in (b'{"a":1}\n{"b"', b":2}", b"\n", b'{"c":3}\n'):
            wire.send_chunk(part)
            await wire.writer.drain()
        wire.end_stream()

    lines: list[bytes] = []
    async with talking(papers, responds) as (transport, _):
        answer = await transport.stream("/", lines.extend)
    assert lines == [b'{"a":1}', b'{"b":2}', b'{"c":3}']
    assert answer.status == 200


async def test_a_stream_that_is_refused_answers_instead(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(410, b"too old\n")

    lines: list[bytes] = []
    async with talking(papers, responds) as (transport, _):
        answer = await transport.stream("/", lines.extend)
    assert (answer.status, answer.body, lines) == (410, b"too old\n", [])


async def test_a_stream_that_falls_silent_is_given_up(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.begin_stream()
        wire.send_chunk(b"one\n")
        await asyncio.Event().wait()

    lines: list[bytes] = []
    async with talking(papers, responds) as (transport, _):
        with pytest.raises(Unanswered, match="nothing heard for"):
            await transport.stream("/", lines.extend, silence=0.05)
    assert lines == [b"one"]


async def test_a_mistake_of_the_listener_reaches_who_listens(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.begin_stream()
        wire.send_chunk(b"one\n")
        await asyncio.Event().wait()

    def on_lines(lines: list[bytes]) -> None:
        raise ValueError(lines[0])

    async with talking(papers, responds) as (transport, _):
        with pytest.raises(ValueError, match="one"):
            await transport.stream("/", on_lines)


async def test_streams_need_no_connection_of_the_pool(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        if request.target == "/watch":
            wire.begin_stream()
            await asyncio.Event().wait()
        wire.answer()

    async with talking(papers, responds, connections=1) as (transport, peer):
        watch = asyncio.create_task(transport.stream("/watch", lambda lines: None))
        await until(lambda: peer.requests)
        assert (await transport.request("GET", "/", within=5)).status == 200
        watch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watch
