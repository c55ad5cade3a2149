"""What nodes are and have, as columns. Nodes come and go, and take rows that are free."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final, TypeAlias, TypeVar

from tutti.api import core_v1 as api
from tutti.api import quantity
from tutti.core import columns
from tutti.core.columns import Codes
from tutti.core.pods import Taint
from tutti.core.resources import CPU, FIXED, MEMORY, PODS, SCORED_CPU, SCORED_MEMORY
from tutti.core.snapshot import Label, Nodes
from tutti.core.volumes import NO_LIMIT
from tutti.engine.asks import is_counted
from tutti.engine.tables import Tables

Images: TypeAlias = tuple[api.ContainerImage, ...]
FEWEST_ROWS: Final = 64


@dataclass(frozen=True, slots=True)
class Face:
    """What of a node the columns show."""

    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    unschedulable: bool
    allocatable: Mapping[str, str]
    features: tuple[str, ...] = ()
    images: Images = ()
    limits: Mapping[str, int] = field(default_factory=dict)
    """How many volumes each driver attaches; others attach as many as asked."""


NOTHING: Final = Face({}, (), False, {})


@dataclass(slots=True)
class LabelColumn:
    """One label key as it grows: values get their codes in the order in which they are seen."""

    codes: Codes
    values: list[str] = field(default_factory=list)
    code_of: dict[str, int] = field(default_factory=dict)

    def put(self, row: int, value: str) -> None:
        self.codes[row] = _code(self.values, self.code_of, value)


class NodeColumns:
    """The rows of nodes, and all columns but what is in use."""

    def __init__(self, tables: Tables) -> None:
        self.row_of: dict[str, int] = {}
        self.faces: dict[str, Face] = {}
        self._tables = tables
        self._drivers: dict[str, str] = {}
        self._names: list[str] = []
        self._free_rows: list[int] = []
        self._labels: dict[str, LabelColumn] = {}
        self._taint_sets: list[tuple[Taint, ...]] = [()]
        self._taint_code: dict[tuple[Taint, ...], int] = {(): 0}
        self._feature_sets: list[tuple[str, ...]] = [()]
        self._feature_code: dict[tuple[str, ...], int] = {(): 0}
        self._images: dict[str, dict[int, int]] = {}
        self._present = columns.mask(FEWEST_ROWS)
        self._unschedulable = columns.mask(FEWEST_ROWS)
        self._hashes = columns.hashes(FEWEST_ROWS)
        self._taints = columns.codes(FEWEST_ROWS)
        self._features = columns.codes(FEWEST_ROWS)

    @property
    def have_images(self) -> bool:
        return bool(self._images)

    def put(self, name: str, face: Face) -> int:
        """Show a node; its row."""
        before = self.faces.get(name, NOTHING)
        self.faces[name] = face
        row = self.row_of[name] if name in self.row_of else self._new_row(name)
        self._show(row, before, face)
        return row

    def remove(self, name: str) -> int:
        """Take a node out; the row that was its own."""
        row = self.row_of.pop(name)
        self._show(row, self.faces.pop(name), NOTHING)
        self._present[row] = False
        self._names[row] = ""
        self._free_rows.append(row)
        return row

    def driver_row(self, driver: str) -> int:
        """The row of the volumes that a driver attaches, which nodes may limit."""
        resource = f"volumes of {driver}"
        row = self._tables.resource_row(resource)
        if driver not in self._drivers:
            self._drivers[driver] = resource
            for name, face in self.faces.items():
                limit = face.limits.get(driver, NO_LIMIT)
                self._tables.allocatable[row, self.row_of[name]] = limit
        return row

    def like_these(self, tables: Tables) -> "NodeColumns":
        """The same drivers over other tables, and no node yet."""
        made = NodeColumns(tables)
        made._drivers = self._drivers
        return made

    def view(self) -> Nodes:
        labels = {
            key: Label(columns.read_only(label.codes), label.values, label.code_of)
            for key, label in self._labels.items()
        }
        return Nodes(
            names=self._names,
            row_of=self.row_of,
            present=columns.read_only(self._present),
            unschedulable=columns.read_only(self._unschedulable),
            hashes=columns.read_only(self._hashes),
            allocatable=columns.read_only(self._tables.allocatable),
            labels=labels,
            taints=columns.read_only(self._taints),
            taint_sets=self._taint_sets,
            features=columns.read_only(self._features),
            feature_sets=self._feature_sets,
            images=self._images,
        )

    def words_about(self, name: str) -> dict[str, object]:
        """Everything that the columns say about one node."""
        row = self.row_of[name]
        said: dict[str, object] = {
            f"label {key}": None if label.codes[row] < 0 else label.values[label.codes[row]]
            for key, label in self._labels.items()
        }
        said["taints"] = self._taint_sets[self._taints[row]]
        said["features"] = self._feature_sets[self._features[row]]
        said["unschedulable"] = bool(self._unschedulable[row])
        said["present"] = bool(self._present[row])
        said |= {f"image {name}": at[row] for name, at in self._images.items() if row in at}
        return said | self._tables.amounts_of(row)

    def _show(self, row: int, before: Face, face: Face) -> None:
        for key in before.labels:
            if key not in face.labels:
                self._labels[key].codes[row] = columns.ABSENT
        for key, value in face.labels.items():
            if before.labels.get(key) != value:
                self._label(key).put(row, value)
        self._taints[row] = _code(self._taint_sets, self._taint_code, face.taints)
        self._features[row] = _code(self._feature_sets, self._feature_code, face.features)
        self._unschedulable[row] = face.unschedulable
        if face.images != before.images:
            self._show_images(row, before.images, face.images)
        if face.allocatable != before.allocatable or face.limits != before.limits:
            self._show_allocatable(row, face)

    def _show_images(self, row: int, before: Images, images: Images) -> None:
        for name in _sizes(before):
            self._images[name].pop(row, None)
        for name, size in _sizes(images).items():
            self._images.setdefault(name, {})[row] = size

    def _show_allocatable(self, row: int, face: Face) -> None:
        amounts = {
            self._tables.resource_row(name): quantity.base_units(name, text)
            for name, text in face.allocatable.items()
            if is_counted(name) or name == FIXED[PODS]
        }
        amounts[SCORED_CPU] = amounts.get(CPU, 0)
        amounts[SCORED_MEMORY] = amounts.get(MEMORY, 0)
        for driver, resource in self._drivers.items():
            amounts[self._tables.resource_row(resource)] = face.limits.get(driver, NO_LIMIT)
        self._tables.allocatable[:, row] = 0
        self._tables.allocatable[list(amounts), row] = list(amounts.values())

    def _new_row(self, name: str) -> int:
        if self._free_rows:
            row = self._free_rows.pop()
            self._names[row] = name
        else:
            row = len(self._names)
            self._names.append(name)
            if row == len(self._present):
                self._widen(2 * row)
        self.row_of[name] = row
        self._present[row] = True
        self._hashes[row] = int.from_bytes(blake2b(name.encode(), digest_size=8).digest())
        return row

    def _widen(self, length: int) -> None:
        self._present = columns.widened(self._present, length)
        self._unschedulable = columns.widened(self._unschedulable, length)
        self._hashes = columns.widened(self._hashes, length)
        self._taints = columns.widened(self._taints, length)
        self._features = columns.widened(self._features, length)
        self._tables.widen(length)
        for label in self._labels.values():
            label.codes = columns.widened(label.codes, length)

    def _label(self, key: str) -> LabelColumn:
        if key not in self._labels:
            self._labels[key] = LabelColumn(columns.codes(len(self._present)))
        return self._labels[key]


def face_of(node: api.Node, limits: Mapping[str, int]) -> Face:
    return Face(
        labels=node.metadata.labels,
        taints=tuple(Taint(t.key, t.value, t.effect) for t in node.spec.taints),
        unschedulable=node.spec.unschedulable,
        allocatable=node.status.allocatable,
        features=node.status.declared_features,
        images=node.status.images,
        limits=limits,
    )


def _sizes(images: Images) -> dict[str, int]:
    """By name as the node has it: one without a tag is nobody's, as for kube-scheduler."""
    return {name: image.size_bytes for image in images for name in image.names or ()}


_Value = TypeVar("_Value", str, tuple[Taint, ...], tuple[str, ...])


def _code(values: list[_Value], code_of: dict[_Value, int], value: _Value) -> int:
    """The number of a value, which gets the next one when it is new."""
    code = code_of.get(value)
    if code is None:
        code = code_of[value] = len(values)
        values.append(value)
    return code
