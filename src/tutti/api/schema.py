"""Bodies at the door: decoded, held against the complete schema of their kind, made as a server shows them.

    schema = load("scheduling.k8s.io", "v1beta1", "PodGroup")
    obj, complaints = schema.read(body)

`complaints` are what `fieldValidation` is about: `unknown field "spec.x"`, `duplicate field "spec.y"`.
What is wrong beyond that is a BadRequest with the text of a real API server.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from tutti.api import checking, jsontext, openapi, registry, shapes
from tutti.api.errors import BadRequest
from tutti.api.shapes import Field, Message

META_GROUP: Final = "meta.k8s.io"
_CORE: Final = "core"
_PREVIEW: Final = 30


class Unusable(ValueError):
    """A value has the wrong type or cannot be read; the sentence names the field."""


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """The complete schema of one kind in one group and version."""

    group: str
    version: str
    kind: str
    message: Message

    @property
    def fields(self) -> dict[str, Field]:
        return self.message.fields

    @property
    def api_version(self) -> str:
        return registry.api_version(self.group, self.version)

    def read(self, body: bytes) -> tuple[dict[str, Any], list[str]]:
        """The object in a JSON body, checked and mended, and the complaints about it."""
        obj, repeated = self.decode(body)
        return obj, [*repeated, *self.check(obj)]

    def decode(self, body: bytes) -> tuple[dict[str, Any], list[str]]:
        """The object in a JSON body and its duplicate fields; nothing else is looked at."""
        try:
            obj = jsontext.decode(body)
        except jsontext.Malformed as error:
            raise self._unreadable(f"{error}", body) from None
        if obj.__class__ is not dict:
            kind = "array" if isinstance(obj, list) else checking.word(obj)
            raise self._unreadable(
                f"json: cannot unmarshal {kind} into Go value of type {_META}", body
            )
        for name in ("kind", "apiVersion"):
            if not isinstance(obj.get(name), str | None):
                kind = checking.word(obj[name])
                why = f"json: cannot unmarshal {kind} into Go struct field .{name} of type string"
                raise self._unreadable(why, body)
        return obj, [f'duplicate field "{path}"' for path in jsontext.duplicates(body, obj)]

    def check(self, obj: dict[str, Any]) -> list[str]:
        """Mends the object in place: unknown fields go (and are named), values get their one form."""
        self._expect(obj)
        try:
            return self.mend(obj)
        except Unusable as error:
            raise self._unusable(str(error)) from None

    def mend(self, obj: dict[str, Any]) -> list[str]:
        """`check` for an object that is no body: raises Unusable, whatever kind it says it is."""
        unknown: list[str] = []
        try:
            checking.checker(self.message)(obj, None, unknown)
        except checking.Mismatch as mismatch:
            raise Unusable(mismatch.sentence) from None
        except checking.Unreadable as error:
            raise Unusable(str(error)) from None
        return [f'unknown field "{path}"' for path in unknown]

    def strict_error(self, complaints: list[str]) -> BadRequest:
        """What `fieldValidation=Strict` answers to complaints."""
        return self._unusable(f"strict decoding error: {', '.join(complaints)}")

    def unrecognised(self, why: str, body: bytes) -> BadRequest:
        """What a body gets of which not even the kind could be read."""
        return BadRequest(
            f"the object provided is unrecognized (must be of type {self.kind}): "
            f"{why} ({_preview(body)})"
        )

    def _expect(self, obj: dict[str, Any]) -> None:
        """Refuses a body of another kind or version; one that names none is taken as ours."""
        if not self.message.is_object or self.group == META_GROUP:
            return  # options are registered in every version of every group
        kind = obj.get("kind") or self.kind
        api_version = obj.get("apiVersion") or self.api_version
        if kind == self.kind and api_version == self.api_version:
            return
        if not isinstance(kind, str) or not isinstance(api_version, str):
            return
        group, _, version = api_version.rpartition("/")
        head = f'{kind} in version "{version}" cannot be handled as a {self.kind}: '
        known = registry.by_kind(group, kind)
        if known is None or (group, version) not in known.served:
            raise BadRequest(
                f'{head}no kind "{kind}" is registered for version "{api_version}" '
                'in scheme "pkg/runtime/scheme.go:111"'
            )
        if kind == self.kind:
            raise BadRequest(
                f"the API version in the data ({api_version}) does not match "
                f"the expected API version ({self.api_version})"
            )
        inner = self.group.partition(".")[0] or _CORE
        raise BadRequest(
            f"{head}converting ({version}.{kind}) to ({inner}.{self.kind}): unknown conversion"
        )

    def _unusable(self, why: str) -> BadRequest:
        return BadRequest(
            f'{self.kind} in version "{self.version}" cannot be handled as a {self.kind}: {why}'
        )

    def _unreadable(self, why: str, body: bytes) -> BadRequest:
        return self.unrecognised(f"couldn't get version/kind; json parse error: {why}", body)


_META: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)


@cache
def load(group: str, version: str, kind: str) -> Schema:
    """The schema of a kind; those of `meta.k8s.io/v1` are found under that group."""
    return Schema(group, version, kind, shapes.message(package(group, version), kind))


def openapi_v3(group: str, version: str, storages: Iterable[registry.Storage]) -> dict[str, Any]:
    """The OpenAPI v3 document of a group and version that serves these storages."""
    return openapi.document(group, version, storages)


def package(group: str, version: str) -> str:
    """The name under which a group-version's types are in the schemas: `core/v1`."""
    return f"{group.partition('.')[0] or _CORE}/{version}"


def _preview(body: bytes) -> str:
    """The beginning of a body that could not be read."""
    if not body:
        return "<empty>"
    rest = " ..." if len(body) > _PREVIEW else ""
    if body.lstrip().startswith(b"{"):
        return body[:_PREVIEW].decode(errors="replace") + rest
    return body[:_PREVIEW].hex() + rest
