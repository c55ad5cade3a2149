"""Random volumes under small clusters: bound claims, shared and single, near and far."""

from dataclasses import dataclass, field

import msgspec
from hypothesis import strategies as st

from tests.core import clusters
from tests.core.support import pod
from tutti.api import core_v1 as api
from tutti.api import storage
from tutti.api.meta import ObjectMeta
from tutti.engine.encode import Cluster

ZONE = "topology.kubernetes.io/zone"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
CLAIMS = ("data", "logs", "model", "scratch")


@dataclass
class Disks:
    """Volumes by the claim that is bound to each, and how many of them nodes attach."""

    claims: dict[str, storage.PersistentVolumeClaim] = field(default_factory=dict)
    volumes: dict[str, storage.PersistentVolume] = field(default_factory=dict)
    limits: dict[str, dict[str, int]] = field(default_factory=dict)

    def show(self, cluster: Cluster) -> None:
        for claim in self.claims.values():
            cluster.volumes.claim_seen(claim)
        for one in self.volumes.values():
            cluster.volumes.volume_seen(one)
        for node, limits in self.limits.items():
            cluster.limits_seen(node, limits)


def claim(
    name: str, volume: str = "", *modes: str, bound: bool = True, **more: object
) -> storage.PersistentVolumeClaim:
    """A claim; one that names a volume is bound to it unless it says otherwise."""
    return storage.PersistentVolumeClaim(
        metadata=ObjectMeta(
            name=name,
            uid=name,
            namespace="default",
            annotations={storage.BIND_COMPLETED: "yes"} if volume and bound else {},
        ),
        spec=storage.ClaimSpec(
            volume_name=volume,
            access_modes=modes or ("ReadWriteOnce",),
            **more,  # type: ignore[arg-type]
        ),
    )


def volume(
    name: str, *, driver: str = "", zone: str | None = None, **labels: str
) -> storage.PersistentVolume:
    """A volume; with a zone it can be reached from nodes of that zone only."""
    rule = api.NodeSelectorRequirement(key=ZONE, operator="In", values=(zone or "",))
    terms = (api.NodeSelectorTerm(match_expressions=(rule,)),)
    affinity = storage.VolumeNodeAffinity(required=api.NodeSelector(node_selector_terms=terms))
    return storage.PersistentVolume(
        metadata=ObjectMeta(name=name, uid=name, labels=labels),
        spec=storage.VolumeSpec(
            node_affinity=affinity if zone else None,
            csi=storage.CsiSource(driver=driver, volume_handle=name) if driver else None,
        ),
    )


def mounting(*claims: str, name: str = "pod", **spec: object) -> api.Pod:
    volumes = tuple(
        api.Volume(name=claim, persistent_volume_claim=api.ClaimVolume(claim_name=claim))
        for claim in claims
    )
    return pod(name, volumes=volumes, **spec)  # type: ignore[arg-type]


@st.composite
def zoned_nodes(draw: st.DrawFn) -> list[api.Node]:
    """Nodes in zones, under the new name of the label, the old one, or none."""
    return [_in_zone(draw, node) for node in draw(clusters.nodes(at_most=4))]


def _in_zone(draw: st.DrawFn, node: api.Node) -> api.Node:
    zones = draw(
        st.dictionaries(st.sampled_from((ZONE, OLD_ZONE)), st.sampled_from("ab"), max_size=2)
    )
    labels = {**node.metadata.labels, **zones}
    metadata = msgspec.structs.replace(node.metadata, labels=labels)
    return msgspec.structs.replace(node, metadata=metadata)


@st.composite
def disks(draw: st.DrawFn) -> Disks:
    made = Disks()
    for name in CLAIMS:
        made.claims[name] = claim(
            name,
            f"pv-{name}",
            draw(st.sampled_from(("ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany"))),
        )
        labels = draw(
            st.dictionaries(
                st.sampled_from((ZONE, OLD_ZONE)),
                st.sampled_from(("a", "b", "a__c", "a__")),
                max_size=1,
            )
        )
        made.volumes[f"pv-{name}"] = volume(
            f"pv-{name}",
            driver=draw(st.sampled_from(("", "slow.csi", "fast.csi"))),
            zone=draw(st.sampled_from((None, None, "a"))),
            **labels,
        )
    for node in draw(st.sets(st.sampled_from(("node-a", "node-b", "node-c")))):
        made.limits[node] = draw(
            st.dictionaries(st.sampled_from(("slow.csi", "fast.csi")), st.integers(0, 2))
        )
    return made


def mounting_pods() -> st.SearchStrategy[api.Pod]:
    return st.lists(st.sampled_from(CLAIMS), max_size=3, unique=True).map(
        lambda claims: mounting(*claims)
    )


def named(pod: api.Pod, name: str) -> api.Pod:
    """The same pod under a name of its own: who mounts a claim counts by pod."""
    metadata = msgspec.structs.replace(pod.metadata, name=name, uid=name)
    return msgspec.structs.replace(pod, metadata=metadata)
