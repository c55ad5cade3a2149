"""Classes of pods: one object for all pods that ask for the same, as far as anybody can tell.

Pods are told apart by the labels that some pod's terms look at, and by no others: the pods of a job
that differ in an index are of one class.
"""

from collections.abc import Callable, Iterable
from typing import Final

from tutti.api import core_v1 as api
from tutti.core.pods import Asks, PodClass
from tutti.core.relations import Carried, Counted, Pull, Role
from tutti.core.resources import Port
from tutti.engine.asks import asks_of, signature
from tutti.engine.relations import asks_about_others, keys_asked_about
from tutti.engine.tables import Tables

MANY_CLASSES: Final = 20_000
MANY_COUNTS: Final = 256


class Classes:
    """`generation` moves when pods of one class may have to be told apart from now on."""

    def __init__(self, tables: Tables, count_late: Callable[[int], None]) -> None:
        self.generation = 0
        self._tables = tables
        self._count_late = count_late
        """Called with a row that should have counted pods that are held already."""
        self._keys: dict[str, None] | None = None
        self._by_images = False
        self._by_asks: dict[Asks, PodClass] = {}
        self._by_signature: dict[bytes, PodClass] = {}
        self._born = 0
        self._counts_when_fresh = 0

    def of(self, pod: api.Pod) -> PodClass:
        if asks_about_others(pod):
            self._look_at(keys_asked_about(pod))
        words = signature(pod, self._keys)
        known = self._by_signature.get(words)
        if known is None:
            asks = asks_of(pod, self, self._keys, with_images=self._by_images)
            known = self._by_asks.get(asks) or self._make(asks)
            self._by_signature[words] = known
        return known

    def tell_apart_by_images(self) -> None:
        """Nodes have begun to say which images they have."""
        if not self._by_images:
            self._by_images = True
            self._tell_apart()

    @property
    def are_overgrown(self) -> bool:
        """Whether so many classes or counts were made that most will be of pods long gone."""
        return (
            len(self._by_asks) > MANY_CLASSES
            or len(self._by_signature) > MANY_CLASSES
            or self._tables.counts > MANY_COUNTS + 2 * self._counts_when_fresh
        )

    def forget_all(self) -> None:
        """Begin anew: every pod has to be asked about again."""
        self._keys = None
        self._by_asks.clear()
        self._tell_apart()

    def settle(self) -> None:
        """All pods have been asked about again: what there is now is needed."""
        self._counts_when_fresh = self._tables.counts

    def resource_row(self, name: str) -> int:
        return self._tables.resource_row(name)

    def port_row(self, port: Port) -> int:
        return self._tables.row_of(self._tables.ports, port)

    def counted_row(self, counted: Counted) -> int:
        new = counted not in self._tables.counted
        row = self._tables.row_of(self._tables.counted, counted)
        if new:
            members = [c for c in self._by_asks.values() if counted.includes(c.asks.identity)]
            for cls in members:
                cls.counts_in(row)
            if members:
                self._count_late(row)
        return row

    def carried_row(self, carried: Carried) -> int:
        new = carried not in self._tables.carried
        row = self._tables.row_of(self._tables.carried, carried)
        if new:
            for cls in self._by_asks.values():
                _heed(cls, carried, row)
        return row

    def _make(self, asks: Asks) -> PodClass:
        """A new class, which counts wherever it is spoken of."""
        cls = self._by_asks[asks] = PodClass(self._born, asks)
        self._born += 1
        for counted, row in self._tables.counted.items():
            if counted.includes(asks.identity):
                cls.counts_in(row)
        for carried, row in self._tables.carried.items():
            _heed(cls, carried, row)
        return cls

    def _look_at(self, keys: Iterable[str]) -> None:
        """From now on these labels tell pods apart."""
        fresh = [key for key in keys if self._keys is None or key not in self._keys]
        if fresh or self._keys is None:
            self._keys = {**(self._keys or {}), **dict.fromkeys(fresh)}
            self._tell_apart()

    def _tell_apart(self) -> None:
        self._by_signature.clear()
        self.generation += 1


def _heed(cls: PodClass, carried: Carried, row: int) -> None:
    """Let a class know of a term that pods carry, if it speaks of the class."""
    if carried.audience.includes(cls.asks.identity):
        heeded = cls.repelled_by if carried.role is Role.REPELS else cls.pulled_by
        heeded.append(Pull(carried.key, row, carried.weight))
