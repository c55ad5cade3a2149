"""Intents, written onto the Lease one at a time; the newest list stands for those before it."""

import asyncio
from collections.abc import Callable
from typing import Never

from tutti.api.errors import ApiError
from tutti.controllers.leases import Leases
from tutti.engine.messages import Event, IntentRefused, IntentWritten, WriteIntent


class Intents:
    def __init__(self, leases: Leases, answer: Callable[[Event], None]) -> None:
        self._leases = leases
        self._answer = answer
        self._newest: WriteIntent | None = None
        self._some = asyncio.Event()

    def write(self, intent: WriteIntent) -> None:
        self._newest = intent
        self._some.set()

    async def run(self) -> Never:
        """Ends only by `LeaseLost`, with which the engine that waits for an answer ends too."""
        while True:
            await self._some.wait()
            self._some.clear()
            intent, self._newest = self._newest, None
            if intent is not None:
                await self._write(intent)

    async def _write(self, intent: WriteIntent) -> None:
        try:
            await self._leases.write(intent.units)
        except ApiError as refusal:
            self._answer(IntentRefused(intent.number, refusal.message))
        else:
            self._answer(IntentWritten(intent.number))
