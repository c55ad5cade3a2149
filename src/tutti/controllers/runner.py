"""Controllers by name, in one process: started together, each restarted by itself when it fails."""

import asyncio
import importlib
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from tutti.controllers.health import Door, tell
from tutti.kube.client import Client
from tutti.kube.config import Config
from tutti.web.health import Health
from tutti.web.metrics import Counter, Metrics

log = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
RESTARTS: Final = "tutti_controller_restarts_total"
LONG_RUN: Final = 60.0
"""Seconds after which a controller that fails begins again with the first pause."""


class Run(Protocol):
    """What a module of this package has as `run`: it runs until cancelled, and says when its lists are in."""

    async def __call__(self, client: Client, ready: Callable[[], None]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    bind_address: str = "127.0.0.1"
    port: int = 0
    token: str
    """Whoever brings it may see metrics; empty: nobody."""
    listening: Callable[[int], None]
    ready: Callable[[], None]
    job_gangs: str = "auto"
    """Which Jobs become gangs: `auto` or `ask`."""


async def run(config: Config, names: Iterable[str], options: Options) -> None:
    """Run `tutti.controllers.NAME` for each name, until cancelled."""
    metrics = Metrics()
    restarts = metrics.counter(RESTARTS, "Controllers that failed and began again.", ("name",))
    kept = [Kept(name, _runner(name, options, metrics)) for name in names]

    def one_is_ready() -> None:
        if all(one.is_ready for one in kept):
            options.ready()

    door = Door(
        bind_address=options.bind_address,
        port=options.port,
        token=options.token,
        listening=options.listening,
    )
    health = Health(ready={one.name: one.wrong for one in kept})
    client = Client(config, connections=32, agent="tutti-controllers")
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(tell(door, health, metrics))
            for one in kept:
                tasks.create_task(one.keep_going(client, one_is_ready, restarts))
            if not kept:
                options.ready()
    finally:
        await client.close()


class Kept:
    """One controller, and how it is."""

    def __init__(self, name: str, run: Run) -> None:
        self.name = name
        self.is_ready = False
        self._run = run
        self._failure = ""

    def wrong(self) -> str | None:
        if self._failure:
            return self._failure
        return None if self.is_ready else "its lists are not in yet"

    async def keep_going(
        self, client: Client, tell_ready: Callable[[], None], restarts: Counter
    ) -> None:
        def ready() -> None:
            self._failure = ""
            if not self.is_ready:
                self.is_ready = True
                tell_ready()

        pause = FIRST_PAUSE
        while True:
            started = time.monotonic()
            try:
                await self._run(client, ready)
                self._failure = "it ended"
                log.error("a controller ended", extra={"controller": self.name})
            except Exception as error:
                self._failure = str(error) or type(error).__name__
                log.exception("a controller failed", extra={"controller": self.name})
            if time.monotonic() - started > LONG_RUN:
                pause = FIRST_PAUSE
            restarts.inc(self.name)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)


def _runner(name: str, options: Options, metrics: Metrics) -> Run:
    module = importlib.import_module(f"tutti.controllers.{name}")
    run: Run = module.run
    if name == "jobs":
        return partial(
            module.run, rule=module.Rule(options.job_gangs), metrics=module.JobMetrics(metrics)
        )
    return run
