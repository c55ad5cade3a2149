"""What a client wants to read (Accept): plain objects, their metadata alone, or a table.

Answers are JSON. A client that offers protobuf first and JSON second gets JSON; one that takes nothing
that we can write gets 406.
"""

from dataclasses import dataclass
from functools import lru_cache

from tutti.api.errors import NotAcceptable

JSON = "application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"

_META = "meta.k8s.io"
_AS_OBJECTS = frozenset({"Table", "PartialObjectMetadata", "PartialObjectMetadataList"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """The shape of the answer: "" is the object itself; `version` is that of `meta.k8s.io`."""

    shape: str = ""
    version: str = "v1"
    pretty: bool = False


@lru_cache(maxsize=256)
def answer(accept: str) -> Wanted:
    """The first clause, by weight and then by order, that we can serve."""
    if not accept:
        return Wanted()
    for media_type, parameters in _clauses(accept):
        wanted = _served(media_type, parameters)
        if wanted is not None:
            return wanted
    raise NotAcceptable("only the following media types are accepted: application/json")


@lru_cache(maxsize=64)
def discovery(accept: str) -> str | None:
    """The version of aggregated discovery that the client asks for, or None for the plain lists."""
    for media_type, parameters in _clauses(accept):
        if media_type not in (JSON, "application/*", "*/*"):
            continue
        if parameters.get("as") == "APIGroupDiscoveryList":
            if parameters.get("g") == "apidiscovery.k8s.io" and parameters.get("v") == "v2":
                return "v2"
            continue
        return None
    return None


def content_type(header: str) -> str:
    """The media type of a body; Kubernetes takes none as JSON."""
    return header.partition(";")[0].strip().lower() or JSON


def _served(media_type: str, parameters: dict[str, str]) -> Wanted | None:
    if media_type not in (JSON, "application/*", "*/*"):
        return None
    if parameters.get("stream", "watch") not in ("", "watch"):
        return None
    pretty = parameters.get("pretty") == "1"
    shape = parameters.get("as", "")
    if not shape:
        return Wanted(pretty=pretty)
    version = parameters.get("v", "")
    if shape in _AS_OBJECTS and parameters.get("g") == _META and version in ("v1", "v1beta1"):
        return Wanted(shape, version, pretty)
    return None


def _clauses(accept: str) -> list[tuple[str, dict[str, str]]]:
    """The clauses of an Accept header, heaviest first."""
    weighed = []
    for clause in accept.split(","):
        media_type, *rest = (part.strip() for part in clause.split(";"))
        pairs = (part.partition("=") for part in rest)
        parameters = {key.strip(): value.strip().strip('"') for key, _, value in pairs}
        weighed.append((_weight(parameters.pop("q", "1")), media_type.lower(), parameters))
    weighed.sort(key=lambda one: -one[0])
    return [(media_type, parameters) for _, media_type, parameters in weighed]


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0
