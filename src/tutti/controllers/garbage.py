"""Objects go when their owners are gone: garbage collection by owner reference.

- all owners gone: the object is deleted
- some owners live: it stays, without its references to those that are gone or wait for it to go
- an owner that is deleted in the foreground waits until the dependents that block it are gone
- an owner that is deleted as an orphan's leaves its dependents without it
- an owner that is itself about to go for want of owners keeps nothing alive: a pod belongs to its Job
  and to its group, which belongs to the Job, and may wait for its pods

That an owner is gone is believed only when the server says so at that moment. An owner of a kind
that isn't served, or whose API doesn't answer, counts as present.
"""

import asyncio
from collections.abc import Callable, Iterable
from enum import Enum, auto
from functools import partial
from typing import Literal

import msgspec

from tutti.api.errors import Conflict, NotFound
from tutti.api.meta import OwnerReference
from tutti.api.registry import Storage
from tutti.controllers import catalogue
from tutti.controllers.catalogue import Catalogue
from tutti.controllers.owners import FOREGROUND, ORPHAN, Anything, Graph, Item
from tutti.controllers.work import Work
from tutti.kube.client import Client
from tutti.kube.informer import Gone, Informer, Relisted, Seen

LEFT_ALONE = frozenset({"events"})
LOOK_AGAIN_S = 30.0
"""How often the server is asked whether it serves other kinds than before."""


class Owner(Enum):
    PRESENT = auto()
    WAITING = auto()  # it is deleted in the foreground
    GONE = auto()


async def run(client: Client, ready: Callable[[], None]) -> None:
    garbage = Garbage(client)
    async with asyncio.TaskGroup() as group:
        await garbage.follow(await catalogue.read(client), group)
        group.create_task(garbage.run())
        ready()
        while True:
            await asyncio.sleep(LOOK_AGAIN_S)
            await garbage.follow(await catalogue.read(client), group)


class Garbage:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._graph = Graph()
        self._catalogue = Catalogue()
        self._followers: dict[Storage, asyncio.Task[None]] = {}
        self._work: Work[str] = Work(self._attend, workers=16)

    async def run(self) -> None:
        await self._work.run()

    async def follow(self, served: Catalogue, group: asyncio.TaskGroup) -> None:
        """Watch what is served now, and nothing else; returns when all of it is known."""
        if served.storages == self._catalogue.storages:
            return
        self._catalogue = served
        wanted = [storage for storage in served.storages if storage.plural not in LEFT_ALONE]
        for storage in [storage for storage in self._followers if storage not in wanted]:
            self._followers.pop(storage).cancel()
        fresh = {
            storage: Informer(self._client, storage, Anything)
            for storage in wanted
            if storage not in self._followers
        }
        for storage, informer in fresh.items():
            follower = group.create_task(informer.run(partial(self._on_news, storage)))
            self._followers[storage] = follower
        for informer in fresh.values():
            await informer.synced.wait()
        self._look_at(self._graph.owned())

    def _on_news(self, storage: Storage, news: Seen[Anything] | Gone[Anything] | Relisted) -> None:
        match news:
            case Seen(thing):
                self._look_at(self._graph.seen(Item(storage, thing.metadata)))
            case Gone(thing):
                self._look_at(self._graph.gone(thing.metadata.uid))
            case Relisted():
                pass

    def _look_at(self, uids: Iterable[str]) -> None:
        for uid in sorted(uids):
            self._work.add(uid)

    async def _attend(self, uid: str) -> None:
        item = self._graph.item(uid)
        if item is None:
            return
        try:
            if item.being_deleted:
                await self._let_go(item)
            elif item.meta.owner_references and not self._all_owners_live(item):
                await self._judge(item)
        except NotFound:
            return  # it went in the meantime: the watch says so

    def _all_owners_live(self, item: Item) -> bool:
        """As far as is known without asking: an object that is kept costs no request."""
        owners = [self._graph.item(ref.uid) for ref in item.meta.owner_references]
        return all(
            owner is not None and owner.is_in_reach_of(item) and not owner.waits_for_dependents
            for owner in owners
        )

    async def _let_go(self, item: Item) -> None:
        """What an object that is being deleted still waits for."""
        if ORPHAN in item.meta.finalizers:
            for dependent in self._graph.dependents(item.meta.uid):
                await self._strip(await self._latest(dependent), {item.meta.uid})
            await self._drop_finalizer(item, ORPHAN)
        elif FOREGROUND in item.meta.finalizers and not self._graph.blocking(item.meta.uid):
            await self._drop_finalizer(item, FOREGROUND)

    async def _judge(self, cached: Item) -> None:
        item = await self._latest(cached)
        if item.being_deleted:
            return
        owners = {ref.uid: await self._state(item, ref) for ref in item.meta.owner_references}
        states = set(owners.values())
        if not states:
            return
        if Owner.PRESENT in states:
            gone = {uid for uid, state in owners.items() if state is not Owner.PRESENT}
            if gone:
                await self._strip(item, gone)
        elif Owner.WAITING in states and self._graph.dependents(item.meta.uid):
            await self._delete(item, "Foreground")
        else:
            await self._delete(item, "Background")

    async def _state(
        self, item: Item, ref: OwnerReference, below: frozenset[str] = frozenset()
    ) -> Owner:
        owner = self._graph.item(ref.uid)
        if owner is None or not owner.is_in_reach_of(item):
            owner = await self._asked_for(item, ref)
        if owner is None:
            return Owner.GONE
        if owner.waits_for_dependents:
            return Owner.WAITING
        above = owner.meta.owner_references
        if not above or ORPHAN in owner.meta.finalizers or owner.meta.uid in below:
            return Owner.PRESENT
        states = {await self._state(owner, one, below | {owner.meta.uid}) for one in above}
        if Owner.PRESENT in states:
            return Owner.PRESENT
        return Owner.WAITING if Owner.WAITING in states else Owner.GONE

    async def _asked_for(self, item: Item, ref: OwnerReference) -> Item | None:
        """The owner as the server has it now; the dependent itself where nobody can say."""
        storage = self._catalogue.of_kind(ref.api_version.rpartition("/")[0], ref.kind)
        if storage is None or (storage.namespaced and not item.storage.namespaced):
            return item
        namespace = item.meta.namespace if storage.namespaced else None
        try:
            found = await self._client.get(storage, namespace, ref.name, into=Anything)
        except NotFound:
            return None
        return Item(storage, found.metadata) if found.metadata.uid == ref.uid else None

    async def _latest(self, item: Item) -> Item:
        """The object as it is now; NotFound if it is another one now."""
        storage, meta = item
        found = await self._client.get(storage, meta.namespace, meta.name, into=Anything)
        if found.metadata.uid != meta.uid:
            raise NotFound.of(storage.key, meta.name)
        return Item(storage, found.metadata)

    async def _delete(self, item: Item, how: Literal["Background", "Foreground"]) -> None:
        storage, meta = item
        try:
            await self._client.delete(
                storage, meta.namespace, meta.name, uid=meta.uid, propagation=how
            )
        except Conflict:
            return  # a namesake made later: not ours to judge

    async def _strip(self, item: Item, owners: set[str]) -> None:
        kept = [ref for ref in item.meta.owner_references if ref.uid not in owners]
        if len(kept) < len(item.meta.owner_references):
            await self._patch(item, {"ownerReferences": msgspec.to_builtins(kept)})

    async def _drop_finalizer(self, item: Item, finalizer: str) -> None:
        kept = [name for name in item.meta.finalizers if name != finalizer]
        await self._patch(item, {"finalizers": kept})

    async def _patch(self, item: Item, change: dict[str, object]) -> None:
        """Only if the object is still as it was read; else a conflict, and another look."""
        storage, meta = item
        as_read = {"uid": meta.uid, "resourceVersion": meta.resource_version}
        await self._client.patch(storage, meta.namespace, meta.name, {"metadata": as_read | change})
