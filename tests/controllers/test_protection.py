"""Which finalizers a group should have, and who keeps it in use."""

from datetime import UTC, datetime

import pytest

from tests.controllers.space import Json, Space, pod_on
from tutti.api.meta import ObjectMeta
from tutti.api.registry import COMPOSITE_POD_GROUPS, POD_GROUPS, PODS
from tutti.api.scheduling import CompositePodGroup, PodGroup
from tutti.controllers.protection import FINALIZER, Key, Users, finalizers

DELETED = datetime(2026, 1, 1, tzinfo=UTC)
GANG: Json = {"spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}}
COMPOSITE: Json = {
    "spec": {
        "schedulingPolicy": {"gang": {"minGroupCount": 1}},
        "workloadRef": {"workloadName": "w", "templateName": "t"},
    }
}
TRAIN, SERVE = (Key(POD_GROUPS, "default", name) for name in ("train", "serve"))


def group(*there: str, deleted: bool = False) -> PodGroup:
    return PodGroup(
        metadata=ObjectMeta(
            name="train", finalizers=there, deletion_timestamp=DELETED if deleted else None
        )
    )


@pytest.mark.parametrize(
    ("group", "in_use", "wanted"),
    [
        pytest.param(group(), False, (FINALIZER,), id="a group without it gets it"),
        pytest.param(group("x", FINALIZER), True, ("x", FINALIZER), id="others are left alone"),
        pytest.param(
            group("x", FINALIZER, deleted=True), True, ("x", FINALIZER), id="in use: it stays"
        ),
        pytest.param(group("x", FINALIZER, deleted=True), False, ("x",), id="unused: it goes"),
        pytest.param(
            group(deleted=True), False, (), id="a group that is being deleted gets no new one"
        ),
    ],
)
def test_the_finalizers_of_a_group(group, in_use, wanted):
    assert finalizers(group, in_use=in_use) == wanted


def test_a_group_is_in_use_until_its_last_user_lets_go():
    users = Users()
    users.uses("p1", TRAIN)
    users.uses("p2", TRAIN)
    assert users.uses("p1", None) == TRAIN
    assert users.of(TRAIN) == {"p2"}
    assert users.uses("p2", SERVE) == TRAIN
    assert not users.of(TRAIN)
    assert users.of(SERVE) == {"p2"}


def test_who_was_never_seen_lets_nothing_go():
    assert Users().uses("p1", None) is None


async def test_a_group_goes_with_its_last_pod(space: Space):
    await space.create(POD_GROUPS, "train", GANG)
    await space.create(PODS, "a", pod_on(group="train"))
    await space.create(PODS, "b", pod_on("node-0", group="train"))
    await space.delete(POD_GROUPS, "train")
    await space.delete(PODS, "a")
    await space.until_left(PODS, "b")
    await space.until_left(POD_GROUPS, "train")
    await space.delete(PODS, "b")
    await space.until_left(POD_GROUPS)


async def test_a_group_without_the_finalizer_gets_it_back(space: Space):
    await space.create(POD_GROUPS, "train", GANG)
    bare = {"metadata": {"finalizers": None}}
    await space.client.patch(POD_GROUPS, space.name, "train", bare)
    await space.until(
        POD_GROUPS, PodGroup, lambda there: FINALIZER in there["train"].metadata.finalizers
    )


async def test_a_composite_stays_until_its_last_child_is_gone(space: Space):
    await space.create(COMPOSITE_POD_GROUPS, "job", COMPOSITE)
    await space.until(
        COMPOSITE_POD_GROUPS,
        CompositePodGroup,
        lambda there: FINALIZER in there["job"].metadata.finalizers,
    )
    of_template = {"workloadRef": {"workloadName": "w", "templateName": "leaf"}}
    child = {"spec": {**GANG["spec"], **of_template, "parentCompositePodGroupName": "job"}}
    await space.create(POD_GROUPS, "workers", child)
    await space.delete(COMPOSITE_POD_GROUPS, "job")
    await space.until_left(COMPOSITE_POD_GROUPS, "job")
    await space.delete(POD_GROUPS, "workers")
    await space.until_left(COMPOSITE_POD_GROUPS)


@pytest.mark.parametrize(
    "parents",
    [
        pytest.param({"job": "job"}, id="its own parent"),
        pytest.param({"job": "run", "run": "job"}, id="each other's parents"),
    ],
)
async def test_composites_in_a_ring_go_together(space: Space, parents: dict[str, str]):
    for name, parent in parents.items():
        child = {"spec": {**COMPOSITE["spec"], "parentCompositePodGroupName": parent}}
        await space.create(COMPOSITE_POD_GROUPS, name, child)
    for name in parents:
        await space.delete(COMPOSITE_POD_GROUPS, name)
    await space.until_left(COMPOSITE_POD_GROUPS)


async def test_one_of_a_ring_waits_for_the_other(space: Space):
    for name, parent in (("job", "run"), ("run", "job")):
        child = {"spec": {**COMPOSITE["spec"], "parentCompositePodGroupName": parent}}
        await space.create(COMPOSITE_POD_GROUPS, name, child)
    await space.until(
        COMPOSITE_POD_GROUPS,
        CompositePodGroup,
        lambda there: all(FINALIZER in one.metadata.finalizers for one in there.values()),
    )
    await space.delete(COMPOSITE_POD_GROUPS, "job")
    await space.create(POD_GROUPS, "later", GANG)
    await space.delete(POD_GROUPS, "later")
    await space.until_left(POD_GROUPS)  # so what came before was attended to as well
    await space.until_left(COMPOSITE_POD_GROUPS, "job", "run")
