"""Who is let in, where requests go, and what is served beside objects."""

import pytest

from tests.server.door import Door
from tests.server.objects import HERE, MAPS, named


@pytest.mark.parametrize("token", [None, "wrong"])
@pytest.mark.parametrize("path", ["/api/v1/pods", "/api", "/apis", "/openapi/v3", "/metrics", "/x"])
async def test_who_brings_no_good_token_gets_nothing(
    door: Door, path: str, token: str | None
) -> None:
    answer = await door.get(path, token=token)

    assert answer.code == 401
    assert answer.json == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "Unauthorized",
        "reason": "Unauthorized",
        "code": 401,
    }


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/version"])
async def test_health_and_version_are_for_everybody(door: Door, path: str) -> None:
    assert (await door.get(path, token=None)).code == 200


async def test_nothing_is_written_without_a_token(door: Door) -> None:
    before = door.store.revision

    assert (await door.post(MAPS, named("a"), token=None)).code == 401
    assert door.store.revision == before


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"{MAPS}/a"),
        ("PUT", MAPS),
        ("PATCH", MAPS),
        ("DELETE", "/api/v1/configmaps"),
        ("GET", f"{HERE}/pods/p/binding"),
        ("POST", f"{HERE}/pods/p/status"),
    ],
)
async def test_a_method_that_means_nothing_there(door: Door, method: str, path: str) -> None:
    answer = await door.ask(method, path, {})

    assert (answer.code, answer.json["reason"]) == (405, "MethodNotAllowed")


@pytest.mark.parametrize(
    "path", ["/api/v1/secrets", "/api/v2/pods", "/apis/scheduling.k8s.io/v9/podgroups"]
)
async def test_a_resource_that_is_not_served(door: Door, path: str) -> None:
    answer = await door.get(path)

    assert (answer.code, answer.json["reason"]) == (404, "NotFound")
    assert answer.text == "the server could not find the requested resource"


@pytest.mark.parametrize(
    "path", ["/", "/nothing", "/apis/example.com", "/apis/example.com/v1/pies"]
)
async def test_a_path_of_nobody(door: Door, path: str) -> None:
    answer = await door.get(path)

    assert (answer.code, answer.body) == (404, b"404 page not found\n")


async def test_answers_are_pretty_for_who_asks(door: Door) -> None:
    plain, pretty = await door.get(MAPS), await door.get(MAPS, pretty="true")

    assert pretty.json == plain.json
    assert pretty.body.count(b"\n") > 5 > plain.body.count(b"\n")


async def test_requests_are_counted_by_what_they_were_and_how_they_ended(door: Door) -> None:
    await door.made(MAPS, named("a"))
    await door.get(f"{MAPS}/b")

    lines = (await door.get("/metrics")).body.decode().splitlines()

    name = "apiserver_request_total"
    assert f'{name}{{method="POST",resource="configmaps",code="201"}} 1' in lines
    assert f'{name}{{method="GET",resource="configmaps",code="404"}} 1' in lines
