"""One request, one answer: users, bodies, errors."""

import logging
from pathlib import Path

import pytest

from tests.web.loopback import served
from tutti.api.errors import Conflict, TooManyRequests
from tutti.web.app import BODY_LIMIT, App, Request, Response, Stream, json_response
from tutti.web.health import Health, is_health
from tutti.web.tokens import Tokens, User

SECRET = "a-token-that-nobody-may-see"
AUTHORIZED = f"Authorization: Bearer {SECRET}"


async def echo(request: Request) -> Response | Stream:
    if (health := Health().response(request)) is not None:
        return health
    match request.path:
        case "/conflict":
            raise Conflict.of("pods", "a")
        case "/busy":
            raise TooManyRequests("later", {"retryAfterSeconds": 7})
        case "/broken":
            raise RuntimeError("a mistake of ours")
    return json_response(
        200,
        {
            "method": request.method,
            "path": request.path,
            "query": request.query,
            "body": (await request.body()).decode(),
            "user": request.user.name if request.user else None,
        },
    )


def app() -> App:
    tokens = Tokens({SECRET: User("tutti:admin", ("system:masters",))})
    return App(echo, tokens=tokens, is_open=is_health)


async def test_a_request_arrives_whole_over_tls(tmp_path: Path) -> None:
    async with served(app(), tmp_path) as here:
        answer = await here.ask("POST", "/a%20b?c=1&d&c=%2B", AUTHORIZED, body=b"hello")

    assert answer.json() == {
        "method": "POST",
        "path": "/a b",
        "query": [["c", "1"], ["d", ""], ["c", "+"]],
        "body": "hello",
        "user": "tutti:admin",
    }


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        pytest.param("/api", [AUTHORIZED], 200, id="the right token"),
        pytest.param("/api", [], 401, id="no token"),
        pytest.param("/api", ["Authorization: Bearer wrong"], 401, id="a wrong token"),
        pytest.param("/api", [f"Authorization: Basic {SECRET}"], 401, id="another scheme"),
        pytest.param("/healthz", [], 200, id="health is open"),
        pytest.param("/healthz", ["Authorization: Bearer wrong"], 401, id="a wrong one opens less"),
    ],
)
async def test_who_has_no_credentials_gets_nothing(
    path: str, headers: list[str], status: int
) -> None:
    async with served(app()) as here:
        answer = await here.ask("GET", path, *headers)

    assert answer.status == status
    if status == 401:
        assert answer.json()["reason"] == "Unauthorized"


async def test_what_the_api_refuses_is_answered_as_a_status() -> None:
    async with served(app()) as here:
        connection = await here.connect()
        conflict = await connection.ask("GET", "/conflict", AUTHORIZED)
        busy = await connection.ask("GET", "/busy", AUTHORIZED)

    assert (conflict.status, conflict.json()) == (409, Conflict.of("pods", "a").status())
    assert (busy.status, busy.headers["retry-after"]) == (429, "7")


async def test_a_mistake_of_ours_is_a_500_and_the_next_request_is_answered() -> None:
    async with served(app()) as here:
        connection = await here.connect()
        broken = await connection.ask("GET", "/broken", AUTHORIZED)
        next_one = await connection.ask("GET", "/", AUTHORIZED)

    assert (broken.status, broken.json()["reason"]) == (500, "InternalError")
    assert next_one.status == 200


@pytest.mark.parametrize(
    "declare", [pytest.param(True, id="declared"), pytest.param(False, id="chunked")]
)
async def test_a_body_past_the_limit_is_refused(declare: bool) -> None:
    async with served(app()) as here:
        connection = await here.connect()
        if declare:
            connection.send("POST", "/", AUTHORIZED, f"Content-Length: {BODY_LIMIT + 1}")
        else:
            connection.send("POST", "/", AUTHORIZED, "Transfer-Encoding: chunked")
            connection.writer.write(b"%x\r\n%b\r\n" % (BODY_LIMIT + 1, b"x" * (BODY_LIMIT + 1)))
        answer = await connection.answer()

    assert (answer.status, answer.json()["reason"]) == (413, "RequestEntityTooLarge")
    assert "limit is 3145728" in str(answer.json()["message"])


async def test_a_body_at_the_limit_is_taken() -> None:
    async with served(app()) as here:
        answer = await here.ask("POST", "/", AUTHORIZED, body=b"x" * BODY_LIMIT)

    assert answer.status == 200


async def test_no_token_gets_into_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with served(app()) as here:
        for path in ("/", "/broken", "/conflict", f"/broken?token={SECRET}"):
            await here.ask("GET", path, AUTHORIZED)
        await here.ask("GET", "/", f"Authorization: Bearer wrong-{SECRET}")
        malformed = await here.connect()
        malformed.writer.write(f"GET / HTTP/1.1\r\n{AUTHORIZED}\r\nbad header\r\n\r\n".encode())
        await malformed.reader.read()

    assert "a mistake of ours" in caplog.text
    assert SECRET not in caplog.text
