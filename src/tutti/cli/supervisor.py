"""Processes that make up one control plane: started, watched, started again, and ended together.

    starting ──says `listening: PORT`, then `ready`──> working ──ends──> back-off ──> starting …

A part that ends before it ever worked is a mistake that no second try mends: `Ended` says so.
One that worked and then ended is named, with its last lines, and started again.
"""

import asyncio
from collections.abc import Callable
from time import monotonic

from tutti.cli.offspring import Child, Ended, how
from tutti.cli.parts import Part

BACK_OFF_S = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)

STEADY_S = 60.0
"""A part that worked for so long starts its back-off from the beginning."""

PATIENCE_S = 10.0
"""How long a part may take to end once it is asked to."""


class Supervisor:
    """Keeps parts running, each as a task of the caller's group; `say` is told what people should know."""

    def __init__(self, group: asyncio.TaskGroup, say: Callable[[str], None]) -> None:
        self._group = group
        self._say = say
        self._children: dict[str, Child] = {}
        self._keepers: list[asyncio.Task[None]] = []

    async def start(self, part: Part, port: int = 0) -> int:
        """The port of the part, once it works for the first time; it is kept running from then on."""
        working: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._keepers.append(self._group.create_task(self._keep(part, port, working)))
        return await working

    async def stop(self) -> None:
        """End all of them, the one that was started last first."""
        for keeper in self._keepers:
            keeper.cancel()
        for child in reversed(self._children.values()):
            await child.stop(PATIENCE_S)

    async def _keep(self, part: Part, port: int, working: asyncio.Future[int]) -> None:
        failures = 0
        while True:
            began = monotonic()
            child = await Child.spawn(
                part.name,
                part.command(port),
                on_line=lambda line: self._pass_on(part, line, working),
            )
            self._children[part.name] = child
            try:
                port = int(await child.line_starting("listening: "))
                if part.says_ready:
                    await child.line_starting("ready")
            except Ended:
                if not working.done():
                    raise
            else:
                if working.done():
                    self._say(f"the {part.name} works again")
                else:
                    working.set_result(port)
            status = await child.wait()
            failures = 0 if monotonic() - began > STEADY_S else failures
            pause = BACK_OFF_S[min(failures, len(BACK_OFF_S) - 1)]
            failures += 1
            self._say(_obituary(child, status, pause))
            await asyncio.sleep(pause)

    def _pass_on(self, part: Part, line: str, working: asyncio.Future[int]) -> None:
        """What a part says once it works; what it said before is told if it never does."""
        if working.done() and line != "ready" and not line.startswith("listening: "):
            self._say(f"[{part.name}] {line}")


def _obituary(child: Child, status: int, pause: float) -> str:
    again = f"it is started again in {pause:.0f} s" if pause else "it is started again"
    said = child.last_words()
    return f"the {child.name} ended ({how(status)}); {again}" + (
        "; it said last:\n  " + said.replace("\n", "\n  ") if said else ""
    )
