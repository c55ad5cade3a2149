"""Jobs and cron jobs, refused and accepted as a real 1.37 server does.

The numbers are those of the checklist in api-and-controllers.md (5.10); 104's third case is in 105's test.
"""

from typing import Any

import pytest

from tests.api.door import changed, read
from tutti.api import preparation, validation
from tutti.api.registry import CRONJOBS, JOBS, Storage

Json = dict[str, Any]

UID = "b3d0e2ec-3cbd-4932-ace0-58712cc44012"
S = "spec.scheduling"
POLICY = f"{S}.schedulingPolicy"
IMMUTABLE = "Invalid value: null: field is immutable"
UNION = 'Invalid value: "": must specify one of: `basic`, `gang`'
VARIANT = (
    f"{POLICY}: Invalid value: null: the basic/gang policy variant is immutable after creation; "
    "only schedulingPolicy.gang.minCount may be updated"
)


def job(pod: Json | None = None, **spec: Any) -> Json:
    """A Job as the server has it before it is validated: with its selector."""
    labels = {
        "controller-uid": UID,
        "batch.kubernetes.io/controller-uid": UID,
        "job-name": "x",
        "batch.kubernetes.io/job-name": "x",
    }
    inside = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}], **(pod or {})}
    return {
        "metadata": {"uid": UID},
        "spec": {
            "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": UID}},
            "template": {"metadata": {"labels": labels}, "spec": inside},
            **spec,
        },
    }


def cron_job(job_spec: Json | None = None, **spec: Any) -> Json:
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    inside = {"template": {"spec": pod}, **(job_spec or {})}
    return {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": inside}, **spec}}


def created(storage: Storage, obj: Json) -> list[str]:
    return [e.sentence for e in validation.created(storage, "v1", read(storage, obj))]


def updated(storage: Storage, old: Json, *changes: tuple[str, Any]) -> list[str]:
    before = read(storage, old)
    after = before
    for path, value in changes:
        after = changed(after, path, value)
    return [e.sentence for e in validation.updated(storage, "v1", before, read(storage, after))]


def gang(count: int | None = None) -> Json:
    return {"schedulingPolicy": {"gang": {} if count is None else {"minCount": count}}}


def claim(name: str = "a", **more: Any) -> Json:
    return {"name": name, "resourceClaimName": "x", **more}


@pytest.mark.parametrize(
    ("scheduling", "errors"),
    [
        pytest.param(None, [], id="89 absent"),
        pytest.param({}, [], id="89 empty"),
        pytest.param({"schedulingPolicy": {}}, [f"{POLICY}: {UNION}"], id="90 none"),
        pytest.param({"schedulingPolicy": {"basic": {}, "gang": {}}}, [f'{POLICY}: Invalid value: "{{basic, gang}}": must specify exactly one of: `basic`, `gang`'], id="90 both"),
        pytest.param(gang(), [], id="91"),
        pytest.param(gang(0), [f"{POLICY}.gang.minCount: Invalid value: 0: must be greater than or equal to 1"], id="92 zero"),
        pytest.param(gang(-1), [f"{POLICY}.gang.minCount: Invalid value: -1: must be greater than or equal to 1"], id="92 negative"),
        pytest.param(gang(5), [f"{POLICY}.gang.minCount: Invalid value: 5: must not be greater than parallelism (4)"], id="93"),
        pytest.param({"disruptionMode": {"all": {}}}, [f'{S}.disruptionMode: Invalid value: "": the disruptionMode `all` is not supported with the Basic scheduling policy'], id="94 omitted"),
        pytest.param(
            {"schedulingPolicy": {"basic": {}}, "disruptionMode": {"all": {}}},
            [f'{S}.disruptionMode: Invalid value: "": the disruptionMode `all` is not supported with the Basic scheduling policy'],
            id="94 basic",
        ),
        pytest.param({**gang(), "disruptionMode": {"all": {}}}, [], id="94 gang"),
        pytest.param({"schedulingConstraints": {"topology": [{"key": "a"}, {"key": "b"}]}}, [f"{S}.schedulingConstraints.topology: Too many: 2: must have at most 1 item"], id="95 two"),
        pytest.param({"schedulingConstraints": {"topology": [{}]}}, [f"{S}.schedulingConstraints.topology[0].key: Required value"], id="95 missing"),
        pytest.param({"resourceClaims": [claim(f"c{i}") for i in range(5)]}, [f"{S}.resourceClaims: Too many: 5: must have at most 4 items"], id="96 five"),
        pytest.param({"resourceClaims": [claim(), claim()]}, [f'{S}.resourceClaims[1]: Duplicate value: {{"name":"a","resourceClaimName":"x"}}'], id="96 twice"),
        pytest.param({"resourceClaims": [{"name": "a"}]}, [f'{S}.resourceClaims[0]: Invalid value: "": must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'], id="96 no source"),
        pytest.param({"resourceClaims": [claim("")]}, [f"{S}.resourceClaims[0].name: Required value"], id="96 no name"),
    ],
)  # fmt: skip
def test_what_a_new_job_asks_of_its_group(scheduling: Json | None, errors: list[str]) -> None:
    spec = {} if scheduling is None else {"scheduling": scheduling}
    assert created(JOBS, job(parallelism=4, completions=4, **spec)) == errors


@pytest.mark.parametrize(
    ("parallelism", "errors"),
    [
        (None, [f"{POLICY}.gang.minCount: Invalid value: 2: must not be greater than parallelism (1)"]),
        (0, [f"{POLICY}.gang.minCount: Invalid value: 2: must not be greater than parallelism (0)"]),
    ],
)  # fmt: skip
def test_93_parallelism_counts_as_one_when_unset(
    parallelism: int | None, errors: list[str]
) -> None:
    spec = {} if parallelism is None else {"parallelism": parallelism}
    assert created(JOBS, job(completions=2, scheduling=gang(2), **spec)) == errors


GANG = job(parallelism=4, completions=4, completionMode="Indexed", scheduling=gang(2))
EMPTY = job(scheduling={})


@pytest.mark.parametrize(
    ("old", "changes", "errors"),
    [
        pytest.param(GANG, [(f"{POLICY}.gang.minCount", 3)], [], id="97 changed"),
        pytest.param(GANG, [(f"{POLICY}.gang", {})], [], id="97 cleared"),
        pytest.param(GANG, [("spec.parallelism", 1)], [f"{POLICY}.gang.minCount: Invalid value: 2: must not be greater than parallelism (1)"], id="98 lowered"),
        pytest.param(GANG, [("spec.parallelism", 6), ("spec.completions", 6), (f"{POLICY}.gang.minCount", 6)], [], id="98 together"),
        pytest.param(GANG, [(POLICY, {"basic": {}})], [VARIANT], id="99 variant"),
        pytest.param(
            GANG, [(POLICY, {"basic": {}, "gang": {"minCount": 2}})],
            [VARIANT, f'{POLICY}: Invalid value: "{{basic, gang}}": must specify exactly one of: `basic`, `gang`'],
            id="99 both",
        ),
        pytest.param(job(), [(S, {})], [f"{S}: Invalid value: null: field cannot be set once created"], id="100 added"),
        pytest.param(GANG, [(S, None)], [f"{S}: Invalid value: null: field cannot be cleared once set"], id="100 removed"),
        pytest.param(EMPTY, [(POLICY, {"gang": {}})], [f"{POLICY}: Invalid value: null: field cannot be set once created"], id="101 added"),
        pytest.param(GANG, [(POLICY, None)], [f"{POLICY}: Invalid value: null: field cannot be cleared once set"], id="101 removed"),
        *(
            pytest.param(GANG, [(f"{S}.{field}", value)], [f"{S}.{field}: {IMMUTABLE}"], id=f"102 {field}")
            for field, value in {
                "schedulingConstraints": {"topology": [{"key": "a"}]},
                "disruptionMode": {"all": {}},
                "resourceClaims": [claim()],
            }.items()
        ),
        pytest.param(job(parallelism=2, completions=2, scheduling=gang()), [("spec.parallelism", 5)], [], id="103"),
        pytest.param(GANG, [("spec.suspend", True)], [], id="suspend"),
    ],
)  # fmt: skip
def test_what_a_changed_job_asks_of_its_group(
    old: Json, changes: list[Any], errors: list[str]
) -> None:
    assert updated(JOBS, old, *changes) == errors


@pytest.mark.parametrize(("suspended", "path"), [(False, "spec.template"), (True, "spec.template.spec")])  # fmt: skip
def test_104_the_group_in_a_template_is_settled(suspended: bool, path: str) -> None:
    old = job(suspend=suspended)
    (error,) = updated(JOBS, old, ("spec.template.spec.schedulingGroup", {"podGroupName": "g"}))
    assert error.startswith(f"{path}: Invalid value: ")
    assert error.endswith(": field is immutable")


def test_a_suspended_job_can_be_steered_and_resized() -> None:
    old = job(suspend=True)
    inside = "spec.template.spec"
    assert updated(JOBS, old, (f"{inside}.nodeSelector", {"pool": "other"})) == []
    assert updated(JOBS, old, ("spec.template.metadata.annotations", {"a": "b"})) == []
    assert (
        updated(JOBS, old, (f"{inside}.containers.0.resources", {"requests": {"cpu": "1"}})) == []
    )
    assert len(updated(JOBS, old, (f"{inside}.containers.0.image", "other"))) == 1


CRON_GANG = cron_job({"scheduling": gang(1)})
INNER = "spec.jobTemplate.spec.scheduling"


def test_105_a_cron_job_holds_its_jobs_to_the_same_rules() -> None:
    assert created(CRONJOBS, cron_job({"scheduling": gang(5)})) == [
        f"{INNER}.schedulingPolicy.gang.minCount: Invalid value: 5: must not be greater than parallelism (1)"
    ]
    assert updated(CRONJOBS, CRON_GANG, (f"{INNER}.schedulingPolicy", {"basic": {}})) == []
    assert updated(CRONJOBS, CRON_GANG, (INNER, None)) == [
        f"{INNER}: Invalid value: null: field cannot be cleared once set"
    ]
    assert updated(CRONJOBS, cron_job(), (INNER, {})) == [
        f"{INNER}: Invalid value: null: field cannot be set once created"
    ]


def test_106_a_job_keeps_its_scheduling_when_the_gate_closes() -> None:
    class Closed:
        def on(self, gate: str) -> bool:
            return gate != "WorkloadWithJob"

    old = read(JOBS, GANG)
    same = changed(old, "metadata.labels", {"a": "b"})
    more = changed(old, f"{POLICY}.gang.minCount", 3)
    for new in (same, more):
        preparation.prepare(JOBS, new, old, Closed())
    assert same["spec"] == old["spec"]
    assert validation.updated(JOBS, "v1", old, same, None, Closed()) == []
    errors = validation.updated(JOBS, "v1", old, more, None, Closed())
    assert [error.sentence for error in errors] == [f"{S}: Forbidden"]
    new = read(JOBS, GANG)
    preparation.prepare(JOBS, new, None, Closed())
    assert "scheduling" not in new["spec"]


@pytest.mark.parametrize(
    ("new", "errors"),
    [
        (job(), []),
        (job(parallelism=-1), ["spec.parallelism: Invalid value: -1: must be greater than or equal to 0"]),
        (job(completionMode="Indexed", parallelism=1), ["spec.completions: Required value: when completion mode is Indexed"]),
        (job(backoffLimitPerIndex=1), ["spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"]),
        (job({"restartPolicy": "Always"}), ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"']),
        (job({"containers": []}), ["spec.template.spec.containers: Required value"]),
        (job(managedBy="x"), ['spec.managedBy: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo")']),
        (
            job(podFailurePolicy={"rules": [{"action": "Ignore"}]}),
            ["spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required"],
        ),
        (
            job(podFailurePolicy={"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [2, 0]}}]}),
            [
                "spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator",
                "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,0]: must be ordered",
            ],
        ),
        (
            job(completionMode="Indexed", completions=3, successPolicy={"rules": [{"succeededIndexes": "0-5"}]}),
            ['spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-5": error parsing succeededIndexes: too large index: "5"'],
        ),
        (
            {**job(completionMode="Indexed", completions=3), "metadata": {"name": "a.b", "uid": UID}},
            [
                "spec.template.metadata.labels[job-name]: Invalid value: "
                f'{{"batch.kubernetes.io/controller-uid":"{UID}","batch.kubernetes.io/job-name":"x","controller-uid":"{UID}","job-name":"x"}}: must be \'a.b\'',
                "spec.template.metadata.labels[batch.kubernetes.io/job-name]: Invalid value: "
                f'{{"batch.kubernetes.io/controller-uid":"{UID}","batch.kubernetes.io/job-name":"x","controller-uid":"{UID}","job-name":"x"}}: must be \'a.b\'',
                'metadata.name: Invalid value: "a.b": will not able to create pod with invalid DNS label: a.b-2',
            ],
        ),
    ],
)  # fmt: skip
def test_a_new_job(new: Json, errors: list[str]) -> None:
    assert created(JOBS, new) == errors


@pytest.mark.parametrize(
    ("path", "value", "errors"),
    [
        ("spec.completions", 5, ["spec.completions: Invalid value: 5: field is immutable"]),
        ("spec.parallelism", 9, []),
        ("spec.backoffLimit", 1, []),
        ("spec.managedBy", "a.b/c", ['spec.managedBy: Invalid value: "a.b/c": field is immutable']),
    ],
)
def test_a_changed_job(path: str, value: Any, errors: list[str]) -> None:
    assert updated(JOBS, job(parallelism=2, completions=3), (path, value)) == errors


@pytest.mark.parametrize(
    ("new", "errors"),
    [
        (cron_job(), []),
        (cron_job(schedule=""), ["spec.schedule: Required value"]),
        (cron_job(schedule="60 * * * *"), ['spec.schedule: Invalid value: "60 * * * *": end of range (60) above maximum (59): 60']),
        (cron_job(schedule="TZ=UTC * * * * *"), ['spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead']),
        (cron_job(timeZone="Europe/Berlin"), []),
        (cron_job(timeZone="Nowhere/Else"), ['spec.timeZone: Invalid value: "Nowhere/Else": unknown time zone Nowhere/Else']),
        (cron_job(concurrencyPolicy="Foo"), ['spec.concurrencyPolicy: Unsupported value: "Foo": supported values: "Allow", "Forbid", "Replace"']),
        ({"metadata": {"name": "a" * 53}, **cron_job()}, [f'metadata.name: Invalid value: "{"a" * 53}": must be no more than 52 characters']),
    ],
)  # fmt: skip
def test_a_new_cron_job(new: Json, errors: list[str]) -> None:
    assert created(CRONJOBS, new) == errors
