"""A gang on nodes of its own, on a real API server, and a scheduler process that binds it."""

import asyncio
import os
import secrets
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from tests.e2e.conftest import fresh_namespace
from tools.throwaway import Plane
from tutti.api.core_v1 import Pod
from tutti.api.registry import NODES, POD_GROUPS, PODS
from tutti.cli.offspring import Child
from tutti.controllers.binder import COMMIT
from tutti.kube.client import Client
from tutti.kube.config import load
from tutti.kube.informer import Informer

ROOM = 10
"""Pods that fit on one node."""


class Gang:
    """`size` pods that want to be together, in a namespace and on nodes that nobody else uses."""

    def __init__(self, plane: Plane, client: Client, size: int) -> None:
        self.namespace = fresh_namespace(plane, "gang")
        self.scheduler = f"tutti-{secrets.token_hex(4)}"
        self.size = size
        self._client = client
        self._informer = Informer(client, PODS, Pod, namespace=self.namespace)
        self._news = asyncio.Event()
        self._on_news: Callable[[], None] = lambda: None

    @property
    def pods(self) -> list[Pod]:
        return list(self._informer.known.values())

    @property
    def bound(self) -> list[Pod]:
        return [pod for pod in self.pods if pod.spec.node_name]

    @property
    def marked(self) -> list[Pod]:
        """Bound by a scheduler of ours, and not being deleted."""
        return [
            pod
            for pod in self.bound
            if COMMIT in pod.metadata.annotations and not pod.metadata.deletion_timestamp
        ]

    @property
    def sessions(self) -> set[str]:
        """One for each term of a scheduler that bound something."""
        return {pod.metadata.annotations[COMMIT].rpartition("-")[0] for pod in self.marked}

    async def make(self, *, spare_nodes: int = 1) -> None:
        count = -(-self.size // ROOM) + spare_nodes
        await self._many(self._make_node, count)
        policy = {"gang": {"minCount": self.size}}
        group = {"metadata": {"name": "g"}, "spec": {"schedulingPolicy": policy}}
        await self._client.create(POD_GROUPS, group, self.namespace)
        await self._many(self.make_pod, self.size)

    async def make_pod(self, number: int) -> None:
        spec: dict[str, Any] = {
            "schedulerName": self.scheduler,
            "schedulingGroup": {"podGroupName": "g"},
            "nodeSelector": {"for": self.namespace},
            "terminationGracePeriodSeconds": 0,  # there is no kubelet to wait for
            "containers": [{"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}],
        }
        pod = {"metadata": {"name": f"p-{number:03d}"}, "spec": spec}
        await self._client.create(PODS, pod, self.namespace)

    async def bind_by_hand(self, numbers: list[int]) -> list[Pod]:
        """As another scheduler would, with no mark of ours."""
        for number in numbers:
            pod = self._informer.known[self.namespace, f"p-{number:03d}"]
            meta = pod.metadata
            await self._client.bind(self.namespace, meta.name, meta.uid, self._node(0), {})
        await self.until(lambda: len(self.bound) == len(numbers))
        return self.bound

    async def cordon(self) -> None:
        """Nothing more fits anywhere."""

        async def close(number: int) -> None:
            patch = {"spec": {"unschedulable": True}}
            await self._client.patch(NODES, None, self._node(number), patch)

        await self._many(close, -(-self.size // ROOM) + 1)

    async def until(self, condition: Callable[[], object], within: float = 20.0) -> None:
        async with asyncio.timeout(within):
            while not condition():
                self._news.clear()
                await self._news.wait()

    async def settled(self) -> int:
        """How many of ours are bound, once nobody is at it any more."""
        listed = await self._client.list(PODS, self.namespace, into=Pod)
        await self.until(
            lambda: len(self.bound) >= sum(bool(p.spec.node_name) for p in listed.items)
        )
        return len(self.marked)

    async def follow(self) -> None:
        def on(_: object) -> None:
            self._on_news()
            self._news.set()

        await self._informer.run(on)

    def when(self, condition: Callable[[], object], then: Callable[[], None]) -> None:
        """Do it at once, in the same moment in which the news makes the condition true."""

        def look() -> None:
            if condition():
                self._on_news = lambda: None
                then()

        self._on_news = look

    async def clear(self) -> None:
        await self._client.raw("DELETE", f"/api/v1/namespaces/{self.namespace}/pods")
        query = {"labelSelector": f"for={self.namespace}"}
        await self._client.raw("DELETE", "/api/v1/nodes", query=query)

    def _node(self, number: int) -> str:
        return f"{self.namespace}-{number:02d}"

    async def _make_node(self, number: int) -> None:
        room = {"cpu": str(ROOM), "memory": "64Gi", "pods": "110"}
        node = {
            "metadata": {"name": self._node(number), "labels": {"for": self.namespace}},
            "status": {
                "capacity": room,
                "allocatable": room,
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }
        await self._client.create(NODES, node)

    async def _many(self, make: Callable[[int], Any], count: int) -> None:
        await asyncio.gather(*(make(number) for number in range(count)))


@asynccontextmanager
async def gang_of(size: int, plane: Plane) -> AsyncIterator[Gang]:
    client = Client(load(plane.kubeconfig("admin")), connections=32)
    gang = Gang(plane, client, size)
    await gang.make()
    following = asyncio.create_task(gang.follow())
    try:
        await gang.until(lambda: len(gang.pods) == size)
        yield gang
        await gang.clear()
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following
        await client.close()


class Running:
    """A scheduler process, and all that it has said."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self._news = asyncio.Event()
        self.child: Child

    async def says(self, words: str, within: float = 20.0) -> None:
        async with asyncio.timeout(within):
            while not any(words in line for line in self.said):
                self._news.clear()
                await self._news.wait()

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.child.pid, number)

    def hear(self, line: str) -> None:
        self.said.append(line)
        self._news.set()


@asynccontextmanager
async def scheduling(plane: Plane, name: str, *flags: str) -> AsyncIterator[Running]:
    """A scheduler process of this name, killed when the block is left, whatever it is at."""
    command = [sys.executable, "-m", "tutti.cli", "scheduler", "--scheduler-name", name]
    command += ["--kubeconfig", str(plane.kubeconfig("scheduler")), *flags]
    running = Running()
    running.child = await Child.spawn("scheduler", command, on_line=running.hear)
    try:
        yield running
    finally:
        if not running.child.ended:
            running.signal(signal.SIGKILL)
        await running.child.wait()
