"""Profile: which rules hold, what each score weighs, how long to search. One frozen value."""

from dataclasses import dataclass, replace
from typing import Final

from tutti.core.filters import (
    DISK_FILTERS,
    FILTERS,
    LATE_FILTERS,
    RELATION_FILTERS,
    VOLUME_FILTERS,
    Filter,
    RelationFilter,
)
from tutti.core.scores import (
    LOAD_SCORES,
    NODE_SCORES,
    PACKING,
    RELATION_SCORES,
    LoadScore,
    NodeScore,
    RelationScore,
)


@dataclass(frozen=True, slots=True)
class Profile:
    """Profiles that serve side by side have different names.

    `search_steps` bounds the search that goes before a refusal; it counts placements tried.
    """

    name: str = "default"
    filters: tuple[Filter, ...] = FILTERS
    disk_filters: tuple[RelationFilter, ...] = DISK_FILTERS
    volume_filters: tuple[Filter, ...] = VOLUME_FILTERS
    late_filters: tuple[Filter, ...] = LATE_FILTERS
    relation_filters: tuple[RelationFilter, ...] = RELATION_FILTERS
    node_scores: tuple[NodeScore, ...] = NODE_SCORES
    load_scores: tuple[LoadScore, ...] = LOAD_SCORES
    relation_scores: tuple[RelationScore, ...] = RELATION_SCORES
    search_steps: int = 2_000

    def packing(self) -> "Profile":
        """The same rules, but whatever is fullest is best: for a gang that fits in no other way."""
        return replace(self, node_scores=(), load_scores=PACKING, relation_scores=())


DEFAULT: Final = Profile()
