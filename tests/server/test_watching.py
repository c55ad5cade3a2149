"""watch: what is told, in which order, to whom, and how it ends."""

from tests.server.door import METADATA, TABLE, Door, listening, opened, watch
from tests.server.objects import GROUPS, MAPS, NAMESPACES, group, named
from tutti.store import Store


def labelled(name: str, **labels: str) -> dict[str, object]:
    return {"metadata": {"name": name, "labels": labels}}


async def test_a_watch_begins_with_what_stands_and_goes_on_with_each_change(door: Door) -> None:
    await door.made(MAPS, named("a"))
    async with listening(door) as here:
        watcher = await watch(here, MAPS)

        assert await watcher.events(1) == [("ADDED", "a")]
        await door.made(MAPS, named("b"))
        await door.patch(f"{MAPS}/a", {"data": {"k": "v"}})
        await door.delete(f"{MAPS}/b")
        assert await watcher.events(3) == [("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b")]


async def test_a_watch_from_a_version_tells_what_came_after_it(door: Door) -> None:
    await door.made(MAPS, named("a"))
    version = (await door.get(MAPS)).json["metadata"]["resourceVersion"]
    await door.made(MAPS, named("b"))
    async with listening(door) as here:
        watcher = await watch(here, MAPS, resourceVersion=version)

        event = await watcher.event()

    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "b")
    assert (event["object"]["kind"], event["object"]["apiVersion"]) == ("ConfigMap", "v1")
    assert int(event["object"]["metadata"]["resourceVersion"]) > int(version)


async def test_a_deleted_object_is_told_with_the_version_of_its_end(door: Door) -> None:
    made = await door.made(MAPS, named("a", data={"k": "v"}))
    async with listening(door) as here:
        watcher = await watch(here, MAPS, resourceVersion=made["metadata"]["resourceVersion"])
        await door.delete(f"{MAPS}/a")

        gone = (await watcher.event())["object"]

    assert gone["data"] == {"k": "v"}
    assert int(gone["metadata"]["resourceVersion"]) == door.store.revision


async def test_objects_come_and_go_as_the_selector_sees_them(door: Door) -> None:
    async with listening(door) as here:
        watcher = await watch(here, MAPS, labelSelector="colour=red", resourceVersion="0")
        await door.made(MAPS, labelled("a", colour="blue"))
        await door.patch(f"{MAPS}/a", labelled("a", colour="red"))
        await door.patch(f"{MAPS}/a", labelled("a", size="l"))
        await door.patch(f"{MAPS}/a", labelled("a", colour="blue"))
        await door.patch(f"{MAPS}/a", labelled("a", size="m"))
        await door.made(MAPS, labelled("b", colour="red"))

        assert await watcher.events(4) == [
            ("ADDED", "a"),
            ("MODIFIED", "a"),
            ("DELETED", "a"),
            ("ADDED", "b"),
        ]


async def test_a_watch_of_one_name_hears_of_no_other(door: Door) -> None:
    async with listening(door) as here:
        watcher = await watch(here, MAPS, fieldSelector="metadata.name=b")
        await door.made(MAPS, named("a"))
        await door.made(MAPS, named("b"))

        assert await watcher.events(1) == [("ADDED", "b")]


async def test_every_version_sees_what_is_written_in_the_other(door: Door) -> None:
    alpha = GROUPS.replace("v1beta1", "v1alpha3")
    async with listening(door) as here:
        in_beta, in_alpha = await watch(here, GROUPS), await watch(here, alpha)
        await door.made(alpha, group("g"))

        beta, same = await in_beta.event(), await in_alpha.event()

    assert beta["object"]["apiVersion"] == "scheduling.k8s.io/v1beta1"
    assert same["object"] == beta["object"] | {"apiVersion": "scheduling.k8s.io/v1alpha3"}


async def test_a_watch_over_all_namespaces(door: Door) -> None:
    await door.made(NAMESPACES, named("other"))
    async with listening(door) as here:
        watcher = await watch(here, "/api/v1/configmaps")
        await door.made(f"{NAMESPACES}/other/configmaps", named("a"))
        await door.made(MAPS, named("b"))

        assert await watcher.events(2) == [("ADDED", "a"), ("ADDED", "b")]


async def test_initial_events_end_with_a_bookmark_that_says_so(door: Door) -> None:
    await door.made(MAPS, named("a"))
    async with listening(door) as here:
        watcher = await watch(
            here,
            MAPS,
            sendInitialEvents="true",
            resourceVersionMatch="NotOlderThan",
            allowWatchBookmarks="true",
        )

        assert await watcher.events(1) == [("ADDED", "a")]
        end = await watcher.event()

    assert end["type"] == "BOOKMARK"
    assert end["object"] == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {
            "resourceVersion": str(door.store.revision),
            "annotations": {"k8s.io/initial-events-end": "true"},
        },
    }


async def test_a_watch_ends_when_its_time_is_up(door: Door) -> None:
    async with listening(door) as here:
        watcher = await watch(here, MAPS, timeoutSeconds=1)

        assert await watcher.ends()


async def test_a_version_that_history_no_longer_holds_is_an_error_in_the_stream() -> None:
    async with opened(store=Store.open(None, history_rows=3)) as door:
        await door.made(MAPS, named("a"))
        for at in range(400):
            await door.patch(f"{MAPS}/a", {"data": {"k": str(at)}})

        answer = await door.get(MAPS, watch="true", resourceVersion="2")

    assert answer.code == 200
    assert answer.json["type"] == "ERROR"
    assert (answer.json["object"]["code"], answer.json["object"]["reason"]) == (410, "Expired")
    assert "too old resource version: 2" in answer.json["object"]["message"]


async def test_a_reader_that_does_not_keep_up_is_cut_off() -> None:
    async with opened(store=Store.open(None, buffered_changes=50)) as door, listening(door) as here:
        made = await door.made(MAPS, named("a"))
        watcher = await watch(here, MAPS, resourceVersion=made["metadata"]["resourceVersion"])
        watcher.pause()
        for at in range(150):
            await door.patch(f"{MAPS}/a", {"data": {"k": f"{at}" + "x" * 200_000}})
        watcher.go_on()

        event = await watcher.event()
        while event["type"] == "MODIFIED":
            event = await watcher.event()
        ended = await watcher.ends()

    assert (event["type"], event["object"]["reason"]) == ("ERROR", "Expired")
    assert ended


async def test_a_table_names_its_columns_once(door: Door) -> None:
    await door.made(MAPS, named("a", data={"k": "v"}))
    async with listening(door) as here:
        watcher = await watch(here, MAPS, accept=TABLE)
        first = await watcher.event()
        door.clock.advance(seconds=90)
        await door.patch(f"{MAPS}/a", {"data": {"l": "w"}})
        second = await watcher.event()

    assert [one["name"] for one in first["object"]["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert second["object"]["columnDefinitions"] is None
    assert first["object"]["rows"][0]["cells"] == ["a", 1, "0s"]
    assert second["object"]["rows"][0]["cells"] == ["a", 2, "90s"]


async def test_metadata_alone(door: Door) -> None:
    await door.made(MAPS, named("a", data={"k": "v"}))
    async with listening(door) as here:
        watcher = await watch(here, MAPS, accept=METADATA)

        found = (await watcher.event())["object"]

    assert (found["kind"], found["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert found["metadata"]["name"] == "a"
    assert "data" not in found


async def test_a_quiet_watch_is_told_how_far_it_has_seen() -> None:
    async with opened(bookmark_every_s=0.05) as door, listening(door) as here:
        watcher = await watch(here, MAPS, allowWatchBookmarks="true")
        before = door.store.revision
        await door.made(NAMESPACES, named("elsewhere"))

        version = 0
        while version <= before:
            event = await watcher.event()
            assert event["type"] == "BOOKMARK"
            version = int(event["object"]["metadata"]["resourceVersion"])
        await door.made(MAPS, named("a"))
        later = await watch(here, MAPS, resourceVersion=str(version))

        assert await later.events(1) == [("ADDED", "a")]


async def test_who_does_not_ask_for_bookmarks_gets_none() -> None:
    async with opened(bookmark_every_s=0.01) as door, listening(door) as here:
        watcher = await watch(here, MAPS, timeoutSeconds=1)

        assert await watcher.ends()
