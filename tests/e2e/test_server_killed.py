"""P8: kill -9 of the embedded server under writes loses nothing that it has acknowledged."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from tutti.api.core_v1 import ConfigMap
from tutti.api.errors import Unanswered
from tutti.api.registry import CONFIG_MAPS
from tutti.cli import credentials
from tutti.cli.offspring import Child
from tutti.kube.client import Client
from tutti.kube.config import Config

KILLS = 10
WRITERS = 20

pytestmark = pytest.mark.timeout(120)


async def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    acknowledged: dict[str, str] = {}
    for turn in range(KILLS):
        async with server(tmp_path) as (child, client):
            assert acknowledged.items() <= (await found(client)).items()
            acknowledged |= await written_until_killed(
                child, client, f"turn-{turn}", after=30 + 20 * turn
            )
    async with server(tmp_path) as (_, client):
        assert acknowledged.items() <= (await found(client)).items()
    assert len(acknowledged) > KILLS * 30


@asynccontextmanager
async def server(folder: Path) -> AsyncIterator[tuple[Child, Client]]:
    keys = credentials.make(folder)
    command = [sys.executable, "-m", "tutti.server", "--data-dir", folder / "data"]
    child = await Child.spawn("server", [*command, *keys.server_flags()])
    try:
        port = await child.line_starting("listening: ")
        client = Client(
            Config(
                server=f"https://127.0.0.1:{port}",
                ca=keys.authority.read_text(),
                token=keys.token("admin"),
            )
        )
        yield child, client
        await client.close()
    finally:
        await child.stop(10)


async def found(client: Client) -> dict[str, str]:
    """The version of each object, by its name."""
    listed = await client.list(CONFIG_MAPS, "default", into=ConfigMap)
    return {each.metadata.name: each.metadata.resource_version for each in listed.items}


async def written_until_killed(
    child: Child, client: Client, prefix: str, *, after: int
) -> dict[str, str]:
    """What the server acknowledged, which is killed when it has done so often enough."""
    acknowledged: dict[str, str] = {}

    async def write(writer: int) -> None:
        number = 0
        while True:
            name = f"{prefix}-{writer}-{number}"
            try:
                answer = await client.create(CONFIG_MAPS, {"metadata": {"name": name}}, "default")
            except Unanswered:
                return
            acknowledged[name] = msgspec.json.decode(
                answer, type=ConfigMap
            ).metadata.resource_version
            number += 1
            if len(acknowledged) == after:
                os.kill(child.pid, signal.SIGKILL)

    async with asyncio.TaskGroup() as writers:
        for writer in range(WRITERS):
            writers.create_task(write(writer))
    assert await child.wait() == -signal.SIGKILL
    return acknowledged
