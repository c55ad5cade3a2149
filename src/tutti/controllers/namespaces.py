"""A namespace that is deleted is emptied, then let go.

Everything in it is deleted, kind by kind as the server itself lists them; pods take their grace
period, protected groups wait for their pods. While something is left, the namespace says what.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from tutti.api.core_v1 import Namespace
from tutti.api.errors import Conflict, NotFound
from tutti.api.registry import NAMESPACES, Storage
from tutti.controllers import catalogue
from tutti.controllers.owners import Anything
from tutti.controllers.work import Work
from tutti.kube.client import Client
from tutti.kube.informer import Gone, Informer, Relisted, Seen

FINALIZER = "kubernetes"
LOOK_AGAIN_S = 1.0
"""How soon a namespace in which something was left is looked at again."""


class Said(msgspec.Struct, frozen=True):
    """A condition of a namespace, but for its type and time."""

    status: str
    reason: str
    message: str


async def run(client: Client, ready: Callable[[], None]) -> None:
    namespaces = Namespaces(client)
    async with asyncio.TaskGroup() as group:
        group.create_task(namespaces.run())
        await namespaces.synced()
        ready()


class Namespaces:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._namespaces = Informer(client, NAMESPACES, Namespace)
        self._work: Work[str] = Work(self._attend, workers=4)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._namespaces.run(self._on_namespace))
            group.create_task(self._work.run())

    async def synced(self) -> None:
        await self._namespaces.synced.wait()

    def _on_namespace(self, news: Seen[Namespace] | Gone[Namespace] | Relisted) -> None:
        match news:
            case Seen(namespace) if _is_to_be_emptied(namespace):
                self._work.add(namespace.metadata.name)
            case Seen() | Gone() | Relisted():
                pass

    async def _attend(self, name: str) -> None:
        namespace = self._namespaces.known.get(("", name))
        if namespace is None or not _is_to_be_emptied(namespace):
            return
        served = await catalogue.read(self._client)
        kinds = [storage for storage in served.storages if storage.namespaced]
        left = await asyncio.gather(*(self._empty(storage, name) for storage in kinds))
        remaining = {s: things for s, things in zip(kinds, left, strict=True) if things}
        if remaining:
            await self._say(namespace, conditions(remaining))
            self._work.add(name, after=LOOK_AGAIN_S)
        else:
            await self._finish(name)

    async def _empty(self, storage: Storage, namespace: str) -> list[Anything]:
        """Delete all objects of one kind; those that take their time are the answer."""
        there = (await self._client.list(storage, namespace, into=Anything)).items
        if not there:
            return []
        if "deletecollection" in storage.verbs:
            await self._client.raw("DELETE", self._client.path(storage, namespace))
        else:
            await asyncio.gather(*(self._delete(storage, thing) for thing in there))
        return (await self._client.list(storage, namespace, into=Anything)).items

    async def _delete(self, storage: Storage, thing: Anything) -> None:
        meta = thing.metadata
        with contextlib.suppress(NotFound, Conflict):
            await self._client.delete(storage, meta.namespace, meta.name, uid=meta.uid)

    async def _say(self, namespace: Namespace, said: dict[str, Said]) -> None:
        """Write the conditions, if they aren't there already."""
        meta = namespace.metadata
        there = {c.type: Said(c.status, c.reason, c.message) for c in namespace.status.conditions}
        if said.items() <= there.items():
            return
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        written = [
            {**msgspec.structs.asdict(what), "type": type_, "lastTransitionTime": now}
            for type_, what in said.items()
        ]
        patch = {"metadata": {"uid": meta.uid}, "status": {"conditions": written}}
        with contextlib.suppress(NotFound, Conflict):
            await self._client.patch(
                NAMESPACES, None, meta.name, patch, kind="strategic", subresource="status"
            )

    async def _finish(self, name: str) -> None:
        """Nothing is left: without our finalizer the namespace goes."""
        try:
            namespace = await self._client.get(NAMESPACES, None, name, into=dict[str, Any])
            finalizers = namespace["spec"].get("finalizers", [])
            namespace["spec"]["finalizers"] = [f for f in finalizers if f != FINALIZER]
            await self._client.update(NAMESPACES, namespace, None, name, subresource="finalize")
        except NotFound:
            return


def conditions(remaining: Mapping[Storage, Sequence[Anything]]) -> dict[str, Said]:
    """What the namespace says about what is left in it, in Kubernetes' words."""
    counts = [
        f"{storage.plural}.{storage.group} has {len(things)} resource instances"
        for storage, things in remaining.items()
    ]
    holders = Counter(
        name
        for things in remaining.values()
        for thing in things
        for name in thing.metadata.finalizers
    )
    held = [f"{name} in {count} resource instances" for name, count in holders.items()]
    return {
        "NamespaceContentRemaining": Said(
            "True",
            "SomeResourcesRemain",
            f"Some resources are remaining: {', '.join(sorted(counts))}",
        ),
        "NamespaceFinalizersRemaining": Said(
            "True",
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {', '.join(sorted(held))}",
        )
        if held
        else Said("False", "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
    }


def _is_to_be_emptied(namespace: Namespace) -> bool:
    return (
        namespace.metadata.deletion_timestamp is not None and FINALIZER in namespace.spec.finalizers
    )
