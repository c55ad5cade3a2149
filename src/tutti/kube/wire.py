"""The envelopes around objects: pages of a list, lines of a watch, bindings, discovery."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec

from tutti.api.meta import ListMeta

T = TypeVar("T")

ENCODER = msgspec.json.Encoder()


_DECODERS: dict[Any, Any] = {}


def decoder(into: type[T]) -> msgspec.json.Decoder[T]:
    """The one decoder of a type: making one costs more than using it."""
    found = _DECODERS.get(into)
    if found is None:
        found = _DECODERS[into] = msgspec.json.Decoder(into)
    return found


class Page(msgspec.Struct, Generic[T]):
    metadata: ListMeta
    items: list[T] | None = None


class WatchLine(msgspec.Struct, Generic[T]):
    type: str
    object: T


class BindingMeta(msgspec.Struct, omit_defaults=True):
    name: str
    namespace: str
    uid: str
    annotations: Mapping[str, str]


class Target(msgspec.Struct):
    name: str
    kind: str = "Node"
    apiVersion: str = "v1"


class Binding(msgspec.Struct):
    metadata: BindingMeta
    target: Target
    kind: str = "Binding"
    apiVersion: str = "v1"


class GroupVersion(msgspec.Struct):
    version: str


class Group(msgspec.Struct):
    name: str
    versions: list[GroupVersion] = []


class Groups(msgspec.Struct):
    """What `/apis` answers."""

    groups: list[Group] = []


class ResourceEntry(msgspec.Struct):
    name: str
    kind: str = ""
    namespaced: bool = False
    verbs: list[str] = []


class Resources(msgspec.Struct):
    """What `/apis/GROUP/VERSION` answers."""

    resources: list[ResourceEntry] = []
