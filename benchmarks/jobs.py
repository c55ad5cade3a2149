"""Jobs that are gangs on the embedded control plane: a thousand at once, and a large one."""

import asyncio
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import uvloop

from benchmarks.report import Row
from benchmarks.server import cpu_s
from tutti.api.core_v1 import Pod
from tutti.api.registry import JOBS, NODES, PODS
from tutti.cli.offspring import Child
from tutti.kube import config
from tutti.kube.client import Client
from tutti.kube.informer import Gone, Informer, Relisted, Seen

GANGS: Final = 1_000
GANG: Final = 8
ROOM_FOR: Final = 900
NODES_IN_ALL: Final = 1_000
LARGE: Final = 2_000
IN_FLIGHT: Final = 16
PARTS: Final = ("tutti.server", "scheduler", "controllers")


def rows() -> Iterator[Row]:
    for measured in (many, one_large):
        with TemporaryDirectory() as folder:
            yield from uvloop.run(measured(Path(folder)))


async def many(folder: Path) -> list[Row]:
    """Every gang takes a whole set of places, so that just so many fit."""
    up, client = await cluster(folder, places=ROOM_FOR * GANG)
    try:
        pods = Bound(client)
        before = spent(up)
        started = asyncio.get_running_loop().time()
        await asyncio.gather(
            *(create_some(client, range(n, GANGS, IN_FLIGHT)) for n in range(IN_FLIGHT))
        )
        await pods.until(lambda: pods.whole == ROOM_FOR and len(pods.known) == GANGS * GANG)
        wall = asyncio.get_running_loop().time() - started
        cpu = {name: round(after - before[name], 2) for name, after in spent(up).items()}
        what = f"{GANGS:,} Jobs of {GANG} made at once, room for {ROOM_FOR}"
        return [
            Row(
                name=f"{what}: all made and {ROOM_FOR} bound",
                value=round(wall, 2),
                unit="s",
                better="lower",
                wall_s=wall,
                cpu_s=sum(cpu.values()),
            ).beside(20.0),
            Row(
                name=f"{what}: the longest that one was bound in part",
                value=round(pods.longest_in_part, 2),
                unit="s",
                better="lower",
            ).beside(1.0),
            *(
                Row(
                    name=f"{what}: {name}",
                    value=1000 * seconds,
                    unit="ms CPU of a process",
                    better="lower",
                )
                for name, seconds in cpu.items()
            ),
        ]
    finally:
        await client.close()
        await up.stop(20)


async def one_large(folder: Path) -> list[Row]:
    up, client = await cluster(folder, places=LARGE)
    try:
        pods = Bound(client)
        started = asyncio.get_running_loop().time()
        await client.create(JOBS, job("large", LARGE), "default")
        await pods.until(lambda: pods.bound > 0)
        first = asyncio.get_running_loop().time() - started
        await pods.until(lambda: pods.bound == LARGE)
        last = asyncio.get_running_loop().time() - started
        name = f"a Job of {LARGE:,} pods"
        return [
            Row(name=f"{name}: first bind", value=round(first, 2), unit="s", better="lower").beside(
                10.0
            ),
            Row(name=f"{name}: all bound", value=round(last, 2), unit="s", better="lower"),
        ]
    finally:
        await client.close()
        await up.stop(20)


class Bound:
    """How many pods of each Job are bound, and how long one was bound in part, as a watch shows it."""

    def __init__(self, client: Client) -> None:
        self._pods = Informer(client, PODS, Pod)
        self._changed = asyncio.Event()
        self._of: defaultdict[str, set[str]] = defaultdict(set)
        self._in_part_since: dict[str, float] = {}
        self.longest_in_part = 0.0
        self.bound = 0
        self.whole = 0
        self._following = asyncio.create_task(self._pods.run(self._on_pod))

    @property
    def known(self) -> dict[tuple[str, str], Pod]:
        return self._pods.known

    async def until(self, so: Callable[[], bool]) -> None:
        async with asyncio.timeout(300):
            while not so():
                self._changed.clear()
                await self._changed.wait()

    def _on_pod(self, news: Seen[Pod] | Gone[Pod] | Relisted) -> None:
        if isinstance(news, Seen) and news.object.spec.node_name:
            self._count(news.object)
        self._changed.set()

    def _count(self, pod: Pod) -> None:
        name = pod.metadata.labels["job-name"]
        members = self._of[name]
        if pod.metadata.uid in members:
            return
        members.add(pod.metadata.uid)
        self.bound += 1
        now = asyncio.get_running_loop().time()
        since = self._in_part_since.setdefault(name, now)
        if len(members) == GANG:
            self.whole += 1
            self.longest_in_part = max(self.longest_in_part, now - since)


async def cluster(folder: Path, *, places: int) -> tuple[Child, Client]:
    """A control plane whose nodes have so many places for pods of one cpu, spread over all of them."""
    flags = ["--port=0", "--nodes=0", f"--data-dir={folder}"]
    up = await Child.spawn("up", [sys.executable, "-m", "tutti.cli", "up", *flags])
    await up.line_starting("ready: ")
    client = Client(config.load(folder / "admin.kubeconfig"), connections=IN_FLIGHT)
    for number in range(NODES_IN_ALL):
        share = places * (number + 1) // NODES_IN_ALL - places * number // NODES_IN_ALL
        amounts = {"cpu": str(share), "memory": "64Gi", "pods": "110"}
        meta = {"name": f"node-{number}", "labels": {"tutti.dev/pretend": "true"}}
        status = {"capacity": amounts, "allocatable": amounts}
        await client.create(NODES, {"metadata": meta, "status": status})
    return up, client


async def create_some(client: Client, numbers: range) -> None:
    for number in numbers:
        await client.create(JOBS, job(f"job-{number}", GANG), "default")


def job(name: str, size: int) -> dict[str, object]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {
        "parallelism": size,
        "completions": size,
        "completionMode": "Indexed",
        "template": template,
    }
    return {"metadata": {"name": name}, "spec": spec}


def spent(up: Child) -> dict[str, float]:
    """CPU seconds of each process so far."""
    found: dict[str, float] = {}
    for children in Path(f"/proc/{up.pid}/task").glob("*/children"):
        for pid in map(int, children.read_text().split()):
            words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
            part = next((part for part in PARTS if part in words), None)
            if part:
                found[part] = cpu_s(pid)
    return found
