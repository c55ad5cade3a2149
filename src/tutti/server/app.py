"""Requests to verbs: who asks, what the path names, which verb the method means."""

from collections.abc import Awaitable, Callable

import msgspec

from tutti.api import registry
from tutti.api.errors import ApiError, MethodNotAllowed, NotFound
from tutti.server import (
    authorize,
    changing,
    creating,
    deadline,
    deleting,
    options,
    reading,
    routes,
    selecting,
    subresources,
    watching,
)
from tutti.server.context import Context
from tutti.server.discovery import Discovery
from tutti.server.options import Listing
from tutti.server.routes import Target
from tutti.server.selecting import Selection
from tutti.web.app import TEXT, Request, Response, Stream
from tutti.web.health import Health, is_health
from tutti.web.metrics import Metrics

Verb = Callable[[Context, Request, Target], Awaitable[Response | Stream]]

_BROWSERS = (b"curl/", b"Wget/", b"Mozilla/5.0")

_OF_OBJECT: dict[str, tuple[str, Verb]] = {
    "GET": ("get", reading.get),
    "PUT": ("update", changing.update),
    "PATCH": ("patch", changing.patched),
    "DELETE": ("delete", deleting.delete),
}
_OF_SUBRESOURCE: dict[tuple[str, str], tuple[str, Verb]] = {
    ("POST", "binding"): ("create", subresources.bind),
    ("POST", "eviction"): ("create", subresources.evict),
    ("GET", "status"): ("get", reading.get),
    ("PUT", "status"): ("update", changing.update),
    ("PATCH", "status"): ("patch", changing.patched),
    ("PUT", "finalize"): ("update", changing.update),
}


class Server:
    """The function from a request to its answer."""

    def __init__(
        self, context: Context, discovery: Discovery, health: Health, metrics: Metrics
    ) -> None:
        self._context = context
        self._discovery = discovery
        self._health = health
        self._metrics = metrics
        self._requests = metrics.counter(
            "apiserver_request_total",
            "Requests for objects, by method, resource and status code.",
            ("method", "resource", "code"),
        )

    async def handle(self, request: Request) -> Response | Stream:
        """One request."""
        target = routes.parse(request.path)
        if target is None or not self._context.gates.serve(target.storage.key):
            return self._elsewhere(request)
        answer = await self._counted(request, target)
        return _pretty(answer) if _wants_pretty(request) else answer

    async def _counted(self, request: Request, target: Target) -> Response | Stream:
        """The answer, and a mark in the metrics for it."""
        code = 500
        try:
            seconds = deadline.asked(request.query) if request.query else None
            if seconds is None:
                answer = await self._answer(request, target)
            else:
                answer = await deadline.within(seconds, self._answer(request, target))
            code = answer.status
        except ApiError as error:
            code = error.code
            raise
        finally:
            self._requests.inc(request.method, target.storage.key, str(code))
        return answer

    async def _answer(self, request: Request, target: Target) -> Response | Stream:
        if target.name is None:
            return await self._of_collection(request, target)
        if target.subresource is None:
            found = _OF_OBJECT.get(request.method)
        else:
            found = _OF_SUBRESOURCE.get((request.method, target.subresource))
        if found is None:
            raise MethodNotAllowed.path()
        name, verb = found
        authorize.check(request.user, name, target)
        return await verb(self._context, request, target)

    async def _of_collection(self, request: Request, target: Target) -> Response | Stream:
        everywhere = target.storage.namespaced and target.namespace is None
        match request.method:
            case "GET":
                asked, selection = _asked(request, target)
                read = watching.watch if asked.watch else reading.listed
                authorize.check(request.user, "watch" if asked.watch else "list", target)
                return await read(self._context, request, target, asked, selection)
            case "POST" if not everywhere:
                authorize.check(request.user, "create", target)
                return await creating.create(self._context, request, target)
            case "DELETE" if not everywhere and "deletecollection" in target.storage.verbs:
                authorize.check(request.user, "deletecollection", target)
                asked, selection = _asked(request, target)
                return await deleting.delete_collection(
                    self._context, request, target, asked, selection
                )
            case _:
                raise MethodNotAllowed.path()

    def _elsewhere(self, request: Request) -> Response | Stream:
        """Paths that are no resources."""
        if request.path == "/metrics":
            return self._metrics.response()
        found = self._health.response(request) or self._discovery.answer(request)
        if found is not None:
            return _pretty(found) if _wants_pretty(request) else found
        if _is_resource_path(request.path):
            raise NotFound.path()
        return Response(404, b"404 page not found\n", (TEXT,))


def is_open(path: str) -> bool:
    """What anybody may see."""
    return is_health(path) or path == "/version"


def _asked(request: Request, target: Target) -> tuple[Listing, Selection]:
    asked = options.listing(request.query)
    return asked, selecting.of(target, asked)


def _is_resource_path(path: str) -> bool:
    """Whether the path is within a group that is served, though nothing is there."""
    match path.split("/"):
        case ["", "api", _, *_]:
            return True
        case ["", "apis", group, _, *_]:
            return any(group == its for one in registry.STORAGES for its, _ in one.served)
        case _:
            return False


def _wants_pretty(request: Request) -> bool:
    """Asked for, or read by a person in all likelihood."""
    for name, value in request.query:
        if name == "pretty" and value:
            return value.lower() in ("1", "t", "true")
    return (request.header(b"user-agent") or b"").startswith(_BROWSERS)


def _pretty(answer: Response | Stream) -> Response | Stream:
    if isinstance(answer, Stream) or answer.headers[0][1] != b"application/json":
        return answer
    return Response(answer.status, msgspec.json.format(answer.body) + b"\n", answer.headers)
