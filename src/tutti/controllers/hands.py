"""Every action of the engine, and who carries it out."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from tutti.controllers.binder import Binder
from tutti.controllers.cluster import Cluster
from tutti.controllers.conditions import GROUPS, PODS, Conditions
from tutti.controllers.events import Events
from tutti.controllers.intents import Intents
from tutti.controllers.lane import Lane
from tutti.controllers.leases import Leases
from tutti.controllers.metrics import SchedulerMetrics
from tutti.engine.messages import (
    Action,
    Bind,
    BindRefused,
    BindUnknown,
    Bound,
    CompositeGone,
    Event,
    GroupGone,
    Note,
    PodGone,
    ReadPod,
    SetGroupCondition,
    SetPodCondition,
    UndoBind,
    WriteIntent,
)
from tutti.kube.client import Client

BINDINGS: Final = 128
"""On their way at once: an API server syncs its disk less often for many than for few."""
OTHERS: Final = 8
"""Looks at pods, and undone bindings: of each so many at once."""
CONNECTIONS: Final = BINDINGS + 2 * OTHERS + GROUPS + PODS + 4
"""Enough for all at once, made when they are needed: no lane waits for another's connections."""


class Hands:
    """Bindings go first; conditions run beside them; events wait until no binding does."""

    def __init__(
        self,
        client: Client,
        cluster: Cluster,
        leases: Leases,
        tasks: asyncio.TaskGroup,
        answer: Callable[[Event], None],
        *,
        reporter: str,
        identity: str,
        metrics: SchedulerMetrics,
    ) -> None:
        conditions = Conditions(client, tasks, seen=cluster.conditions, allowed=leases.held)
        binder = Binder(client, conditions, answer, allowed=leases.held, within=leases.within)
        intents = Intents(leases, answer)
        self._binder = binder
        self._bindings = bindings = Lane(tasks, BINDINGS, self._bind)
        events = Events(
            client,
            lambda ref: cluster.scheduler_of(ref) or reporter,
            identity,
            group_of=cluster.group_of,
            after=bindings.empty,
            count=metrics.events.inc,
        )
        self._does: dict[type[Action], Callable[[Any], None]] = {
            WriteIntent: intents.write,
            Bind: bindings.put,
            ReadPod: Lane(tasks, OTHERS, binder.read).put,
            UndoBind: Lane(tasks, OTHERS, binder.undo).put,
            SetPodCondition: conditions.set_on_pod,
            SetGroupCondition: conditions.set_on_group,
            Note: events.note,
        }
        self.listens: Mapping[type[Event], Callable[[Any], None]] = {
            **dict.fromkeys(
                (PodGone, GroupGone, CompositeGone), lambda gone: conditions.forget(gone.ref.uid)
            ),
            **dict.fromkeys((Bound, BindRefused, BindUnknown), metrics.answered),
        }
        """Who else wants to hear of some kinds of events."""
        tasks.create_task(intents.run())
        tasks.create_task(events.run())

    def carry_out(self, action: Action) -> None:
        """Begin it; the answer, where it has one, comes as an event."""
        self._does[type(action)](action)

    async def _bind(self, action: Bind) -> None:
        """Fewer at once while a server is too busy to answer: asking more makes that worse."""
        if isinstance(await self._binder.bind(action), BindUnknown):
            self._bindings.narrow()
        else:
            self._bindings.widen()

    async def finish(self, within: float) -> None:
        """Wait until the bindings that have set out are answered, or the time is up."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._bindings.idle.wait()
