"""Pods as members of groups, and where each stands.

FOREIGN    another scheduler's, not bound
GATED -> PENDING -> ASSUMED -> BOUND -> LEAVING | FINISHED | FAILED
REPORTED   asks for what is not supported yet
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from tutti.api.core_v1 import Pod
from tutti.core.pods import PodClass
from tutti.engine.messages import PodRef

if TYPE_CHECKING:
    from tutti.engine.groups import Group


class State(IntEnum):
    """Where a member stands, as far as its group is concerned."""

    FOREIGN = 0
    GATED = 1
    REPORTED = 2
    PENDING = 3
    ASSUMED = 4
    BOUND = 5
    LEAVING = 6
    FINISHED = 7
    FAILED = 8


FOREIGN, GATED, REPORTED, PENDING, ASSUMED, BOUND, LEAVING, FINISHED, FAILED = State
UNBOUND = frozenset({FOREIGN, GATED, REPORTED, PENDING})
ALIVE = frozenset({FOREIGN, GATED, REPORTED, PENDING, ASSUMED, BOUND})


class Member:
    """One pod that the engine knows, with what was decided and said about it."""

    __slots__ = ("cls", "commit", "group", "node", "pod", "ref", "said", "state")

    def __init__(self, pod: Pod, state: State, cls: PodClass) -> None:
        meta = pod.metadata
        self.ref = PodRef(meta.namespace, meta.name, meta.uid)
        self.pod = pod
        self.cls = cls
        self.state = state
        self.node = pod.spec.node_name
        self.group: Group | None = None
        self.commit = ""
        self.said: tuple[str, str] | None = None

    @property
    def born(self) -> float:
        made = self.pod.metadata.creation_timestamp
        return made.timestamp() if made is not None else 0.0


def job_of(pod: Pod) -> str | None:
    """The uid of the Job that made the pod, if one did."""
    for owner in pod.metadata.owner_references:
        if owner.controller and owner.kind == "Job":
            return owner.uid
    return None
