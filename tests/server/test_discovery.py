"""What is said to be served is what is served."""

import pytest

from tests.server.door import Door, opened
from tutti.api import registry
from tutti.server import gates

SCHEDULING = "/apis/scheduling.k8s.io"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


async def names(door: Door, path: str) -> list[str]:
    return [one["name"] for one in (await door.get(path)).json["resources"]]


async def test_the_family_as_1_37_serves_it(door: Door) -> None:
    group = (await door.get(SCHEDULING)).json

    assert [one["version"] for one in group["versions"]] == ["v1", "v1beta1", "v1alpha3"]
    assert group["preferredVersion"]["version"] == "v1"
    assert await names(door, f"{SCHEDULING}/v1") == ["priorityclasses"]
    assert await names(door, f"{SCHEDULING}/v1beta1") == [
        "podgroups",
        "podgroups/status",
        "workloads",
    ]
    assert await names(door, f"{SCHEDULING}/v1alpha3") == [
        "compositepodgroups",
        "compositepodgroups/status",
        "podgroups",
        "podgroups/status",
        "workloads",
    ]


async def test_a_resource_says_all_that_clients_look_at(door: Door) -> None:
    resources = (await door.get("/api/v1")).json["resources"]

    by_name = {one["name"]: one for one in resources}
    assert by_name["pods"] == {
        "name": "pods",
        "singularName": "pod",
        "namespaced": True,
        "kind": "Pod",
        "verbs": list(registry.VERBS),
        "shortNames": ["po"],
        "categories": ["all"],
        "storageVersionHash": "xPOwRZ+Yhw8=",
    }
    assert by_name["pods/eviction"] == {
        "name": "pods/eviction",
        "singularName": "",
        "namespaced": True,
        "group": "policy",
        "version": "v1",
        "kind": "Eviction",
        "verbs": ["create"],
    }


async def test_both_forms_of_discovery_agree(door: Door) -> None:
    plain = {
        (place, one["name"])
        for group in (await door.get("/apis")).json["groups"]
        for place in (version["groupVersion"] for version in group["versions"])
        for one in (await door.get(f"/apis/{place}")).json["resources"]
    }

    aggregated = await door.get("/apis", accept=AGGREGATED)

    assert dict(aggregated.headers)["content-type"] == AGGREGATED
    found = set()
    for group in aggregated.json["items"]:
        for version in group["versions"]:
            place = f"{group['metadata']['name']}/{version['version']}"
            for one in version["resources"]:
                found.add((place, one["resource"]))
                for sub in one.get("subresources", ()):
                    found.add((place, f"{one['resource']}/{sub['subresource']}"))
    assert found == plain


@pytest.mark.parametrize(
    ("closed", "gone", "left"),
    [
        ("CompositePodGroup", ["compositepodgroups"], ["podgroups", "workloads"]),
        (
            "GenericWorkload=false,TopologyAwareWorkloadScheduling=false,CompositePodGroup=false,"
            "PodGroupPreemptionPolicy=false,DRAWorkloadResourceClaims=false,WorkloadWithJob",
            ["compositepodgroups", "podgroups", "workloads"],
            [],
        ),
    ],
)
async def test_what_a_closed_gate_guards_is_not_there(
    closed: str, gone: list[str], left: list[str]
) -> None:
    place = f"{SCHEDULING}/v1alpha3"
    async with opened(gates.parse(f"{closed}=false")) as door:
        for name in gone:
            answer = await door.get(f"{place}/{name}")
            assert (answer.code, answer.text) == (
                404,
                "the server could not find the requested resource",
            )
        for name in left:
            assert (await door.get(f"{place}/{name}")).code == 200


async def test_the_index_of_openapi_leads_to_documents(door: Door) -> None:
    paths = (await door.get("/openapi/v3")).json["paths"]

    served = {place for storage in registry.STORAGES for place in storage.served}
    assert set(paths) == {
        f"apis/{group}/{version}" if group else f"api/{version}" for group, version in served
    }
    path, _, mark = paths["api/v1"]["serverRelativeURL"].partition("?")
    document = (await door.get(path)).json
    assert mark.startswith("hash=")
    assert "/api/v1/namespaces/{namespace}/pods" in document["paths"]
    assert (await door.get("/openapi/v3/apis/example.com/v1")).code == 404


async def test_the_version_is_that_of_kubernetes_1_37(door: Door) -> None:
    version = (await door.get("/version")).json

    assert (version["major"], version["minor"]) == ("1", "37")
    assert version["gitVersion"].startswith("v1.37.")
