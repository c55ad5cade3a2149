"""Request bodies at the door: JSON or protobuf in, a checked object out.

Fields that the schema doesn't know are pruned; whether that is refused, warned of or passed over in
silence is up to `fieldValidation`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tutti.api import protobuf, schema
from tutti.api.errors import BadRequest, UnsupportedMediaType
from tutti.api.registry import Subresource
from tutti.api.schema import Schema, Unusable
from tutti.server import negotiate

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Body:
    """An object as it came, and what the client should be told about it."""

    found: Object
    warnings: Sequence[str] = ()


def read(content: bytes, content_type: str, kind: Subresource, validation: str) -> Body:
    """The object in a request body, of this kind and no other."""
    known = schema.load(kind.group, kind.version, kind.kind)
    match negotiate.content_type(content_type):
        case negotiate.JSON:
            found, complaints = known.read(content)
        case negotiate.PROTOBUF:
            found, complaints = protobuf.read(known, content)
        case _:
            raise _unknown_format()
    if validation == "Strict" and complaints:
        raise known.strict_error(complaints)
    return Body(found, () if validation == "Ignore" else complaints)


def delete_options(content: bytes, content_type: str) -> Object | None:
    """The DeleteOptions in a body, if there is one. Any group's version of them will do."""
    if not content:
        return None
    known = schema.load("meta.k8s.io", "v1", "DeleteOptions")
    found = _decoded(content, content_type, known)
    version, kind = found.pop("apiVersion", ""), found.pop("kind", "")
    if kind not in ("", known.kind):
        raise BadRequest(
            f'no kind "{kind}" is registered for version "{version}" '
            'in scheme "pkg/runtime/scheme.go:111"'
        )
    try:
        known.mend(found)
    except Unusable as error:
        raise BadRequest(str(error)) from error
    return found


def _decoded(content: bytes, content_type: str, known: Schema) -> Object:
    match negotiate.content_type(content_type):
        case negotiate.JSON:
            return known.decode(content)[0]
        case negotiate.PROTOBUF:
            try:
                return protobuf.decode(known, content)
            except protobuf.Malformed as error:
                raise BadRequest(str(error)) from error
        case _:
            raise _unknown_format()


def _unknown_format() -> UnsupportedMediaType:
    return UnsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: "
        f"{negotiate.JSON}, {negotiate.PROTOBUF}"
    )
