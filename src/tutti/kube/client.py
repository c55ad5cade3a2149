"""Verbs of a Kubernetes API as coroutines: typed objects in and out, `api.errors` for what goes wrong."""

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping
from typing import Any, Generic, Literal, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from tutti.api.errors import NotFound, from_status
from tutti.api.registry import Storage
from tutti.kube.config import Config
from tutti.kube.discovery import Discovery, Resource
from tutti.kube.transport import JSON, Allowed, Answer, OnLines, Transport
from tutti.kube.wire import (
    ENCODER,
    Binding,
    BindingMeta,
    Groups,
    Page,
    ResourceEntry,
    Resources,
    Target,
    decoder,
)

log = logging.getLogger(__name__)

T = TypeVar("T")
Query = Mapping[str, str | int | bool | None]
PatchKind = Literal["json", "merge", "strategic"]
Propagation = Literal["Background", "Foreground", "Orphan"]

PATCH_TYPES: Mapping[PatchKind, str] = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}
PAGE = 2000
"""Objects in one page of a list: a few milliseconds to decode, and few round trips."""


class Listed(NamedTuple, Generic[T]):
    """All objects of a kind, and the version of which that is true."""

    items: list[T]
    version: str


class Client:
    """One server, one user. A request that a busy server turned away is sent again in time."""

    def __init__(
        self,
        config: Config,
        *,
        connections: int = 128,
        within: float = 10.0,
        agent: str = "tutti",
    ) -> None:
        self._transport = Transport(config, connections=connections, agent=agent)
        self._within = within
        self._served: Discovery | None = None

    async def close(self) -> None:
        await self._transport.close()

    async def get(self, storage: Storage, namespace: str | None, name: str, *, into: type[T]) -> T:
        answer = await self.raw("GET", self.path(storage, namespace, name))
        return decoder(into).decode(answer.body)

    async def list(
        self,
        storage: Storage,
        namespace: str | None = None,
        *,
        into: type[T],
        label: str | None = None,
        field: str | None = None,
        page: int = PAGE,
    ) -> Listed[T]:
        items: list[T] = []
        token = ""
        while True:
            query = {
                "labelSelector": label,
                "fieldSelector": field,
                "limit": page,
                "continue": token,
            }
            answer = await self.raw("GET", self.path(storage, namespace), query=query)
            found = _page(answer.body, into)
            items += found.items or ()
            token = found.metadata.continue_
            if not token:
                return Listed(items, found.metadata.resource_version)

    async def create(
        self,
        storage: Storage,
        obj: object,
        namespace: str | None = None,
        *,
        dry_run: bool = False,
        field_validation: str | None = None,
    ) -> bytes:
        """The object as the server made it of what was sent (bytes go as they are)."""
        query = {"dryRun": "All" if dry_run else None, "fieldValidation": field_validation}
        path = self.path(storage, namespace)
        return (await self.raw("POST", path, body=_encoded(obj), query=query)).body

    async def update(
        self,
        storage: Storage,
        obj: object,
        namespace: str | None,
        name: str,
        *,
        subresource: str | None = None,
        dry_run: bool = False,
    ) -> bytes:
        path = self.path(storage, namespace, name, subresource)
        query = {"dryRun": "All" if dry_run else None}
        return (await self.raw("PUT", path, body=_encoded(obj), query=query)).body

    async def patch(
        self,
        storage: Storage,
        namespace: str | None,
        name: str,
        patch: object,
        *,
        kind: PatchKind = "merge",
        subresource: str | None = None,
        dry_run: bool = False,
        within: float | None = None,
        allowed: Allowed | None = None,
    ) -> bytes:
        answer = await self.raw(
            "PATCH",
            self.path(storage, namespace, name, subresource),
            body=_encoded(patch),
            content_type=PATCH_TYPES[kind],
            query={"dryRun": "All"} if dry_run else None,
            within=within,
            allowed=allowed,
        )
        return answer.body

    async def delete(
        self,
        storage: Storage,
        namespace: str | None,
        name: str,
        *,
        uid: str | None = None,
        grace: int | None = None,
        propagation: Propagation | None = None,
        allowed: Allowed | None = None,
    ) -> None:
        """`uid` is a precondition: a namesake made later is left alone (Conflict)."""
        options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        if propagation is not None:
            options["propagationPolicy"] = propagation
        path = self.path(storage, namespace, name)
        await self.raw("DELETE", path, body=_encoded(options), allowed=allowed)

    async def bind(
        self,
        namespace: str,
        name: str,
        uid: str,
        node: str,
        annotations: Mapping[str, str],
        *,
        within: float | None = None,
        allowed: Allowed | None = None,
    ) -> None:
        """Give a pod its node; the API server puts the annotations on it in the same write."""
        binding = Binding(
            metadata=BindingMeta(name=name, namespace=namespace, uid=uid, annotations=annotations),
            target=Target(name=node),
        )
        await self.raw(
            "POST",
            f"/api/v1/namespaces/{namespace}/pods/{name}/binding",
            body=ENCODER.encode(binding),
            within=within,
            allowed=allowed,
        )

    async def watch(
        self,
        storage: Storage,
        namespace: str | None,
        on_lines: OnLines,
        *,
        since: str,
        label: str | None = None,
        field: str | None = None,
        accept: str = JSON,
        seconds: int = 600,
    ) -> None:
        """Hand over watch lines as they come; returns when the server ends the watch."""
        query: Query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": since,
            "timeoutSeconds": seconds,
            "labelSelector": label,
            "fieldSelector": field,
        }
        target = _target(self.path(storage, namespace), query)
        answer = await self._transport.stream(target, on_lines, accept=accept, within=self._within)
        if answer.status != 200:
            raise from_status(answer.status, answer.body)

    async def discover(self, groups: Iterable[str] | None = None) -> Discovery:
        """What is served, of some groups or of all; from here on paths use versions that are there."""
        wanted = None if groups is None else set(groups)
        places = [("", "v1", "/api/v1")] if wanted is None or "" in wanted else []
        for group in decoder(Groups).decode((await self.raw("GET", "/apis")).body).groups:
            if wanted is None or group.name in wanted:
                places += [
                    (group.name, entry.version, f"/apis/{group.name}/{entry.version}")
                    for entry in group.versions
                ]
        found = await asyncio.gather(*(self._resources(path) for _, _, path in places))
        self._served = Discovery(
            Resource(
                group=group,
                version=version,
                plural=entry.name,
                kind=entry.kind,
                namespaced=entry.namespaced,
                verbs=tuple(entry.verbs),
            )
            for (group, version, _), entries in zip(places, found, strict=True)
            for entry in entries
        )
        return self._served

    async def raw(
        self,
        method: str,
        path: str,
        *,
        body: bytes = b"",
        query: Query | None = None,
        content_type: str = JSON,
        accept: str = JSON,
        within: float | None = None,
        allowed: Allowed | None = None,
    ) -> Answer:
        """Any request; an answer of 400 and above is raised as the error that it is."""
        target = _target(path, query) if query else path
        deadline = time.monotonic() + (self._within if within is None else within)
        while True:
            answer = await self._transport.request(
                method,
                target,
                body,
                content_type=content_type,
                accept=accept,
                within=deadline - time.monotonic(),
                allowed=allowed,
            )
            if answer.status < 400:
                return answer
            pause = _pause(answer)
            if pause is None or time.monotonic() + pause >= deadline:
                raise from_status(answer.status, answer.body)
            await asyncio.sleep(pause)

    def path(
        self,
        storage: Storage,
        namespace: str | None = None,
        name: str | None = None,
        subresource: str | None = None,
    ) -> str:
        """The path in a version that the server is known to have, or else the preferred one."""
        version = self._version(storage)
        quoted = quote(name, safe="") if name else None
        return storage.path(version, namespace, quoted, subresource)

    def _version(self, storage: Storage) -> str | None:
        if self._served is None:
            return None
        served = self._served.served(storage.group, storage.plural)
        return next((version for version in storage.versions if version in served), None)

    async def _resources(self, path: str) -> Iterable[ResourceEntry]:
        try:
            return decoder(Resources).decode((await self.raw("GET", path)).body).resources
        except NotFound:  # the group went away between two requests
            return ()


def _page(body: bytes, into: type[T]) -> Page[T]:
    """One page; an object that can't be read is left out and named, the others stand."""
    try:
        return decoder(Page[into]).decode(body)  # type: ignore[valid-type]
    except msgspec.ValidationError:
        raw = decoder(Page[msgspec.Raw]).decode(body)
    readable: list[T] = []
    for item in raw.items or ():
        try:
            readable.append(decoder(into).decode(item))
        except msgspec.ValidationError as error:
            log.error(
                "an object can't be read", extra={"error": str(error), "object": bytes(item)[:300]}
            )
    return Page(raw.metadata, readable)


def _pause(answer: Answer) -> float | None:
    """How long to wait before asking again; None: the answer stands.

    What is turned away with 429, or with 503 and a time to come back, was not begun.
    """
    if answer.status == 429:
        return answer.retry_after or 1.0
    if answer.status == 503 and answer.retry_after is not None:
        return answer.retry_after or 1.0
    return None


def _target(path: str, query: Query) -> str:
    given = {name: str(value) for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


def _encoded(obj: object) -> bytes:
    return obj if isinstance(obj, bytes) else ENCODER.encode(obj)
