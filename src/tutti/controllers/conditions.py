"""Conditions on pods and groups, written off the hot path: one request at a time for each object.

What is to be said of an object while a request about it is on its way is gathered, the newest word
on each type, and goes out in one patch.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from tutti.api.errors import ApiError, Unanswered
from tutti.api.meta import Condition
from tutti.controllers.lane import Lane
from tutti.controllers.statuses import Ref, StatusWriter
from tutti.engine.messages import SetGroupCondition, SetPodCondition
from tutti.kube.client import Client
from tutti.kube.transport import Withheld

log = logging.getLogger(__name__)

GROUPS: Final = 64
PODS: Final = 16
"""So many at once: what is said of a group stands for all its members, and isn't kept waiting."""
STICKY: Final = ("PodGroupInitiallyScheduled", "CompositePodGroupInitiallyScheduled")
"""Once True they never go back."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0


@dataclass(slots=True)
class Pending:
    """What is to be said of one object."""

    ref: Ref
    conditions: dict[str, Condition] = field(default_factory=dict)
    nominated: str | None = None


class Conditions:
    """`seen` gives the conditions of an object as the cache has them; our own writes come first."""

    def __init__(
        self,
        client: Client,
        tasks: asyncio.TaskGroup,
        *,
        seen: Callable[[Ref], Iterable[Condition]],
        allowed: Callable[[], bool],
    ) -> None:
        self._writer = StatusWriter(client, allowed)
        self._seen = seen
        self._groups = Lane(tasks, GROUPS, self._write)
        self._pods = Lane(tasks, PODS, self._write)
        self._pending: dict[str, Pending] = {}
        self._writing: dict[str, asyncio.Event] = {}
        self._written: dict[str, dict[str, str]] = {}
        """uid -> type -> status: what we wrote, since the cache may lag behind."""

    def set_on_pod(self, action: SetPodCondition) -> None:
        pending = self._gather(action.pod, action.condition, self._pods)
        if action.nominated is not None:
            pending.nominated = action.nominated

    def set_on_group(self, action: SetGroupCondition) -> None:
        self._gather(action.group, action.condition, self._groups)

    def hush(self, uid: str) -> tuple[Pending | None, asyncio.Event | None]:
        """Hold back what was to be said of an object, which is returned; what is on its way already
        ends with the event."""
        return self._pending.pop(uid, None), self._writing.get(uid)

    def say_after_all(self, held_back: Pending) -> None:
        self._put_back(held_back)
        self._pods.put(held_back.ref.uid)

    def forget(self, uid: str) -> None:
        self._pending.pop(uid, None)
        self._written.pop(uid, None)

    def _gather(self, ref: Ref, condition: Condition, lane: Lane[str]) -> Pending:
        pending = self._pending.get(ref.uid)
        if pending is None:
            pending = self._pending[ref.uid] = Pending(ref)
            lane.put(ref.uid)
        pending.conditions[condition.type] = condition
        return pending

    async def _write(self, uid: str) -> None:
        if (writing := self._writing.get(uid)) is not None:
            await writing.wait()
        pause = FIRST_PAUSE
        self._writing[uid] = asyncio.Event()
        try:
            while (pending := self._pending.pop(uid, None)) is not None:
                try:
                    await self._say(pending)
                except (ApiError, Unanswered, Withheld) as error:
                    if not _may_pass(error):
                        log.error(
                            "a condition is refused",
                            extra={"object": pending.ref.name, "why": str(error)},
                        )
                        return
                    self._put_back(pending)
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, LONGEST_PAUSE)
        finally:
            self._writing.pop(uid).set()

    def _put_back(self, pending: Pending) -> None:
        """What was said meanwhile is newer."""
        newer = self._pending.get(pending.ref.uid)
        if newer is not None:
            pending.conditions |= newer.conditions
            if newer.nominated is not None:
                pending.nominated = newer.nominated
        self._pending[pending.ref.uid] = pending

    async def _say(self, pending: Pending) -> None:
        ref = pending.ref
        statuses = {condition.type: condition.status for condition in self._seen(ref)}
        written = self._written.setdefault(ref.uid, {})
        statuses.update(written)
        conditions = [
            condition
            for condition in pending.conditions.values()
            if not (condition.type in STICKY and statuses.get(condition.type) == "True")
        ]
        if conditions or pending.nominated is not None:
            turned = {c.type for c in conditions if statuses.get(c.type) != c.status}
            await self._writer.write(ref, conditions, turned, pending.nominated)
            written.update((condition.type, condition.status) for condition in conditions)


def _may_pass(error: ApiError | Unanswered | Withheld) -> bool:
    """Whether trying again can help."""
    return not isinstance(error, ApiError) or error.code >= 500 or error.code == 429
