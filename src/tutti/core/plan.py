"""Plan: what is to become of a root. Either it is placed, or refused with reasons."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tutti.core.pods import PodClass
from tutti.core.reasons import Tally

Status = Literal["Unschedulable", "UnschedulableAndUnresolvable"]
Binding = tuple[str, str]
"""A pod's uid and a node's name."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why some members, or all, have no place.

    `fits` of the `needs` members found a place at once, at best; `tally` is about one more pod of
    the class that found none. `proved` says that no arrangement exists; otherwise a search that
    isn't complete found none. Of a tree, `fits` and `needs` are children, and `below` says why for
    those groups in it that have a reason of their own.
    """

    status: Status
    fits: int
    needs: int
    tally: Tally
    proved: bool
    message: str
    below: tuple[tuple[str, "Refusal"], ...] = ()
    short: PodClass | None = field(default=None, compare=False)
    """The class that `tally` is about."""
    _by_key: dict[str, "Refusal"] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def about(self, key: str) -> "Refusal | None":
        """The reason that a group below has of its own."""
        if self.below and not self._by_key:
            self._by_key.update(self.below)
        return self._by_key.get(key)


@dataclass(frozen=True, slots=True)
class Placed:
    """`bindings` make the quorum, `extras` come on top; `short` says why the rest has no place.

    A basic group has no quorum: all its members are extras.
    """

    bindings: tuple[Binding, ...]
    extras: tuple[Binding, ...] = ()
    short: Refusal | None = None


Plan: TypeAlias = Placed | Refusal
