"""Jobs on a real API server that has no PodGroups, run by Kubernetes' own Job controller."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.e2e.arena import Arena, entered
from tests.e2e.conftest import fresh_namespace
from tools.throwaway import Plane
from tutti.api import registry
from tutti.api.core_v1 import Pod
from tutti.cli import why
from tutti.controllers.offer import Offer
from tutti.engine.implied import GANG

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]

SIZE = 8
ROOM = 7
PATIENCE = 60.0


async def test_a_job_starts_when_there_is_room_for_all_of_it(
    bare_plane: Plane, tmp_path: Path
) -> None:
    async with room_for(ROOM, bare_plane, "whole", tmp_path) as arena:
        await submit(arena, "train")
        await arena.until(lambda: waiting(arena, "train") == SIZE, PATIENCE)
        assert bound(arena, "train") == 0
        told = await why.reported(arena.client, arena.namespace, "job/train")
        assert (told.kind, told.state, told.needs, told.has, told.bound) == (
            *("Job", "waits"),
            *(SIZE, SIZE, 0),
        )
        assert "minCount (8) cannot be satisfied: 7 scheduled" in told.message
        await happens(arena, "train", "FailedScheduling")

        await cordon(arena, ROOM, False)
        await arena.until(lambda: bound(arena, "train") == SIZE, PATIENCE)
        await happens(arena, "train", "Scheduled")
        told = await why.reported(arena.client, arena.namespace, "pod/" + name_of(arena, "train"))
        assert (told.kind, told.state, told.bound) == ("Job", "runs", SIZE)


async def test_the_replacement_of_a_failed_pod_joins(bare_plane: Plane, tmp_path: Path) -> None:
    async with room_for(SIZE, bare_plane, "replaced", tmp_path) as arena:
        await submit(arena, "train")
        await arena.until(lambda: bound(arena, "train") == SIZE and arena.has_committed(), PATIENCE)
        failed = arena.pods_of("train")[0].metadata
        await arena.client.patch(
            registry.PODS,
            arena.namespace,
            failed.name,
            {"status": {"phase": "Failed"}},
            subresource="status",
        )
        await arena.until(
            lambda: (
                bound(arena, "train") == SIZE
                and all(pod.metadata.uid != failed.uid for pod in arena.pods_of("train"))
            ),
            PATIENCE,
        )


@pytest.mark.parametrize(
    ("spec", "annotation", "starts"),
    [
        ({}, "", ROOM),
        ({}, str(SIZE), 0),
        ({"completionMode": "Indexed"}, "none", ROOM),
        ({"completionMode": "Indexed"}, str(ROOM), ROOM),
    ],
    ids=["NonIndexed", "annotated", "opted out", "quorum of its own"],
)
async def test_what_is_a_gang_and_what_is_not(
    bare_plane: Plane, tmp_path: Path, spec: dict[str, Any], annotation: str, starts: int
) -> None:
    async with room_for(ROOM, bare_plane, "which", tmp_path) as arena:
        await submit(arena, "train", spec, annotation)
        await arena.until(
            lambda: bound(arena, "train") == starts and waiting(arena, "train") == SIZE - starts,
            PATIENCE,
        )


async def test_a_job_of_which_somebody_else_bound_a_pod_is_left_alone(
    bare_plane: Plane, tmp_path: Path
) -> None:
    async with room_for(ROOM, bare_plane, "foreign", tmp_path) as arena:
        await submit(arena, "train")
        await arena.until(lambda: waiting(arena, "train") == SIZE, PATIENCE)
        meta = arena.pods_of("train")[0].metadata
        await arena.client.bind(meta.namespace, meta.name, meta.uid, arena.nodes[0], {})
        await arena.until(lambda: bound(arena, "train") == ROOM, PATIENCE)
        await happens(arena, "train", "GangLeftAlone")


async def test_a_kill_amid_a_job_leaves_it_whole(bare_plane: Plane, tmp_path: Path) -> None:
    size = 120
    async with entered(bare_plane, fresh_namespace(bare_plane, "kill"), tmp_path) as arena:
        try:
            await submit(arena, "train", {"completions": size, "parallelism": size}, cpu="1")
            await arena.until(lambda: len(arena.pods_of("train")) == size, PATIENCE)
            scheduler = arena.start_scheduler()
            await arena.until(lambda: bound(arena, "train") > 0, PATIENCE)
            scheduler.end(9)
            arena.start_scheduler()
            await arena.until(lambda: bound(arena, "train") == size, PATIENCE)
        finally:
            await clear(arena)


async def test_the_scheduler_says_what_the_cluster_lacks(bare_plane: Plane, tmp_path: Path) -> None:
    async with room_for(1, bare_plane, "lacks", tmp_path) as arena:
        discovery = await arena.client.discover()
        offer = await Offer.found(arena.client, discovery, arena.namespace)
        assert offer.lack is not None
        assert offer.lack.startswith("the API server serves no PodGroups")
        await happens(arena, f"tutti-{arena.namespace}", "NoPodGroups", "kube-system")
        log = (tmp_path / "scheduler-0.log").read_text()
        assert offer.lack in log
        assert "podgroups" not in log


@asynccontextmanager
async def room_for(pods: int, plane: Plane, named: str, folder: Path) -> AsyncIterator[Arena]:
    """A scheduler, and nodes for so many pods, of which each takes most of one."""
    namespace = fresh_namespace(plane, named)
    async with entered(plane, namespace, folder) as arena:
        for number in range(len(arena.nodes)):
            await cordon(arena, number, number >= pods)
        arena.start_scheduler()
        try:
            yield arena
        finally:
            await clear(arena)


async def clear(arena: Arena) -> None:
    """Without its Job no pod comes back."""
    for job in {name for pod in arena.all_pods() if (name := job_of(pod))}:
        await arena.client.delete(registry.JOBS, arena.namespace, job, propagation="Background")


async def cordon(arena: Arena, number: int, yes: bool) -> None:
    patch = {"spec": {"unschedulable": yes}}
    await arena.client.patch(registry.NODES, None, arena.nodes[number], patch)


async def submit(
    arena: Arena,
    name: str,
    spec: dict[str, Any] | None = None,
    annotation: str = "",
    cpu: str = "10",
) -> None:
    """A Job of eight; Indexed, where nothing else is said."""
    container = {
        "name": "main",
        "image": "example.com/sample:1",
        "resources": {"requests": {"cpu": cpu}},
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "annotations": {GANG: annotation} if annotation else {}},
        "spec": {
            "parallelism": SIZE,
            "completions": SIZE,
            **({"completionMode": "Indexed"} if spec is None or "completions" in spec else {}),
            **(spec or {}),
            "template": {
                "spec": {
                    "schedulerName": arena.namespace,
                    "restartPolicy": "Never",
                    "terminationGracePeriodSeconds": 0,
                    "nodeSelector": {"pool": arena.namespace},
                    "containers": [container],
                }
            },
        },
    }
    await arena.client.create(registry.JOBS, job, arena.namespace)


def bound(arena: Arena, job: str) -> int:
    return sum(bool(pod.spec.node_name) for pod in arena.pods_of(job))


def waiting(arena: Arena, job: str) -> int:
    """How many were tried, and the scheduler says that there is no place."""
    return sum(
        not pod.spec.node_name
        and any(
            condition.type == "PodScheduled" and condition.reason == "Unschedulable"
            for condition in pod.status.conditions
        )
        for pod in arena.pods_of(job)
    )


def job_of(pod: Pod) -> str:
    return pod.metadata.labels.get("batch.kubernetes.io/job-name", "")


def name_of(arena: Arena, job: str) -> str:
    return arena.pods_of(job)[0].metadata.name


async def happens(arena: Arena, about: str, reason: str, namespace: str = "") -> None:
    """An event of this reason about this object is there, or comes."""
    path = registry.EVENTS.path("v1", namespace or arena.namespace, group="events.k8s.io")
    async with asyncio.timeout(PATIENCE):
        while True:
            events = msgspec.json.decode((await arena.client.raw("GET", path)).body)["items"]
            if any((e["regarding"]["name"], e["reason"]) == (about, reason) for e in events):
                return
            await asyncio.sleep(0.1)
