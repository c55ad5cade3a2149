"""Controllers that are modules of their own, kept going by the real runner on a real port."""

import asyncio
import contextlib
import sys
import types
from collections.abc import AsyncIterator, Callable

import pytest

from tutti.api.errors import Unauthorized, from_status
from tutti.controllers import runner
from tutti.kube.client import Client
from tutti.kube.config import Config
from tutti.kube.transport import Answer, Transport

NOWHERE = Config(server="http://127.0.0.1:1")


@pytest.fixture
def controller(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A module `tutti.controllers.trial`; a test gives it its `run`."""
    module = types.ModuleType("tutti.controllers.trial")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


class Running:
    def __init__(self) -> None:
        self.port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.ready = asyncio.Event()

    async def ask(self, path: str, token: str | None = None) -> Answer:
        config = Config(server=f"http://127.0.0.1:{await self.port}", token=token)
        transport = Transport(config)
        try:
            return await transport.request("GET", path)
        finally:
            await transport.close()


@contextlib.asynccontextmanager
async def running(*names: str) -> AsyncIterator[Running]:
    state = Running()
    options = runner.Options(token="s3cret", listening=state.port.set_result, ready=state.ready.set)
    task = asyncio.create_task(runner.run(NOWHERE, names, options))
    try:
        async with asyncio.timeout(10):
            yield state
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_the_process_is_ready_once_every_controller_is(
    controller: types.ModuleType,
) -> None:
    go_on = asyncio.Event()

    async def run(client: Client, ready: Callable[[], None]) -> None:
        await go_on.wait()
        ready()
        await asyncio.Event().wait()

    controller.run = run  # type: ignore[attr-defined]
    async with running("trial") as it:
        assert (await it.ask("/livez")).status == 200
        answer = await it.ask("/readyz")
        assert answer.status == 500
        assert b"[-]trial failed: its lists are not in yet" in answer.body
        go_on.set()
        await it.ready.wait()
        assert (await it.ask("/readyz")).status == 200


async def test_a_controller_that_fails_is_named_and_begins_again(
    controller: types.ModuleType, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(runner, "FIRST_PAUSE", 0.01)
    runs = 0

    async def run(client: Client, ready: Callable[[], None]) -> None:
        nonlocal runs
        runs += 1
        if runs < 3:
            raise ValueError(f"failure {runs}")
        ready()
        await asyncio.Event().wait()

    controller.run = run  # type: ignore[attr-defined]
    async with running("trial") as it:
        await it.ready.wait()
        metrics = await it.ask("/metrics", token="s3cret")
        assert b'tutti_controller_restarts_total{name="trial"} 2' in metrics.body
    assert "failure 1" in caplog.text
    assert "failure 2" in caplog.text


@pytest.mark.parametrize("token", [None, "wrong"])
async def test_metrics_are_for_who_has_the_token(token: str | None) -> None:
    async with running() as it:
        await it.ready.wait()
        answer = await it.ask("/metrics", token=token)
    assert isinstance(from_status(answer.status, answer.body), Unauthorized)
