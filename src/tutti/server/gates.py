"""The feature gates of workload-aware scheduling, as 1.37 has them."""

from collections.abc import Mapping

# Each gate and those that it depends on.
_KNOWN: Mapping[str, tuple[str, ...]] = {
    "GenericWorkload": (),
    "TopologyAwareWorkloadScheduling": ("GenericWorkload",),
    "CompositePodGroup": ("GenericWorkload", "TopologyAwareWorkloadScheduling"),
    "PodGroupPreemptionPolicy": ("GenericWorkload",),
    "DRAWorkloadResourceClaims": ("DynamicResourceAllocation", "GenericWorkload"),
    "DynamicResourceAllocation": (),
    "WorkloadWithJob": ("GenericWorkload",),
}
_KINDS = {
    "workloads.scheduling.k8s.io": "GenericWorkload",
    "podgroups.scheduling.k8s.io": "GenericWorkload",
    "compositepodgroups.scheduling.k8s.io": "CompositePodGroup",
}


class Gates:
    """Which gates are open. All are, unless it is said otherwise."""

    def __init__(self, closed: frozenset[str] = frozenset()) -> None:
        self._closed = closed

    def on(self, gate: str) -> bool:
        """Whether the gate is open."""
        return gate not in self._closed

    def serve(self, resource: str) -> bool:
        """Whether the resource is served with these gates."""
        return resource not in _KINDS or self.on(_KINDS[resource])


def parse(text: str) -> Gates:
    """Reads `Gate=true,Other=false`. Raises ValueError as Kubernetes would refuse to start."""
    closed: set[str] = set()
    for part in filter(None, text.split(",")):
        gate, _, value = part.partition("=")
        if gate not in _KNOWN:
            raise ValueError(f"unrecognized feature gate: {gate}")
        if value.lower() not in ("true", "false"):
            raise ValueError(f"invalid value of {gate}: {value}, want true or false")
        closed.discard(gate)
        if value.lower() == "false":
            closed.add(gate)
    for gate, needs in _KNOWN.items():
        missing = [need for need in needs if need in closed]
        if gate not in closed and missing:
            raise ValueError(
                f"{gate} is enabled, but depends on features that are disabled: "
                f"[{' '.join(missing)}]"
            )
    return Gates(frozenset(closed))
