"""Health as Kubernetes' components tell it."""

import pytest

from tutti.web.app import Request, Response
from tutti.web.health import Health, is_health


def ask(health: Health, path: str, query: bytes = b"") -> Response | None:
    async def no_body() -> dict[str, object]:
        raise AssertionError("health reads no body")

    scope = {"method": "GET", "path": path, "query_string": query, "headers": []}
    return health.response(Request(scope, no_body, None))


def test_who_is_well_says_ok() -> None:
    for path in ("/healthz", "/livez", "/readyz", "/livez/ping"):
        answer = ask(Health(), path)
        assert answer is not None
        assert (answer.status, answer.body) == (200, b"ok")


def test_who_is_not_ready_is_alive_all_the_same() -> None:
    health = Health(ready={"caches": lambda: "not synced"})

    alive, ready = ask(health, "/livez"), ask(health, "/readyz")

    assert alive is not None
    assert alive.status == 200
    assert ready is not None
    assert ready.status == 500
    assert ready.body == b"[+]ping ok\n[-]caches failed: not synced\nreadyz check failed\n"


def test_checks_are_named_when_asked_and_left_out_when_asked() -> None:
    health = Health(alive={"store": lambda: "full"})

    verbose = ask(health, "/healthz", b"verbose&exclude=store")
    one = ask(health, "/healthz/store")

    assert verbose is not None
    assert (verbose.status, verbose.body) == (200, b"[+]ping ok\nhealthz check passed\n")
    assert one is not None
    assert one.status == 500


def test_a_check_that_passes_may_have_a_remark() -> None:
    health = Health(ready={"lists": lambda: None}, remarks={"lists": lambda: "no groups here"})

    verbose, plain = ask(health, "/readyz", b"verbose"), ask(health, "/readyz")

    assert verbose is not None
    assert verbose.body == b"[+]ping ok\n[+]lists ok: no groups here\nreadyz check passed\n"
    assert plain is not None
    assert plain.body == b"ok"


@pytest.mark.parametrize(
    "path", ["/", "/healthzz", "/livez/nothing", "/readyz/a/b", "/api/healthz"]
)
def test_other_paths_are_none_of_its_business(path: str) -> None:
    assert ask(Health(), path) is None


@pytest.mark.parametrize(
    ("path", "open_"),
    [("/healthz", True), ("/readyz/ping", True), ("/healthz-not", False), ("/api", False)],
)
def test_only_health_is_open(path: str, open_: bool) -> None:
    assert is_health(path) is open_
