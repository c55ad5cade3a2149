"""What becomes of objects when their owners go."""

from typing import Any

import pytest

from tests.controllers.space import Space, owned_by
from tutti.api.meta import ObjectMeta
from tutti.api.registry import CONFIG_MAPS, SERVICE_ACCOUNTS, Storage
from tutti.controllers.owners import Anything
from tutti.kube.client import Propagation

UNKNOWN = Storage(
    group="example.com", versions=("v1",), kind="Robot", plural="robots", singular="robot"
)


async def test_dependents_go_after_their_owner(space: Space):
    owner = await space.create(CONFIG_MAPS, "owner")
    child = await space.create(CONFIG_MAPS, "child", owned_by((CONFIG_MAPS, owner)))
    await space.create(CONFIG_MAPS, "grandchild", owned_by((CONFIG_MAPS, child)))
    await space.delete(CONFIG_MAPS, "owner")
    await space.until_left(CONFIG_MAPS)


async def test_an_object_stays_as_long_as_one_owner_does(space: Space):
    one, other = [await space.create(CONFIG_MAPS, name) for name in ("one", "other")]
    await space.create(CONFIG_MAPS, "child", owned_by((CONFIG_MAPS, one), (CONFIG_MAPS, other)))
    await space.delete(CONFIG_MAPS, "one")

    def owned_by_the_other_alone(there: dict[str, Anything]) -> bool:
        return [ref.name for ref in there["child"].metadata.owner_references] == ["other"]

    await space.until(CONFIG_MAPS, Anything, owned_by_the_other_alone)
    await space.delete(CONFIG_MAPS, "other")
    await space.until_left(CONFIG_MAPS)


async def test_an_owner_deleted_in_the_foreground_goes_last(space: Space):
    owner = await space.create(CONFIG_MAPS, "owner")
    child = owned_by((CONFIG_MAPS, owner), blocking=True)
    child["metadata"]["finalizers"] = ["example.com/wait"]
    await space.create(CONFIG_MAPS, "child", child)
    await space.delete(CONFIG_MAPS, "owner", "Foreground")

    def child_is_told(there: dict[str, Anything]) -> bool:
        return there["child"].metadata.deletion_timestamp is not None

    there = await space.until(CONFIG_MAPS, Anything, child_is_told)
    assert "owner" in there
    await space.client.patch(CONFIG_MAPS, space.name, "child", {"metadata": {"finalizers": None}})
    await space.until_left(CONFIG_MAPS)


async def test_orphans_stay_and_forget_their_owner(space: Space):
    owner = await space.create(CONFIG_MAPS, "owner")
    await space.create(CONFIG_MAPS, "child", owned_by((CONFIG_MAPS, owner)))
    await space.delete(CONFIG_MAPS, "owner", "Orphan")
    await space.until_left(CONFIG_MAPS, "child")
    there = await space.until(CONFIG_MAPS, Anything, lambda there: "child" in there)
    assert there["child"].metadata.owner_references == ()


async def test_an_owner_that_never_was_counts_as_gone(space: Space):
    nobody = ObjectMeta(name="nobody", uid="11111111-2222-3333-4444-555555555555")
    await space.create(CONFIG_MAPS, "child", owned_by((SERVICE_ACCOUNTS, nobody)))
    await space.until_left(CONFIG_MAPS)


async def test_an_owner_of_a_kind_that_is_not_served_counts_as_present(space: Space):
    nobody = ObjectMeta(name="nobody", uid="11111111-2222-3333-4444-555555555555")
    await space.create(CONFIG_MAPS, "kept", owned_by((UNKNOWN, nobody)))
    await space.create(CONFIG_MAPS, "collected", owned_by((SERVICE_ACCOUNTS, nobody)))
    await space.until_left(CONFIG_MAPS, "kept")


async def test_a_namesake_of_the_owner_is_not_the_owner(space: Space):
    first = await space.create(CONFIG_MAPS, "owner")
    await space.delete(CONFIG_MAPS, "owner")
    await space.until_left(CONFIG_MAPS)
    await space.create(CONFIG_MAPS, "owner")
    await space.create(CONFIG_MAPS, "child", owned_by((CONFIG_MAPS, first)))
    await space.until_left(CONFIG_MAPS, "owner")


@pytest.mark.parametrize("how", ["Background", "Foreground"])
async def test_an_owner_that_is_about_to_go_keeps_nothing_alive(space: Space, how: Propagation):
    top = await space.create(CONFIG_MAPS, "top")
    waiting = owned_by((CONFIG_MAPS, top), blocking=True)
    waiting["metadata"]["finalizers"] = ["example.com/wait"]
    middle = await space.create(CONFIG_MAPS, "waits-for-bottom", waiting)
    bottom = owned_by((CONFIG_MAPS, top), (CONFIG_MAPS, middle))
    await space.create(CONFIG_MAPS, "bottom", bottom)
    await space.delete(CONFIG_MAPS, "top", how)
    await space.until(CONFIG_MAPS, Anything, lambda there: "bottom" not in there)
    nobody_waits: dict[str, Any] = {"metadata": {"finalizers": None}}
    await space.client.patch(CONFIG_MAPS, space.name, "waits-for-bottom", nobody_waits)
    await space.until_left(CONFIG_MAPS)
