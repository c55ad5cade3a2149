"""What a row of a `[resource, node]` table stands for.

The first rows are fixed. Extended resources, huge pages, host ports, volumes that are shared and the
counts that relations between pods need get rows as they are first seen, and keep them. A host port is a resource of which
every node has one: who holds it counts 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tutti.core.relations import Carried, Counted
from tutti.core.volumes import Disk

CPU: Final = 0
MEMORY: Final = 1
EPHEMERAL_STORAGE: Final = 2
PODS: Final = 3
SCORED_CPU: Final = 4
"""What NodeResourcesFit scores by: as CPU, but a container that asks for none counts 100m."""
SCORED_MEMORY: Final = 5
"""As MEMORY, but a container that asks for none counts 200 MiB."""

FIXED: Final = ("cpu", "memory", "ephemeral-storage", "pods", "scored cpu", "scored memory")


@dataclass(frozen=True, slots=True, order=True)
class Port:
    """One port of the host, as a pod asks for it."""

    protocol: str
    address: str
    number: int

    def clashes(self, other: "Port") -> bool:
        """Whether two pods with these ports can't share a node."""
        return (
            self.number == other.number
            and self.protocol == other.protocol
            and (self.address == other.address or EVERY_ADDRESS in (self.address, other.address))
        )


EVERY_ADDRESS: Final = "0.0.0.0"


@dataclass(frozen=True, slots=True)
class Table:
    """Which resource, port or count has which row. Its owner only ever adds rows."""

    resources: Mapping[str, int]
    ports: Mapping[Port, int]
    counted: Mapping[Counted, int] = field(default_factory=dict)
    carried: Mapping[Carried, int] = field(default_factory=dict)
    disks: Mapping[Disk, int] = field(default_factory=dict)

    def clashing(self, port: Port) -> list[int]:
        """The rows whose use keeps a pod with this port off a node."""
        return [row for other, row in self.ports.items() if port.clashes(other)]

    def __len__(self) -> int:
        relations = len(self.counted) + len(self.carried)
        return len(self.resources) + len(self.ports) + len(self.disks) + relations
