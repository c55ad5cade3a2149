"""What a server serves."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One resource in one version; `plural` of a subresource is as `podgroups/status`."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...]


class Discovery:
    def __init__(self, resources: Iterable[Resource]) -> None:
        self.resources = tuple(resources)
        self._versions: dict[tuple[str, str], tuple[str, ...]] = {}
        for found in self.resources:
            key = (found.group, found.plural)
            self._versions[key] = (*self._versions.get(key, ()), found.version)

    def served(self, group: str, plural: str) -> tuple[str, ...]:
        """The versions in which a resource is served, the server's favourite first."""
        return self._versions.get((group, plural), ())
