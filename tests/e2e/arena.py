"""Nodes, gangs and schedulers of one test, on an API server that it shares with others."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tutti.api import registry
from tutti.api.coordination import Lease
from tutti.api.core_v1 import Pod
from tutti.kube import config
from tutti.kube.client import Client
from tutti.kube.informer import Gone, Informer, Relisted, Seen

Manifest = dict[str, Any]


class Scheduler:
    """A `tutti scheduler` of its own, which can be killed, stopped and sent on."""

    def __init__(self, kubeconfig: Path, name: str, log: Path, flags: Iterable[str] = ()) -> None:
        command = [sys.executable, "-m", "tutti.cli", "scheduler", "--scheduler-name", name]
        self._log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [*command, "--kubeconfig", kubeconfig, *flags],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def has_said(self, words: str) -> bool:
        return words in self._log.read_text()

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Ends it, also where it is stopped, and waits for it."""
        self._process.send_signal(number)
        self._process.send_signal(signal.SIGCONT)
        self._process.wait(20)


class Arena:
    """What one test sees, by watching: its pods, who holds the Lease, and in which order."""

    def __init__(self, client: Client, kubeconfig: Path, namespace: str, folder: Path) -> None:
        self.client = client
        self.namespace = namespace
        self.terms: list[tuple[int, str]] = []
        """Each new holder of the Lease, and the resource version that made it so."""
        self.bound_at: dict[str, int] = {}
        """The resource version by which each pod got its node, by uid."""
        self.nodes = [f"{namespace}-{number}" for number in range(20)]
        self._kubeconfig = kubeconfig
        self._folder = folder
        self._schedulers: list[Scheduler] = []
        self._changed = asyncio.Event()
        self._pods = Informer(client, registry.PODS, Pod, namespace=namespace)
        self._leases = Informer(
            client,
            registry.LEASES,
            Lease,
            namespace="kube-system",
            field=f"metadata.name=tutti-{namespace}",
        )

    def start_scheduler(self, *flags: str) -> Scheduler:
        """One that goes by the name of the namespace, so that no other test's does."""
        log = self._folder / f"scheduler-{len(self._schedulers)}.log"
        scheduler = Scheduler(self._kubeconfig, self.namespace, log, flags)
        self._schedulers.append(scheduler)
        return scheduler

    async def make_nodes(self) -> None:
        for name in self.nodes:
            await self.client.create(registry.NODES, node(name, self.namespace))

    async def cordon(self, yes: bool) -> None:
        for name in self.nodes:
            patch = {"spec": {"unschedulable": yes}}
            await self.client.patch(registry.NODES, None, name, patch)

    async def make_gang(self, name: str, size: int) -> None:
        policy = {"schedulingPolicy": {"gang": {"minCount": size}}}
        await self.client.create(
            registry.POD_GROUPS,
            {
                "apiVersion": registry.POD_GROUPS.api_version,
                "kind": "PodGroup",
                "metadata": {"name": name},
                "spec": policy,
            },
            self.namespace,
        )
        async with asyncio.TaskGroup() as group:
            for number in range(size):
                pod = member(name, number, self.namespace)
                group.create_task(self.client.create(registry.PODS, pod, self.namespace))
        await self.until(lambda: len(self.members(name)) == size, 20)

    async def bind_by_hand(self, gang: str, count: int) -> dict[str, str]:
        """Somebody else binds a few members; their nodes by uid."""
        bound = {}
        for pod, name in zip(self.members(gang)[:count], self.nodes, strict=False):
            meta = pod.metadata
            await self.client.bind(meta.namespace, meta.name, meta.uid, name, {})
            bound[meta.uid] = name
        return bound

    def members(self, gang: str) -> list[Pod]:
        return [
            pod
            for pod in self._pods.known.values()
            if pod.spec.scheduling_group and pod.spec.scheduling_group.pod_group_name == gang
        ]

    def bound(self, gang: str) -> dict[str, str]:
        """The members that have a node, which, by uid."""
        return {
            pod.metadata.uid: pod.spec.node_name for pod in self.members(gang) if pod.spec.node_name
        }

    async def listed(self, gang: str) -> list[Pod]:
        """The members as the server has them now: a watch may lag."""
        pods = await self.client.list(registry.PODS, self.namespace, into=Pod)
        return [pod for pod in pods.items if pod.metadata.name.startswith(f"{gang}-")]

    def bound_in_term(self, gang: str) -> set[int]:
        """In whose terms, counted from 0, the members got their nodes."""
        began = [version for version, _ in self.terms]
        return {
            sum(version < self.bound_at[uid] for version in began) - 1 for uid in self.bound(gang)
        }

    @property
    def holder(self) -> str:
        return self.terms[-1][1] if self.terms else ""

    async def until(self, true: Callable[[], bool], seconds: float) -> None:
        async with asyncio.timeout(seconds):
            while not true():
                self._changed.clear()
                await self._changed.wait()

    async def wipe(self) -> None:
        await self.client.raw(
            "DELETE",
            registry.PODS.path(None, self.namespace),
            body=b'{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0}',
            within=30,
        )
        await self.until(lambda: not self._pods.known, 20)

    async def leave(self) -> None:
        for scheduler in self._schedulers:
            scheduler.end(signal.SIGKILL)
        await self.wipe()
        for name in self.nodes:
            await self.client.delete(registry.NODES, None, name)

    def watches(self) -> Iterable[Any]:
        yield self._pods.run(self._saw_pod)
        yield self._leases.run(self._saw_lease)

    def _saw_pod(self, change: Seen[Pod] | Gone[Pod] | Relisted) -> None:
        if isinstance(change, Seen) and change.object.spec.node_name:
            meta = change.object.metadata
            self.bound_at.setdefault(meta.uid, int(meta.resource_version))
        self._changed.set()

    def _saw_lease(self, change: Seen[Lease] | Gone[Lease] | Relisted) -> None:
        if isinstance(change, Seen):
            holder = change.object.spec.holder_identity or ""
            if holder != self.holder:
                self.terms.append((int(change.object.metadata.resource_version), holder))
        self._changed.set()


@asynccontextmanager
async def entered(kubeconfig: Path, namespace: str, folder: Path) -> AsyncIterator[Arena]:
    client = Client(config.load(kubeconfig), connections=64)
    arena = Arena(client, kubeconfig, namespace, folder)
    async with asyncio.TaskGroup() as group:
        watching = [group.create_task(watch) for watch in arena.watches()]
        try:
            await arena.make_nodes()
            yield arena
        finally:
            await arena.leave()
            for task in watching:
                task.cancel()
    await client.close()


def node(name: str, pool: str) -> Manifest:
    room = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"pool": pool}},
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def member(gang: str, number: int, pool: str) -> Manifest:
    requests = {"cpu": "1", "memory": "1Gi"}
    container = {
        "name": "main",
        "image": "example.com/sample:1",
        "resources": {"requests": requests},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{gang}-{number}"},
        "spec": {
            "schedulerName": pool,
            "schedulingGroup": {"podGroupName": gang},
            "nodeSelector": {"pool": pool},
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
        },
    }
