"""What the engine hears of Jobs."""

from msgspec import structs

from tutti.api.batch import Job, JobSpec, JobStatus
from tutti.api.meta import ObjectMeta
from tutti.controllers import inbox
from tutti.engine.messages import Event, JobGone, JobSeen
from tutti.kube.informer import Gone, Seen


def test_a_job_is_told_only_when_it_wants_another_number_of_pods():
    heard: list[Event] = []
    on = inbox.of_jobs(heard.append)
    meta = ObjectMeta(name="j", uid="u")
    job = Job(metadata=meta, spec=JobSpec(parallelism=3, completions=4))
    later = structs.replace(job, status=JobStatus(succeeded=1, active=3))
    last = structs.replace(job, status=JobStatus(succeeded=3, active=1))
    for seen in (job, later, last):
        on(Seen(seen))
    on(Gone(last))
    assert heard == [JobSeen("u", 3), JobSeen("u", 1), JobGone("u")]
