"""A server that keeps one Lease, whatever it is called."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from tests.kube.peer import Papers, Peer, Request, Wire, serving


class Board:
    """Under optimistic locking; it fails as it is told."""

    def __init__(self) -> None:
        self.lease: dict[str, Any] | None = None
        self.version = 0
        self.failures: list[str] = []
        self.writes = 0
        self.written = asyncio.Event()

    async def __call__(self, request: Request, wire: Wire) -> None:
        failure = self.failures.pop(0) if self.failures and request.method == "PATCH" else ""
        if failure == "silent":
            await asyncio.Event().wait()
        if failure == "500":
            wire.answer(500, {"kind": "Status", "code": 500, "message": "no"})
            return
        if request.method == "POST":
            self.lease = self._kept(msgspec.json.decode(request.body))
            wire.answer(201, self.lease)
        elif self.lease is None:
            wire.answer(404, {"kind": "Status", "code": 404, "reason": "NotFound"})
        elif request.method == "GET":
            wire.answer(200, self.lease)
        elif failure == "unheard":  # done, and nobody hears of it
            self._merge(msgspec.json.decode(request.body))
            wire.cut()
        elif failure == "slow":  # done, and nobody hears of it yet
            self._merge(msgspec.json.decode(request.body))
            await asyncio.Event().wait()
        elif not self._merge(msgspec.json.decode(request.body)):
            wire.answer(409, {"kind": "Status", "code": 409, "reason": "Conflict"})
        elif len(str(self.lease["metadata"].get("annotations", ""))) > 1000:
            wire.answer(422, {"kind": "Status", "code": 422, "reason": "Invalid"})
        else:
            wire.answer(200, self.lease)

    @property
    def spec(self) -> dict[str, Any]:
        assert self.lease is not None
        return self.lease["spec"]

    @property
    def annotations(self) -> dict[str, str]:
        assert self.lease is not None
        return self.lease["metadata"].get("annotations", {})

    def write(self, **spec: Any) -> None:
        """As somebody else would."""
        assert self.lease is not None
        self.lease = self._kept({**self.lease, "spec": {**self.spec, **spec}})

    def _merge(self, patch: dict[str, Any]) -> bool:
        assert self.lease is not None
        meta = patch["metadata"]
        if meta["resourceVersion"] != self.lease["metadata"]["resourceVersion"]:
            return False
        annotations = {**self.annotations, **meta.get("annotations", {})}
        self.lease["metadata"]["annotations"] = {k: v for k, v in annotations.items() if v}
        self.lease = self._kept({**self.lease, "spec": {**self.spec, **patch["spec"]}})
        return True

    def _kept(self, lease: dict[str, Any]) -> dict[str, Any]:
        self.version += 1
        self.writes += 1
        self.written.set()
        lease["metadata"]["resourceVersion"] = str(self.version)
        return lease


@asynccontextmanager
async def board(papers: Papers) -> AsyncIterator[tuple[Board, Peer]]:
    kept = Board()
    async with serving(papers, kept) as peer:
        yield kept, peer
