"""A cluster that is watched and drawn while things happen to it: what `tutti demo` plays on."""

import asyncio
from collections.abc import Callable
from typing import Any

from tutti.api.core_v1 import Node, Pod
from tutti.api.registry import JOBS, NODES, POD_GROUPS, PODS
from tutti.api.scheduling import PodGroup
from tutti.cli import picture
from tutti.cli.output import Trouble
from tutti.cli.report import Family, Report, of_group
from tutti.cli.screen import Screen
from tutti.kube.client import Client
from tutti.kube.informer import Informer
from tutti.pretend import cluster, kubelet

NAMESPACE = "default"
PATIENCE_S = 30.0
"""How long a step may take before something must be wrong."""

LOOK_S = 2.5
"""How long people get to look at a step."""


class Stage:
    """What is known of the cluster, and the words beneath its picture."""

    def __init__(self, client: Client, screen: Screen) -> None:
        self._client = client
        self._screen = screen
        self._nodes = Informer(client, NODES, Node)
        self._pods = Informer(client, PODS, Pod, namespace=NAMESPACE)
        self._groups = Informer(client, POD_GROUPS, PodGroup, namespace=NAMESPACE)
        self._words: tuple[str, ...] = ()
        self._news = asyncio.Event()
        self._stale = asyncio.Event()

    async def follow(self) -> None:
        """Know what is there, and on a terminal draw each change as it comes."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._nodes.run(self._on_news))
            group.create_task(self._pods.run(self._on_news))
            group.create_task(self._groups.run(self._on_news))
            if self._screen.is_live:
                group.create_task(self._redraw())

    async def add_nodes(self, description: dict[str, Any]) -> None:
        for manifest in cluster.nodes(description):
            await self._client.create(NODES, manifest)

    async def add_gang(self, name: str, *, pods: int, gpus: int) -> None:
        """So many pods that want so many GPUs each, all of them or none."""
        await self._client.create(POD_GROUPS, _group(name, pods), NAMESPACE)
        for number in range(pods):
            await self._client.create(PODS, _pod(name, number, gpus), NAMESPACE)

    async def add_job(self, name: str, *, pods: int, gpus: int, runs_for: float) -> None:
        """A Job that runs all its indexes at once, and ends."""
        await self._client.create(JOBS, _job(name, pods, gpus, runs_for), NAMESPACE)

    def size(self) -> int:
        return len(self._nodes.known)

    def report(self, gang: str) -> Report | None:
        """How a group stands, by its own name or by that of its Job."""
        family = self._family()
        groups = [g for g in family.groups.values() if gang in (g.metadata.name, picture.title(g))]
        return of_group(groups[0], family) if groups else None

    def runs(self, gang: str) -> bool:
        found = self.report(gang)
        return found is not None and picture.running(found) >= found.needs

    def finished(self, gang: str) -> bool:
        found = self.report(gang)
        return found is not None and picture.succeeded(found) >= found.needs

    def refused(self, gang: str) -> bool:
        """Whether the scheduler has looked at all of it and said no."""
        found = self.report(gang)
        return found is not None and found.reason in ("NotFound", "ProvedImpossible")

    async def until(self, what: str, so: Callable[[], bool]) -> None:
        """Wait until it is so; the words say what was waited for, should it not come."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not so():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise Trouble(f"waited {PATIENCE_S:.0f} s in vain until {what}") from None

    async def tell(self, *words: str) -> None:
        """Say something beneath the picture, and give people time to look at it."""
        self._words = words
        self._screen.draw(self._picture())
        if self._screen.is_live:
            await asyncio.sleep(LOOK_S)

    async def _redraw(self) -> None:
        while True:
            self._stale.clear()
            self._screen.draw(self._picture())
            await self._stale.wait()
            await asyncio.sleep(0.05)  # twenty pictures a second are enough

    def _on_news(self, _: object) -> None:
        self._news.set()
        self._stale.set()

    def _family(self) -> Family:
        return Family.of(self._groups.known.values(), (), self._pods.known.values())

    def _picture(self) -> list[str]:
        colour, width = self._screen.colour, self._screen.width
        nodes, pods = list(self._nodes.known.values()), list(self._pods.known.values())
        chosen = picture.styles(list(self._groups.known.values()))
        return [
            "",
            *picture.racks(nodes, pods, chosen, colour=colour),
            "",
            *picture.legend(self._family(), chosen, colour=colour, width=width),
            "",
            *self._words,
        ]


def _group(name: str, pods: int) -> dict[str, Any]:
    return {
        "apiVersion": POD_GROUPS.api_version,
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": {"gang": {"minCount": pods}}},
    }


def _pod(group: str, number: int, gpus: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{group}-{number:02}", "labels": {"gang": group}},
        "spec": {
            "schedulingGroup": {"podGroupName": group},
            "containers": [_container(gpus)],
        },
    }


def _job(name: str, pods: int, gpus: int, runs_for: float) -> dict[str, Any]:
    template = {
        "metadata": {"annotations": {kubelet.RUNS_FOR: str(runs_for)}},
        "spec": {"restartPolicy": "Never", "containers": [_container(gpus)]},
    }
    spec = {
        "parallelism": pods,
        "completions": pods,
        "completionMode": "Indexed",
        "template": template,
    }
    return {
        "apiVersion": JOBS.api_version,
        "kind": "Job",
        "metadata": {"name": name},
        "spec": spec,
    }


def _container(gpus: int) -> dict[str, Any]:
    amounts = {"cpu": "4", picture.GPU: str(gpus)}
    return {
        "name": "main",
        "image": "registry.k8s.io/pause:3.10",
        "resources": {"requests": amounts, "limits": amounts},
    }
