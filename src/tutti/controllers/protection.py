"""Groups stay while they are in use: a finalizer that goes with the last member.

- A PodGroup is in use while a pod of its namespace names it and hasn't ended, whether that pod is
  bound or not, terminating or not, and whoever owns it. The name counts, not the uid.
- A CompositePodGroup is in use while a group names it as its parent. (The API accepts composites
  that are each other's parents: when all of such a ring are being deleted, none keeps another.)

The API server puts the finalizer on new groups; where it doesn't, it is put on here.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple

from tutti.api.coordination import Lease
from tutti.api.core_v1 import Pod
from tutti.api.errors import NotFound
from tutti.api.registry import COMPOSITE_POD_GROUPS, LEASES, POD_GROUPS, PODS, Storage
from tutti.api.scheduling import CompositePodGroup, PodGroup
from tutti.controllers.work import Work
from tutti.kube.client import Client
from tutti.kube.discovery import Discovery
from tutti.kube.informer import Gone, Informer, Relisted, Seen

SILENCE = timedelta(minutes=1)
"""After that nobody holds a Lease that was not renewed."""

FINALIZER = "scheduling.k8s.io/podgroup-protection"

Group = PodGroup | CompositePodGroup


class Key(NamedTuple):
    storage: Storage
    namespace: str
    name: str


class Users:
    """Who uses which group, by the uid of the user."""

    def __init__(self) -> None:
        self._users: defaultdict[Key, set[str]] = defaultdict(set)
        self._used: dict[str, Key] = {}

    def uses(self, user: str, group: Key | None) -> Key | None:
        """From now on this user uses that group, or none; says which group it let go."""
        before = self._used.pop(user, None)
        if group is not None:
            self._used[user] = group
            self._users[group].add(user)
        if before is None or before == group:
            return None
        self._users[before].discard(user)
        if not self._users[before]:
            del self._users[before]
        return before

    def of(self, group: Key) -> frozenset[str]:
        return frozenset(self._users.get(group, ()))


async def run(client: Client, ready: Callable[[], None]) -> None:
    protection = Protection(client, await client.discover([POD_GROUPS.group]))
    async with asyncio.TaskGroup() as group:
        group.create_task(protection.run())
        await protection.synced()
        ready()


async def is_wanted(client: Client) -> bool:
    """Whether this cluster has PodGroups, and no controller manager that would protect them."""
    discovery = await client.discover([POD_GROUPS.group])
    if not discovery.served(POD_GROUPS.group, POD_GROUPS.plural):
        return False
    try:
        lease = await client.get(LEASES, "kube-system", "kube-controller-manager", into=Lease)
    except NotFound:
        return True
    renewed = lease.spec.renew_time
    return renewed is None or datetime.now(UTC) - renewed > SILENCE


class Protection:
    def __init__(self, client: Client, discovery: Discovery) -> None:
        kinds: tuple[tuple[Storage, type[Group]], ...] = (
            (POD_GROUPS, PodGroup),
            (COMPOSITE_POD_GROUPS, CompositePodGroup),
        )
        self._client = client
        self._pods = Informer(client, PODS, Pod)
        self._groups: dict[Storage, Informer[Group]] = {
            storage: Informer(client, storage, kind)
            for storage, kind in kinds
            if discovery.served(storage.group, storage.plural)
        }
        self._users = Users()
        self._work: Work[Key] = Work(self._attend)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._pods.run(self._on_pod))
            for storage, informer in self._groups.items():
                group.create_task(informer.run(partial(self._on_group, storage)))
            await self.synced()  # before that a group may look as if nobody used it
            group.create_task(self._work.run())

    async def synced(self) -> None:
        await self._pods.synced.wait()
        for informer in self._groups.values():
            await informer.synced.wait()

    def _on_pod(self, news: Seen[Pod] | Gone[Pod] | Relisted) -> None:
        match news:
            case Seen(pod):
                self._used(pod.metadata.uid, _group_of(pod))
            case Gone(pod):
                self._used(pod.metadata.uid, None)
            case Relisted():
                pass

    def _on_group(self, storage: Storage, news: Seen[Group] | Gone[Group] | Relisted) -> None:
        match news:
            case Seen(group):
                parent = _parent_of(group)
                self._used(group.metadata.uid, parent)
                self._work.add(Key(storage, group.metadata.namespace, group.metadata.name))
                if parent is not None and group.metadata.deletion_timestamp is not None:
                    self._work.add(parent)  # the two may be a ring
            case Gone(group):
                self._used(group.metadata.uid, None)
            case Relisted():
                pass

    def _used(self, user: str, group: Key | None) -> None:
        let_go = self._users.uses(user, group)
        if let_go is not None:
            self._work.add(let_go)

    async def _attend(self, key: Key) -> None:
        storage, namespace, name = key
        group = self._known(key)
        if group is None:
            return
        users = self._users.of(key) - self._leaving_in_a_ring(key)
        wanted = finalizers(group, in_use=bool(users))
        if wanted == group.metadata.finalizers:
            return
        meta = {
            "uid": group.metadata.uid,
            "resourceVersion": group.metadata.resource_version,
            "finalizers": wanted,
        }
        try:
            await self._client.patch(storage, namespace, name, {"metadata": meta})
        except NotFound:
            return

    def _known(self, key: Key) -> Group | None:
        informer = self._groups.get(key.storage)
        return informer.known.get((key.namespace, key.name)) if informer else None

    def _leaving_in_a_ring(self, key: Key) -> set[str]:
        """The uids of the ring of parents that leads back to this group, if all of it is to go."""
        ring: dict[Key, str] = {}
        at: Key | None = key
        while at is not None and at not in ring:
            group = self._known(at)
            if group is None or group.metadata.deletion_timestamp is None:
                return set()
            ring[at] = group.metadata.uid
            at = _parent_of(group)
        return set(ring.values()) if at == key else set()


def finalizers(group: Group, *, in_use: bool) -> tuple[str, ...]:
    """Those that the group should have."""
    there = group.metadata.finalizers
    if group.metadata.deletion_timestamp is None:
        return there if FINALIZER in there else (*there, FINALIZER)
    return there if in_use else tuple(name for name in there if name != FINALIZER)


def _group_of(pod: Pod) -> Key | None:
    """The group that this pod keeps in use."""
    if pod.status.phase in ("Succeeded", "Failed") or pod.spec.scheduling_group is None:
        return None
    name = pod.spec.scheduling_group.pod_group_name
    return Key(POD_GROUPS, pod.metadata.namespace, name) if name else None


def _parent_of(group: Group) -> Key | None:
    name = group.spec.parent_composite_pod_group_name
    return Key(COMPOSITE_POD_GROUPS, group.metadata.namespace, name) if name else None
