"""The Lease by which one of several candidates works while the others wait.

        waiting ──free, run out, or left by our own former self──> held ──renewed──> held
           ^                                                        │
           └───── `LeaseLost`: taken by another, or deleted ─────────┘

Not renewed in time it isn't held, and nothing may be sent; renewed late, while nobody took it, it is
held again. Time is measured on one's own clock only: a holder counts from just before it *sent* its last good
renewal, a candidate from when it *saw* the Lease change. So the holder's count ends first, whatever
the clocks of the two say. The clock goes on while the machine sleeps.
"""

import asyncio
import logging
import math
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Never

from tutti.api.coordination import Lease
from tutti.api.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Conflict,
    Invalid,
    NotFound,
    TooLarge,
    Unanswered,
)
from tutti.api.registry import LEASES
from tutti.kube.client import Client
from tutti.kube.wire import decoder

log = logging.getLogger(__name__)


class LeaseLost(Exception):
    """Whoever held it must stop at once; the sentence says how it was lost."""


def clock() -> float:
    """Seconds on a clock that nobody sets and that a suspended machine doesn't stop."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Elector:
    """One candidate for one Lease. Its client should be its own, so that no queue delays a renewal.

    `identity` must be borne by one living process at a time: a Lease that names it is taken at once.
    """

    def __init__(
        self,
        client: Client,
        name: str,
        identity: str,
        *,
        namespace: str = "kube-system",
        duration: float = 5.0,
        clock: Callable[[], float] = clock,
    ) -> None:
        self._client = client
        self._name = name
        self._identity = identity
        self._namespace = namespace
        self._duration = duration
        self._clock = clock
        self._writing = asyncio.Lock()
        self._until = float("-inf")
        self._version = ""
        self._uid = ""
        self._transitions = 0
        self._unheard = False  # whether we wrote it last without hearing the answer
        self._waits_for = ""
        self._complained = False

    @property
    def renew_deadline(self) -> float:
        """Seconds after the last good renewal for which the Lease counts as held here."""
        return self._duration * 0.55

    @property
    def request_limit(self) -> float:
        """What is sent while the Lease is held must be answered, or given up, within this time.

        With the renew deadline it stays below the duration: then nobody else holds the Lease yet.
        """
        return self._duration * 0.4

    @property
    def retry_period(self) -> float:
        return self._duration * 0.2

    @property
    def place(self) -> tuple[str, str, str]:
        """Namespace, name and uid of the Lease, once it was held."""
        return self._namespace, self._name, self._uid

    @property
    def held(self) -> bool:
        """May something be sent now? To be asked just before sending, not earlier."""
        return self._clock() < self._until

    async def acquire(self) -> Mapping[str, str]:
        """Wait until the Lease is held; the annotations that its last holder left on it."""
        seen: tuple[str, float] | None = None
        while True:
            try:
                lease = await self._read()
                version = lease.metadata.resource_version if lease else ""
                if seen is None or seen[0] != version:
                    # One that we saw deleted may still be held: as if it had been renewed then.
                    seen = version, self._clock() if lease or seen else float("-inf")
                if not self._may_take(lease, since=seen[1]):
                    self._tell_whose(lease)
                    await asyncio.sleep(self.retry_period)
                    continue
                lease = await (self._take(lease) if lease else self._create())
            except (Conflict, AlreadyExists):
                continue  # somebody was quicker: look again
            except (ApiError, Unanswered) as error:
                self._complain("the Lease can't be had", error)
                await asyncio.sleep(self.retry_period)
                continue
            return lease.metadata.annotations

    async def keep(self) -> Never:
        """Renew until `LeaseLost`."""
        while True:
            await asyncio.sleep(self.retry_period)
            await self._write({})

    async def annotate(self, key: str, value: str | None) -> None:
        """Write an annotation as the holder, or `LeaseLost`; None takes it away.

        A server that refuses the value itself raises that.
        """
        await self._write({key: value})

    async def release(self) -> None:
        """Let go, so that the next candidate needn't wait. What is annotated stays."""
        async with self._writing:
            version = await self._version_to_let_go()
            if version is None:
                return
            self._until = float("-inf")
            patch = {
                "metadata": {"resourceVersion": version},
                "spec": {"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": _now()},
            }
            try:
                await self._patch(patch, self.request_limit)
            except (ApiError, Unanswered) as error:
                log.warning("the Lease runs out by itself", extra={"why": str(error)})

    async def _version_to_let_go(self) -> str | None:
        """None: it isn't ours. Who is stopped in the middle of a write may have done it."""
        if not self._unheard:
            return self._version if self.held else None
        try:
            lease = await self._read()
        except (ApiError, Unanswered):
            return None
        ours = lease is not None and lease.spec.holder_identity == self._identity
        return lease.metadata.resource_version if lease and ours else None

    def _may_take(self, lease: Lease | None, *, since: float) -> bool:
        if lease is None:
            return self._clock() >= since + self._duration
        holder = lease.spec.holder_identity
        duration = lease.spec.lease_duration_seconds or self._duration
        return not holder or holder == self._identity or self._clock() >= since + duration

    def _tell_whose(self, lease: Lease | None) -> None:
        holder = lease.spec.holder_identity if lease else None
        if holder and holder != self._waits_for:
            self._waits_for = holder
            log.info("waiting for the Lease", extra={"lease": self._name, "holder": holder})

    async def _read(self) -> Lease | None:
        try:
            return await self._client.get(LEASES, self._namespace, self._name, into=Lease)
        except NotFound:
            return None

    async def _create(self) -> Lease:
        sent = self._clock()
        self._unheard = True
        body = await self._client.create(
            LEASES,
            {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"name": self._name, "namespace": self._namespace},
                "spec": self._spec(transitions=0, fresh=True),
            },
            self._namespace,
        )
        return self._holds(decoder(Lease).decode(body), sent)

    async def _take(self, lease: Lease) -> Lease:
        patch = {
            "metadata": {"resourceVersion": lease.metadata.resource_version},
            "spec": self._spec(transitions=(lease.spec.lease_transitions or 0) + 1, fresh=True),
        }
        sent = self._clock()
        taken = await self._patch(patch, self.request_limit)
        return self._holds(taken, sent)

    async def _write(self, annotations: Mapping[str, str | None]) -> None:
        """Renew, with annotations or without; again and again until it is done or the Lease taken.

        It may be late: what is written under the version that we wrote last nobody has taken.
        """
        async with self._writing:
            while True:
                sent = self._clock()
                patch: dict[str, Any] = {
                    "metadata": {"resourceVersion": self._version},
                    "spec": self._spec(transitions=self._transitions),
                }
                if annotations:
                    patch["metadata"]["annotations"] = annotations
                try:
                    lease = await self._patch(patch, self.request_limit)
                except (Conflict, NotFound):
                    await self._look()
                except (BadRequest, Invalid, TooLarge):
                    raise  # what was to be written can't be; trying again won't help
                except (ApiError, Unanswered) as error:
                    self._complain("the Lease isn't renewed", error)
                    await asyncio.sleep(self.retry_period / 4)
                else:
                    self._holds(lease, sent)
                    return

    async def _look(self) -> None:
        """Somebody wrote the Lease: an earlier try of ours, a person's note, or another holder."""
        try:
            lease = await self._read()
        except (ApiError, Unanswered):
            await asyncio.sleep(self.retry_period / 4)
            return
        if lease is None:
            self._until = float("-inf")
            raise LeaseLost("the Lease was deleted")
        ours = (self._identity, self._transitions)
        if (lease.spec.holder_identity, lease.spec.lease_transitions or 0) != ours:
            self._until = float("-inf")
            raise LeaseLost(f"the Lease was taken by {lease.spec.holder_identity or 'nobody'}")
        self._version = lease.metadata.resource_version

    def _complain(self, what: str, error: Exception) -> None:
        """The first time; it is tried again several times a second."""
        log.log(
            logging.DEBUG if self._complained else logging.WARNING, what, extra={"why": str(error)}
        )
        self._complained = True

    def _holds(self, lease: Lease, sent: float) -> Lease:
        self._complained = self._unheard = False
        self._version = lease.metadata.resource_version
        self._uid = lease.metadata.uid
        self._transitions = lease.spec.lease_transitions or 0
        self._until = sent + self.renew_deadline
        return lease

    async def _patch(self, patch: object, within: float) -> Lease:
        self._unheard = True
        body = await self._client.patch(
            LEASES, self._namespace, self._name, patch, kind="merge", within=within
        )
        return decoder(Lease).decode(body)

    def _spec(self, *, transitions: int, fresh: bool = False) -> dict[str, Any]:
        spec = {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": math.ceil(self._duration),
            "leaseTransitions": transitions,
            "renewTime": _now(),
        }
        if fresh:
            spec["acquireTime"] = spec["renewTime"]
        return spec


def _now() -> str:
    """The time of day, for people who read the Lease; nothing is decided by it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
