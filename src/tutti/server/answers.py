"""Stored objects as the client wants to see them: whole, by their metadata alone, or as a table."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from tutti.api.errors import BadRequest, NotAcceptable
from tutti.server import negotiate, printers, stored
from tutti.server.columns import Column, Printer
from tutti.server.negotiate import Wanted
from tutti.server.routes import Target
from tutti.store import Row, objects

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ListMeta:
    """The metadata of a list."""

    revision: int
    continued: str = ""
    remaining: int | None = None

    def json(self) -> bytes:
        """As it stands in the list, without an empty field."""
        found: Object = {"resourceVersion": str(self.revision)}
        if self.continued:
            found["continue"] = self.continued
        if self.remaining:
            found["remainingItemCount"] = self.remaining
        return _encoder.encode(found)


@dataclass(frozen=True, slots=True)
class Shape:
    """How one request wants its objects: made once, then asked for each object."""

    target: Target
    wanted: Wanted
    include: str
    now: Callable[[], datetime]

    @property
    def key(self) -> tuple[str, str, str, str] | None:
        """Equal for requests whose objects look the same; None for tables, where ages tick."""
        if self.wanted.shape == "Table":
            return None
        return self.target.group, self.target.version, self.wanted.shape, self.wanted.version

    def one(self, value: bytes, revision: int) -> bytes:
        """One object."""
        match self.wanted.shape:
            case "":
                return stored.shown(self.target, value, revision)
            case "Table":
                return self._table([(value, revision)], ListMeta(revision), columns=True)
            case "PartialObjectMetadata":
                return self._metadata(value, revision)
            case list_kind:
                raise NotAcceptable(
                    f"you requested {list_kind}, but the requested object is not a list"
                )

    def row(self, value: bytes, revision: int, *, first: bool) -> bytes:
        """One object of a watch; only the first table names its columns."""
        if self.wanted.shape == "Table":
            return self._table([(value, revision)], ListMeta(revision), columns=first)
        return self.one(value, revision)

    def many(self, rows: Sequence[Row], meta: ListMeta) -> bytes:
        """A list."""
        match self.wanted.shape:
            case "":
                kind, version = f"{self.target.storage.kind}List", self.target.group_version
                items = b",".join(
                    stored.shown_in_list(self.target, row.value, row.revision) for row in rows
                )
            case "Table":
                pairs = ((row.value, row.revision) for row in rows)
                return self._table(pairs, meta, columns=True)
            case "PartialObjectMetadata":
                raise NotAcceptable(
                    "you requested PartialObjectMetadata, but the requested object is a list"
                )
            case _:
                kind, version = "PartialObjectMetadataList", f"meta.k8s.io/{self.wanted.version}"
                items = b",".join(self._metadata(row.value, row.revision) for row in rows)
        head = f'{{"kind":"{kind}","apiVersion":"{version}","metadata":'.encode()
        return b'%b%b,"items":[%b]}\n' % (head, meta.json(), items)

    def bookmark(self, revision: int, *, initial_events_end: bool) -> bytes:
        """An object of nothing but a version: so far has the watch seen everything."""
        metadata: Object = {"resourceVersion": str(revision)}
        if initial_events_end:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        if self.wanted.shape == "Table":
            held: Object = {**_partial(self.wanted), "metadata": metadata}
            return _encoder.encode(
                {
                    "kind": "Table",
                    "apiVersion": f"meta.k8s.io/{self.wanted.version}",
                    "metadata": {"resourceVersion": str(revision)},
                    "columnDefinitions": None,
                    "rows": [{"cells": [], "object": held}],
                }
            )
        if self.wanted.shape:
            return _encoder.encode({**_partial(self.wanted), "metadata": metadata})
        kind = {"kind": self.target.storage.kind, "apiVersion": self.target.group_version}
        return _encoder.encode({**kind, "metadata": metadata})

    def _table(self, rows: Iterable[tuple[bytes, int]], meta: ListMeta, *, columns: bool) -> bytes:
        printer = printers.of(self.target.storage.key)
        table = {
            "kind": "Table",
            "apiVersion": f"meta.k8s.io/{self.wanted.version}",
            "metadata": msgspec.Raw(meta.json()),
            "columnDefinitions": [_column(one) for one in printer.columns] if columns else None,
            "rows": [self._table_row(printer, value, revision) for value, revision in rows],
        }
        return _encoder.encode(table) + b"\n"

    def _table_row(self, printer: Printer, value: bytes, revision: int) -> Object:
        row: Object = {"cells": printer.cells(_decoder.decode(value), self.now())}
        match self.include:
            case "None":
                row["object"] = None
            case "Object":
                row["object"] = msgspec.Raw(stored.shown(self.target, value, revision))
            case _:
                row["object"] = msgspec.Raw(self._metadata(value, revision))
        return row

    def _metadata(self, value: bytes, revision: int) -> bytes:
        kept = b'{"metadata":%b}' % bytes(_metadata.decode(value).metadata)
        opening = (
            f'{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/{self.wanted.version}",'
            '"metadata":{'
        )
        return objects.with_version(kept, revision, opening.encode())


class _MetadataOnly(msgspec.Struct):
    metadata: msgspec.Raw


def _partial(wanted: Wanted) -> Object:
    return {"kind": "PartialObjectMetadata", "apiVersion": f"meta.k8s.io/{wanted.version}"}


def _column(column: Column) -> Object:
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": "",
        "priority": column.priority,
    }


def shape(target: Target, accept: str, include: str, now: Callable[[], datetime]) -> Shape:
    """The shape that a request asks for."""
    wanted = negotiate.answer(accept)
    if wanted.shape == "Table" and include not in ("", "Metadata", "Object", "None"):
        raise BadRequest(
            f'Unable to convert to Table as requested: includeObject: Invalid value: "{include}": '
            "must be 'Metadata', 'Object', 'None', or empty"
        )
    return Shape(target, wanted, include, now)


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()
_metadata = msgspec.json.Decoder(_MetadataOnly)
