"""Pods as they are made of a Job's template."""

from tests.controllers.jobs.world import indexed, job
from tutti.api.meta import ObjectMeta
from tutti.api.scheduling import PodGroup
from tutti.controllers.jobs import facts, making
from tutti.controllers.jobs.managing import New

TEMPLATE = {
    "metadata": {"labels": {"app": "a"}, "annotations": {"note": "n"}},
    "spec": {
        "initContainers": [{"name": "i"}],
        "containers": [{"name": "c"}, {"name": "d", "env": [{"name": making.ENV, "value": "x"}]}],
    },
}
GROUP = PodGroup(metadata=ObjectMeta(name="g", uid="g-uid"))


def first(letters: str) -> str:
    return letters[0]


def test_a_pod_of_an_index_knows_it():
    asked = indexed(2, template=TEMPLATE)
    made = making.pod(asked, New(index=1), None, first)
    meta, spec = made["metadata"], made["spec"]
    assert meta["labels"] == {"app": "a", facts.INDEX: "1"}
    assert meta["annotations"] == {"note": "n", facts.INDEX: "1"}
    assert (meta["name"], meta["generateName"]) == ("j-1-bbbbb", "j-1-")
    assert spec["hostname"] == "j-1"
    told = {
        "name": "JOB_COMPLETION_INDEX",
        "valueFrom": {
            "fieldRef": {"fieldPath": "metadata.labels['batch.kubernetes.io/job-completion-index']"}
        },
    }
    assert spec["initContainers"][0]["env"] == [told]
    assert spec["containers"][0]["env"] == [told]
    assert spec["containers"][1]["env"] == [{"name": making.ENV, "value": "x"}]


def test_the_template_stays_as_it_is():
    asked = indexed(2, template=TEMPLATE)
    making.pod(asked, New(index=1), GROUP, first)
    assert "env" not in asked.spec.template["spec"]["containers"][0]
    assert "schedulingGroup" not in asked.spec.template["spec"]


def test_a_pod_of_a_group_names_it_and_belongs_to_it_112():
    made = making.pod(job(template=TEMPLATE), New(), GROUP, first)
    assert made["spec"]["schedulingGroup"] == {"podGroupName": "g"}
    job_owner, group_owner = made["metadata"]["ownerReferences"]
    assert (job_owner["kind"], job_owner["controller"]) == ("Job", True)
    assert (group_owner["kind"], group_owner["uid"]) == ("PodGroup", "g-uid")
    assert "controller" not in group_owner


def test_a_pods_end_is_tracked_from_the_first():
    made = making.pod(job(template={"metadata": {"finalizers": ["x/y"]}}), New(), None, first)
    assert made["metadata"]["finalizers"] == ["x/y", facts.FINALIZER]


def test_a_retried_index_carries_its_count():
    asked = indexed(2, backoff_limit_per_index=3)
    made = making.pod(asked, New(index=0, failures=2, ignored_failures=1), None, first)
    assert made["metadata"]["annotations"][facts.FAILURES] == "2"
    assert made["metadata"]["annotations"][facts.IGNORED_FAILURES] == "1"
