"""Who owns whom: every object by uid, and what depends on it. A value, fed by those who watch."""

from collections import defaultdict
from typing import NamedTuple

from tutti.api.meta import ObjectMeta, OwnerReference, Wire
from tutti.api.registry import Storage

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"


class Anything(Wire, frozen=True, kw_only=True):
    """Any object, as far as owners are concerned."""

    metadata: ObjectMeta


class Item(NamedTuple):
    storage: Storage
    meta: ObjectMeta

    @property
    def being_deleted(self) -> bool:
        return self.meta.deletion_timestamp is not None

    @property
    def waits_for_dependents(self) -> bool:
        return self.being_deleted and FOREGROUND in self.meta.finalizers

    def owner(self, uid: str) -> OwnerReference | None:
        return next((ref for ref in self.meta.owner_references if ref.uid == uid), None)

    def is_in_reach_of(self, dependent: "Item") -> bool:
        """An owner is of the whole cluster, or of its dependent's own namespace."""
        return not self.storage.namespaced or self.meta.namespace == dependent.meta.namespace


class Graph:
    """`seen` and `gone` say whose case may have changed: those are to be looked at."""

    def __init__(self) -> None:
        self._items: dict[str, Item] = {}
        self._dependents: defaultdict[str, set[str]] = defaultdict(set)

    def seen(self, item: Item) -> set[str]:
        uid = item.meta.uid
        self._forget(uid)
        self._items[uid] = item
        for ref in item.meta.owner_references:
            self._dependents[ref.uid].add(uid)
        waiting = {ref.uid for ref in item.meta.owner_references if self._waits(ref.uid)}
        dependents = self._dependents_of(uid) if item.being_deleted else set()
        return {uid} | waiting | dependents

    def gone(self, uid: str) -> set[str]:
        item = self._items.get(uid)
        self._forget(uid)
        owners = item.meta.owner_references if item else ()
        return self._dependents_of(uid) | {ref.uid for ref in owners if self._waits(ref.uid)}

    def item(self, uid: str) -> Item | None:
        return self._items.get(uid)

    def dependents(self, uid: str) -> list[Item]:
        return [self._items[dependent] for dependent in sorted(self._dependents_of(uid))]

    def blocking(self, uid: str) -> list[Item]:
        """The dependents without whose end this object may not go."""
        return [
            item
            for item in self.dependents(uid)
            if (ref := item.owner(uid)) and ref.block_owner_deletion
        ]

    def owned(self) -> set[str]:
        return {uid for uid, item in self._items.items() if item.meta.owner_references}

    def _waits(self, uid: str) -> bool:
        item = self._items.get(uid)
        return item is not None and item.waits_for_dependents

    def _dependents_of(self, uid: str) -> set[str]:
        return set(self._dependents.get(uid, ()))

    def _forget(self, uid: str) -> None:
        item = self._items.pop(uid, None)
        for ref in item.meta.owner_references if item else ():
            self._dependents[ref.uid].discard(uid)
            if not self._dependents[ref.uid]:
                del self._dependents[ref.uid]
