"""Classes of pods: one object for all pods that ask for the same, as far as anybody can tell.

Pods are told apart by the labels that some pod's terms look at, and by no others: the pods of a job
that differ in an index are of one class.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final, Generic, TypeAlias, TypeVar

from tutti.api import core_v1 as api
from tutti.core.pods import Asks, PodClass
from tutti.core.relations import NOBODY, NONE, Audience, Carried, Counted, Identity, Pull, Role
from tutti.core.resources import Port
from tutti.core.volumes import Mounts
from tutti.engine.asks import asks_of, signature
from tutti.engine.relations import asks_about_others, keys_asked_about
from tutti.engine.tables import Tables

MANY_CLASSES: Final = 20_000
MANY_COUNTS: Final = 256


Label: TypeAlias = tuple[str, str]
_Term = TypeVar("_Term", Counted, Carried)


class Spoken(Generic[_Term]):
    """Terms with their rows, to be found by the labels of those whom they may speak of."""

    def __init__(self) -> None:
        self._by_label: dict[Label, list[tuple[_Term, int]]] = {}
        self._of_anybody: list[tuple[_Term, int]] = []

    def add(self, audience: Audience, term: _Term, row: int) -> None:
        labels = _musts(audience)
        if labels is None:
            self._of_anybody.append((term, row))
        for label in labels or ():
            self._by_label.setdefault(label, []).append((term, row))

    def of(self, pod: Identity) -> Iterator[tuple[_Term, int]]:
        yield from self._of_anybody
        for label in pod.labels:
            yield from self._by_label.get(label, ())


class Classes:
    """`generation` moves when pods of one class may have to be told apart from now on."""

    def __init__(self, tables: Tables, count_late: Callable[[int], None]) -> None:
        self.generation = 0
        self._tables = tables
        self._count_late = count_late
        """Called with a row that should have counted pods that are held already."""
        self._keys: dict[str, None] | None = None
        self._by_images = False
        self._shapes: dict[Asks, int] = {}
        self._by_asks: dict[Asks, PodClass] = {}
        self._by_label: dict[Label, list[PodClass]] = {}
        self._counted = Spoken[Counted]()
        self._carried = Spoken[Carried]()
        self._by_signature: dict[tuple[bytes, Mounts], PodClass] = {}
        self._born = 0
        self._counts_when_fresh = 0

    def of(self, pod: api.Pod, mounts: Mounts) -> PodClass:
        """`mounts` is what the pod's claims ask, as things stand."""
        if asks_about_others(pod):
            self._look_at(keys_asked_about(pod))
        words = signature(pod, self._keys), mounts
        known = self._by_signature.get(words)
        if known is None:
            asks = asks_of(pod, self, self._keys, mounts, with_images=self._by_images)
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
        self._by_label.clear()
        self._counted, self._carried = Spoken(), Spoken()
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
            audience = counted.audiences[0]
            self._counted.add(audience, counted, row)
            near = self._that_may_be_in(audience)
            members = [cls for cls in near if counted.includes(cls.asks.identity)]
            for cls in members:
                cls.counts_in(row)
            if members:
                self._count_late(row)
        return row

    def carried_row(self, carried: Carried) -> int:
        new = carried not in self._tables.carried
        row = self._tables.row_of(self._tables.carried, carried)
        if new:
            self._carried.add(carried.audience, carried, row)
            for cls in self._that_may_be_in(carried.audience):
                _heed(cls, carried, row)
        return row

    def _make(self, asks: Asks) -> PodClass:
        """A new class, which counts wherever it is spoken of."""
        alone = replace(asks, identity=NOBODY, relations=NONE)
        shape = self._shapes.setdefault(alone, len(self._shapes))
        cls = self._by_asks[asks] = PodClass(self._born, asks, shape)
        self._born += 1
        for label in asks.identity.labels:
            self._by_label.setdefault(label, []).append(cls)
        for counted, row in self._counted.of(asks.identity):
            if counted.includes(asks.identity):
                cls.counts_in(row)
        for carried, row in self._carried.of(asks.identity):
            _heed(cls, carried, row)
        return cls

    def _that_may_be_in(self, audience: Audience) -> Iterable[PodClass]:
        """The classes with a label that the audience must have; all where none is a must."""
        labels = _musts(audience)
        if labels is None:
            return self._by_asks.values()
        return [cls for label in labels for cls in self._by_label.get(label, ())]

    def _look_at(self, keys: Iterable[str]) -> None:
        """From now on these labels tell pods apart."""
        fresh = [key for key in keys if self._keys is None or key not in self._keys]
        if fresh or self._keys is None:
            self._keys = {**(self._keys or {}), **dict.fromkeys(fresh)}
            self._tell_apart()

    def _tell_apart(self) -> None:
        self._by_signature.clear()
        self.generation += 1


def _musts(audience: Audience) -> tuple[Label, ...] | None:
    """Labels one of which each pod of the audience carries; None where there is no such rule."""
    for rule in audience.rules or ():
        if rule.operator == "In":
            return tuple((rule.key, value) for value in dict.fromkeys(rule.values))
    return None


def _heed(cls: PodClass, carried: Carried, row: int) -> None:
    """Let a class know of a term that pods carry, if it speaks of the class."""
    if carried.audience.includes(cls.asks.identity):
        heeded = cls.repelled_by if carried.role is Role.REPELS else cls.pulled_by
        heeded.append(Pull(carried.key, row, carried.weight))
