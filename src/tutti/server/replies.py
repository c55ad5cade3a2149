"""Rows as HTTP answers: shape by the Accept header, warnings as headers."""

from collections.abc import Sequence

from tutti.server import answers
from tutti.server.answers import Shape
from tutti.server.context import Context
from tutti.server.routes import Target
from tutti.store import Row
from tutti.web.app import JSON, Request, Response


def shape(context: Context, request: Request, target: Target) -> Shape:
    """How this request wants its objects."""
    accept = (request.header(b"accept") or b"").decode("latin-1")
    include = next((value for name, value in request.query if name == "includeObject"), "")
    return answers.shape(target, accept, include, context.now)


def content_type(request: Request) -> str:
    """What the body is said to be."""
    return (request.header(b"content-type") or b"").decode("latin-1")


def one(shape: Shape, row: Row, *, status: int = 200, warnings: Sequence[str] = ()) -> Response:
    """One object. A dry run of a create has no version to show."""
    body = shape.one(row.value, row.revision)
    if not warnings:
        return Response(status, body)
    headers = [(b"warning", _warning(text)) for text in warnings]
    return Response(status, body, [JSON, *headers])


def _warning(text: str) -> bytes:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'299 - "{quoted}"'.encode("latin-1", "replace")
