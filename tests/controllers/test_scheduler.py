"""The whole scheduler against a real API server, over a wire that resets, stalls and loses answers."""

import asyncio
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.controllers.between import between
from tutti.api.coordination import Lease
from tutti.api.core_v1 import Event, Pod
from tutti.api.errors import NotFound
from tutti.api.registry import (
    CLAIMS,
    EVENTS,
    LEASES,
    NAMESPACES,
    NODES,
    POD_GROUPS,
    PODS,
    VOLUMES,
)
from tutti.api.scheduling import PodGroup
from tutti.api.storage import BIND_COMPLETED
from tutti.cli.credentials import Credentials, make
from tutti.controllers.journal import Journal, segments
from tutti.controllers.scheduler import Options, run
from tutti.engine.journal import Replay
from tutti.engine.messages import Bind
from tutti.kube.client import Client
from tutti.kube.config import BadConfig, Config
from tutti.kube.transport import Answer, Transport

pytestmark = pytest.mark.timeout(60)


class Stage:
    """A namespace, nodes and a scheduler's name that no other test uses."""

    def __init__(self, client: Client, config: Config) -> None:
        self.client = client
        self.config = config
        self.name = f"s-{secrets.token_hex(3)}"

    async def make_nodes(self, count: int, cpu: int) -> None:
        for _ in range(count):
            room = {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}
            meta = {"generateName": f"{self.name}-", "labels": {"for": self.name}}
            await self.client.create(
                NODES, {"metadata": meta, "status": {"capacity": room, "allocatable": room}}
            )

    async def make_gang(self, name: str, size: int) -> None:
        spec = {"schedulingPolicy": {"gang": {"minCount": size}}}
        group = {"metadata": {"name": name}, "spec": spec}
        await self.client.create(POD_GROUPS, group, self.name)
        await asyncio.gather(*(self._make_member(name, number) for number in range(size)))

    async def make_pod_on_claim(self, claim: str) -> None:
        volume = {"name": "v", "persistentVolumeClaim": {"claimName": claim}}
        spec = {
            "schedulerName": self.name,
            "nodeSelector": {"for": self.name},
            "containers": [{"name": "c", "image": "i"}],
            "volumes": [volume],
        }
        await self.client.create(PODS, {"metadata": {"name": "p"}, "spec": spec}, self.name)

    async def make_bound_claim(self, name: str) -> None:
        """A claim and its volume, as they are after somebody has bound them."""
        common = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
        size = {"storage": "1Gi"}
        meta = {"name": f"{self.name}-{name}"}
        path = {"hostPath": {"path": "/data"}}
        await self.client.create(
            VOLUMES, {"metadata": meta, "spec": {**common, "capacity": size, **path}}
        )
        await self.client.create(
            CLAIMS,
            {
                "metadata": {"name": name, "annotations": {BIND_COMPLETED: "yes"}},
                "spec": {**common, "resources": {"requests": size}, "volumeName": meta["name"]},
            },
            self.name,
        )

    async def pods(self) -> list[Pod]:
        return (await self.client.list(PODS, self.name, into=Pod)).items

    async def bound(self) -> int:
        return sum(bool(pod.spec.node_name) for pod in await self.pods())

    async def group(self, name: str) -> PodGroup:
        return await self.client.get(POD_GROUPS, self.name, name, into=PodGroup)

    async def conditions(self, name: str) -> dict[str, str]:
        return {each.type: each.status for each in (await self.group(name)).status.conditions}

    async def reasons(self) -> list[str]:
        events = await self.client.list(EVENTS, self.name, into=Event)
        return sorted(event.reason for event in events.items)

    async def until(self, question: Callable[[], Any], answer: Any) -> None:
        """Asked again and again: what a client sees is all that counts here."""
        said = None
        try:
            async with asyncio.timeout(20):
                while (said := await question()) != answer:  # noqa: ASYNC110  (it is a server)
                    await asyncio.sleep(0.02)
        except TimeoutError:
            pytest.fail(f"{said!r} and not {answer!r}")

    async def _make_member(self, gang: str, number: int) -> None:
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
        spec = {
            "schedulerName": self.name,
            "schedulingGroup": {"podGroupName": gang},
            "nodeSelector": {"for": self.name},
            "containers": [container],
        }
        pod = {"metadata": {"name": f"{gang}-{number}"}, "spec": spec}
        await self.client.create(PODS, pod, self.name)


@dataclass(frozen=True)
class Embedded:
    port: int
    credentials: Credentials


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    """Our own API server, as a process and with nothing beside it."""
    credentials = make(tmp_path_factory.mktemp("embedded"))
    command = [sys.executable, "-m", "tutti.server", "--memory", "--exit-with-parent"]
    with subprocess.Popen(
        [*command, *credentials.server_flags()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Embedded(int(process.stdout.readline().removeprefix("listening: ")), credentials)
        process.stdin.close()
        process.wait(10)


@pytest.fixture
async def stage(embedded: Embedded) -> AsyncIterator[Stage]:
    keys = embedded.credentials
    config = Config(
        server=f"https://127.0.0.1:{embedded.port}",
        ca=keys.authority.read_text(),
        token=keys.token("admin"),
    )
    client = Client(config, connections=16)
    it = Stage(client, config)
    await client.create(NAMESPACES, {"metadata": {"name": it.name}})
    yield it
    await client.raw("DELETE", "/api/v1/nodes", query={"labelSelector": f"for={it.name}"})
    await client.close()


class Running:
    task: asyncio.Task[None]

    def __init__(self) -> None:
        self.port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.ready = asyncio.Event()

    async def ask(self, path: str, token: str | None = "s3cret") -> Answer:
        config = Config(server=f"http://127.0.0.1:{await self.port}", token=token)
        transport = Transport(config)
        try:
            return await transport.request("GET", path)
        finally:
            await transport.close()


@asynccontextmanager
async def scheduling(
    stage: Stage,
    port: int | None = None,
    names: tuple[str, ...] = (),
    lease: float = 1.0,
    finish: float = 1.2,
    journal: Journal | None = None,
) -> AsyncIterator[Running]:
    """A scheduler, over another port than the server's own where that is said."""
    config = stage.config
    if port is not None:
        config = replace(config, server=f"https://127.0.0.1:{port}")
    running = Running()
    options = Options(
        scheduler_names=names or (stage.name,),
        lease_duration=lease,
        finish=finish,
        journal=journal,
        identity=f"test-{secrets.token_hex(3)}",
        token="s3cret",
        listening=running.port.set_result,
        ready=running.ready.set,
    )
    task = running.task = asyncio.create_task(run(config, options))
    try:
        yield running
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, BadConfig):
            await task


async def test_a_gang_is_bound_and_everybody_is_told(stage: Stage) -> None:
    await stage.make_nodes(2, cpu=2)
    await stage.make_gang("g", 3)
    async with scheduling(stage):
        await stage.until(stage.bound, 3)
        await stage.until(stage.reasons, ["Scheduled"] * 3)
        await stage.until(
            lambda: stage.conditions("g"),
            {"PodGroupInitiallyScheduled": "True", "tutti.dev/Satisfied": "True"},
        )


async def test_a_gang_that_does_not_fit_waits_whole_and_says_why(stage: Stage) -> None:
    await stage.make_nodes(1, cpu=2)
    await stage.make_gang("g", 3)
    async with scheduling(stage) as running:
        await stage.until(stage.reasons, ["FailedScheduling"] * 3)
        assert await stage.bound() == 0
        assert (await stage.conditions("g"))["PodGroupInitiallyScheduled"] == "False"
        report = await running.ask(f"/debug/roots/PodGroup/{stage.name}/g")
        assert b"Insufficient cpu" in report.body
        await stage.make_nodes(1, cpu=1)
        await stage.until(stage.bound, 3)


async def test_a_pod_waits_for_its_claim_and_runs_once_it_is_bound(stage: Stage) -> None:
    await stage.make_nodes(1, cpu=2)
    await stage.make_pod_on_claim("data")
    async with scheduling(stage):
        await stage.until(stage.reasons, ["FailedScheduling"])
        assert await stage.bound() == 0
        await stage.make_bound_claim("data")
        await stage.until(stage.bound, 1)


async def test_no_connection_lasts_and_yet_every_gang_is_whole(stage: Stage) -> None:
    await stage.make_nodes(4, cpu=30)
    async with between(port_of(stage)) as (wire, port), scheduling(stage, port):
        for number in range(10):
            await stage.make_gang(f"g-{number}", 10)
            wire.cut()
        await stage.until(stage.bound, 100)
        for number in range(10):
            await stage.until(lambda n=number: satisfied(stage, f"g-{n}"), True)


async def test_bindings_of_which_nobody_hears_are_looked_for(stage: Stage) -> None:
    await stage.make_nodes(1, cpu=40)
    async with between(port_of(stage)) as (wire, port), scheduling(stage, port) as running:
        await running.ready.wait()
        wire.swallowing = True
        await stage.make_gang("g", 30)
        await stage.until(lambda: happened(lambda: wire.lost_answers > 0), True)
        wire.swallowing = False
        await stage.until(stage.bound, 30)
        await stage.until(lambda: satisfied(stage, "g"), True)


async def test_a_server_that_is_away_for_longer_than_the_lease_stops_bindings_and_no_more(
    stage: Stage,
) -> None:
    await stage.make_nodes(1, cpu=10)
    async with between(port_of(stage)) as (wire, port), scheduling(stage, port) as running:
        await running.ready.wait()
        wire.stall()
        await stage.make_gang("g", 3)
        await stage.until(lambda: metric(running, b"tutti_lease_held 0"), True)
        assert (await running.ask("/readyz")).status == 500
        assert await stage.bound() == 0
        wire.cut()
        wire.go_on()
        await stage.until(stage.bound, 3)
        assert await metric(running, b"tutti_terms_total 1")


async def test_who_is_asked_to_stop_finishes_the_gang_that_has_set_out(stage: Stage) -> None:
    await stage.make_nodes(2, cpu=100)
    async with between(port_of(stage)) as (wire, port):
        async with scheduling(stage, port, lease=60.0, finish=30.0) as running:
            await running.ready.wait()
            wire.delay = 0.1  # of answers: what can't be in flight at once has yet to be sent
            await stage.make_gang("g", 150)
            await stage.until(lambda: some_are_bound(stage), True)
            assert await stage.bound() < 150
        assert await stage.bound() == 150


async def test_what_a_scheduler_heard_and_did_can_be_played_again(
    stage: Stage, tmp_path: Path
) -> None:
    await stage.make_nodes(2, cpu=2)
    await stage.make_gang("g", 3)
    async with scheduling(stage, journal=Journal(tmp_path)):
        await stage.until(lambda: satisfied(stage, "g"), True)
    [segment] = segments(tmp_path)
    with segment.open("rb") as lines:
        steps = list(Replay(lines).steps())
    assert all(step.same for step in steps)
    bound = [action for step in steps for action in step.actions if isinstance(action, Bind)]
    assert len(bound) == 3


async def test_one_of_two_waits_and_is_in_order(stage: Stage) -> None:
    await stage.make_nodes(1, cpu=10)
    async with scheduling(stage) as first:
        await first.ready.wait()
        async with scheduling(stage) as second:
            assert (await second.ask("/readyz")).status == 200
            await stage.make_gang("g", 3)
            await stage.until(stage.bound, 3)
            assert not second.ready.is_set()
            assert await metric(second, b"tutti_lease_held 0")


async def test_a_scheduler_of_two_names_holds_both_leases_or_schedules_nothing(
    stage: Stage,
) -> None:
    await stage.make_nodes(1, cpu=10)
    async with scheduling(stage, names=(f"{stage.name}-other",)) as other:
        await other.ready.wait()
        async with scheduling(stage, names=(stage.name, f"{stage.name}-other")) as both:
            await stage.make_gang("g", 3)
            await stage.until(lambda: holder(stage, stage.name), True)
            assert not both.ready.is_set()
            assert await stage.bound() == 0
            other.task.cancel()
            await stage.until(stage.bound, 3)


async def test_a_token_that_is_not_accepted_ends_nothing_and_is_said(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.config = replace(stage.config, token="of nobody")
    async with scheduling(stage) as running:
        await stage.until(lambda: happened(lambda: "the Lease can't be had" in caplog.text), True)
        assert (await running.ask("/livez")).status == 200
        assert not running.ready.is_set()


async def test_a_configuration_that_can_not_work_is_refused_before_anything_begins(
    stage: Stage,
) -> None:
    stage.config = replace(stage.config, ca="no certificate")
    async with scheduling(stage) as running:
        with pytest.raises(BadConfig):
            await running.task


async def satisfied(stage: Stage, name: str) -> bool:
    return (await stage.conditions(name)).get("tutti.dev/Satisfied") == "True"


async def metric(running: Running, line: bytes) -> bool:
    return line in (await running.ask("/metrics")).body.splitlines()


async def holder(stage: Stage, name: str) -> bool:
    try:
        lease = await stage.client.get(LEASES, "kube-system", f"tutti-{name}", into=Lease)
    except NotFound:
        return False
    return bool(lease.spec.holder_identity)


async def some_are_bound(stage: Stage) -> bool:
    return await stage.bound() > 0


async def happened(condition: Callable[[], bool]) -> bool:
    return condition()


def port_of(stage: Stage) -> int:
    return int(stage.config.server.rpartition(":")[2])
