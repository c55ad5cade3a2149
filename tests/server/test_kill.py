"""kill -9 under writes, again and again: nothing that was acknowledged is lost."""

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from tests.server.objects import MAPS
from tests.server.process import Running, on_disk, started
from tests.web.loopback import Connection

KILLS = 10
WRITERS = 8
WRITES_BEFORE_A_KILL = 60

Absent = None


@dataclass
class Ledger:
    """What was acknowledged of each object, and what may or may not have been done beyond that."""

    kept: dict[str, str | None] = field(default_factory=dict)
    open: dict[str, str | None] = field(default_factory=dict)
    acknowledged: int = 0
    newest: int = 0

    def may_be(self, name: str, found: str | None) -> bool:
        return found == self.kept.get(name) or (name in self.open and found == self.open[name])

    def settle(self, found: dict[str, str]) -> None:
        """After a look: what was open is open no more."""
        for name in self.open:
            self.kept[name] = found.get(name)
        self.open.clear()


async def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    ledger = Ledger()
    for _ in range(KILLS):
        async with started(*on_disk(tmp_path)) as server:
            found = await standing(server)
            assert all(ledger.may_be(name, found.get(name)) for name in ledger.kept | ledger.open)
            ledger.settle(found)
            await killed_while_writing(server, ledger)
    async with started(*on_disk(tmp_path)) as server:
        found = await standing(server)
    assert ledger.acknowledged >= KILLS * WRITES_BEFORE_A_KILL
    assert all(ledger.may_be(name, found.get(name)) for name in ledger.kept | ledger.open)


async def killed_while_writing(server: Running, ledger: Ledger) -> None:
    enough = asyncio.Event()
    goal = ledger.acknowledged + WRITES_BEFORE_A_KILL
    writers = [
        asyncio.create_task(write(server, ledger, f"w{number}", goal, enough))
        for number in range(WRITERS)
    ]
    async with asyncio.timeout(30):
        await enough.wait()
    await server.kill()
    await asyncio.gather(*writers)


async def write(
    server: Running, ledger: Ledger, name: str, goal: int, enough: asyncio.Event
) -> None:
    """Create, change, delete, and so on, until the server is gone in the middle of it."""
    connection = await server.connect()
    floor = ledger.newest
    with contextlib.suppress(OSError, asyncio.IncompleteReadError):
        while True:
            before = ledger.kept.get(name)
            after = next_of(before)
            ledger.open[name] = after
            version = await carry_out(connection, name, before, after)
            assert after is Absent or version > floor, "a version was given twice"
            ledger.kept[name] = after
            del ledger.open[name]
            ledger.acknowledged += 1
            ledger.newest = max(ledger.newest, version)
            if ledger.acknowledged >= goal:
                enough.set()
    connection.writer.close()


def next_of(before: str | None) -> str | None:
    if before is Absent:
        return "0"
    return Absent if before == "4" else str(int(before) + 1)


async def carry_out(
    connection: Connection, name: str, before: str | None, after: str | None
) -> int:
    """One write, and the version it got."""
    headers = ("Content-Type: application/merge-patch+json",)
    body = json.dumps({"metadata": {"name": name}, "data": {"k": after}}).encode()
    if before is Absent:
        answer = await connection.ask("POST", MAPS, body=body)
    elif after is Absent:
        answer = await connection.ask("DELETE", f"{MAPS}/{name}")
    else:
        answer = await connection.ask("PATCH", f"{MAPS}/{name}", *headers, body=body)
    assert answer.status in (200, 201), answer.body
    metadata = json.loads(answer.body)["metadata"]
    return int(metadata.get("resourceVersion", 0))


async def standing(server: Running) -> dict[str, str]:
    answer = await server.ask("GET", MAPS)
    items = json.loads(answer.body)["items"]
    return {one["metadata"]["name"]: one["data"]["k"] for one in items}
