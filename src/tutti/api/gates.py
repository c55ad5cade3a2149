"""What the rules need to know about feature gates: whether one is open."""

from __future__ import annotations

from typing import Final, Protocol


class Gates(Protocol):
    """Which feature gates are open."""

    def on(self, gate: str) -> bool: ...


class _AllOpen:
    def on(self, gate: str) -> bool:
        return True


ALL_OPEN: Final[Gates] = _AllOpen()

COMPOSITE_POD_GROUP: Final = "CompositePodGroup"
GENERIC_WORKLOAD: Final = "GenericWorkload"
PREEMPTION_POLICY: Final = "PodGroupPreemptionPolicy"
RESOURCE_CLAIMS: Final = "DRAWorkloadResourceClaims"
TOPOLOGY: Final = "TopologyAwareWorkloadScheduling"
WORKLOAD_WITH_JOB: Final = "WorkloadWithJob"
