"""The embedded server as clients meet it: its own process, TLS, a data folder on disk."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import uvloop

from benchmarks.report import Row
from tutti.api.core_v1 import Pod
from tutti.api.registry import PODS
from tutti.cli import credentials
from tutti.cli.offspring import Child
from tutti.kube.client import Client
from tutti.kube.config import Config

PODS_IN_ALL = 3_000
IN_FLIGHT = 100
TICKS = os.sysconf("SC_CLK_TCK")

Do = Callable[[int], Awaitable[object]]


def rows() -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        yield from uvloop.run(measured(Path(folder)))


async def measured(folder: Path) -> list[Row]:
    keys = credentials.make(folder)
    command = [sys.executable, "-m", "tutti.server", "--data-dir", folder / "data"]
    server = await Child.spawn("server", [*command, *keys.server_flags()])
    try:
        port = await server.line_starting("listening: ")
        config = Config(
            server=f"https://127.0.0.1:{port}",
            ca=keys.authority.read_text(),
            token=keys.token("admin"),
        )
        client = Client(config, connections=IN_FLIGHT)
        uids = {}

        async def create(number: int) -> None:
            made = msgspec.json.decode(await client.create(PODS, pod(number), "default"), type=Pod)
            uids[number] = made.metadata.uid

        async def bind(number: int) -> None:
            await client.bind("default", f"pod-{number}", uids[number], "node-1", {})

        async def get(number: int) -> None:
            await client.get(PODS, "default", f"pod-{number}", into=Pod)

        found = [
            await row("created through the embedded server", create, server),
            await row("bound through the embedded server", bind, server),
            await row("read through the embedded server", get, server),
        ]
        await client.close()
        return found
    finally:
        await server.stop(10)


async def row(what: str, do: Do, server: Child) -> Row:
    """The server's CPU time for doing it to each pod, `IN_FLIGHT` at a time."""
    numbers = iter(range(PODS_IN_ALL))

    async def work() -> None:
        for number in numbers:
            await do(number)

    loop = asyncio.get_running_loop()
    cpu, wall = cpu_s(server.pid), loop.time()
    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
    cpu, wall = cpu_s(server.pid) - cpu, loop.time() - wall
    return Row(
        name=f"{PODS_IN_ALL:,} pods {what}: the server",
        value=round(1000 * cpu, 3),
        unit="ms CPU",
        better="lower",
        cpu_s=cpu,
        wall_s=round(wall, 6),
    )


def pod(number: int) -> dict[str, object]:
    resources = {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"nvidia.com/gpu": "1"}}
    container = {"name": "main", "image": "worker:1", "resources": resources}
    return {
        "metadata": {"name": f"pod-{number}", "labels": {"app": "benchmark"}},
        "spec": {"schedulerName": "tutti", "containers": [container]},
    }


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / TICKS
