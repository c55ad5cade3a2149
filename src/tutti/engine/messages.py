"""Every event that goes into the engine and every action that comes out of it.

Values between the engine and the hands, and what a journal is made of: each is frozen and tagged,
so that one encode call writes any of them down and one decode call reads it back.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from tutti.api.core_v1 import Node, Pod
from tutti.api.meta import Condition
from tutti.api.scheduling import CompositePodGroup, PodGroup, Workload
from tutti.api.storage import CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass

GroupKind = Literal["PodGroup", "CompositePodGroup"]


class PodRef(msgspec.Struct, frozen=True, tag=True, tag_field="is"):
    """One pod of its name: the uid keeps it apart from a namesake made later."""

    namespace: str
    name: str
    uid: str


class GroupRef(msgspec.Struct, frozen=True, tag=True, tag_field="is"):
    kind: GroupKind
    namespace: str
    name: str
    uid: str


class OwnerRef(msgspec.Struct, frozen=True, tag=True, tag_field="is"):
    """What the pods of an implied group are owned by: a Job, or something of any other kind."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


class Unit(msgspec.Struct, frozen=True):
    """The highest group whose quorum a commit establishes; the Lease carries it until it stands."""

    uid: str
    kind: GroupKind | Literal["Implied"]
    namespace: str
    name: str
    commit: str


class Message(msgspec.Struct, frozen=True, tag=True, tag_field="is"):
    pass


# --- events -----------------------------------------------------------------------------------


class PodSeen(Message, frozen=True):
    """A pod as a list or a watch showed it, whoever schedules it."""

    pod: Pod


class PodGone(Message, frozen=True):
    ref: PodRef


class NodeSeen(Message, frozen=True):
    node: Node


class NodeGone(Message, frozen=True):
    name: str


class GroupSeen(Message, frozen=True):
    group: PodGroup


class GroupGone(Message, frozen=True):
    ref: GroupRef


class CompositeSeen(Message, frozen=True):
    group: CompositePodGroup


class CompositeGone(Message, frozen=True):
    ref: GroupRef


class WorkloadSeen(Message, frozen=True):
    workload: Workload


class WorkloadGone(Message, frozen=True):
    namespace: str
    name: str


class JobSeen(Message, frozen=True):
    """How many pods a Job still wants at once: what its last pods can't be asked to exceed.

    `gang` is what it asks for its pods where they are in no PodGroup: a quorum, 0 for none in so
    many words, None where it asks nothing; `wrong` says why that can't be told.
    """

    uid: str
    wanted: int
    gang: int | None = None
    wrong: str = ""


class JobGone(Message, frozen=True):
    uid: str


class ClaimSeen(Message, frozen=True):
    claim: PersistentVolumeClaim


class ClaimGone(Message, frozen=True):
    namespace: str
    name: str


class VolumeSeen(Message, frozen=True):
    volume: PersistentVolume


class VolumeGone(Message, frozen=True):
    name: str


class StorageClassSeen(Message, frozen=True):
    storage_class: StorageClass


class StorageClassGone(Message, frozen=True):
    name: str


class CsiNodeSeen(Message, frozen=True):
    """How many volumes drivers attach on the node of this name."""

    node: CSINode


class CsiNodeGone(Message, frozen=True):
    name: str


class Edition(Message, frozen=True):
    """What the API server serves, found by discovery; of Jobs, whether they are told of."""

    composites: bool
    group_status: bool
    jobs: bool = False


class Synced(Message, frozen=True):
    """The first lists are in. Nothing is decided before."""


class LeaseHeld(Message, frozen=True):
    """The Lease is ours; `units` is what its last holder left on it."""

    units: tuple[Unit, ...] = ()


class LeaseLost(Message, frozen=True):
    pass


class IntentWritten(Message, frozen=True):
    """The list of this number, or a later one, stands on the Lease."""

    number: int


class IntentRefused(Message, frozen=True):
    number: int
    message: str


class Bound(Message, frozen=True):
    pod: PodRef
    node: str
    commit: str


class BindRefused(Message, frozen=True):
    """`reason` is that of the server's Status: Conflict, NotFound, Forbidden, and so on."""

    pod: PodRef
    node: str
    commit: str
    reason: str
    message: str


class BindUnknown(Message, frozen=True):
    """No answer came: whether the pod is bound is not known until somebody looks at it."""

    pod: PodRef
    node: str
    commit: str
    message: str


class PodRead(Message, frozen=True):
    """The answer to `ReadPod`, from the server itself and not from a cache; None: it is gone."""

    ref: PodRef
    pod: Pod | None


class Deleted(Message, frozen=True):
    """The answer to `UndoBind`: the pod is being deleted, or was gone already."""

    ref: PodRef


class DeleteFailed(Message, frozen=True):
    ref: PodRef
    message: str


Event = (
    PodSeen
    | PodGone
    | NodeSeen
    | NodeGone
    | GroupSeen
    | GroupGone
    | CompositeSeen
    | CompositeGone
    | WorkloadSeen
    | WorkloadGone
    | JobSeen
    | JobGone
    | ClaimSeen
    | ClaimGone
    | VolumeSeen
    | VolumeGone
    | StorageClassSeen
    | StorageClassGone
    | CsiNodeSeen
    | CsiNodeGone
    | Edition
    | Synced
    | LeaseHeld
    | LeaseLost
    | IntentWritten
    | IntentRefused
    | Bound
    | BindRefused
    | BindUnknown
    | PodRead
    | Deleted
    | DeleteFailed
)


# --- actions ----------------------------------------------------------------------------------


class WriteIntent(Message, frozen=True):
    """Write this list, whole, onto the Lease; numbers rise, and a later list may stand for it."""

    number: int
    units: tuple[Unit, ...]


class Bind(Message, frozen=True):
    """Bind the pod, with its uid as precondition and `commit` in annotation `tutti.dev/commit`."""

    pod: PodRef
    node: str
    commit: str


class ReadPod(Message, frozen=True):
    ref: PodRef


class UndoBind(Message, frozen=True):
    """Mark the pod `DisruptionTarget`, then delete it by uid, with the grace that it asks for."""

    pod: PodRef
    commit: str


class SetPodCondition(Message, frozen=True):
    """`nominated`: None leaves `status.nominatedNodeName` alone, an empty string clears it."""

    pod: PodRef
    condition: Condition
    nominated: str | None = None


class SetGroupCondition(Message, frozen=True):
    group: GroupRef
    condition: Condition


class Note(Message, frozen=True):
    """An Event in Kubernetes' sense."""

    about: PodRef | GroupRef | OwnerRef
    type: Literal["Normal", "Warning"]
    reason: str
    action: str
    message: str


Action = WriteIntent | Bind | ReadPod | UndoBind | SetPodCondition | SetGroupCondition | Note
