"""The Leases of a scheduler, one for each name that it goes by, held together or not at all."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Final, Never

import msgspec

from tutti.api.registry import LEASES
from tutti.engine.messages import OwnerRef, Unit
from tutti.kube.client import Client
from tutti.kube.config import Config
from tutti.kube.lease import Elector, LeaseLost

log = logging.getLogger(__name__)

UNITS: Final = "tutti.dev/units"
"""The annotation on the Lease that says which commits may be half done."""
RELEASE_WITHIN: Final = 0.8


class Leases:
    """`held` is to be asked just before something is sent, `within` is how long that may take."""

    def __init__(
        self, config: Config, names: Sequence[str], identity: str, duration: float
    ) -> None:
        self._client = Client(config, connections=len(names) + 1, agent="tutti-scheduler")
        self._electors = [
            Elector(self._client, f"tutti-{name}", identity, duration=duration)
            for name in sorted(names)  # all candidates in one order, so that no two wait in a ring
        ]

    @property
    def within(self) -> float:
        return self._electors[0].request_limit

    def held(self) -> bool:
        return all(elector.held for elector in self._electors)

    async def acquire(self) -> tuple[Unit, ...]:
        """Wait until all are held; the units that their last holders left."""
        found: dict[str, Unit] = {}
        while not self.held():
            for elector in self._electors:
                if not elector.held:
                    left = _units(await elector.acquire())
                    found.update((unit.commit, unit) for unit in left)
        return tuple(found.values())

    async def keep(self) -> Never:
        """Renew until `LeaseLost`."""
        await asyncio.gather(*(elector.keep() for elector in self._electors))
        raise LeaseLost("nothing is renewed any more")

    @property
    def subject(self) -> OwnerRef:
        """What events about the scheduler itself are about: the first of its Leases."""
        return OwnerRef(LEASES.api_version, LEASES.kind, *self._electors[0].place)

    async def write(self, units: Sequence[Unit]) -> None:
        """Let this list stand on every Lease, or `LeaseLost`."""
        text = msgspec.json.encode(units).decode() if units else None
        for elector in self._electors:
            await elector.annotate(UNITS, text)

    async def release(self) -> None:
        try:
            async with asyncio.timeout(RELEASE_WITHIN):
                for elector in self._electors:
                    await elector.release()
        except TimeoutError:
            log.warning("the Lease runs out by itself: the server doesn't answer")
        finally:
            await self._client.close()


def _units(annotations: Mapping[str, str]) -> tuple[Unit, ...]:
    text = annotations.get(UNITS)
    if not text:
        return ()
    try:
        return msgspec.json.decode(text, type=tuple[Unit, ...])
    except msgspec.MsgspecError as error:
        log.error("the units on the Lease can't be read", extra={"why": str(error)})
        return ()
