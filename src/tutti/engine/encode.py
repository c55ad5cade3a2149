"""Cluster: objects in, columns out. It owns the columns, and touches only rows that changed.

What pods hold is remembered by the node's name, so that it counts again when a node comes back.
Running and assumed pods count alike.
"""

from collections.abc import Mapping
from dataclasses import replace

from tutti.api import core_v1 as api
from tutti.core import columns
from tutti.core.columns import Rows
from tutti.core.pods import PodClass
from tutti.core.snapshot import Memo, Nodes, Snapshot
from tutti.core.volumes import Disk
from tutti.engine.classes import Classes
from tutti.engine.node_columns import FEWEST_ROWS, NodeColumns, face_of
from tutti.engine.tables import Tables
from tutti.engine.volumes import Volumes


class Cluster:
    """Nodes, and what pods hold on them, as columns that are refreshed row by row."""

    def __init__(self) -> None:
        self.volumes = Volumes()
        self._limits: dict[str, Mapping[str, int]] = {}
        self._version = 0
        self._nodes_version = 0
        self._memo = Memo()
        self._changed: dict[int, None] | None = None
        self._view: Nodes | None = None
        self._tables = Tables(FEWEST_ROWS)
        self._nodes = NodeColumns(self._tables)
        self._classes = Classes(self._tables, self._count_late)
        self._held: dict[str, tuple[PodClass, str]] = {}
        self._held_on: dict[str, dict[str, PodClass]] = {}

    def node_seen(self, node: api.Node) -> None:
        """A node is new, or may have changed; a heartbeat changes nothing."""
        name = node.metadata.name
        face = face_of(node, self._limits.get(name, {}))
        before = self._nodes.faces.get(name)
        if face == before:
            return
        row = self._nodes.put(name, face)
        if before is None:
            self._count_all_on(name, row)
        if self._nodes.have_images:
            self._classes.tell_apart_by_images()
        self._nodes_changed()

    def limits_seen(self, node_name: str, limits: Mapping[str, int]) -> None:
        """How many volumes the drivers on a node attach, whether or not the node is known yet."""
        self._limits[node_name] = limits
        self.volumes.limited(limits)
        face = self._nodes.faces.get(node_name)
        if face is not None and face.limits != limits:
            self._nodes.put(node_name, replace(face, limits=limits))
            self._nodes_changed()

    def node_gone(self, name: str) -> None:
        """What its pods hold is kept, in case the node comes back before they are gone."""
        if name in self._nodes.faces:
            self._tables.used[:, self._nodes.remove(name)] = 0
            self._nodes_changed()

    @property
    def generation(self) -> int:
        """Moves when pods that were of one class may not be any more: ask again for all pods.

        That is so when a pod asks about labels that nobody asked about before.
        """
        return self._classes.generation

    def class_of(self, pod: api.Pod) -> PodClass:
        """The class of a pod: the same object for pods that ask for the same."""
        return self._classes.of(pod, self.volumes.mounts_of(pod, self))

    def disk_row(self, disk: Disk) -> int:
        return self._tables.row_of(self._tables.disks, disk)

    def driver_row(self, driver: str) -> int:
        return self._nodes.driver_row(driver)

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
        if self._view is None or len(self._view.allocatable) < len(self._tables.allocatable):
            self._view = self._nodes.view()
        return Snapshot(
            version=self._version,
            nodes_version=self._nodes_version,
            table=self._tables.view(),
            nodes=self._view,
            used=columns.read_only(self._tables.used),
            memo=self._memo,
        )

    def take_changes(self) -> Rows | None:
        """The rows in which what is held changed since the last call; None where nodes changed."""
        changed, self._changed = self._changed, {}
        return None if changed is None else columns.rows(changed)

    @property
    def is_overgrown(self) -> bool:
        """Whether it is time to `begin_anew`: most that is counted will be about pods long gone."""
        return self._classes.are_overgrown

    def begin_anew(self) -> None:
        """Forget all classes and what they hold; all pods have to be asked about, and held, again.

        `settle` is to be called when that is done.
        """
        self._held.clear()
        self._held_on.clear()
        self._tables.drop_counts()
        self._classes.forget_all()
        self._nodes_changed()

    def settle(self) -> None:
        self._classes.settle()

    def check(self) -> list[str]:
        """Derive the columns anew from what was seen, and name every difference."""
        fresh = Cluster()
        fresh._tables = self._tables.like_these(FEWEST_ROWS)
        fresh._nodes = self._nodes.like_these(fresh._tables)
        fresh._held_on = self._held_on
        for name, face in self._nodes.faces.items():
            fresh._count_all_on(name, fresh._nodes.put(name, face))
        return [
            f"node {name}: {what} is {mine}, should be {theirs}"
            for name in self._nodes.faces
            for what, mine, theirs in _differences(
                self._nodes.words_about(name), fresh._nodes.words_about(name)
            )
        ]

    def _count(self, cls: PodClass, node_name: str, sign: int) -> None:
        row = self._nodes.row_of.get(node_name)
        if row is not None:
            self._tables.used[cls.held_rows, row] += sign * cls.held_amounts
            self._row_changed(row)

    def _count_all_on(self, name: str, row: int) -> None:
        for cls in self._held_on.get(name, {}).values():
            self._tables.used[cls.held_rows, row] += cls.held_amounts

    def _count_late(self, row: int) -> None:
        """Fill a row that came late with what is held already."""
        for cls, node_name in self._held.values():
            node = self._nodes.row_of.get(node_name)
            if node is not None and row in cls.held:
                self._tables.used[row, node] += cls.held[row]
                self._row_changed(node)

    def _row_changed(self, row: int) -> None:
        self._version += 1
        if self._changed is not None:
            self._changed[row] = None

    def _nodes_changed(self) -> None:
        self._version += 1
        self._nodes_version += 1
        self._view = None
        self._memo = Memo()
        self._changed = None


def _differences(
    mine: Mapping[str, object], theirs: Mapping[str, object]
) -> list[tuple[str, object, object]]:
    """What two descriptions of a node say differently; what one leaves out counts as nothing."""
    return [
        (what, mine.get(what), theirs.get(what))
        for what in {**mine, **theirs}
        if mine.get(what) != theirs.get(what)
    ]
