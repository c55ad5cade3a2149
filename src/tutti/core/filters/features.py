"""What kubelets say they can do, for pods that need it."""

from tutti.core import columns
from tutti.core.columns import Mask
from tutti.core.pods import PodClass
from tutti.core.snapshot import Nodes


def declares_features(nodes: Nodes, cls: PodClass) -> Mask:
    """The nodes that declare every feature that the pod takes."""
    if not cls.asks.features:
        return nodes.present
    declared = (all(need in have for need in cls.asks.features) for have in nodes.feature_sets)
    return nodes.present & columns.mask_of(declared)[nodes.features]
