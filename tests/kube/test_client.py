import msgspec
import pytest

from tests.kube.peer import Papers, Request, Wire, serving
from tutti.api.core_v1 import Node, Pod
from tutti.api.errors import Conflict, NotFound, TooManyRequests
from tutti.api.registry import COMPOSITE_POD_GROUPS, NODES, POD_GROUPS, PODS
from tutti.kube.client import Client


def status(code: int, reason: str, message: str) -> dict[str, object]:
    return {"kind": "Status", "code": code, "reason": reason, "message": message}


def node(name: str) -> dict[str, object]:
    return {"metadata": {"name": name}}


async def test_an_object_comes_typed(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(200, {"metadata": {"name": "p"}, "spec": {"nodeName": "n", "unread": 1}})

    async with serving(papers, responds) as peer:
        client = Client(peer.config)
        pod = await client.get(PODS, "blue", "p", into=Pod)
        await client.close()
    assert pod.spec.node_name == "n"
    assert peer.requests[0].target == "/api/v1/namespaces/blue/pods/p"


async def test_a_list_is_followed_page_by_page(papers: Papers) -> None:
    pages = {
        "": {"metadata": {"resourceVersion": "7", "continue": "a b"}, "items": [node("1")]},
        "a+b": {"metadata": {"resourceVersion": "7"}, "items": [node("2"), node("3")]},
    }

    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(200, pages[request.target.partition("continue=")[2]])

    async with serving(papers, responds) as peer:
        client = Client(peer.config)
        listed = await client.list(NODES, into=Node, label="a=b", page=2)
        await client.close()
    assert [item.metadata.name for item in listed.items] == ["1", "2", "3"]
    assert listed.version == "7"
    assert peer.requests[0].target == "/api/v1/nodes?labelSelector=a%3Db&limit=2"


async def test_an_object_that_can_not_be_read_costs_only_itself(
    papers: Papers, caplog: pytest.LogCaptureFixture
) -> None:
    odd = {"metadata": {"name": "odd", "labels": 3}}

    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(200, {"metadata": {}, "items": [node("1"), odd, node("2")]})

    async with serving(papers, responds) as peer:
        client = Client(peer.config)
        listed = await client.list(NODES, into=Node)
        await client.close()
    assert [item.metadata.name for item in listed.items] == ["1", "2"]
    assert "an object can't be read" in caplog.text


async def test_a_binding_carries_the_uid_and_the_mark(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(201, {"kind": "Status", "status": "Success"})

    async with serving(papers, responds) as peer:
        client = Client(peer.config)
        await client.bind("blue", "p", "u-1", "n-1", {"tutti.dev/commit": "c"})
        await client.close()
    [request] = peer.requests
    assert request.target == "/api/v1/namespaces/blue/pods/p/binding"
    assert msgspec.json.decode(request.body) == {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {
            "name": "p",
            "namespace": "blue",
            "uid": "u-1",
            "annotations": {"tutti.dev/commit": "c"},
        },
        "target": {"apiVersion": "v1", "kind": "Node", "name": "n-1"},
    }


async def test_a_refusal_is_the_error_that_its_status_names(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(409, status(409, "Conflict", "pod p is already assigned to node"))

    async with serving(papers, responds) as peer:
        client = Client(peer.config)
        with pytest.raises(Conflict, match="already assigned"):
            await client.bind("blue", "p", "u", "n", {})
        await client.close()


async def test_a_delete_names_the_one_it_means(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(200)

    async with serving(papers, responds) as peer:
        client = Client(peer.config)
        await client.delete(PODS, "blue", "p", uid="u", grace=0, propagation="Background")
        await client.close()
    assert msgspec.json.decode(peer.requests[0].body) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": "u"},
        "gracePeriodSeconds": 0,
        "propagationPolicy": "Background",
    }


@pytest.mark.parametrize(
    ("code", "headers"), [(429, "Retry-After: 0.01\r\n"), (503, "Retry-After: 0.01\r\n")]
)
async def test_what_a_busy_server_turned_away_is_sent_again(
    papers: Papers, code: int, headers: str
) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        if wire.requests < 3:
            wire.answer(code, headers=headers)
        else:
            wire.answer(201, b"{}")

    async with serving(papers, responds) as peer:
        client = Client(peer.config)
        await client.create(NODES, node("n"))
        await client.close()
    assert len(peer.requests) == 3


async def test_a_server_that_stays_busy_is_not_asked_for_ever(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(429, headers="Retry-After: 60\r\n")

    async with serving(papers, responds) as peer:
        client = Client(peer.config, within=1.0)
        with pytest.raises(TooManyRequests):
            await client.create(NODES, node("n"))
        await client.close()


async def test_discovery_decides_which_version_is_spoken(papers: Papers) -> None:
    answers = {
        "/apis": {
            "groups": [
                {"name": "apps", "versions": [{"version": "v1"}]},
                {
                    "name": "scheduling.k8s.io",
                    "versions": [{"version": "v1"}, {"version": "v1alpha3"}],
                },
            ]
        },
        "/apis/scheduling.k8s.io/v1": {"resources": []},
        "/apis/scheduling.k8s.io/v1alpha3": {
            "resources": [
                {"name": "podgroups", "kind": "PodGroup", "namespaced": True, "verbs": ["list"]}
            ]
        },
    }

    async def responds(request: Request, wire: Wire) -> None:
        wire.answer(200, answers[request.target])

    async with serving(papers, responds) as peer:
        client = Client(peer.config)
        discovery = await client.discover({"scheduling.k8s.io"})
        await client.close()
    assert discovery.served("scheduling.k8s.io", "podgroups") == ("v1alpha3",)
    assert discovery.served("scheduling.k8s.io", "compositepodgroups") == ()
    assert client.path(POD_GROUPS, "blue", "g").startswith("/apis/scheduling.k8s.io/v1alpha3/")
    assert client.path(COMPOSITE_POD_GROUPS).startswith("/apis/scheduling.k8s.io/v1alpha3/")
    assert client.path(PODS) == "/api/v1/pods"


async def test_a_group_that_vanishes_while_it_is_discovered_serves_nothing(papers: Papers) -> None:
    async def responds(request: Request, wire: Wire) -> None:
        if request.target == "/apis":
            wire.answer(200, {"groups": [{"name": "g", "versions": [{"version": "v1"}]}]})
        else:
            wire.answer(404, status(404, "NotFound", "gone"))

    async with serving(papers, responds) as peer:
        client = Client(peer.config)
        with pytest.raises(NotFound):
            await client.get(NODES, None, "n", into=Node)
        assert (await client.discover({"g"})).resources == ()
        await client.close()
