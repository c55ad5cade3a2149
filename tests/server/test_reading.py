"""get and list: selectors, pages, versions."""

import pytest

from tests.server.door import Door, opened
from tests.server.objects import MAPS, NAMESPACES, NODES, PODS, binding, named, pod
from tutti.store import Store


def names(listed: dict[str, list[dict[str, dict[str, str]]]]) -> list[str]:
    return [one["metadata"]["name"] for one in listed["items"]]


async def some_maps(door: Door, count: int = 5) -> None:
    for at in range(count):
        await door.made(MAPS, {"metadata": {"name": f"m{at}", "labels": {"side": f"s{at}"}}})


async def test_a_list_says_kind_and_version_once(door: Door) -> None:
    await some_maps(door, 1)

    listed = (await door.get(MAPS)).json

    assert (listed["kind"], listed["apiVersion"]) == ("ConfigMapList", "v1")
    assert "kind" not in listed["items"][0]
    assert (
        listed["items"][0]["metadata"]["resourceVersion"] == listed["metadata"]["resourceVersion"]
    )


async def test_a_list_over_all_namespaces(door: Door) -> None:
    await door.made(NAMESPACES, named("other"))
    await door.made(f"{NAMESPACES}/other/configmaps", named("b"))
    await door.made(MAPS, named("a"))

    everywhere = await door.get("/api/v1/configmaps")

    assert names(everywhere.json) == ["a", "b"]
    assert names((await door.get(MAPS)).json) == ["a"]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("side=s1", ["m1"]),
        ("side in (s1,s3)", ["m1", "m3"]),
        ("side notin (s0,s1,s2)", ["m3", "m4"]),
        ("side!=s0,side!=s1", ["m2", "m3", "m4"]),
        ("!side", []),
        ("other", []),
    ],
)
async def test_objects_are_selected_by_labels(door: Door, selector: str, found: list[str]) -> None:
    await some_maps(door)

    assert names((await door.get(MAPS, labelSelector=selector)).json) == found


@pytest.mark.parametrize(
    ("path", "selector", "found"),
    [
        (PODS, "spec.nodeName=n", ["bound"]),
        (PODS, "spec.nodeName=", ["free"]),
        (PODS, "spec.host=n", ["bound"]),
        (PODS, "status.phase!=Running,spec.schedulerName=default-scheduler", ["bound", "free"]),
        (PODS, "metadata.name=free,metadata.namespace=default", ["free"]),
        (NODES, "spec.unschedulable=true", ["off"]),
        (NAMESPACES, "metadata.name=default,status.phase=Active", ["default"]),
    ],
)
async def test_objects_are_selected_by_fields(
    door: Door, path: str, selector: str, found: list[str]
) -> None:
    await door.made(PODS, pod("free"))
    await door.made(PODS, pod("bound"))
    await door.post(f"{PODS}/bound/binding", binding("bound", "n"))
    await door.made(NODES, named("on"))
    await door.made(NODES, named("off", spec={"unschedulable": True}))

    assert names((await door.get(path, fieldSelector=selector)).json) == found


@pytest.mark.parametrize(
    ("path", "query", "sentence"),
    [
        (PODS, {"fieldSelector": "spec.volumes=x"}, "field label not supported: spec.volumes"),
        (
            MAPS,
            {"fieldSelector": "data.x=y"},
            '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
        (MAPS, {"fieldSelector": "x"}, "invalid selector: 'x'; can't understand 'x'"),
        (MAPS, {"labelSelector": "a b"}, "unable to parse requirement: found 'b'"),
        (MAPS, {"limit": "ten"}, 'strconv.ParseInt: parsing "ten": invalid syntax'),
        (MAPS, {"resourceVersion": "x"}, "invalid resource version"),
        (MAPS, {"continue": "x"}, "invalid continue token: continue key is not valid"),
        (MAPS, {"shardSelector": "x"}, 'the query option "shardSelector" is not served'),
    ],
)
async def test_options_that_cannot_be_read_or_served_are_refused(
    door: Door, path: str, query: dict[str, str], sentence: str
) -> None:
    answer = await door.get(path, **query)

    assert (answer.code, answer.json["reason"]) == (400, "BadRequest")
    assert sentence in answer.text


async def test_options_that_kubernetes_does_not_know_are_passed_over(door: Door) -> None:
    assert (await door.get(MAPS, colour="red", export="true")).code == 200


async def test_pages_are_of_the_first_ones_version(door: Door) -> None:
    await some_maps(door)

    first = (await door.get(MAPS, limit=2)).json
    await door.delete(f"{MAPS}/m3")
    await door.made(MAPS, named("m9"))
    rest = (await door.get(MAPS, **{"limit": 9, "continue": first["metadata"]["continue"]})).json

    assert names(first) == ["m0", "m1"]
    assert first["metadata"]["remainingItemCount"] == 3
    assert names(rest) == ["m2", "m3", "m4"]
    assert rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    assert "continue" not in rest["metadata"]


async def test_a_limit_below_nothing_is_none(door: Door) -> None:
    await some_maps(door)

    answer = await door.get(MAPS, limit=-1)

    assert (answer.code, len(answer.json["items"])) == (200, 5)


async def test_pages_of_a_selection_do_not_say_how_many_remain(door: Door) -> None:
    await some_maps(door)

    first = (await door.get(MAPS, limit=2, labelSelector="side!=s1")).json
    token = first["metadata"]["continue"]
    rest = (await door.get(MAPS, **{"labelSelector": "side!=s1", "continue": token})).json

    assert (names(first), names(rest)) == (["m0", "m2"], ["m3", "m4"])
    assert "remainingItemCount" not in first["metadata"]


async def test_a_list_as_of_an_older_version(door: Door) -> None:
    made = await door.made(MAPS, named("a"))
    await door.made(MAPS, named("b"))
    version = made["metadata"]["resourceVersion"]

    exact = await door.get(MAPS, resourceVersion=version, resourceVersionMatch="Exact")
    newer = await door.get(MAPS, resourceVersion=version, resourceVersionMatch="NotOlderThan")

    assert (names(exact.json), names(newer.json)) == (["a"], ["a", "b"])


async def test_a_version_to_come_cannot_be_shown(door: Door) -> None:
    answer = await door.get(MAPS, resourceVersion="999999")

    assert (answer.code, answer.json["reason"]) == (504, "Timeout")
    assert "Too large resource version: 999999" in answer.text
    assert answer.json["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


async def test_pages_that_are_too_old_say_how_to_go_on() -> None:
    async with opened(store=Store.open(None, history_rows=3)) as door:
        await some_maps(door)
        first = (await door.get(MAPS, limit=2)).json
        for at in range(400):
            await door.patch(f"{MAPS}/m0", {"data": {"k": str(at)}})

        late = await door.get(MAPS, **{"continue": first["metadata"]["continue"]})
        rest = await door.get(MAPS, **{"continue": late.json["metadata"]["continue"]})

    assert (late.code, late.json["reason"]) == (410, "Expired")
    assert "The provided continue parameter is too old" in late.text
    assert names(rest.json) == ["m2", "m3", "m4"]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (
            {"resourceVersionMatch": "Exact"},
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            {"resourceVersionMatch": "Exact", "resourceVersion": "0"},
            'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
        (
            {"resourceVersionMatch": "Newest", "resourceVersion": "5"},
            'Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""',
        ),
        ({"sendInitialEvents": "true"}, "sendInitialEvents is forbidden for list"),
        (
            {"watch": "true", "sendInitialEvents": "true"},
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            {"watch": "true", "resourceVersionMatch": "NotOlderThan"},
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
    ],
)
async def test_options_that_contradict_each_other_are_invalid(
    door: Door, query: dict[str, str], sentence: str
) -> None:
    answer = await door.get(MAPS, **query)

    assert (answer.code, answer.json["reason"]) == (422, "Invalid")
    assert sentence in answer.text


async def test_what_is_not_there(door: Door) -> None:
    answer = await door.get(f"{MAPS}/a")

    assert (answer.code, answer.text) == (404, 'configmaps "a" not found')
    assert answer.json["details"] == {"name": "a", "kind": "configmaps"}


async def test_one_name_is_found_without_a_look_at_the_others(door: Door) -> None:
    await some_maps(door)

    found = (await door.get(MAPS, fieldSelector="metadata.name=m3")).json
    other = (await door.get(MAPS, fieldSelector="metadata.name=m3", labelSelector="side=s1")).json
    none = (await door.get(MAPS, fieldSelector="metadata.name=m9")).json

    assert (names(found), names(other), names(none)) == (["m3"], [], [])
    assert found["metadata"] == {"resourceVersion": str(door.store.revision)}
