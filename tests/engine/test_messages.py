"""Messages are values: they go through a journal and come back equal."""

from typing import get_args

import msgspec
import pytest

from tutti.api.core_v1 import Node, Pod
from tutti.api.meta import Condition, ObjectMeta
from tutti.api.scheduling import CompositePodGroup, PodGroup, Workload
from tutti.api.storage import CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass
from tutti.engine import messages
from tutti.engine.messages import GroupRef, OwnerRef, PodRef, Unit

POD = PodRef("default", "worker-0", "u-1")
GROUP = GroupRef("PodGroup", "default", "train", "u-2")
UNIT = Unit("u-2", "PodGroup", "default", "train", "c-1")
IMPLIED = Unit("u-3", "Implied", "default", "train.u-3", "c-2")
OWNER = OwnerRef("batch/v1", "Job", "default", "train", "u-3")
META = ObjectMeta(name="train", namespace="default", uid="u-2")

EXAMPLES = [
    messages.PodSeen(Pod(metadata=META)),
    messages.PodGone(POD),
    messages.NodeSeen(Node(metadata=META)),
    messages.NodeGone("n0"),
    messages.GroupSeen(PodGroup(metadata=META)),
    messages.GroupGone(GROUP),
    messages.CompositeSeen(CompositePodGroup(metadata=META)),
    messages.CompositeGone(GROUP),
    messages.WorkloadSeen(Workload(metadata=META)),
    messages.WorkloadGone("default", "train"),
    messages.JobSeen("u-3", 2, gang=4),
    messages.JobGone("u-3"),
    messages.ClaimSeen(PersistentVolumeClaim(metadata=META)),
    messages.ClaimGone("default", "data"),
    messages.VolumeSeen(PersistentVolume(metadata=META)),
    messages.VolumeGone("pv-data"),
    messages.StorageClassSeen(StorageClass(metadata=META)),
    messages.StorageClassGone("fast"),
    messages.CsiNodeSeen(CSINode(metadata=META)),
    messages.CsiNodeGone("n0"),
    messages.Edition(composites=True, group_status=True),
    messages.Synced(),
    messages.LeaseHeld((UNIT,)),
    messages.LeaseLost(),
    messages.IntentWritten(7),
    messages.IntentRefused(7, "too late"),
    messages.Bound(POD, "n0", "c-1"),
    messages.BindRefused(POD, "n0", "c-1", "Conflict", "already bound"),
    messages.BindUnknown(POD, "n0", "c-1", "timed out"),
    messages.PodRead(POD, None),
    messages.Deleted(POD),
    messages.DeleteFailed(POD, "timed out"),
    messages.WriteIntent(7, (UNIT, IMPLIED)),
    messages.Bind(POD, "n0", "c-1"),
    messages.ReadPod(POD),
    messages.UndoBind(POD, "c-1"),
    messages.SetPodCondition(POD, Condition(type="PodScheduled", status="False"), nominated=""),
    messages.SetGroupCondition(GROUP, Condition(type="tutti.dev/Satisfied", status="True")),
    messages.Note(OWNER, "Normal", "Scheduled", "Binding", "needs 3, 3 bound"),
]


@pytest.mark.parametrize("message", EXAMPLES, ids=lambda message: type(message).__name__)
def test_a_message_comes_back_equal_from_bytes(message):
    known = messages.Event | messages.Action
    assert msgspec.json.decode(msgspec.json.encode(message), type=known) == message


def test_every_message_has_an_example():
    known = {*get_args(messages.Event), *get_args(messages.Action)}
    assert {type(message) for message in EXAMPLES} == known
