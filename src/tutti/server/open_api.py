"""/openapi/v3: an index of documents, one for each group and version, each made when first asked for."""

import hashlib
from collections.abc import Callable, Iterable, Sequence

import msgspec

from tutti.api import schema
from tutti.api.registry import Storage
from tutti.web.app import Response

Place = tuple[str, str]
"""A group and a version."""


class OpenApi:
    """The documents of what is served."""

    def __init__(
        self, places: Iterable[Place], storages_in: Callable[[str, str], Sequence[Storage]]
    ) -> None:
        self._places = tuple(places)
        self._storages_in = storages_in
        self._documents: dict[Place, bytes] = {}

    def answer(self, path: Sequence[str]) -> Response | None:
        """The answer to what follows /openapi; None where there is nothing."""
        match path:
            case ["v3"]:
                return Response(200, self._index())
            case ["v3", "api", version]:
                place = "", version
            case ["v3", "apis", group, version]:
                place = group, version
            case _:
                return None
        return Response(200, self._document(place)) if place in self._places else None

    def _index(self) -> bytes:
        """Where each document is; the mark changes with its content, so that clients may keep it."""
        paths = {}
        for place in self._places:
            group, version = place
            name = f"apis/{group}/{version}" if group else f"api/{version}"
            mark = hashlib.sha256(self._document(place)).hexdigest().upper()
            paths[name] = {"serverRelativeURL": f"/openapi/v3/{name}?hash={mark}"}
        return msgspec.json.encode({"paths": paths})

    def _document(self, place: Place) -> bytes:
        if place not in self._documents:
            made = schema.openapi_v3(*place, self._storages_in(*place))
            self._documents[place] = msgspec.json.encode(made)
        return self._documents[place]
