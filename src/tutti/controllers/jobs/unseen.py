"""Writes of ours that the watches haven't shown yet: until they do, what is known is the past.

A plan made of the past would do the same again. So nothing is planned for a Job before each pod,
group and status that was written for it has been seen as it was written, or later.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from tutti.api.meta import ObjectMeta

LAPSE_S: Final = 30.0
"""After that a write counts as seen: what came and went between two watches is never shown."""

Key = tuple[str, str]
Shows = Callable[[ObjectMeta], bool]


class Unseen:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._writes: dict[str, tuple[Key, Shows, float]] = {}
        self._of: defaultdict[Key, set[str]] = defaultdict(set)

    def wrote(self, job: Key, uid: str, shows: Shows, known: ObjectMeta | None) -> None:
        """An object was written for this Job; `known` is how the watch has it at this moment."""
        if known is not None and known.uid == uid and shows(known):
            return
        self._writes[uid] = (job, shows, self._clock())
        self._of[job].add(uid)

    def saw(self, meta: ObjectMeta) -> Key | None:
        """The Job that has nothing left to wait for, now that this was seen."""
        write = self._writes.get(meta.uid)
        return self._settle(meta.uid) if write and write[1](meta) else None

    def lost(self, uid: str) -> Key | None:
        """As `saw`, for an object that is gone."""
        return self._settle(uid) if uid in self._writes else None

    def waits(self, job: Key) -> bool:
        return job in self._of

    def lapse(self) -> Iterable[Key]:
        """The Jobs for which nothing is waited for any more, since it took too long."""
        until = self._clock() - LAPSE_S
        late = [uid for uid, (_, _, at) in self._writes.items() if at < until]
        return {job for uid in late if (job := self._settle(uid))}

    def _settle(self, uid: str) -> Key | None:
        job, _, _ = self._writes.pop(uid)
        self._of[job].discard(uid)
        if self._of[job]:
            return None
        del self._of[job]
        return job


def at_least(version: str) -> Shows:
    return lambda meta: int(meta.resource_version) >= int(version)


def being_deleted(meta: ObjectMeta) -> bool:
    return meta.deletion_timestamp is not None
