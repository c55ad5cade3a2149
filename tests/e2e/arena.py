"""Nodes, gangs and schedulers of one test, on an API server that it shares with others."""

import asyncio
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.controllers.between import Between, between
from tests.e2e.units import Unit
from tools.throwaway import Plane
from tutti.api import registry
from tutti.api.coordination import Lease
from tutti.api.core_v1 import Node, Pod
from tutti.api.scheduling import CompositePodGroup, PodGroup
from tutti.kube import config
from tutti.kube.client import Client
from tutti.kube.discovery import Discovery
from tutti.kube.informer import Gone, Informer, Relisted, Seen

Manifest = dict[str, Any]
SEATS = 16
COMMIT = "tutti.dev/commit"
UNITS = "tutti.dev/units"
SCHEDULED = ("PodGroupInitiallyScheduled", "CompositePodGroupInitiallyScheduled")


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

    def said(self) -> str:
        return self._log.read_text()

    def has_said(self, words: str) -> bool:
        return words in self.said()

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Ends it, also where it is stopped, and waits for it."""
        self._process.send_signal(number)
        self._process.send_signal(signal.SIGCONT)
        self._process.wait(20)


class Arena:
    """What one test sees, by watching: its pods, who holds the Lease, and in which order."""

    def __init__(
        self,
        client: Client,
        wire: Between,
        namespace: str,
        kubeconfigs: Mapping[bool, Path],
        folder: Path,
    ) -> None:
        self.client = client
        self.wire = wire
        """What schedulers have between them and the server that are started `on_the_wire`."""
        self.namespace = namespace
        self.terms: list[tuple[int, str]] = []
        """Each new holder of the Lease, and the resource version that made it so."""
        self.bound_at: dict[str, int] = {}
        """The resource version by which each pod got its node, by uid."""
        self.gone: dict[str, Pod] = {}
        """Pods that were there once, by uid, as they were last."""
        self.units = ""
        """What stands on the Lease."""
        self.units_at = 0
        """The resource version at which that was read."""
        self.nodes = [f"{namespace}-{number}" for number in range(20)]
        self._kubeconfigs = kubeconfigs
        self._folder = folder
        self._schedulers: list[Scheduler] = []
        self._changed = asyncio.Event()
        self._pods = Informer(client, registry.PODS, Pod, namespace=namespace)
        self._groups = Informer(client, registry.POD_GROUPS, PodGroup, namespace=namespace)
        self._composites = Informer(
            client, registry.COMPOSITE_POD_GROUPS, CompositePodGroup, namespace=namespace
        )
        self._leases = Informer(
            client,
            registry.LEASES,
            Lease,
            namespace="kube-system",
            field=f"metadata.name=tutti-{namespace}",
        )

    def start_scheduler(self, *flags: str, on_the_wire: bool = False) -> Scheduler:
        """One that goes by the name of the namespace, so that no other test's does."""
        log = self._folder / f"scheduler-{len(self._schedulers)}.log"
        kubeconfig = self._kubeconfigs[on_the_wire]
        scheduler = Scheduler(kubeconfig, self.namespace, log, flags)
        self._schedulers.append(scheduler)
        return scheduler

    async def make_node(self, name: str) -> None:
        await self.client.create(registry.NODES, node(name, self.namespace))

    async def lose_node(self, name: str) -> None:
        await self.client.delete(registry.NODES, None, name)

    async def lose_pods_on(self, name: str) -> None:
        """As Kubernetes' pod collector does it, some time after the node is gone."""
        lost = [pod.metadata for pod in self._pods.known.values() if pod.spec.node_name == name]
        for meta in lost:
            await self.client.delete(registry.PODS, self.namespace, meta.name, grace=0)
        await self.until(lambda: all(meta.uid in self.gone for meta in lost), 20)

    async def fill_node(self, name: str) -> None:
        """Somebody else's pod takes all the room of a node, whoever is there."""
        pod = lone_pod(f"fills-{name}", name, SEATS)
        await self.client.create(registry.PODS, pod, self.namespace)

    async def change_nodes(self, names: Iterable[str], spec: Manifest) -> None:
        for name in names:
            await self.client.patch(registry.NODES, None, name, {"spec": spec})

    async def mend_nodes(self) -> None:
        """All are there, and open to everybody."""
        names = await self._nodes_there()
        for name in self.nodes:
            if name not in names:
                await self.make_node(name)
        await self.change_nodes(names, {"taints": None, "unschedulable": None})

    async def make(self, unit: Unit) -> None:
        for storage, manifest in unit.manifests():
            await self.client.create(storage, manifest, self.namespace)
        await self.make_members(unit)

    async def make_members(self, unit: Unit) -> None:
        """Those that aren't there (any more)."""
        there = {pod.metadata.name for pod in self.members(unit)}
        async with asyncio.TaskGroup() as group:
            for leaf in unit.leaves():
                for number in range(leaf.size):
                    pod = member(leaf.name, number, self.namespace)
                    if pod["metadata"]["name"] not in there:
                        group.create_task(self.client.create(registry.PODS, pod, self.namespace))
        await self.until(lambda: len(self.members(unit)) == unit.total, 20)

    async def bind_by_hand(self, unit: Unit, count: int) -> dict[str, str]:
        """Somebody else binds a few members; their nodes by uid."""
        bound = {}
        for pod, name in zip(self.members(unit)[:count], self.nodes, strict=False):
            meta = pod.metadata
            await self.client.bind(meta.namespace, meta.name, meta.uid, name, {})
            bound[meta.uid] = name
        await self.until(lambda: self.bound(unit).items() >= bound.items(), 20)
        return bound

    def members(self, unit: Unit) -> list[Pod]:
        names = {leaf.name for leaf in unit.leaves()}
        return [pod for pod in self._pods.known.values() if gang_of(pod) in names]

    def all_pods(self) -> list[Pod]:
        return list(self._pods.known.values())

    def pods_of(self, job: str) -> list[Pod]:
        """The pods of a Job that haven't ended."""
        return [
            pod
            for pod in self._pods.known.values()
            if pod.metadata.labels.get("batch.kubernetes.io/job-name") == job
            and pod.status.phase not in ("Succeeded", "Failed")
        ]

    def bound(self, unit: Unit) -> dict[str, str]:
        """The members that have a node, which, by uid."""
        return {
            pod.metadata.uid: pod.spec.node_name for pod in self.members(unit) if pod.spec.node_name
        }

    def is_whole(self, unit: Unit) -> bool:
        return len(self.bound(unit)) == unit.total

    def said_scheduled(self, unit: Unit) -> set[bool]:
        """What the conditions of its groups say, at all levels."""
        known = {**self._groups.known, **self._composites.known}
        groups = [known[self.namespace, name] for _, name in unit.groups()]
        return {
            any(c.type in SCHEDULED and c.status == "True" for c in group.status.conditions)
            for group in groups
        }

    async def listed(self, unit: Unit) -> list[Pod]:
        """The members that have a node, as the server has them now: a watch may lag."""
        names = {leaf.name for leaf in unit.leaves()}
        pods = await self.client.list(registry.PODS, self.namespace, into=Pod)
        return [pod for pod in pods.items if gang_of(pod) in names and pod.spec.node_name]

    def bound_in_term(self, unit: Unit) -> set[int]:
        """In whose terms, counted from 0, the members got their nodes."""
        began = [version for version, _ in self.terms]
        return {
            sum(version < self.bound_at[uid] for version in began) - 1 for uid in self.bound(unit)
        }

    @property
    def holder(self) -> str:
        return self.terms[-1][1] if self.terms else ""

    async def until(self, true: Callable[[], bool], seconds: float) -> None:
        async with asyncio.timeout(seconds):
            while not true():
                self._changed.clear()
                await self._changed.wait()

    def has_committed(self) -> bool:
        """Whether no unit stands on the Lease any more, since the last pod was bound."""
        return self.units in ("", "[]") and self.units_at > max(self.bound_at.values(), default=0)

    async def wipe(self) -> None:
        await self.client.raw(
            "DELETE",
            registry.PODS.path(None, self.namespace),
            body=b'{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0}',
            within=30,
        )
        await self.until(lambda: not self._pods.known, 20)

    def tell(self) -> None:
        """How things stand, for whoever has to find out why a test failed."""
        print(f"on the Lease of {self.holder or 'nobody'}: {self.units or 'nothing'}")
        for pod in self._pods.known.values():
            mark = pod.metadata.annotations.get(COMMIT, "")
            print(pod.metadata.name, pod.spec.node_name or "nowhere", mark)
        for scheduler in self._schedulers[-3:]:
            print(scheduler.said())

    async def leave(self) -> None:
        for scheduler in self._schedulers:
            scheduler.end(signal.SIGKILL)
        await self.wipe()
        for name in await self._nodes_there():
            await self.client.delete(registry.NODES, None, name)

    async def _nodes_there(self) -> set[str]:
        there = await self.client.list(registry.NODES, into=Node, label=f"pool={self.namespace}")
        return {node.metadata.name for node in there.items}

    def watches(self, served: Discovery) -> Iterable[Any]:
        yield self._pods.run(self._saw_pod)
        yield self._leases.run(self._saw_lease)
        for storage, informer in (
            (registry.POD_GROUPS, self._groups),
            (registry.COMPOSITE_POD_GROUPS, self._composites),
        ):
            if served.served(storage.group, storage.plural):
                yield informer.run(self._saw_group)

    def _saw_pod(self, change: Seen[Pod] | Gone[Pod] | Relisted) -> None:
        if isinstance(change, Seen) and change.object.spec.node_name:
            meta = change.object.metadata
            self.bound_at.setdefault(meta.uid, int(meta.resource_version))
        elif isinstance(change, Gone):
            self.gone[change.object.metadata.uid] = change.object
        self._changed.set()

    def _saw_lease(self, change: Seen[Lease] | Gone[Lease] | Relisted) -> None:
        if isinstance(change, Seen):
            self.units = change.object.metadata.annotations.get(UNITS, "")
            self.units_at = int(change.object.metadata.resource_version)
            holder = change.object.spec.holder_identity or ""
            if holder != self.holder:
                self.terms.append((int(change.object.metadata.resource_version), holder))
        self._changed.set()

    def _saw_group(self, _: Seen[Any] | Gone[Any] | Relisted) -> None:
        self._changed.set()


@asynccontextmanager
async def entered(plane: Plane, namespace: str, folder: Path) -> AsyncIterator[Arena]:
    client = Client(config.load(plane.kubeconfig("admin")), connections=64)
    port = urlsplit(plane.url).port
    assert port is not None
    try:
        async with between(port) as (wire, entrance):
            on_the_wire = folder / "on-the-wire.kubeconfig"
            plane.credentials.write_kubeconfig(
                on_the_wire, f"https://127.0.0.1:{entrance}", "scheduler"
            )
            ways = {False: plane.kubeconfig("scheduler"), True: on_the_wire}
            arena = Arena(client, wire, namespace, ways, folder)
            served = await client.discover()
            async with asyncio.TaskGroup() as group:
                watching = [group.create_task(watch) for watch in arena.watches(served)]
                try:
                    for name in arena.nodes:
                        await arena.make_node(name)
                    yield arena
                except BaseException:
                    arena.tell()
                    raise
                finally:
                    await arena.leave()
                    for task in watching:
                        task.cancel()
    finally:
        await client.close()


def gang_of(pod: Pod) -> str | None:
    group = pod.spec.scheduling_group
    return group.pod_group_name if group else None


def per_gang(pods: Iterable[Pod]) -> Counter[str]:
    """How many of them each gang has."""
    return Counter(gang for pod in pods if (gang := gang_of(pod)))


def node(name: str, pool: str) -> Manifest:
    room = {"cpu": str(SEATS), "memory": "64Gi", "pods": "110"}
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
    pod = lone_pod(f"{gang}-{number}", "", 1)
    pod["spec"] |= {
        "schedulerName": pool,
        "schedulingGroup": {"podGroupName": gang},
        "nodeSelector": {"pool": pool},
    }
    return pod


def lone_pod(name: str, node: str, cpus: int) -> Manifest:
    """With a node: one that a person put there, and no scheduler was asked."""
    requests = {"cpu": str(cpus), "memory": "1Gi"}
    container = {
        "name": "main",
        "image": "example.com/sample:1",
        "resources": {"requests": requests},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "nodeName": node,
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
        },
    }
