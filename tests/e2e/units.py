"""What is whole or not there at all: gangs, and trees of gangs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.e2e.scenario import Composite, Group, Manifest
from tutti.api import registry


@dataclass(frozen=True)
class Unit:
    """A gang of `size` members that needs them all, or a group that needs all its children."""

    name: str
    size: int = 0
    children: tuple[Unit, ...] = ()

    @property
    def total(self) -> int:
        return sum(leaf.size for leaf in self.leaves())

    def leaves(self) -> Iterator[Unit]:
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def groups(self) -> Iterator[tuple[registry.Storage, str]]:
        """Which objects it is made of, its pods left out."""
        kind = registry.COMPOSITE_POD_GROUPS if self.children else registry.POD_GROUPS
        yield kind, self.name
        for child in self.children:
            yield from child.groups()

    def manifests(self, parent: str | None = None) -> Iterator[tuple[registry.Storage, Manifest]]:
        if self.children:
            needed = len(self.children)
            group = Composite(name=self.name, min_group_count=needed, parent=parent)
            yield registry.COMPOSITE_POD_GROUPS, group.manifest()
        else:
            gang = Group(name=self.name, min_count=self.size, parent=parent)
            yield registry.POD_GROUPS, gang.manifest()
        for child in self.children:
            yield from child.manifests(self.name)

    def stands(self, bound: Mapping[str, int]) -> bool:
        """Whether its quorum is bound, given how many members each gang has on nodes."""
        if self.children:
            return all(child.stands(bound) for child in self.children)
        return bound.get(self.name, 0) >= self.size


def gang(name: str) -> Unit:
    return Unit(name, size=48)


def tree(name: str) -> Unit:
    """Two levels: one group over three gangs."""
    return Unit(name, children=tuple(Unit(f"{name}-{child}", size=16) for child in "abc"))


def tower(name: str) -> Unit:
    """Three levels: a group over two groups of two gangs each."""
    return Unit(
        name,
        children=tuple(
            Unit(branch, children=tuple(Unit(f"{branch}-{leaf}", size=12) for leaf in "xy"))
            for branch in (f"{name}-a", f"{name}-b")
        ),
    )
