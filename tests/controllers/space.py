"""One namespace of a cluster, and what a test does and sees in it."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from tutti.api.meta import ObjectMeta as Metadata
from tutti.api.registry import Storage
from tutti.controllers.owners import Anything
from tutti.kube.client import Client, Propagation
from tutti.kube.informer import Informer
from tutti.kube.reflector import Versioned

T = TypeVar("T", bound=Versioned)
Json = dict[str, Any]


class Space:
    """One namespace, and what a test does and sees in it."""

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self.name = name

    async def create(self, storage: Storage, name: str, content: Json | None = None) -> Metadata:
        """An object of this name; the answer is its metadata."""
        made = {"apiVersion": storage.api_version, "kind": storage.kind, **(content or {})}
        made["metadata"] = {"name": name, **made.get("metadata", {})}
        answer = await self.client.create(storage, made, self.name)
        return msgspec.json.decode(answer, type=Anything).metadata

    async def delete(self, storage: Storage, name: str, how: Propagation = "Background") -> None:
        await self.client.delete(storage, self.name, name, propagation=how)

    async def until(
        self, storage: Storage, type_: type[T], so: Callable[[dict[str, T]], bool]
    ) -> dict[str, T]:
        """Wait until what is there, by name, is as it should be."""
        informer = Informer(self.client, storage, type_, namespace=self.name)
        news = asyncio.Event()
        following = asyncio.create_task(informer.run(lambda _: news.set()))
        try:
            async with asyncio.timeout(15):
                await informer.synced.wait()
                while not so(there := {name: obj for (_, name), obj in informer.known.items()}):
                    news.clear()
                    await news.wait()
        finally:
            following.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await following
        return there

    async def until_left(self, storage: Storage, *names: str) -> None:
        """Wait until of one kind just these are there (Kubernetes' own aside)."""

        def so(there: dict[str, Anything]) -> bool:
            return there.keys() - {"kube-root-ca.crt"} == set(names)

        await self.until(storage, Anything, so)


def owned_by(*owners: tuple[Storage, Metadata], blocking: bool = False) -> Json:
    """The metadata of an object that these own."""
    references = [
        {
            "apiVersion": storage.api_version,
            "kind": storage.kind,
            "name": owner.name,
            "uid": owner.uid,
            "blockOwnerDeletion": blocking,
        }
        for storage, owner in owners
    ]
    return {"metadata": {"ownerReferences": references}}


def pod_on(node: str = "", *, group: str = "", **metadata: Any) -> Json:
    spec: Json = {"containers": [{"name": "main", "image": "none"}]}
    if node:
        spec["nodeName"] = node
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    return {"metadata": metadata, "spec": spec}
