"""Which finalizers a group should have, and who keeps it in use."""

from datetime import UTC, datetime

import pytest

from tutti.api.meta import ObjectMeta
from tutti.api.registry import POD_GROUPS
from tutti.api.scheduling import PodGroup
from tutti.controllers.protection import FINALIZER, Key, Users, finalizers

DELETED = datetime(2026, 1, 1, tzinfo=UTC)
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
