"""kill -9 of the controllers amid Jobs loses no pod's end and counts none twice."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tutti.api.batch import Job
from tutti.api.core_v1 import Pod
from tutti.api.registry import JOBS, PODS
from tutti.cli.offspring import Child
from tutti.kube import config
from tutti.kube.client import Client
from tutti.kube.informer import Informer

pytestmark = pytest.mark.timeout(180)

COMPLETIONS = 40
KILLS = 8


async def test_every_end_is_counted_once(tmp_path: Path) -> None:
    async with cluster(tmp_path) as (kubeconfig, client):
        seen = Seen(client)
        watching = asyncio.create_task(seen.follow())
        await client.create(JOBS, job("indexed", completionMode="Indexed"), "default")
        await client.create(JOBS, job("counted"), "default")
        for kill in range(1, KILLS + 1):
            changes = 25 * kill
            async with controllers(kubeconfig) as running:
                await seen.until(lambda so_far=changes: seen.changes >= so_far or seen.all_over)
                os.kill(running.pid, signal.SIGKILL)
                await running.wait()
        assert not seen.all_over, "all was over before the last kill: nothing was tried"
        async with controllers(kubeconfig):
            await seen.until(lambda: seen.all_over)
        watching.cancel()
        for over in seen.jobs.known.values():
            assert (over.ending and over.ending.type, over.status.succeeded) == (
                "Complete",
                COMPLETIONS,
            )
            assert over.status.failed == 0
        indexed = seen.jobs.known["default", "indexed"]
        assert indexed.status.completed_indexes == f"0-{COMPLETIONS - 1}"
        assert not any(pod.metadata.finalizers for pod in seen.pods.known.values())


class Seen:
    """The Jobs and pods as they are now, and how often a pod changed so far."""

    def __init__(self, client: Client) -> None:
        self.jobs = Informer(client, JOBS, Job)
        self.pods = Informer(client, PODS, Pod)
        self.changes = 0
        self._news = asyncio.Event()

    async def follow(self) -> None:
        def pod_changed(_: object) -> None:
            self.changes += 1
            self._news.set()

        async with asyncio.TaskGroup() as group:
            group.create_task(self.jobs.run(lambda _: self._news.set()))
            group.create_task(self.pods.run(pod_changed))

    @property
    def all_over(self) -> bool:
        return len(self.jobs.known) == 2 and all(job.ending for job in self.jobs.known.values())

    async def until(self, so: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not so():
                self._news.clear()
                await self._news.wait()


def job(name: str, **spec: object) -> dict[str, object]:
    template = {
        "metadata": {"annotations": {"tutti.dev/runs-for": "0"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]},
    }
    given = {"parallelism": 8, "completions": COMPLETIONS, "template": template}
    return {"metadata": {"name": name}, "spec": {**given, **spec}}


@asynccontextmanager
async def cluster(folder: Path) -> AsyncIterator[tuple[Path, Client]]:
    """A control plane with a scheduler and pretend nodes, and without controllers."""
    flags = ["--port=0", "--nodes=2", "--no-controllers", f"--data-dir={folder}"]
    up = await Child.spawn("up", [sys.executable, "-m", "tutti.cli", "up", *flags])
    try:
        await up.line_starting("ready: ")
        client = Client(config.load(folder / "admin.kubeconfig"), connections=8)
        yield folder / "controllers.kubeconfig", client
        await client.close()
    finally:
        await up.stop(20)


@asynccontextmanager
async def controllers(kubeconfig: Path) -> AsyncIterator[Child]:
    words = ["controllers", "--kubeconfig", kubeconfig, "--controllers", "jobs,kubelets"]
    child = await Child.spawn("controllers", [sys.executable, "-m", "tutti.cli", *words])
    try:
        yield child
    finally:
        await child.stop(10)
