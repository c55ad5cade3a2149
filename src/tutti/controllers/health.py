"""What a process of ours tells about itself: health for everybody, metrics and the rest by token."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tutti.api.errors import Forbidden, NotFound
from tutti.web.app import App, Request, Response
from tutti.web.health import Health, is_health
from tutti.web.metrics import Metrics
from tutti.web.serve import serve
from tutti.web.tokens import Tokens, User

Debug = Callable[[str], Awaitable[Response | None]]
"""The answer to a path below /debug/, without that; None: there is nothing of that path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Where it is told, and by which token the rest; without a token nobody gets it."""

    bind_address: str
    port: int
    token: str
    listening: Callable[[int], None]


async def tell(door: Door, health: Health, metrics: Metrics, debug: Debug | None = None) -> None:
    """Serve until cancelled."""

    async def handle(request: Request) -> Response:
        if (answer := health.response(request)) is not None:
            return answer
        if request.user is None:
            raise Forbidden("there is no token for this: the kubeconfig has none")
        if request.path == "/metrics":
            return metrics.response()
        if debug is not None and request.path.startswith("/debug/"):
            found = await debug(request.path.removeprefix("/debug/"))
            if found is not None:
                return found
        raise NotFound.path()

    users = {door.token: User("tutti")} if door.token else {}
    await serve(
        App(handle, tokens=Tokens(users), is_open=is_health),
        host=door.bind_address,
        port=door.port,
        tls=None,
        on_listening=door.listening,
        stop=asyncio.Event(),
    )
