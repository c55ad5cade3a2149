"""The rules that rule nodes out, in the order in which kube-scheduler asks them.

Those that go by the node alone are listed here; each is a function on columns, and carries the
words that Kubernetes uses. Room (ports, resources) comes after them and moves with every pod: see
`filters.room`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tutti.core.columns import Mask
from tutti.core.filters.labels import is_pinned_to, matches_selector
from tutti.core.filters.taints import is_schedulable, tolerates_taints
from tutti.core.pods import PodClass
from tutti.core.snapshot import Nodes


@dataclass(frozen=True, slots=True)
class Filter:
    """A rule about nodes. What it rules out no eviction would let in."""

    plugin: str
    reason: str
    passes: Callable[[Nodes, PodClass], Mask]


FILTERS: Final = (
    Filter("NodeAffinity", "node(s) didn't satisfy plugin(s) [NodeAffinity]", is_pinned_to),
    Filter("NodeUnschedulable", "node(s) were unschedulable", is_schedulable),
    Filter("TaintToleration", "node(s) had untolerated taint(s)", tolerates_taints),
    Filter("NodeAffinity", "node(s) didn't match Pod's node affinity/selector", matches_selector),
)

PORTS_TAKEN: Final = "node(s) didn't have free ports for the requested pod ports"
TERMS_CONFLICT: Final = "pod affinity terms conflict"
