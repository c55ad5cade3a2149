"""Rows as HTTP answers: shape by the Accept header, warnings as headers."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tutti.server import answers
from tutti.server.answers import Shape
from tutti.server.context import Context
from tutti.server.routes import Target
from tutti.store import Row
from tutti.web.app import JSON, Request, Response

Object = dict[str, Any]


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


def success(status: int, details: Object | None = None) -> Response:
    """A Status that says that all is well."""
    said: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    if details is not None:
        said["details"] = {field: value for field, value in details.items() if value}
    else:
        said["code"] = status
    return Response(status, msgspec.json.encode(said))


def _warning(text: str) -> bytes:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'299 - "{quoted}"'.encode("latin-1", "replace")
