"""What is to be placed, as values: batches of equal pods, and groups with their quorum."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tutti.core.pods import PodClass


@dataclass(frozen=True, slots=True)
class Batch:
    """Pending members of one class, by uid, in the order in which they get their nodes."""

    cls: PodClass
    pods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A group of pods, or a lone pod: a gang of one.

    `counted` members are bound already and count towards the quorum. A group that isn't a gang
    (basic policy) takes as many as fit.
    """

    key: str
    batches: tuple[Batch, ...]
    quorum: int
    counted: int = 0
    gang: bool = True

    @property
    def pending(self) -> int:
        return sum(len(batch.pods) for batch in self.batches)

    @property
    def missing(self) -> int:
        """How many more members the quorum needs; none for a basic group."""
        return max(0, self.quorum - self.counted) if self.gang else 0

    @property
    def lacking(self) -> int:
        """How many more members make it stand: of a basic group that has none, one."""
        return max(0, self.quorum - self.counted)


@dataclass(frozen=True, slots=True)
class Tree:
    """A group of groups, in which `quorum` children have to stand.

    `children` are those of which something waits to be placed, and whose members are all here;
    `counted` is how many others stand already.
    """

    key: str
    children: tuple["Leaf | Tree", ...]
    quorum: int
    counted: int = 0

    @property
    def pending(self) -> int:
        return sum(child.pending for child in self.children)

    @property
    def lacking(self) -> int:
        """How many more children make it stand; those that only have extras stand already."""
        standing = self.counted + sum(not child.lacking for child in self.children)
        return max(0, self.quorum - standing)


Root: TypeAlias = Leaf | Tree


def leaves_of(node: Root) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
    else:
        for child in node.children:
            yield from leaves_of(child)


def nodes_of(node: Root) -> Iterator[Root]:
    yield node
    if isinstance(node, Tree):
        for child in node.children:
            yield from nodes_of(child)


def batches_of(node: Root) -> Iterator[Batch]:
    return (batch for leaf in leaves_of(node) for batch in leaf.batches)


def first(batches: Iterable[Batch], count: int) -> list[Batch]:
    """The first so many pods of the batches."""
    taken = []
    for batch in batches:
        if count > 0:
            taken.append(Batch(batch.cls, batch.pods[:count]))
            count -= len(batch.pods)
    return taken


def all_needed(root: Root) -> list[Leaf] | None:
    """The leaves that lack something, if there is no choice: every one has to get its quorum."""
    if isinstance(root, Leaf):
        choice = len(root.batches) > 1 and root.lacking < root.pending
        return None if choice else [root] if root.lacking else []
    lacking = [child for child in root.children if child.lacking]
    if root.lacking < len(lacking):
        return None
    needed = [all_needed(child) for child in lacking]
    return None if None in needed else [leaf for some in needed if some for leaf in some]
