"""With closed gates Jobs run as they always did: no groups are made, and none is named."""

import asyncio

import pytest

from tests.cli.test_up import up
from tests.e2e.test_jobs_killed import Seen, job
from tutti.api.registry import JOBS
from tutti.kube import config
from tutti.kube.client import Client

FAMILY = (
    "GenericWorkload",
    "TopologyAwareWorkloadScheduling",
    "CompositePodGroup",
    "PodGroupPreemptionPolicy",
    "DRAWorkloadResourceClaims",
    "WorkloadWithJob",
)


@pytest.mark.parametrize(
    "closed",
    [
        pytest.param(FAMILY, id="nothing of it is served"),
        pytest.param(("WorkloadWithJob",), id="only Jobs don't take part"),
    ],
)
async def test_jobs_run_without_groups(closed: tuple[str, ...]):
    gates = ",".join(f"{gate}=false" for gate in closed)
    with up("--feature-gates", gates) as running:
        client = Client(config.load(running.kubeconfig), connections=4)
        seen = Seen(client)
        watching = asyncio.create_task(seen.follow())
        for name in ("one", "other"):
            asked = job(name, parallelism=3, completions=3, completionMode="Indexed")
            await client.create(JOBS, asked, "default")
        await seen.until(lambda: seen.all_over)
        watching.cancel()
        await client.close()
        assert [over.status.succeeded for over in seen.jobs.known.values()] == [3, 3]
        assert not any(pod.spec.scheduling_group for pod in seen.pods.known.values())
