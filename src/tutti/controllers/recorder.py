"""Events about any object, in the old form that every client shows: what a controller did, and failed at.

They are the last thing to be sent: a bounded number waits, what doesn't find room is dropped, and a
warning that says the same again is told once in a while.
"""

import asyncio
import itertools
import logging
import time
from collections import deque
from datetime import UTC, datetime
from typing import Any, Final, Never

from tutti.api.core_v1 import ObjectReference
from tutti.api.errors import ApiError, Unanswered
from tutti.api.registry import EVENTS
from tutti.controllers.bucket import Bucket
from tutti.kube.client import Client

log = logging.getLogger(__name__)

RATE: Final = 50.0
"""Events a second."""
BURST: Final = 500
ROOM: Final = 10_000
QUIET_S: Final = 300.0
"""How long a warning isn't repeated."""
LONGEST: Final = 1024


class Recorder:
    def __init__(self, client: Client, component: str) -> None:
        self._client = client
        self._component = component
        self._waiting: deque[dict[str, Any]] = deque(maxlen=ROOM)
        self._some = asyncio.Event()
        self._bucket = Bucket(RATE, BURST)
        self._warned: dict[tuple[str, str, str], float] = {}
        self._serial = itertools.count(time.time_ns())

    def normal(self, about: ObjectReference, reason: str, message: str) -> None:
        self._tell(about, "Normal", reason, message)

    def warning(self, about: ObjectReference, reason: str, message: str) -> None:
        now = time.monotonic()
        if now - self._warned.get((about.uid, reason, message), -QUIET_S) >= QUIET_S:
            self._warned = {said: at for said, at in self._warned.items() if now - at < QUIET_S}
            self._warned[about.uid, reason, message] = now
            self._tell(about, "Warning", reason, message)

    async def run(self) -> Never:
        while True:
            await self._some.wait()
            if not self._waiting:
                self._some.clear()
                continue
            if not self._bucket.take():
                await asyncio.sleep(self._bucket.wait())
                continue
            event = self._waiting.popleft()
            try:
                await self._client.create(EVENTS, event, event["metadata"]["namespace"])
            except (ApiError, Unanswered) as error:
                log.debug("an event is dropped", extra={"why": str(error)})

    def _tell(self, about: ObjectReference, kind: str, reason: str, message: str) -> None:
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._waiting.append(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {
                    "name": f"{about.name}.{next(self._serial):x}",
                    "namespace": about.namespace or "default",
                },
                "involvedObject": {
                    "apiVersion": about.api_version,
                    "kind": about.kind,
                    "namespace": about.namespace,
                    "name": about.name,
                    "uid": about.uid,
                    "resourceVersion": about.resource_version,
                },
                "type": kind,
                "reason": reason,
                "message": message[:LONGEST],
                "count": 1,
                "firstTimestamp": at,
                "lastTimestamp": at,
                "source": {"component": self._component},
                "reportingComponent": self._component,
            }
        )
        self._some.set()
