"""Objects on their way into the store and out of it again, as bytes wherever that will do.

A stored value has neither `kind` and `apiVersion` nor a resource version: the first two depend on the
path it is read by, the last is the number of the write. All three are spliced in front of it.
"""

from functools import lru_cache
from typing import Any

import msgspec

from tutti.api import versions
from tutti.server.routes import Target
from tutti.store import objects

Object = dict[str, Any]

_ELSEWHERE = frozenset({"kind", "apiVersion", "metadata"})

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()


def value(new: Object) -> bytes:
    """The bytes to store of an object in its stored form."""
    metadata = {"name": new["metadata"]["name"], **new["metadata"]}
    metadata.pop("resourceVersion", None)
    return _encoder.encode(_kept({**new, "metadata": metadata}))


def form(target: Target, new: Object) -> Object:
    """An object that came in by this path, in the form in which it is stored and held to the rules."""
    return versions.to_stored(target.storage, target.group, target.version, new)


def shown(target: Target, value: bytes, revision: int) -> bytes:
    """The JSON of a stored object, as this path shows it; what was never written has no version."""
    value = _versioned(target, value)
    if not revision:
        return opening(target) + value[len(objects.OPENING) :]
    return objects.with_version(value, revision, opening(target))


def shown_in_list(target: Target, value: bytes, revision: int) -> bytes:
    """As `shown`, without kind and version: the list says them for all."""
    return objects.with_version(_versioned(target, value), revision)


def read(value: bytes, revision: int) -> Object:
    """A stored object, to be looked into or changed; also with its resource version."""
    found: Object = _decoder.decode(value)
    found["metadata"]["resourceVersion"] = str(revision)
    return found


def opening(target: Target) -> bytes:
    """How the JSON of an object begins at this path."""
    return _opening(target.storage.kind, target.group_version)


def _kept(found: Object) -> Object:
    """What is stored: metadata first, and neither kind nor version."""
    rest = {name: value for name, value in found.items() if name not in _ELSEWHERE}
    return {"metadata": found["metadata"], **rest}


@lru_cache(maxsize=64)
def _opening(kind: str, group_version: str) -> bytes:
    return f'{{"kind":"{kind}","apiVersion":"{group_version}","metadata":{{'.encode()


def _versioned(target: Target, value: bytes) -> bytes:
    if target.group == target.storage.group:
        return value
    found = _decoder.decode(value)
    shown = versions.from_stored(target.storage, target.group, target.version, found)
    return _encoder.encode(_kept(shown))
