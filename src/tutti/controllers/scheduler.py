"""The scheduler as a whole: it waits for its Lease, serves a term, and begins anew.

waiting ──Lease held──> term: lists ──> deciding ──Lease lost, or a failure──> waiting
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from tutti.api.errors import ApiError, Unanswered
from tutti.controllers.hands import CONNECTIONS
from tutti.controllers.health import Door, tell
from tutti.controllers.jobs.gangs import Rule
from tutti.controllers.journal import Journal
from tutti.controllers.leases import Leases
from tutti.controllers.metrics import SchedulerMetrics
from tutti.controllers.term import Term
from tutti.core.profile import Profile
from tutti.kube.client import Client
from tutti.kube.config import Config
from tutti.kube.endpoint import Endpoint
from tutti.kube.lease import LeaseLost
from tutti.web.app import Response
from tutti.web.health import Health

log = logging.getLogger(__name__)

PAUSE: Final = 1.0
"""Between two terms, when one ended by a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`identity` must be borne by one living process at a time: its Lease is taken at once."""

    scheduler_names: tuple[str, ...]
    lease_duration: float = 5.0
    bind_address: str = "127.0.0.1"
    port: int = 0
    identity: str
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    """By scheduler name; the default profile for a name that isn't there."""
    backoff: tuple[float, float] = (1.0, 10.0)
    """Seconds after the first refusal, and at most."""
    finish: float = 1.2
    """Seconds for the bindings that have set out when the scheduler is asked to stop."""
    job_gangs: str = "auto"
    """Which Jobs are gangs where nobody makes PodGroups of them: `auto` or `ask`."""
    journal: Journal | None = None
    """Where every event and turn is written down, to be replayed."""
    token: str
    """Whoever brings it may see metrics and reports; empty: nobody."""
    listening: Callable[[int], None]
    ready: Callable[[], None]
    """Called once: the Lease is held and the first lists are in."""


async def run(config: Config, options: Options) -> None:
    """Schedule until cancelled; the Lease is given back then. Raises `BadConfig` at once."""
    Endpoint(config)
    scheduler = Scheduler(config, options)
    door = Door(
        bind_address=options.bind_address,
        port=options.port,
        token=options.token,
        listening=options.listening,
    )
    health = Health(ready={"lists": scheduler.wrong}, remarks={"lists": scheduler.remark})
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(tell(door, health, scheduler.metrics.all, scheduler.debug))
        tasks.create_task(scheduler.keep_going())


class Scheduler:
    """Term after term. One that waits for the Lease of another is in order, and says so."""

    def __init__(self, config: Config, options: Options) -> None:
        self.metrics = SchedulerMetrics(self._is_held)
        self._config = config
        self._options = options
        self._term: Term | None = None
        self._leases: Leases | None = None
        self._synced = False
        self._was_ready = False
        self._failure = ""

    async def keep_going(self) -> None:
        while True:
            try:
                await self._serve_a_term()
            except* LeaseLost as lost:
                log.warning("the Lease is lost", extra={"why": str(lost.exceptions[0])})
            except* (ApiError, Unanswered) as failure:
                self._failure = str(failure.exceptions[0])
                log.warning("a term ended", extra={"why": self._failure})
            except* Exception as failure:
                self._failure = str(failure.exceptions[0]) or "it failed"
                log.exception("a term failed")
            if self._failure:
                await asyncio.sleep(PAUSE)

    def wrong(self) -> str | None:
        if self._failure:
            return self._failure
        if self._term is not None and not self._synced:
            return "the first lists are not in yet"
        if self._term is not None and not self._is_held():
            return "the Lease was not renewed in time"
        return None

    def remark(self) -> str | None:
        """What this cluster lacks of the API of gangs."""
        return self._term.offer.lack if self._term is not None else None

    async def debug(self, path: str) -> Response | None:
        """/debug/roots/KIND/NAMESPACE/NAME: how it stands with a root, as `tutti why` shows it."""
        kind, _, key = path.partition("/")
        report = self._term.engine.explain(key) if self._term and kind == "roots" else None
        return None if report is None else Response(200, msgspec.json.encode(report))

    async def _serve_a_term(self) -> None:
        options = self._options
        names, identity = options.scheduler_names, options.identity
        leases = self._leases = Leases(self._config, names, identity, options.lease_duration)
        client = Client(self._config, connections=CONNECTIONS, agent="tutti-scheduler")
        try:
            units = await leases.acquire()
            log.info(
                "the Lease is held", extra={"names": ", ".join(names), "units_left": len(units)}
            )
            self.metrics.terms.inc()
            self._term = Term(
                client,
                leases,
                self.metrics,
                names=names,
                identity=identity,
                profiles=options.profiles,
                backoff=options.backoff,
                finish=options.finish,
                journal=options.journal,
                job_gangs=Rule(options.job_gangs),
            )
            await self._term.run(units, self._on_synced)
        finally:
            self._term, self._synced = None, False
            if options.journal is not None:
                options.journal.close()
            await leases.release()
            await client.close()

    def _is_held(self) -> bool:
        return self._leases is not None and self._leases.held()

    def _on_synced(self) -> None:
        self._synced, self._failure = True, ""
        log.info("scheduling", extra={"names": ", ".join(self._options.scheduler_names)})
        if not self._was_ready:
            self._was_ready = True
            self._options.ready()
