"""Tutti end to end on a real API server, beside kube-scheduler and a process that only binds.

    make bench-real        writes build/bench-real.json

One after the other, in one run, on the same etcd and kube-apiserver: all groups and pods exist
before a contender is started. Time counts from its start to the last bound pod as a watch sees it;
CPU from its start until it has nothing left to do, its start-up, conditions and events included.
What it did is checked before anything is written down.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop

from benchmarks import report
from benchmarks.contenders import Contender, Run, contenders, running
from tools import throwaway
from tutti.api import registry
from tutti.api.core_v1 import Pod
from tutti.api.scheduling import PodGroup
from tutti.kube import config
from tutti.kube.client import Client
from tutti.kube.informer import Gone, Informer, Relisted, Seen

BUILD = Path("tools/control-plane/build.py")
RESULT = Path("build/bench-real.json")
STALL_S = 90.0
CPU_OF_NODE, CPU_OF_POD = 4000, 100


@dataclass(frozen=True, slots=True)
class Shape:
    name: str
    gangs: int
    size: int

    @property
    def pods(self) -> int:
        return self.gangs * self.size


SHAPES = (Shape("1000-gangs-of-3", 1000, 3), Shape("one-gang-of-1000", 1, 1000))


@dataclass(frozen=True, slots=True)
class Result:
    contender: str
    shape: Shape
    wall_s: float
    cpu_s: float
    first_s: float


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench-real", description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="a contender; may be repeated"
    )
    options = parser.parse_args()
    built = subprocess.run([sys.executable, BUILD], stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode:
        return built.returncode
    binaries = Path(built.stdout.splitlines()[-1])
    with (
        tempfile.TemporaryDirectory(prefix="tutti-bench-") as folder,
        throwaway.plane(binaries, Path(folder), durable=True) as plane,
    ):
        kubeconfig = plane.kubeconfig("admin")
        field = contenders(binaries, kubeconfig, Path(folder))
        chosen = [one for one in field if not options.only or one.name in options.only]
        results = uvloop.run(
            measure(kubeconfig, chosen, options.nodes, options.rounds, Path(folder))
        )
    rows = beside_kube_scheduler(list(rows_of(results)))
    report.write(RESULT, rows)
    print(report.table(rows))
    return 0


async def measure(
    kubeconfig: Path, field: Sequence[Contender], nodes: int, rounds: int, folder: Path
) -> list[Result]:
    client = Client(config.load(kubeconfig), connections=64, within=60.0)
    results = []
    try:
        await each(map(node, range(nodes)), lambda one: client.create(registry.NODES, one))
        tell(f"{nodes} nodes are there")
        for shape in SHAPES:
            for turn in range(rounds):
                for contender in field:
                    namespace = f"{shape.name}-{contender.name}-{turn}"
                    result = await one_run(client, contender, shape, namespace, folder)
                    tell(
                        f"{shape.name}, {contender.name}: {result.wall_s:.2f} s, "
                        f"{result.cpu_s:.2f} CPU s, first pod after {result.first_s:.2f} s"
                    )
                    results.append(result)
    finally:
        await client.close()
    return results


async def one_run(
    client: Client, contender: Contender, shape: Shape, namespace: str, folder: Path
) -> Result:
    await client.create(
        registry.NAMESPACES,
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
    )
    names = [f"gang-{number}" for number in range(shape.gangs)]
    await each(
        (group(name, shape.size) for name in names),
        lambda one: client.create(registry.POD_GROUPS, one, namespace),
    )
    await each(
        (pod(name, number) for name in names for number in range(shape.size)),
        lambda one: client.create(registry.PODS, one, namespace),
    )
    bound = Bound(client, namespace, shape.pods)
    watching = asyncio.create_task(bound.watch())
    try:
        await bound.informer.synced.wait()
        with running(contender, folder / f"{namespace}.log") as run:
            await bound.all_of_them(run)
            await asyncio.to_thread(run.wait_until_quiet)
            cpu_s = run.cpu_s()
        await check(client, contender, shape, namespace)
    finally:
        watching.cancel()
        await wipe(client, namespace)
    first, last = min(bound.times), max(bound.times)
    return Result(contender.name, shape, last - run.started, cpu_s, first - run.started)


class Bound:
    """When each pod of a namespace was first seen to have a node."""

    def __init__(self, client: Client, namespace: str, wanted: int) -> None:
        self.informer = Informer(
            client, registry.PODS, Pod, namespace=namespace, field="spec.nodeName!="
        )
        self.times: list[float] = []
        self._seen: set[str] = set()
        self._wanted = wanted
        self._done = asyncio.Event()

    async def watch(self) -> None:
        def note(change: Seen[Pod] | Gone[Pod] | Relisted) -> None:
            if isinstance(change, Seen) and change.object.metadata.uid not in self._seen:
                self._seen.add(change.object.metadata.uid)
                self.times.append(time.monotonic())
                if len(self.times) == self._wanted:
                    self._done.set()

        await self.informer.run(note)

    async def all_of_them(self, run: Run) -> None:
        """Raises TimeoutError when none was bound for long, or the contender is gone."""
        known = -1
        while not self._done.is_set():
            if len(self.times) == known or not run.alive():
                raise TimeoutError(f"{known} of {self._wanted} pods were bound, then no more")
            known = len(self.times)
            try:
                async with asyncio.timeout(STALL_S):
                    await self._done.wait()
            except TimeoutError:
                continue


async def check(client: Client, contender: Contender, shape: Shape, namespace: str) -> None:
    """No node is overfull, every gang is whole, and it says so."""
    pods = (await client.list(registry.PODS, namespace, into=Pod)).items
    fullest = max(Counter(pod.spec.node_name for pod in pods).values())
    if fullest > CPU_OF_NODE // CPU_OF_POD:
        raise AssertionError(f"{contender.name} put {fullest} pods on one node")
    members: dict[str, int] = defaultdict(int)
    for each_pod in pods:
        if each_pod.spec.node_name and each_pod.spec.scheduling_group is not None:
            members[each_pod.spec.scheduling_group.pod_group_name or ""] += 1
    whole = sum(count == shape.size for count in members.values())
    if whole != shape.gangs:
        raise AssertionError(f"{contender.name} left {shape.gangs - whole} gangs incomplete")
    if contender.decides:
        groups = (await client.list(registry.POD_GROUPS, namespace, into=PodGroup)).items
        silent = [one.metadata.name for one in groups if not _initially_scheduled(one)]
        if silent:
            raise AssertionError(
                f"{contender.name} left {len(silent)} groups without their condition"
            )


async def wipe(client: Client, namespace: str) -> None:
    """All that a run made, while no contender looks."""
    grace = b'{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0}'
    for storage in (registry.PODS, registry.POD_GROUPS, registry.EVENTS):
        await client.raw("DELETE", storage.path(None, namespace), body=grace, within=120.0)
    groups = (await client.list(registry.POD_GROUPS, namespace, into=PodGroup)).items
    release = {"metadata": {"finalizers": None}}
    await each(
        (one.metadata.name for one in groups),
        lambda name: client.patch(registry.POD_GROUPS, namespace, name, release),
    )


async def each(things: Iterable[Any], do: Callable[[Any], Awaitable[object]]) -> None:
    """Do it to all of them, 64 at a time."""
    left = iter(things)

    async def work() -> None:
        for thing in left:
            await do(thing)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(64):
            tasks.create_task(work())


def rows_of(results: Sequence[Result]) -> Iterable[report.Row]:
    """The medians of the rounds."""
    runs: dict[tuple[Shape, str], list[Result]] = defaultdict(list)
    for result in results:
        runs[result.shape, result.contender].append(result)
    for (shape, contender), rounds in runs.items():
        cpu_s = statistics.median(one.cpu_s for one in rounds)
        wall_s = statistics.median(one.wall_s for one in rounds)
        name = f"real/{shape.name}/{contender}"
        yield report.Row(
            name=f"{name}/cpu-per-pod",
            value=1e6 * cpu_s / shape.pods,
            unit="us",
            better="lower",
            cpu_s=cpu_s,
            wall_s=wall_s,
        )
        yield report.Row(
            name=f"{name}/rate",
            value=shape.pods / wall_s,
            unit="pods/s",
            better="higher",
            cpu_s=cpu_s,
            wall_s=wall_s,
        )


def beside_kube_scheduler(rows: Sequence[report.Row]) -> list[report.Row]:
    """Its figures are the reference of the others', where it ran."""
    figures = {row.name: row.value for row in rows}

    def reference(row: report.Row) -> str:
        prefix, shape, _, figure = row.name.split("/")
        return f"{prefix}/{shape}/kube-scheduler/{figure}"

    return [
        row.beside(figures[reference(row)])
        if reference(row) in figures and reference(row) != row.name
        else row
        for row in rows
    ]


def node(number: int) -> dict[str, Any]:
    name = f"node-{number:05d}"
    room = {"cpu": f"{CPU_OF_NODE}m", "memory": "32Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def group(name: str, size: int) -> dict[str, Any]:
    return {
        "apiVersion": registry.POD_GROUPS.api_version,
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": {"gang": {"minCount": size}}},
    }


def pod(group: str, number: int) -> dict[str, Any]:
    requests = {"cpu": f"{CPU_OF_POD}m", "memory": "100Mi"}
    container = {
        "name": "main",
        "image": "example.com/sample:1",
        "resources": {"requests": requests},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{group}-{number}"},
        "spec": {
            "schedulingGroup": {"podGroupName": group},
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
        },
    }


def _initially_scheduled(group: PodGroup) -> bool:
    return any(
        condition.type == "PodGroupInitiallyScheduled" and condition.status == "True"
        for condition in group.status.conditions
    )


def tell(line: str) -> None:
    print(f"bench-real: {line} (load {os.getloadavg()[0]:.1f})", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
