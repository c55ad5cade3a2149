"""Claims: what keeps a pod waiting is said in Kubernetes' words, and what is mended wakes it."""

from datetime import UTC, datetime

import msgspec
import pytest

from tests.core.disks import ZONE, claim, mounting, volume
from tests.core.support import cluster
from tests.core.support import node as core_node
from tests.engine.stage import Stage, gang, node, pod
from tutti.api import core_v1, storage
from tutti.api.meta import ObjectMeta, OwnerReference
from tutti.engine import messages
from tutti.engine.encode import Cluster
from tutti.engine.engine import Engine

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def verdict(here: Cluster, pod: core_v1.Pod) -> str:
    return here.class_of(pod).asks.mounts.verdict


def changed(made: storage.PersistentVolumeClaim, **meta: object) -> storage.PersistentVolumeClaim:
    return msgspec.structs.replace(made, metadata=msgspec.structs.replace(made.metadata, **meta))


def fast(mode: str = "WaitForFirstConsumer") -> storage.StorageClass:
    return storage.StorageClass(metadata=ObjectMeta(name="fast"), volume_binding_mode=mode)


def lost() -> storage.PersistentVolumeClaim:
    made = claim("data", "pv")
    return msgspec.structs.replace(made, status=storage.ClaimStatus(phase="Lost"))


UNBOUND = "pod has unbound immediate PersistentVolumeClaims"
WAITS = (
    'persistentvolumeclaim "data" waits for its first consumer: '
    "choosing or provisioning volumes is not supported by Tutti yet"
)


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        pytest.param(None, 'persistentvolumeclaim "data" not found', id="no claim"),
        pytest.param(
            lost(),
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "pv"',
            id="its volume is lost",
        ),
        pytest.param(
            changed(claim("data", "pv"), deletion_timestamp=NOON),
            'persistentvolumeclaim "data" is being deleted',
            id="being deleted",
        ),
        pytest.param(claim("data"), UNBOUND, id="unbound, without a class"),
        pytest.param(claim("data", storage_class_name="other"), UNBOUND, id="of no known class"),
        pytest.param(claim("data", storage_class_name="slow"), UNBOUND, id="bound at once"),
        pytest.param(claim("data", storage_class_name="fast"), WAITS, id="bound to a pod's place"),
        pytest.param(
            changed(
                claim("data", storage_class_name="slow"),
                annotations={storage.CLASS_ANNOTATION: "fast"},
            ),
            WAITS,
            id="the annotation names the class",
        ),
        pytest.param(
            claim("data", "pv", bound=False, storage_class_name="fast"),
            UNBOUND,
            id="it names its volume, and isn't bound yet",
        ),
        pytest.param(claim("data", "gone"), 'persistentvolume "gone" not found', id="no volume"),
        pytest.param(claim("data", "pv"), "", id="bound"),
    ],
)
def test_a_claim_keeps_the_pod_waiting_in_kubernetes_words(
    made: storage.PersistentVolumeClaim | None, sentence: str
) -> None:
    here = cluster(core_node("n0"))
    here.volumes.class_seen(fast())
    here.volumes.class_seen(
        storage.StorageClass(metadata=ObjectMeta(name="slow"), volume_binding_mode="Immediate")
    )
    here.volumes.volume_seen(volume("pv"))
    if made is not None:
        here.volumes.claim_seen(made)
    assert verdict(here, mounting("data")) == sentence


def ephemeral() -> core_v1.Pod:
    source = core_v1.Volume(name="scratch", ephemeral=core_v1.InlineVolume())
    made = mounting()
    return msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, volumes=(source,)))


def test_an_ephemeral_volume_waits_for_a_claim_of_its_own_pod() -> None:
    here = cluster(core_node("n0"))
    here.volumes.volume_seen(volume("pv"))
    assert verdict(here, ephemeral()) == (
        'waiting for ephemeral volume controller to create the persistentvolumeclaim "pod-scratch"'
    )
    made = claim("pod-scratch", "pv")
    here.volumes.claim_seen(made)
    assert verdict(here, ephemeral()) == (
        "PVC default/pod-scratch was not created for pod default/pod (pod is not owner)"
    )
    owner = OwnerReference(kind="Pod", name="pod", uid="pod", controller=True)
    here.volumes.claim_seen(changed(made, owner_references=(owner,)))
    assert verdict(here, ephemeral()) == ""


def test_a_disk_of_old_waits_only_where_drivers_have_limits() -> None:
    here = cluster(core_node("n0"))
    disk = volume("pv")
    spec = msgspec.structs.replace(disk.spec, gce_persistent_disk=core_v1.InlineVolume())
    here.volumes.volume_seen(msgspec.structs.replace(disk, spec=spec))
    here.volumes.claim_seen(claim("data", "pv"))
    assert verdict(here, mounting("data")) == ""
    here.limits_seen("n0", {"any.csi": 3})
    assert verdict(here, mounting("data")) == (
        'not supported by Tutti yet: persistentvolume "pv" with spec.gcePersistentDisk'
    )


def test_pods_on_claims_that_are_alike_are_of_one_class() -> None:
    here = cluster(core_node("n0"))
    here.limits_seen("n0", {"disk.csi": 5})
    for name in ("a", "b", "c"):
        here.volumes.claim_seen(claim(name, f"pv-{name}"))
        here.volumes.volume_seen(
            volume(f"pv-{name}", driver="disk.csi", zone="west" if name == "c" else "east")
        )
    pods = [mounting(name, name=f"pod-{name}") for name in ("a", "b", "c")]
    for one in pods:
        here.volumes.mounted(one)
    first, second, third = map(here.class_of, pods)
    assert first is second
    assert third is not first


# --- the engine -----------------------------------------------------------------------------------


def on_claim(name: str, *claims: str, group: str | None = None) -> core_v1.Pod:
    made = pod(name, group)
    volumes = mounting(*claims).spec.volumes
    return msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, volumes=volumes))


def bind(stage: Stage, name: str, *modes: str, **more: str) -> None:
    stage.tell(messages.VolumeSeen(volume(f"pv-{name}", **more)))
    stage.tell(messages.ClaimSeen(claim(name, f"pv-{name}", *modes)))


def limit(stage: Stage, node: str, count: int | None) -> None:
    drivers = (
        storage.CSINodeDriver(name="disk.csi", allocatable=storage.DriverLimit(count=count)),
    )
    spec = storage.CSINodeSpec(drivers=drivers)
    stage.tell(messages.CsiNodeSeen(storage.CSINode(metadata=ObjectMeta(name=node), spec=spec)))


def test_a_pod_is_placed_once_its_claim_is_made_and_bound(stage: Stage) -> None:
    stage.add(node("n0"), on_claim("db", "data"))
    stage.play(5)
    assert stage.said("db").endswith(
        '0/1 nodes are available: persistentvolumeclaim "data" not found.'
    )
    stage.tell(messages.ClaimSeen(claim("data")))
    stage.play(60)
    assert UNBOUND in stage.said("db")
    bind(stage, "data")
    stage.play(5)
    assert stage.places() == {"db": "n0"}


def test_a_pod_goes_where_its_volume_is(stage: Stage) -> None:
    east, west = (node(zone, **{ZONE: zone}) for zone in ("east", "west"))
    bind(stage, "data", zone="west")
    stage.add(east, on_claim("db", "data"))
    stage.play(5)
    assert "1 node(s) didn't match PersistentVolume's node affinity" in stage.said("db")
    stage.add(west)
    stage.play(5)
    assert stage.places() == {"db": "west"}


def test_a_claim_for_one_pod_has_one_user_at_a_time(stage: Stage) -> None:
    bind(stage, "data", storage.ONE_POD)
    stage.add(node("n0"), node("n1"), on_claim("first", "data"))
    stage.play(5)
    stage.add(on_claim("second", "data"))
    stage.play(5)
    assert (
        "2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
        "already in-use by another pod"
    ) in stage.said("second")
    stage.remove("first")
    stage.play(60)
    assert list(stage.places()) == ["second"]


def test_members_on_one_claim_for_one_pod_never_run_together(stage: Stage) -> None:
    """48: on claims of their own they do."""
    for name in ("data", "data-0", "data-1"):
        bind(stage, name, storage.ONE_POD)
    stage.add(node("n0"), node("n1"), gang("one", 2), gang("two", 2))
    stage.add(*(on_claim(f"one-{n}", "data", group="one") for n in range(2)))
    stage.add(*(on_claim(f"two-{n}", f"data-{n}", group="two") for n in range(2)))
    stage.play(5)
    assert sorted(stage.places()) == ["two-0", "two-1"]
    assert stage.satisfied("one") == "ProvedImpossible"


def test_a_node_attaches_no_more_volumes_than_its_driver_can(stage: Stage) -> None:
    for name in ("a", "b", "c"):
        bind(stage, name, driver="disk.csi")
    limit(stage, "n0", 1)
    stage.add(node("n0"), on_claim("first", "a"), on_claim("also", "a"))
    stage.play(5)
    assert stage.places() == {"first": "n0", "also": "n0"}
    stage.add(on_claim("second", "b"), on_claim("third", "c"))
    stage.play(5)
    assert "1 node(s) exceed max volume count" in stage.said("second")
    limit(stage, "n0", 2)
    stage.play(60)
    assert stage.bound() == 3
    stage.tell(messages.CsiNodeGone("n0"))
    stage.play(60)
    assert stage.bound() == 4


def test_what_is_known_of_volumes_is_told_on(stage: Stage) -> None:
    stage.tell(messages.StorageClassSeen(fast()))
    bind(stage, "data", driver="disk.csi")
    limit(stage, "n0", 1)
    stage.add(node("n0"), on_claim("db", "data"), on_claim("other", "nothing"))
    stage.play(5)
    again = Engine(stage.settings)
    for event in stage.engine.known():
        again.handle(event, 0.0)
    again.turn(0.0)
    assert list(again.known()) == list(stage.engine.known())
    assert again.check() == []


def test_a_volume_and_a_class_that_are_gone_count_no_more(stage: Stage) -> None:
    stage.add(node("n0"))
    stage.tell(messages.StorageClassSeen(fast()))
    stage.tell(messages.ClaimSeen(claim("data", storage_class_name="fast")))
    bind(stage, "logs")
    stage.tell(messages.VolumeGone("pv-logs"))
    stage.add(on_claim("db", "data"), on_claim("web", "logs"))
    stage.play(5)
    assert WAITS in stage.said("db")
    assert 'persistentvolume "pv-logs" not found' in stage.said("web")
    stage.tell(messages.StorageClassGone("fast"))
    stage.tell(messages.ClaimGone("default", "logs"))
    stage.play(60)
    assert UNBOUND in stage.said("db")
    assert 'persistentvolumeclaim "logs" not found' in stage.said("web")
