"""The rules that say which of the nodes that pass is worth most.

A score is either by node (worked out once per class, then scaled to 0..100 by the largest among
the nodes that pass) or by load (0..100 at once, and changing with every pod placed). The weighted
sum decides.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tutti.core.columns import Amounts
from tutti.core.pods import PodClass
from tutti.core.scores.load import Load
from tutti.core.scores.nodes import preferred_affinity, unwelcome_taints
from tutti.core.scores.resources import MOST, balanced_allocation, least_allocated, tightness
from tutti.core.snapshot import Nodes


@dataclass(frozen=True, slots=True)
class NodeScore:
    """`worth` answers None where no node differs from another."""

    plugin: str
    weight: int
    worth: Callable[[Nodes, PodClass], Amounts | None]
    less_is_better: bool = False

    def scaled(self, worth: Amounts, most: int) -> Amounts:
        """Between 0 and 100, where `most` is the largest worth among the nodes that pass."""
        share = worth * MOST // max(most, 1)
        return MOST - share if self.less_is_better else share


@dataclass(frozen=True, slots=True)
class LoadScore:
    """`score` answers None where the rule has nothing to say about the class."""

    plugin: str
    weight: int
    score: Callable[[Load], Amounts | None]


NODE_SCORES: Final = (
    NodeScore("TaintToleration", 3, unwelcome_taints, less_is_better=True),
    NodeScore("NodeAffinity", 2, preferred_affinity),
)
LOAD_SCORES: Final = (
    LoadScore("NodeResourcesFit", 1, least_allocated),
    LoadScore("NodeResourcesBalancedAllocation", 1, balanced_allocation),
)
PACKING: Final = (LoadScore("Packing", 1, tightness),)
"""Not one of kube-scheduler's: what is tried before a gang is refused."""
