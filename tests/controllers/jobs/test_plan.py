"""What is done about a Job, from its first pod to its end, and whenever the controller dies."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.controllers.jobs.world import START, World, indexed, job, pod
from tutti.api import indexes
from tutti.api.batch import (
    FailurePolicy,
    FailureRule,
    Job,
    OnExitCodes,
    OnPodCondition,
    SuccessPolicy,
    SuccessRule,
)
from tutti.controllers.jobs import facts
from tutti.controllers.jobs.managing import New
from tutti.controllers.jobs.plan import News, plan
from tutti.controllers.undone import UNDONE


def conditions(world: World) -> list[tuple[str, str]]:
    return [(c.type, c.reason) for c in world.job.status.conditions if c.status == "True"]


def test_a_new_job_gets_all_its_pods_and_a_start():
    planned = plan(indexed(3), [], START)
    assert planned.make == (New(index=0), New(index=1), New(index=2))
    assert (planned.status.active, planned.status.start_time) == (3, START)


def test_a_job_with_more_completions_than_parallelism_runs_in_waves():
    world = World(job(parallelism=2, completions=3))
    world.settle()
    assert len(world.active()) == 2
    world.end(world.active()[0].metadata.uid, "Succeeded")
    world.settle()
    assert len(world.active()) == 2
    for running in world.active():
        world.end(running.metadata.uid, "Succeeded")
    world.settle()
    assert conditions(world) == [
        ("SuccessCriteriaMet", "CompletionsReached"),
        ("Complete", "CompletionsReached"),
    ]
    assert (world.job.status.succeeded, world.job.status.completion_time) == (3, START)


def test_nobody_joins_a_work_queue_after_the_first_success():
    world = World(job(parallelism=3))
    world.settle()
    first, second, third = world.active()
    world.end(first.metadata.uid, "Succeeded")
    world.settle()
    world.end(second.metadata.uid, "Failed")
    world.settle()
    world.pass_time()
    world.settle()
    assert [one.metadata.uid for one in world.active()] == [third.metadata.uid]
    world.end(third.metadata.uid, "Failed")
    world.settle()
    assert world.job.ending is not None
    assert (world.job.status.succeeded, world.job.status.failed) == (1, 2)


def test_a_failed_index_runs_again_after_a_pause_that_doubles():
    world = World(indexed(2))
    world.settle()
    for pause in (10, 20, 40):
        failing = next(one for one in world.active() if facts.index_of(one) == 1)
        world.end(failing.metadata.uid, "Failed")
        world.settle()
        assert world.plan().look_again == timedelta(seconds=pause)
        world.pass_time(pause)
        world.settle()
        assert [facts.index_of(one) for one in world.active()] == [0, 1]


def test_a_job_fails_when_too_many_of_its_pods_did():
    world = World(indexed(2, backoff_limit=1))
    for _ in range(2):
        world.settle()
        world.end(next(one for one in world.active()).metadata.uid, "Failed")
        world.settle()
        world.pass_time()
    world.settle()
    assert conditions(world) == [("FailureTarget", "BackoffLimitExceeded")]
    world.stop_what_is_deleted()
    world.settle()
    assert conditions(world)[-1] == ("Failed", "BackoffLimitExceeded")
    assert world.job.status.active == 0
    assert all(not facts.is_tracked(one) for one in world.pods.values())


def test_a_job_that_runs_too_long_fails():
    world = World(indexed(2, active_deadline_seconds=60))
    world.settle()
    assert world.plan().look_again == timedelta(seconds=60)
    world.pass_time(60)
    world.settle()
    assert conditions(world) == [("FailureTarget", "DeadlineExceeded")]


def test_a_suspended_job_gives_its_pods_up_without_counting_them():
    world = World(indexed(2))
    world.settle()
    world.job = structs.replace(world.job, spec=structs.replace(world.job.spec, suspend=True))
    planned = world.plan()
    assert planned.news == (News("Suspended", "Job suspended"),)
    world.settle()
    world.stop_what_is_deleted()
    world.settle()
    status = world.job.status
    assert (status.failed, status.active, status.start_time) == (0, 0, None)
    assert conditions(world) == [("Suspended", "JobSuspended")]
    world.pass_time(5)
    world.job = structs.replace(world.job, spec=structs.replace(world.job.spec, suspend=False))
    assert world.plan().news == (News("Resumed", "Job resumed"),)
    world.settle()
    assert len(world.active()) == 2
    assert world.job.status.start_time == world.now


def test_a_job_that_shrinks_gives_up_the_pods_with_which_least_is_lost():
    running, pending = pod(0, "Running"), pod(1, "Pending")
    shrunk = indexed(2, parallelism=1)
    assert plan(shrunk, [running, pending], START).give_up == (pending,)


def test_a_second_pod_of_one_index_goes():
    first, second, other = pod(0, "Running"), pod(0, "Pending"), pod(1, "Running")
    assert plan(indexed(2), [first, second, other], START).give_up == (second,)


def test_a_pod_whose_index_is_gone_goes():
    assert plan(indexed(1), [pod(0), stray := pod(4)], START).give_up == (stray,)


@pytest.mark.parametrize(
    ("policy", "missing"),
    [pytest.param("", 1, id="at once"), pytest.param("Failed", 0, id="only once it has ended")],
)
def test_a_pod_that_is_being_deleted_is_replaced(policy: str, missing: int):
    going = pod(0, "Running", deleted=True)
    planned = plan(indexed(1, pod_replacement_policy=policy), [going], START + timedelta(hours=1))
    assert len(planned.make) == missing
    assert planned.status.terminating == 1


def test_pods_are_counted_before_they_are_let_go():
    done = pod(None, "Succeeded")
    planned = plan(job(completions=2, parallelism=2), [done], START)
    uncounted = planned.status.uncounted_terminated_pods
    assert uncounted is not None
    assert uncounted.succeeded == (done.metadata.uid,)
    assert planned.release == (done,)
    assert planned.status.succeeded == 0


FAIL_ON_42 = FailurePolicy(
    rules=(
        FailureRule(action="Ignore", on_pod_conditions=(OnPodCondition(type="DisruptionTarget"),)),
        FailureRule(action="FailJob", on_exit_codes=OnExitCodes(operator="In", values=(42,))),
        FailureRule(action="FailIndex", on_exit_codes=OnExitCodes(operator="In", values=(7,))),
    )
)


def test_a_rule_ends_the_job_and_says_which():
    failed = pod(0, "Failed", exit_code=42)
    planned = plan(indexed(2, pod_failure_policy=FAIL_ON_42), [failed, pod(1)], START)
    (condition,) = planned.status.conditions
    assert (condition.type, condition.reason) == ("FailureTarget", "PodFailurePolicy")
    assert condition.message == (
        f"Container c for pod ns/{failed.metadata.name} failed with exit code 42 "
        "matching FailJob rule at index 1"
    )


def test_a_disruption_that_is_ignored_costs_no_attempt():
    lost = pod(0, "Failed", condition="DisruptionTarget")
    ignoring = indexed(1, backoff_limit=0, pod_failure_policy=FAIL_ON_42)
    world = World(ignoring, pods={lost.metadata.uid: lost})
    world.pass_time()
    world.settle()
    assert world.job.status.failed == 0
    assert len(world.active()) == 1


def test_what_the_scheduler_undid_costs_no_attempt_and_no_pause():
    undone = pod(0, "Running", deleted=True)
    status = structs.replace(undone.status, conditions=(UNDONE,))
    undone = structs.replace(undone, status=status)
    world = World(indexed(1, backoff_limit=0), pods={undone.metadata.uid: undone})
    world.settle()
    assert world.job.status.failed == 0
    assert [facts.index_of(one) for one in world.active()] == [0]


def test_each_index_has_its_own_attempts():
    world = World(indexed(3, backoff_limit=2**31 - 1, backoff_limit_per_index=1))
    for _ in range(2):
        world.settle()
        failing = next(one for one in world.active() if facts.index_of(one) == 1)
        world.end(failing.metadata.uid, "Failed")
        world.settle()
        world.pass_time()
    world.settle()
    assert world.job.status.failed_indexes == "1"
    assert sorted(facts.index_of(one) or 0 for one in world.active()) == [0, 2]
    for running in world.active():
        world.end(running.metadata.uid, "Succeeded")
    world.settle()
    assert conditions(world)[-1] == ("Failed", "FailedIndexes")
    assert world.job.status.completed_indexes == "0,2"


def test_a_replacement_remembers_how_often_its_index_failed():
    world = World(indexed(1, backoff_limit=2**31 - 1, backoff_limit_per_index=3))
    world.settle()
    for failures in (0, 1, 2):
        (running,) = world.active()
        assert facts.failures(running) == failures
        world.end(running.metadata.uid, "Failed")
        world.settle()
        world.pass_time()
        world.settle()


def test_an_index_fails_for_good_where_a_rule_says_so():
    failed = pod(0, "Failed", failures=0, exit_code=7)
    asked = indexed(2, backoff_limit_per_index=5, pod_failure_policy=FAIL_ON_42)
    assert plan(asked, [failed, pod(1)], START).status.failed_indexes == "0"


def test_too_many_failed_indexes_end_the_job():
    failed = [pod(index, "Failed", failures=0) for index in (0, 1)]
    asked = indexed(4, backoff_limit_per_index=0, max_failed_indexes=1)
    (condition,) = plan(asked, failed, START).status.conditions
    assert condition.reason == "MaxFailedIndexesExceeded"


@pytest.mark.parametrize(
    ("rule", "met"),
    [
        (SuccessRule(succeeded_indexes="0"), True),
        (SuccessRule(succeeded_indexes="0,3"), False),
        (SuccessRule(succeeded_indexes="0-3", succeeded_count=1), True),
        (SuccessRule(succeeded_count=2), False),
    ],
)
def test_a_job_succeeds_by_its_own_rule(rule: SuccessRule, met: bool):
    asked = indexed(4, success_policy=SuccessPolicy(rules=(rule,)))
    pods = [pod(0, "Succeeded"), *(pod(index, "Running") for index in (1, 2, 3))]
    planned = plan(asked, pods, START)
    assert [c.reason for c in planned.status.conditions] == (["SuccessPolicy"] if met else [])
    assert len(planned.stop) == (3 if met else 0)


def test_what_a_job_wants_at_once_follows_what_is_left_of_it():
    world = World(indexed(4, parallelism=3, backoff_limit_per_index=0, backoff_limit=99))
    assert world.job.wanted_at_once == 3
    world.settle()
    by_index = {facts.index_of(one): one.metadata.uid for one in world.active()}
    world.end(by_index[0], "Succeeded")
    world.end(by_index[1], "Failed")
    world.settle()
    assert world.job.wanted_at_once == 2


JOBS = st.builds(
    lambda kind, completions, parallelism, replacement, limit: (
        indexed(completions, parallelism=parallelism, pod_replacement_policy=replacement)
        if kind == "indexed"
        else indexed(
            completions,
            parallelism=parallelism,
            pod_replacement_policy=replacement,
            backoff_limit_per_index=limit,
            backoff_limit=2**31 - 1,
        )
        if kind == "per index"
        else job(
            completions=completions, parallelism=parallelism, pod_replacement_policy=replacement
        )
    ),
    st.sampled_from(["indexed", "per index", "counted"]),
    st.integers(1, 5),
    st.integers(1, 5),
    st.sampled_from(["TerminatingOrFailed", "Failed"]),
    st.integers(0, 2),
)


@given(JOBS, st.data())
def test_every_end_is_counted_once_whenever_the_controller_dies(asked: Job, data: st.DataObject):
    world = World(asked)
    for _ in range(data.draw(st.integers(1, 25), label="rounds")):
        if world.job.ending:
            break
        dies_after = data.draw(st.integers(0, 12), label="steps before it dies")
        for step, _ in enumerate(world.steps(world.plan())):
            if step >= dies_after:
                break
        at_most_one_pod_of_an_index(world)
        match data.draw(st.sampled_from(["succeed", "fail", "delete", "stop", "time"])):
            case "succeed" | "fail" as how if world.active():
                one = data.draw(st.sampled_from(world.active()), label="which pod")
                world.end(one.metadata.uid, "Succeeded" if how == "succeed" else "Failed")
            case "delete" if world.active():
                world.delete(data.draw(st.sampled_from(world.active())).metadata.uid)
            case "stop":
                world.stop_what_is_deleted()
            case _:
                world.pass_time()
    finish(world)
    assert world.job.ending is not None
    assert all(not facts.is_tracked(one) for one in world.pods.values())
    counted_as_they_ended(world)


def finish(world: World) -> None:
    """From here on nothing goes wrong."""
    for _ in range(100):
        world.pass_time()
        world.stop_what_is_deleted()
        world.settle()
        if world.job.ending:
            return
        for running in world.active():
            world.end(running.metadata.uid, "Succeeded")
    raise AssertionError("the Job never ends")


def at_most_one_pod_of_an_index(world: World) -> None:
    if world.job.spec.is_indexed:
        active = [facts.index_of(one) for one in world.active()]
        assert len(active) == len(set(active))


def counted_as_they_ended(world: World) -> None:
    status = world.job.status
    succeeded = [index for index, how in world.ended.values() if how == "Succeeded"]
    if world.job.spec.is_indexed:
        done = {index for index in succeeded if index is not None}
        assert status.completed_indexes == indexes.written(done)
        assert status.succeeded == len(done)
    else:
        assert status.succeeded == len(succeeded)
    failed = [uid for uid, (_, how) in world.ended.items() if how == "Failed"]
    by_themselves = [uid for uid in failed if uid not in world.deleted]
    assert len(by_themselves) <= status.failed <= len(failed)
