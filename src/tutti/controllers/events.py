"""Events, in Kubernetes' sense: told on each pod while there are few, on each group when there are many.

They are the last thing to be sent: a burst goes out as it is, then so many a second, and what comes
in faster is folded, one event for a group, its reason and type. A bounded number waits; what doesn't
find room is counted and dropped. An event that the server won't have is dropped too.
"""

import asyncio
import itertools
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Never

from tutti.api.errors import ApiError, Unanswered
from tutti.api.registry import EVENTS
from tutti.controllers.bucket import Bucket
from tutti.controllers.statuses import storage_of
from tutti.engine.messages import GroupRef, Note, OwnerRef, PodRef
from tutti.kube.client import Client
from tutti.kube.wire import ENCODER

log = logging.getLogger(__name__)

RATE: Final = 50.0
"""Events a second."""
BURST: Final = 500
ROOM: Final = 10_000
"""Events that may wait, folded ones counted once."""
LONGEST_NOTE: Final = 1024
GROUP: Final = "events.k8s.io"


Subject = PodRef | GroupRef | OwnerRef


@dataclass(slots=True)
class Folded:
    """Notes of one reason on members of one group, told as one: the newest, and how many more."""

    about: Subject
    newest: Note
    count: int = 0

    def told(self) -> Note:
        note = self.newest
        more = f" (and {self.count - 1} more)" if self.count > 1 else ""
        return Note(self.about, note.type, note.reason, note.action, note.message + more)


class Events:
    """`reporter_of` names the scheduler that an event is from; `group_of` finds a pod's group;
    nothing is sent unless `after` is set; `count` hears what became of each: sent, or dropped."""

    def __init__(
        self,
        client: Client,
        reporter_of: Callable[[Subject], str],
        instance: str,
        *,
        group_of: Callable[[PodRef], GroupRef | OwnerRef | None],
        after: asyncio.Event,
        count: Callable[[str], None],
    ) -> None:
        self._client = client
        self._reporter_of = reporter_of
        self._instance = instance
        self._group_of = group_of
        self._after = after
        self._count = count
        self._single: deque[Note] = deque()
        self._folded: dict[tuple[str, str, str], Folded] = {}
        self._bucket = Bucket(RATE, BURST)
        self._some = asyncio.Event()
        self._serial = itertools.count(time.time_ns())

    def note(self, note: Note) -> None:
        if not self._folded and self._bucket.take():
            self._single.append(note)
        else:
            self._fold(note)
        self._some.set()

    async def run(self) -> Never:
        while True:
            await self._some.wait()
            await self._after.wait()
            if self._single:
                await self._send(self._single.popleft())
            elif self._folded:
                await asyncio.sleep(self._bucket.wait())
                self._bucket.take()
                key = next(iter(self._folded))
                await self._send(self._folded.pop(key).told())
            else:
                self._some.clear()

    def _fold(self, note: Note) -> None:
        about: Subject = note.about
        if isinstance(about, PodRef):
            about = self._group_of(about) or about
        key = (about.uid, note.reason, note.type)
        folded = self._folded.get(key)
        if folded is None:
            if len(self._folded) >= ROOM:
                self._count("dropped")
                return
            folded = self._folded[key] = Folded(about, note)
        folded.newest = note
        folded.count += 1

    async def _send(self, note: Note) -> None:
        path = EVENTS.path("v1", note.about.namespace, group=GROUP)
        try:
            await self._client.raw("POST", path, body=ENCODER.encode(self._event(note)))
        except (ApiError, Unanswered) as error:
            self._count("dropped")
            log.debug("an event is dropped", extra={"why": str(error)})
        else:
            self._count("sent")

    def _event(self, note: Note) -> dict[str, Any]:
        about = note.about
        api_version, kind = _kind_of(about)
        return {
            "apiVersion": f"{GROUP}/v1",
            "kind": "Event",
            "metadata": {
                "name": f"{about.name}.{next(self._serial):x}",
                "namespace": about.namespace,
            },
            "eventTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "reportingController": self._reporter_of(about),
            "reportingInstance": self._instance,
            "type": note.type,
            "reason": note.reason,
            "action": note.action,
            "note": _cut(note.message),
            "regarding": {
                "apiVersion": api_version,
                "kind": kind,
                "namespace": about.namespace,
                "name": about.name,
                "uid": about.uid,
            },
        }


def _kind_of(about: Subject) -> tuple[str, str]:
    if isinstance(about, OwnerRef):
        return about.api_version, about.kind
    storage = storage_of(about)
    return storage.api_version, storage.kind


def _cut(text: str) -> str:
    """As kube-scheduler cuts it."""
    return text if len(text) <= LONGEST_NOTE else f"{text[: LONGEST_NOTE - 4]} ..."
