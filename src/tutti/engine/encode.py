"""Cluster: objects in, columns out. It owns the columns, and touches only rows that changed.

Nodes come and go, and take rows that are free. What pods hold is remembered by the node's name, so
that it counts again when a node comes back. Running and assumed pods count alike.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final, TypeAlias, TypeVar

from tutti.api import core_v1 as api
from tutti.api import quantity
from tutti.core import columns
from tutti.core.columns import Codes, Rows
from tutti.core.pods import Asks, PodClass, Taint
from tutti.core.relations import Carried, Counted, Pull, Role
from tutti.core.resources import (
    CPU,
    FIXED,
    MEMORY,
    PODS,
    SCORED_CPU,
    SCORED_MEMORY,
    Port,
    Table,
)
from tutti.core.snapshot import Label, Memo, Nodes, Snapshot
from tutti.engine.asks import asks_of, full_name, is_counted, signature
from tutti.engine.relations import asks_about_others, keys_asked_about

FEWEST_ROWS: Final = 64


@dataclass(frozen=True, slots=True)
class Face:
    """What of a node the columns show."""

    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    unschedulable: bool
    allocatable: Mapping[str, str]
    features: tuple[str, ...] = ()
    images: tuple[api.ContainerImage, ...] = ()


NOTHING: Final = Face({}, (), False, {})


@dataclass(slots=True)
class LabelColumn:
    """One label key as it grows: values get their codes in the order in which they are seen."""

    codes: Codes
    values: list[str] = field(default_factory=list)
    code_of: dict[str, int] = field(default_factory=dict)

    def put(self, row: int, value: str) -> None:
        code = self.code_of.get(value)
        if code is None:
            code = self.code_of[value] = len(self.values)
            self.values.append(value)
        self.codes[row] = code


Images: TypeAlias = tuple[api.ContainerImage, ...]


class Cluster:
    """Nodes, and what pods hold on them, as columns that are refreshed row by row."""

    def __init__(self) -> None:
        self.generation = 0
        """Moves when pods that were of one class may now be told apart: ask for all classes again."""
        self._version = 0
        self._nodes_version = 0
        self._memo = Memo()
        self._changed: dict[int, None] | None = None
        self._nodes: Nodes | None = None
        self._names: list[str] = []
        self._row_of: dict[str, int] = {}
        self._free_rows: list[int] = []
        self._faces: dict[str, Face] = {}
        self._labels: dict[str, LabelColumn] = {}
        self._taint_sets: list[tuple[Taint, ...]] = [()]
        self._taint_code: dict[tuple[Taint, ...], int] = {(): 0}
        self._feature_sets: list[tuple[str, ...]] = [()]
        self._feature_code: dict[tuple[str, ...], int] = {(): 0}
        self._images: dict[str, dict[int, int]] = {}
        self._resources = {name: row for row, name in enumerate(FIXED)}
        self._ports: dict[Port, int] = {}
        self._counted: dict[Counted, int] = {}
        self._carried: dict[Carried, int] = {}
        self._keys: dict[str, None] | None = None
        self._present = columns.mask(FEWEST_ROWS)
        self._unschedulable = columns.mask(FEWEST_ROWS)
        self._hashes = columns.hashes(FEWEST_ROWS)
        self._taints = columns.codes(FEWEST_ROWS)
        self._features = columns.codes(FEWEST_ROWS)
        self._allocatable = columns.amounts(len(FIXED), FEWEST_ROWS)
        self._used = columns.amounts(len(FIXED), FEWEST_ROWS)
        self._classes: dict[Asks, PodClass] = {}
        self._class_by_signature: dict[bytes, PodClass] = {}
        self._held: dict[str, tuple[PodClass, str]] = {}
        self._held_on: dict[str, dict[str, PodClass]] = {}

    def node_seen(self, node: api.Node) -> None:
        """A node is new, or may have changed; a heartbeat changes nothing."""
        name = node.metadata.name
        face = _face(node)
        before = self._faces.get(name)
        if face == before:
            return
        self._faces[name] = face
        if before is None:
            row = self._new_row(name)
            before = NOTHING
        else:
            row = self._row_of[name]
        self._show(row, before, face)
        self._nodes_changed()

    def node_gone(self, name: str) -> None:
        """What its pods hold is kept, in case the node comes back before they are gone."""
        face = self._faces.pop(name, None)
        if face is None:
            return
        row = self._row_of.pop(name)
        self._show(row, face, NOTHING)
        self._present[row] = False
        self._names[row] = ""
        self._used[:, row] = 0
        self._free_rows.append(row)
        self._nodes_changed()

    def class_of(self, pod: api.Pod) -> PodClass:
        """The class of a pod: the same object for pods that ask for the same.

        When a pod asks about labels that nobody asked about before, `generation` moves: pods that
        were alike may not be any more, and every pod has to be asked about, and held, again.
        """
        if asks_about_others(pod):
            self._look_at(keys_asked_about(pod))
        words = signature(pod, self._keys)
        known = self._class_by_signature.get(words)
        if known is None:
            asks = asks_of(pod, self, self._keys, with_images=bool(self._images))
            known = self._classes.get(asks)
            if known is None:
                known = self._classes[asks] = PodClass(len(self._classes), asks)
                self._introduce(known)
            self._class_by_signature[words] = known
        return known

    def _look_at(self, keys: Iterable[str]) -> None:
        """From now on these labels tell pods apart."""
        fresh = [key for key in keys if self._keys is None or key not in self._keys]
        if fresh or self._keys is None:
            self._keys = {**(self._keys or {}), **dict.fromkeys(fresh)}
            self._class_by_signature.clear()
            self.generation += 1

    def _introduce(self, cls: PodClass) -> None:
        """Let a new class count wherever it is spoken of."""
        for counted, row in self._counted.items():
            if counted.includes(cls.asks.identity):
                cls.counts_in(row)
        for carried, row in self._carried.items():
            _heed(cls, carried, row)

    def hold(self, pod_uid: str, cls: PodClass, node_name: str) -> None:
        """The pod counts on that node, from now until it is released."""
        before = self._held.get(pod_uid)
        if before == (cls, node_name):
            return
        if before is not None:
            self.release(pod_uid)
        self._held[pod_uid] = cls, node_name
        self._held_on.setdefault(node_name, {})[pod_uid] = cls
        self._count(cls, node_name, 1)

    def release(self, pod_uid: str) -> None:
        """The pod counts no more; a pod that didn't is left at that."""
        held = self._held.pop(pod_uid, None)
        if held is None:
            return
        cls, node_name = held
        pods = self._held_on[node_name]
        del pods[pod_uid]
        if not pods:
            del self._held_on[node_name]
        self._count(cls, node_name, -1)

    def snapshot(self) -> Snapshot:
        """Views of the columns as they are. They show later changes, so use them within a turn."""
        if self._nodes is None:
            self._nodes = self._view_of_nodes()
        return Snapshot(
            version=self._version,
            nodes_version=self._nodes_version,
            table=Table(self._resources, self._ports, self._counted, self._carried),
            nodes=self._nodes,
            used=columns.read_only(self._used),
            memo=self._memo,
        )

    def take_changes(self) -> Rows | None:
        """The rows in which what is held changed since the last call; None where nodes changed."""
        changed, self._changed = self._changed, {}
        return None if changed is None else columns.rows(changed)

    def check(self) -> list[str]:
        """Derive the columns anew from what was seen, and name every difference."""
        fresh = Cluster()
        fresh._resources, fresh._ports, fresh._held_on = self._resources, self._ports, self._held_on
        fresh._counted, fresh._carried = self._counted, self._carried
        fresh._allocatable = columns.amounts(len(self._allocatable), FEWEST_ROWS)
        fresh._used = columns.amounts(len(self._used), FEWEST_ROWS)
        for name, face in self._faces.items():
            fresh._show(fresh._new_row(name), NOTHING, face)
        return [
            f"node {name}: {what} is {mine}, should be {theirs}"
            for name in self._faces
            for what, mine, theirs in _differences(self._shown(name), fresh._shown(name))
        ]

    def _show(self, row: int, before: Face, face: Face) -> None:
        for key in before.labels:
            if key not in face.labels:
                self._labels[key].codes[row] = columns.ABSENT
        for key, value in face.labels.items():
            if before.labels.get(key) != value:
                self._label_column(key).put(row, value)
        self._taints[row] = _code(self._taint_sets, self._taint_code, face.taints)
        self._features[row] = _code(self._feature_sets, self._feature_code, face.features)
        if face.images != before.images:
            self._show_images(row, before.images, face.images)
        self._unschedulable[row] = face.unschedulable
        if face.allocatable != before.allocatable:
            self._show_allocatable(row, face.allocatable)

    def _show_images(self, row: int, before: Images, images: Images) -> None:
        if images and not self._images:
            self._class_by_signature.clear()
            self.generation += 1
        for name in _image_sizes(before):
            self._images[name].pop(row, None)
        for name, size in _image_sizes(images).items():
            self._images.setdefault(name, {})[row] = size

    def _show_allocatable(self, row: int, allocatable: Mapping[str, str]) -> None:
        amounts = {
            self.resource_row(name): quantity.base_units(name, text)
            for name, text in allocatable.items()
            if is_counted(name) or name == FIXED[PODS]
        }
        amounts[SCORED_CPU] = amounts.get(CPU, 0)
        amounts[SCORED_MEMORY] = amounts.get(MEMORY, 0)
        self._allocatable[:, row] = 0
        self._allocatable[list(amounts), row] = list(amounts.values())

    def _shown(self, name: str) -> dict[str, object]:
        """Everything that the columns say about one node."""
        row = self._row_of[name]
        shown: dict[str, object] = {
            f"label {key}": None if label.codes[row] < 0 else label.values[label.codes[row]]
            for key, label in self._labels.items()
        }
        shown["taints"] = self._taint_sets[self._taints[row]]
        shown["features"] = self._feature_sets[self._features[row]]
        shown["unschedulable"] = bool(self._unschedulable[row])
        shown["present"] = bool(self._present[row])
        shown |= {
            f"image {image}": sizes[row] for image, sizes in self._images.items() if row in sizes
        }
        tables = self._resources, self._ports, self._counted, self._carried
        for what, table_row in (item for table in tables for item in table.items()):
            shown[f"allocatable {what}"] = int(self._allocatable[table_row, row])
            shown[f"used {what}"] = int(self._used[table_row, row])
        return shown

    def _count(self, cls: PodClass, node_name: str, sign: int) -> None:
        row = self._row_of.get(node_name)
        if row is not None:
            self._used[cls.held_rows, row] += sign * cls.held_amounts
            self._version += 1
            if self._changed is not None:
                self._changed[row] = None

    def _nodes_changed(self) -> None:
        self._version += 1
        self._nodes_version += 1
        self._nodes = None
        self._memo = Memo()
        self._changed = None

    def _new_row(self, name: str) -> int:
        if self._free_rows:
            row = self._free_rows.pop()
            self._names[row] = name
        else:
            row = len(self._names)
            self._names.append(name)
            if row == len(self._present):
                self._widen(2 * row)
        self._row_of[name] = row
        self._present[row] = True
        self._hashes[row] = int.from_bytes(blake2b(name.encode(), digest_size=8).digest())
        for cls in self._held_on.get(name, {}).values():
            self._used[cls.held_rows, row] += cls.held_amounts
        return row

    def _widen(self, length: int) -> None:
        self._present = columns.widened(self._present, length)
        self._unschedulable = columns.widened(self._unschedulable, length)
        self._hashes = columns.widened(self._hashes, length)
        self._taints = columns.widened(self._taints, length)
        self._features = columns.widened(self._features, length)
        self._allocatable = columns.widened(self._allocatable, length)
        self._used = columns.widened(self._used, length)
        for label in self._labels.values():
            label.codes = columns.widened(label.codes, length)

    def _label_column(self, key: str) -> LabelColumn:
        if key not in self._labels:
            self._labels[key] = LabelColumn(columns.codes(len(self._present)))
        return self._labels[key]

    def resource_row(self, name: str) -> int:
        if name not in self._resources:
            self._resources[name] = self._add_table_row()
        return self._resources[name]

    def port_row(self, port: Port) -> int:
        if port not in self._ports:
            self._ports[port] = self._add_table_row()
        return self._ports[port]

    def counted_row(self, counted: Counted) -> int:
        if counted not in self._counted:
            row = self._counted[counted] = self._add_table_row()
            members = [c for c in self._classes.values() if counted.includes(c.asks.identity)]
            for cls in members:
                cls.counts_in(row)
            if members:
                self._count_anew(row)
        return self._counted[counted]

    def carried_row(self, carried: Carried) -> int:
        if carried not in self._carried:
            row = self._carried[carried] = self._add_table_row()
            for cls in self._classes.values():
                _heed(cls, carried, row)
        return self._carried[carried]

    def _count_anew(self, row: int) -> None:
        """Fill a row that came late with what runs already."""
        for cls, node_name in self._held.values():
            node = self._row_of.get(node_name)
            if node is not None:
                self._used[row, node] += cls.held.get(row, 0)
                if self._changed is not None:
                    self._changed[node] = None

    def _add_table_row(self) -> int:
        self._allocatable = columns.with_more_rows(self._allocatable, 1)
        self._used = columns.with_more_rows(self._used, 1)
        self._nodes = None
        return len(self._used) - 1

    def _view_of_nodes(self) -> Nodes:
        labels = {
            key: Label(columns.read_only(label.codes), label.values, label.code_of)
            for key, label in self._labels.items()
        }
        return Nodes(
            names=self._names,
            row_of=self._row_of,
            present=columns.read_only(self._present),
            unschedulable=columns.read_only(self._unschedulable),
            hashes=columns.read_only(self._hashes),
            allocatable=columns.read_only(self._allocatable),
            labels=labels,
            taints=columns.read_only(self._taints),
            taint_sets=self._taint_sets,
            features=columns.read_only(self._features),
            feature_sets=self._feature_sets,
            images=self._images,
        )


def _heed(cls: PodClass, carried: Carried, row: int) -> None:
    """Let a class know of a term that pods carry, if it speaks of the class."""
    if carried.audience.includes(cls.asks.identity):
        heeded = cls.repelled_by if carried.role is Role.REPELS else cls.pulled_by
        heeded.append(Pull(carried.key, row, carried.weight))


def _face(node: api.Node) -> Face:
    return Face(
        labels=node.metadata.labels,
        taints=tuple(Taint(t.key, t.value, t.effect) for t in node.spec.taints),
        unschedulable=node.spec.unschedulable,
        allocatable=node.status.allocatable,
        features=node.status.declared_features,
        images=node.status.images,
    )


def _image_sizes(images: Images) -> dict[str, int]:
    return {full_name(name): image.size_bytes for image in images for name in image.names or ()}


_Set = TypeVar("_Set", bound=tuple[object, ...])


def _code(sets: list[_Set], code_of: dict[_Set, int], one: _Set) -> int:
    """The number of a set, which gets the next one when it is new."""
    code = code_of.get(one)
    if code is None:
        code = code_of[one] = len(sets)
        sets.append(one)
    return code


def _differences(
    mine: Mapping[str, object], theirs: Mapping[str, object]
) -> list[tuple[str, object, object]]:
    """What two descriptions of a node say differently; what one leaves out counts as nothing."""
    return [
        (what, mine.get(what), theirs.get(what))
        for what in {**mine, **theirs}
        if mine.get(what) != theirs.get(what)
    ]
