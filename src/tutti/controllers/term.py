"""One time of holding the Lease: informers, engine and hands, made for it and gone with it.

So nothing that was decided under one Lease can be done under another, and the first lists of a term
are younger than all that was done before it.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Never

from tutti.controllers.cluster import GROUPS, Cluster
from tutti.controllers.collecting import collecting_later
from tutti.controllers.hands import Hands
from tutti.controllers.inbox import Inbox
from tutti.controllers.jobs.gangs import Rule
from tutti.controllers.journal import Journal
from tutti.controllers.leases import Leases
from tutti.controllers.metrics import SchedulerMetrics
from tutti.controllers.offer import Offer
from tutti.core.profile import Profile
from tutti.engine.engine import Engine
from tutti.engine.journal import RecordedEngine
from tutti.engine.messages import LeaseHeld, Note, Synced, Unit
from tutti.engine.settings import Settings
from tutti.kube.client import Client
from tutti.kube.discovery import Discovery

log = logging.getLogger(__name__)

PACE: Final = 0.005
"""Seconds from one turn to the next, at least; after a rest a turn comes at once."""


WORK_PER_TURN: Final = 4_000
"""Of the engine's budget: some 100 ms, so that bindings set out and the Lease is renewed between."""
BREATH: Final = 2_000
"""Events taken in at a stretch."""


class Term:
    """`run` ends by `LeaseLost`, by a failure, or by being cancelled."""

    def __init__(
        self,
        client: Client,
        leases: Leases,
        metrics: SchedulerMetrics,
        *,
        names: Sequence[str],
        identity: str,
        profiles: Mapping[str, Profile],
        backoff: tuple[float, float],
        finish: float,
        journal: Journal | None = None,
        job_gangs: Rule = Rule.AUTO,
    ) -> None:
        settings = Settings(
            scheduler_names=tuple(names),
            profiles=profiles,
            initial_backoff=backoff[0],
            max_backoff=backoff[1],
            session=secrets.token_hex(5),
            work_per_turn=WORK_PER_TURN,
        )
        self.engine: Engine | RecordedEngine
        if journal is None:
            self.engine = Engine(settings)
        else:
            self.engine = RecordedEngine(settings, journal.write, journal.begin)
        self._journal = journal
        self._finish = finish
        self._client = client
        self._leases = leases
        self._metrics = metrics
        self._reporter = names[0]
        self._identity = identity
        self._job_gangs = job_gangs
        self._inbox = Inbox()
        self.offer = Offer()

    async def run(self, units: Sequence[Unit], on_synced: Callable[[], None]) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._leases.keep())
            discovery = await self._client.discover(GROUPS)
            cluster = Cluster(self._client, discovery, self._inbox.put, self._job_gangs)
            hands = Hands(
                self._client,
                cluster,
                self._leases,
                tasks,
                self._inbox.put,
                reporter=self._reporter,
                identity=self._identity,
                metrics=self._metrics,
            )
            self._inbox.put(cluster.edition)
            self._inbox.put(LeaseHeld(tuple(units)))
            with collecting_later():
                for synced in cluster.follow(tasks):
                    await synced.wait()
                await self._take_in(hands)
            self._inbox.put(Synced())
            on_synced()
            tasks.create_task(self._look_at_offer(discovery, hands))
            try:
                await self._decide(hands)
            finally:  # no gang is left half bound for want of the few milliseconds it still takes
                await hands.finish(self._finish)

    async def _look_at_offer(self, discovery: Discovery, hands: Hands) -> None:
        """Say, where it matters, that this cluster has no gangs of its own."""
        self.offer = await Offer.found(self._client, discovery, self._reporter)
        if self.offer.lack is not None:
            log.warning(self.offer.lack)
            note = Note(self._leases.subject, "Warning", "NoPodGroups", "Starting", self.offer.lack)
            hands.carry_out(note)

    async def _decide(self, hands: Hands) -> Never:
        """Together with `_take_in` the only place that calls the engine."""
        while True:
            await self._take_in(hands)
            began = time.monotonic()
            for action in self.engine.turn(began):
                hands.carry_out(action)
            if self._journal is not None:
                self._journal.flush()
            taken = time.monotonic() - began
            self._metrics.turned(taken)
            await asyncio.sleep(PACE - taken)  # what comes in meanwhile is decided together
            wake = self.engine.next_wake()
            await self._inbox.wait(None if wake is None else max(0.0, wake - time.monotonic()))

    async def _take_in(self, hands: Hands) -> None:
        """All that is here, with a breath now and then for the Lease and the answers."""
        listens = hands.listens
        while events := self._inbox.some(BREATH):
            now = time.monotonic()
            for event in events:
                self.engine.handle(event, now)
                if (also := listens.get(type(event))) is not None:
                    also(event)
            if len(events) == BREATH:
                await asyncio.sleep(0)
