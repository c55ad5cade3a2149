"""kill -9 of the controllers amid Jobs loses no pod's end and counts none twice."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tutti.api.batch import Job
from tutti.api.core_v1 import Pod
from tutti.api.errors import ApiError
from tutti.api.registry import JOBS, PODS
from tutti.cli.offspring import Child
from tutti.controllers import jobs
from tutti.kube import config
from tutti.kube.client import Client
from tutti.kube.informer import Informer
from tutti.kube.transport import Answer
from tutti.web.metrics import Metrics

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


async def test_a_server_that_dies_amid_jobs_loses_none_either(tmp_path: Path) -> None:
    async with cluster(tmp_path, controllers=True) as (_, client):
        seen = Seen(client)
        watching = asyncio.create_task(seen.follow())
        await client.create(JOBS, job("indexed", completionMode="Indexed"), "default")
        await client.create(JOBS, job("counted"), "default")
        for kill in range(1, 4):
            await seen.until(lambda so_far=60 * kill: seen.changes >= so_far)
            os.kill(server_of(tmp_path), signal.SIGKILL)
            await seen.until(lambda so_far=seen.changes: seen.changes > so_far)
        await seen.until(lambda: seen.all_over)
        watching.cancel()
        for over in seen.jobs.known.values():
            assert (over.status.succeeded, over.status.failed) == (COMPLETIONS, 0)


def server_of(folder: Path) -> int:
    """The process that serves this folder."""
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = place.read_text().split("\0")
            if "tutti.server" in words and str(folder / "store") in words:
                return int(place.parent.name)
    raise AssertionError("no server runs")


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

    def pods_of(self, job: str) -> list[Pod]:
        labelled = self.pods.known.values()
        return [pod for pod in labelled if pod.metadata.labels.get("job-name") == job]

    async def next_change(self) -> None:
        self._news.clear()
        await self._news.wait()

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
async def cluster(folder: Path, *, controllers: bool = False) -> AsyncIterator[tuple[Path, Client]]:
    """A control plane with a scheduler and pretend nodes, and as a rule without controllers."""
    flags = ["--port=0", "--nodes=2", f"--data-dir={folder}"]
    if not controllers:
        flags.append("--no-controllers")
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


class Killed(BaseException):
    """The controller is dead."""


class Mortal(Client):
    """Ends whoever uses it right after its so manieth write has reached the server."""

    writes_left: float = float("inf")

    async def raw(self, method: str, path: str, **rest: Any) -> Answer:
        if method == "GET" or path.endswith("/events"):
            return await super().raw(method, path, **rest)
        if self.writes_left <= 0:
            raise Killed
        self.writes_left -= 1
        return await super().raw(method, path, **rest)


async def test_it_may_die_after_any_write(tmp_path: Path) -> None:
    async with cluster(tmp_path) as (kubeconfig, client):
        seen = Seen(client)
        watching = asyncio.create_task(seen.follow())
        ending = asyncio.create_task(end_every_pod(seen, client))
        lived, writes = False, 0
        while not lived:
            name = f"after-{writes}"
            mortal = Mortal(config.load(kubeconfig), connections=1)
            mortal.writes_left = writes
            await client.create(JOBS, job(name, parallelism=3, completions=3), "default")
            lived = await attended_until(mortal, seen, name)
            await attended_until(Mortal(config.load(kubeconfig)), seen, name)
            status = seen.jobs.known["default", name].status
            assert (status.succeeded, status.failed, status.active) == (3, 0, 0), name
            assert len(seen.pods_of(name)) == 3, "a pod's end was lost: another one was made"
            writes += 1
        assert writes > 10
        watching.cancel()
        ending.cancel()


async def attended_until(client: Client, seen: Seen, name: str) -> bool:
    """A Job controller runs until this Job is over (True) or until it dies."""

    def over() -> bool:
        job = seen.jobs.known.get(("default", name))
        return job is not None and job.ending is not None

    controller = asyncio.create_task(
        jobs.run(client, lambda: None, rule=jobs.Rule.AUTO, metrics=jobs.JobMetrics(Metrics()))
    )
    finished = asyncio.create_task(seen.until(over))
    await asyncio.wait([controller, finished], return_when=asyncio.FIRST_COMPLETED)
    lived = not controller.done()
    for task in (controller, finished):
        task.cancel()
        with contextlib.suppress(BaseException):
            await task
    await client.close()
    return lived


async def end_every_pod(seen: Seen, client: Client) -> None:
    """Every pod succeeds as soon as it is there."""
    while True:
        waiting = [pod for pod in seen.pods.known.values() if pod.status.phase == "Pending"]
        for pod in waiting:
            with contextlib.suppress(ApiError):
                where = pod.metadata.namespace, pod.metadata.name
                done = {"status": {"phase": "Succeeded"}}
                await client.patch(PODS, *where, done, subresource="status")
        await seen.next_change()
