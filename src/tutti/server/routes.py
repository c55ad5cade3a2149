"""Paths to targets: the only parser of API paths, led by the registry."""

from dataclasses import dataclass, replace

from tutti.api import registry
from tutti.api.registry import Storage, Subresource


@dataclass(frozen=True, slots=True)
class Target:
    """What a request is about: a storage as one version serves it, and perhaps one object of it."""

    storage: Storage
    group: str
    version: str
    namespace: str | None = None
    name: str | None = None
    subresource: str | None = None

    @property
    def group_version(self) -> str:
        """The `apiVersion` of the objects at this path."""
        return registry.api_version(self.group, self.version)

    @property
    def kind(self) -> Subresource:
        """Group, version and kind of the bodies that are sent here."""
        special = None
        if self.subresource is not None:
            special = registry.subresource_kind(self.storage, self.subresource)
        return special or Subresource(self.group, self.version, self.storage.kind)

    def in_namespace(self, namespace: str | None) -> "Target":
        """The same collection within one namespace."""
        return replace(self, namespace=namespace)

    def named(self, name: str) -> "Target":
        """The object of that name in this collection."""
        return replace(self, name=name)


def parse(path: str) -> Target | None:
    """The target that a path names, or None where nothing is served."""
    match path.split("/"):
        case ["", "api", version, *rest]:
            return _within("", version, rest)
        case ["", "apis", group, version, *rest]:
            return _within(group, version, rest)
        case _:
            return None


def _within(group: str, version: str, rest: list[str]) -> Target | None:
    match rest:
        case ["namespaces", namespace, plural, *more] if namespace:
            storage = registry.by_path(group, version, plural)
            if storage is not None:
                return _scoped(storage, group, version, namespace, more)
    match rest:
        case [plural, *more] if plural:
            storage = registry.by_path(group, version, plural)
            return None if storage is None else _scoped(storage, group, version, None, more)
    return None


def _scoped(
    storage: Storage, group: str, version: str, namespace: str | None, rest: list[str]
) -> Target | None:
    """A namespaced object needs its namespace; a cluster-wide one has none."""
    if storage.namespaced != (namespace is not None) and (rest or namespace is not None):
        return None
    match rest:
        case []:
            return Target(storage, group, version, namespace)
        case [name] if name:
            return Target(storage, group, version, namespace, name)
        case [name, subresource] if name and subresource in storage.subresources:
            return Target(storage, group, version, namespace, name, subresource)
        case _:
            return None
