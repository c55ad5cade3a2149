"""What is to be placed, as values: batches of equal pods, and groups with their quorum."""

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


Root: TypeAlias = Leaf
