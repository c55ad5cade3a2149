"""Plugins: rules of one's own, beside those that are built in.

A plugin is a value: a function on columns, with the name under which a configuration switches it on.
It is found by the entry point `tutti.plugins`; `docs/core.md` shows one in ten lines.
"""

from typing import TypeAlias

from tutti.core.filters import Filter, RelationFilter
from tutti.core.scores import LoadScore, NodeScore, RelationScore

Plugin: TypeAlias = Filter | RelationFilter | NodeScore | LoadScore | RelationScore
