"""What a pod's volumes ask of nodes.

A pod takes of a driver's limit on a node what it mounts there first: a volume that another pod on
the node has already is attached once. So volumes that several pods mount have rows of their own;
all others are only counted, by driver.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tutti.core.pods import Requirement, Term

NO_LIMIT: Final = 1 << 40
"""What a node has of a driver that sets no limit there."""


@dataclass(frozen=True, slots=True)
class Disk:
    """A volume that several pods mount; without a driver, a claim that only one pod may use."""

    driver: str
    handle: str


@dataclass(frozen=True, slots=True)
class Attached:
    """What a pod takes of one driver's limit: volumes of its own, and those that it shares.

    `row` counts the first, and its allocatable is the limit; each of the others has a row.
    """

    driver: str
    row: int
    own: int
    shared: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Mounts:
    """`verdict` keeps the pod off every node, in Kubernetes' words; none if it is empty.

    Of every member of `topology`, one term must be met. Every requirement of `zones` must be, on
    nodes that have zones at all. What is `exclusive` no other pod may hold.
    """

    verdict: str = ""
    topology: "tuple[tuple[Term, ...], ...]" = ()
    zones: "tuple[Requirement, ...]" = ()
    exclusive: tuple[int, ...] = ()
    attached: tuple[Attached, ...] = ()

    @property
    def heeds_others(self) -> bool:
        return bool(self.exclusive or self.attached)

    def held(self) -> dict[int, int]:
        """What one pod adds to each row."""
        rows = dict.fromkeys(self.exclusive, 1)
        for part in self.attached:
            rows.update(dict.fromkeys(part.shared, 1))
            if part.own:
                rows[part.row] = part.own
        return rows


NO_MOUNTS: Final = Mounts()
