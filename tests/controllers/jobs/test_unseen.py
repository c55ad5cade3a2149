"""Nothing is planned for a Job before what was written for it has been seen."""

from msgspec import structs

from tests.controllers.jobs.world import START
from tutti.api.meta import ObjectMeta
from tutti.controllers.jobs import unseen
from tutti.controllers.jobs.unseen import Unseen

JOB = ("ns", "j")


def meta(version: int, uid: str = "u", **more: object) -> ObjectMeta:
    return structs.replace(ObjectMeta(uid=uid, resource_version=str(version)), **more)


def test_a_write_is_waited_for_until_it_is_shown():
    writes = Unseen()
    writes.wrote(JOB, "u", unseen.at_least("7"), meta(5))
    assert writes.waits(JOB)
    assert writes.saw(meta(6)) is None
    assert writes.saw(meta(7)) == JOB
    assert not writes.waits(JOB)


def test_a_write_that_is_shown_already_is_not_waited_for():
    writes = Unseen()
    writes.wrote(JOB, "u", unseen.at_least("7"), meta(8))
    assert not writes.waits(JOB)


def test_a_job_waits_for_the_last_of_its_writes():
    writes = Unseen()
    for uid in ("a", "b"):
        writes.wrote(JOB, uid, unseen.being_deleted, None)
    assert writes.saw(meta(9, "a", deletion_timestamp=START)) is None
    assert writes.lost("b") == JOB


def test_what_is_never_shown_is_given_up_in_time():
    now = [0.0]
    writes = Unseen(clock=lambda: now[0])
    writes.wrote(JOB, "u", unseen.at_least("1"), None)
    now[0] = unseen.LAPSE_S
    assert writes.lapse() == set()
    now[0] += 1
    assert writes.lapse() == {JOB}
    assert not writes.waits(JOB)
