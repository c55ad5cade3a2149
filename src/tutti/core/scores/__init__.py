"""The rules that say which of the nodes that pass is worth most.

A score goes by the node alone (worked out once per class, then scaled to 0..100 by the largest among
the nodes that pass), by load (0..100 at once, changing where a pod is placed), or by other pods
(changing everywhere). The weighted sum decides.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tutti.core.columns import Amounts, Mask
from tutti.core.pods import PodClass
from tutti.core.scores.load import Load
from tutti.core.scores.neighbours import GoodCompany
from tutti.core.scores.nodes import PreferredAffinity, images_at_hand, unwelcome_taints
from tutti.core.scores.resources import MOST, BalancedAllocation, LeastAllocated, tightness
from tutti.core.scores.spread import even_spread
from tutti.core.snapshot import Nodes, Snapshot


@dataclass(frozen=True, slots=True)
class NodeScore:
    """`worth` answers None where no node differs from another.

    Where it isn't scaled it lies between 0 and 100 already.
    """

    plugin: str
    weight: int
    worth: Callable[[Nodes, PodClass], Amounts | None]
    less_is_better: bool = False
    is_scaled: bool = True

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


@dataclass(frozen=True, slots=True)
class RelationScore:
    """0..100 over the nodes that pass, anew with every pod placed; None where none differ."""

    plugin: str
    weight: int
    score: Callable[[Snapshot, Amounts, PodClass, Mask], Amounts | None]


NODE_SCORES: Final = (
    NodeScore("TaintToleration", 3, unwelcome_taints, less_is_better=True),
    NodeScore("NodeAffinity", 2, PreferredAffinity()),
    NodeScore("ImageLocality", 1, images_at_hand, is_scaled=False),
)
LOAD_SCORES: Final = (
    LoadScore("NodeResourcesFit", 1, LeastAllocated()),
    LoadScore("NodeResourcesBalancedAllocation", 1, BalancedAllocation()),
)
RELATION_SCORES: Final = (
    RelationScore("PodTopologySpread", 2, even_spread),
    RelationScore("InterPodAffinity", 2, GoodCompany()),
)
PACKING: Final = (LoadScore("Packing", 1, tightness),)
"""Not one of kube-scheduler's: what is tried before a gang is refused."""
