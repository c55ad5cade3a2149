"""What the engine hears of Jobs, and of volumes."""

import pytest
from msgspec import structs

from tutti.api.batch import Job, JobSpec, JobStatus
from tutti.api.meta import ObjectMeta
from tutti.api.storage import CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass
from tutti.controllers import inbox
from tutti.controllers.jobs.gangs import Rule
from tutti.engine import messages
from tutti.engine.messages import Event, JobGone, JobSeen
from tutti.kube.informer import Gone, Relisted, Seen


def test_a_job_is_told_only_when_it_wants_another_number_of_pods():
    heard: list[Event] = []
    on = inbox.of_jobs(heard.append, Rule.AUTO)
    meta = ObjectMeta(name="j", uid="u")
    job = Job(metadata=meta, spec=JobSpec(parallelism=3, completions=4))
    later = structs.replace(job, status=JobStatus(succeeded=1, active=3))
    last = structs.replace(job, status=JobStatus(succeeded=3, active=1))
    for seen in (job, later, last):
        on(Seen(seen))
    on(Gone(last))
    assert heard == [JobSeen("u", 3), JobSeen("u", 1), JobGone("u")]


META = ObjectMeta(name="x", namespace="ns", uid="u")


@pytest.mark.parametrize(
    ("of", "thing", "seen", "gone"),
    [
        pytest.param(
            inbox.of_claims,
            PersistentVolumeClaim(metadata=META),
            messages.ClaimSeen,
            messages.ClaimGone("ns", "x"),
            id="claims",
        ),
        pytest.param(
            inbox.of_volumes,
            PersistentVolume(metadata=META),
            messages.VolumeSeen,
            messages.VolumeGone("x"),
            id="volumes",
        ),
        pytest.param(
            inbox.of_storage_classes,
            StorageClass(metadata=META),
            messages.StorageClassSeen,
            messages.StorageClassGone("x"),
            id="storage classes",
        ),
        pytest.param(
            inbox.of_csi_nodes,
            CSINode(metadata=META),
            messages.CsiNodeSeen,
            messages.CsiNodeGone("x"),
            id="limits of nodes",
        ),
    ],
)
def test_of_volumes_everything_is_told(of, thing, seen, gone):
    heard: list[Event] = []
    on = of(heard.append)
    for news in (Seen(thing), Relisted(), Gone(thing)):
        on(news)
    assert heard == [seen(thing), gone]
