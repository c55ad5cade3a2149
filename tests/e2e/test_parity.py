"""Request by request, the embedded server answers as a real kube-apiserver does.

Each story is told to both; every status, every body and every warning must be equal, but for uids, versions,
times and field managers.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.both import Both, beside
from tools.throwaway import Plane

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"

GROUP = "/apis/scheduling.k8s.io/v1beta1"
ALPHA = "/apis/scheduling.k8s.io/v1alpha3"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/HERE/leases"
EVENTS = "/apis/events.k8s.io/v1/namespaces/HERE/events"
DEVICES = "/apis/resource.k8s.io/v1"
BUDGETS = "/apis/policy/v1/namespaces/HERE/poddisruptionbudgets"
STORAGE = "/apis/storage.k8s.io/v1"
APPS = "/apis/apps/v1/namespaces/HERE"
HERE = "/api/v1/namespaces/HERE"
MAPS = f"{HERE}/configmaps"
PODS = f"{HERE}/pods"
GROUPS = f"{GROUP}/namespaces/HERE/podgroups"

Step = tuple[Any, ...]
"""Method, path (HERE stands for the story's namespace), body, headers."""


def named(name: str, **fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **fields}


def pod(name: str, **spec: Any) -> dict[str, Any]:
    amounts = {"cpu": "1", "memory": "1Gi"}
    container = {
        "name": "c",
        "image": "i",
        "livenessProbe": {"httpGet": {"path": "/", "port": 80}},
        "resources": {"requests": amounts, "limits": amounts},
    }
    return {
        "metadata": {"name": name, "labels": {"app": "a"}},
        "spec": {"containers": [container], **spec},
    }


def group(name: str, policy: Any = None, **spec: Any) -> dict[str, Any]:
    return named(name, spec={"schedulingPolicy": policy or {"gang": {"minCount": 2}}, **spec})


def binding(name: str, node: str, kind: str = "Node", **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **metadata}, "target": {"kind": kind, "name": node}}


def owning() -> dict[str, Any]:
    """The spec of who owns alike pods."""
    labels = {"app": "a"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    return {"selector": {"matchLabels": labels}, "template": template}


def reading(accept: str) -> dict[str, str]:
    return {"Accept": accept}


def sending(content_type: str) -> dict[str, str]:
    return {"Content_Type": content_type}


STORIES: dict[str, list[Step]] = {
    "create": [
        ("POST", MAPS, named("a", data={"k": "v"})),
        ("POST", MAPS, named("a")),
        ("POST", MAPS, {"metadata": {}}),
        ("POST", MAPS, {"metadata": {"name": "b", "resourceVersion": "5"}}),
        ("POST", MAPS, {"metadata": {"name": "c", "generation": 5, "uid": "x", "selfLink": "s"}}),
        ("POST", MAPS, {"metadata": {"name": "d", "namespace": "other"}}),
        ("POST", MAPS, {"metadata": {"name": "Bad_Name"}}),
        ("POST", f"{MAPS}?dryRun=All", named("e")),
        ("POST", f"{MAPS}?dryRun=Some", named("e")),
        ("POST", "/api/v1/namespaces/nowhere-at-all/configmaps", named("e")),
        ("GET", f"{MAPS}/e"),
    ],
    "bodies": [
        ("POST", MAPS, '{"a":'),
        ("POST", MAPS, "[]"),
        ("POST", MAPS, "5"),
        ("POST", MAPS, {"metadata": {"name": "x", "labels": 5}}),
        ("POST", MAPS, {"kind": "Pod", "apiVersion": "v1", **named("x")}),
        ("POST", MAPS, {"kind": "Pie", "apiVersion": "v1", **named("x")}),
        ("POST", MAPS, {"kind": "ConfigMap", "apiVersion": "v2", **named("x")}),
        ("POST", GROUPS, {"kind": "PodGroup", "apiVersion": "scheduling.k8s.io/v1alpha3", **group("x")}),
        ("POST", GROUPS, group("x", {"gang": {"minCount": "two"}})),
        ("POST", GROUPS, group("x", {"gang": {"minCount": 2147483648}})),
        ("POST", f"{MAPS}?fieldValidation=Strict", named("x", colour={})),
        ("POST", f"{MAPS}?fieldValidation=Warn", named("y", colour={})),
        ("POST", f"{MAPS}?fieldValidation=Ignore", named("z", colour={})),
        ("POST", f"{MAPS}?fieldValidation=Perhaps", named("x")),
        ("POST", f"{MAPS}?fieldValidation=Strict", '{"metadata":{"name":"x","name":"y"}}'),
    ],
    "get and list": [
        ("POST", MAPS, {"metadata": {"name": "a", "labels": {"side": "l"}}}),
        ("POST", MAPS, {"metadata": {"name": "b", "labels": {"side": "r"}}}),
        ("GET", MAPS),
        ("GET", f"{MAPS}?labelSelector=side%3Dl"),
        ("GET", f"{MAPS}?labelSelector=side%20notin%20(l)"),
        ("GET", f"{MAPS}?labelSelector=a%20b"),
        ("GET", f"{MAPS}?labelSelector=a%20in%20(b"),
        ("GET", f"{MAPS}?fieldSelector=metadata.name%3Db"),
        ("GET", f"{MAPS}?fieldSelector=data.x%3Db"),
        ("GET", f"{MAPS}?fieldSelector=b"),
        ("GET", f"{MAPS}?limit=1"),
        ("GET", f"{MAPS}?limit=x"),
        ("GET", f"{MAPS}?resourceVersion=x"),
        ("GET", f"{MAPS}/a?resourceVersion=x"),
        ("GET", f"{MAPS}?resourceVersionMatch=Exact"),
        ("GET", f"{MAPS}?resourceVersionMatch=Exact&resourceVersion=0"),
        ("GET", f"{MAPS}?resourceVersionMatch=Any&resourceVersion=1"),
        ("GET", f"{MAPS}?sendInitialEvents=true"),
        ("GET", f"{MAPS}?watch=1&sendInitialEvents=true"),
        ("GET", f"{MAPS}?watch=1&resourceVersionMatch=Exact"),
        ("GET", f"{MAPS}?watch=1&resourceVersion=x"),
        ("GET", f"{MAPS}?colour=red"),
        ("GET", f"{MAPS}?timeout=soon"),
        ("GET", f"{MAPS}?timeout=5"),
        ("GET", f"{MAPS}?timeout=5s"),
        ("GET", f"{MAPS}/c"),
        ("GET", f"{PODS}?fieldSelector=spec.volumes%3Dx"),
        ("GET", "/api/v1/nodes?fieldSelector=metadata.namespace%3Dx"),
    ],
    "update": [
        ("POST", MAPS, named("a")),
        ("PUT", f"{MAPS}/a", named("a", data={"k": "v"})),
        ("PUT", f"{MAPS}/a", {"metadata": {}}),
        ("PUT", f"{MAPS}/a", named("b")),
        ("PUT", f"{MAPS}/a", {"metadata": {"name": "a", "namespace": "other"}}),
        ("PUT", f"{MAPS}/a", {"metadata": {"name": "a", "resourceVersion": "1"}}),
        ("PUT", f"{MAPS}/a", {"metadata": {"name": "a", "resourceVersion": "x"}}),
        ("PUT", f"{MAPS}/a", {"metadata": {"name": "a", "uid": "x"}}),
        ("PUT", f"{MAPS}/a", {"metadata": {"name": "a", "deletionTimestamp": "2020-01-01T00:00:00Z"}}),
        ("PUT", f"{MAPS}/b", named("b")),
        ("PUT", f"{LEASES}/l", named("l", spec={"holderIdentity": "me"})),
        ("PUT", f"{LEASES}/l", named("l", spec={"holderIdentity": "you"})),
    ],
    "patch": [
        ("POST", MAPS, named("a", data={"k": "v"})),
        ("PATCH", f"{MAPS}/a", {"data": {"l": "w"}}, sending(MERGE)),
        ("PATCH", f"{MAPS}/a", {"data": {"k": None}}, sending(STRATEGIC)),
        ("PATCH", f"{MAPS}/a", [{"op": "add", "path": "/data/m", "value": "x"}], sending(JSON_PATCH)),
        ("PATCH", f"{MAPS}/a", [{"op": "test", "path": "/data/m", "value": "y"}], sending(JSON_PATCH)),
        ("PATCH", f"{MAPS}/a", {"data": {}}, sending(JSON_PATCH)),
        ("PATCH", f"{MAPS}/a", [], sending(MERGE)),
        ("PATCH", f"{MAPS}/a", '{"a', sending(MERGE)),
        ("PATCH", f"{MAPS}/a", '{"a', sending(STRATEGIC)),
        ("PATCH", f"{MAPS}/a", {"data": 5}, sending(MERGE)),
        ("PATCH", f"{MAPS}/a", {"kind": "Pie"}, sending(MERGE)),
        ("PATCH", f"{MAPS}/a", {"metadata": {"name": "b"}}, sending(MERGE)),
        ("PATCH", f"{MAPS}/a", {"metadata": {"namespace": "b"}}, sending(MERGE)),
        ("PATCH", f"{MAPS}/a", {"metadata": {"uid": "b"}}, sending(MERGE)),
        ("PATCH", f"{MAPS}/a", {"metadata": {"resourceVersion": "1"}}, sending(MERGE)),
        ("PATCH", f"{MAPS}/a?force=true", {}, sending(MERGE)),
        ("PATCH", f"{MAPS}/a?fieldValidation=Strict", {"colour": 1}, sending(MERGE)),
        ("PATCH", f"{MAPS}/a", {"colour": 1}, sending(MERGE)),
        ("PATCH", f"{MAPS}/a", {}, sending("application/json")),
        ("PATCH", f"{MAPS}/b", {}, sending(MERGE)),
        ("GET", f"{MAPS}/a"),
    ],
    "delete": [
        ("POST", MAPS, named("a")),
        ("DELETE", f"{MAPS}/a", {"preconditions": {"uid": "x"}}),
        ("DELETE", f"{MAPS}/a", {"preconditions": {"resourceVersion": "1"}}),
        ("DELETE", f"{MAPS}/a", {"propagationPolicy": "Sideways"}),
        ("DELETE", f"{MAPS}/a", {"propagationPolicy": "Orphan", "orphanDependents": True}),
        ("DELETE", f"{MAPS}/a", {"gracePeriodSeconds": "x"}),
        ("DELETE", f"{MAPS}/a", {"kind": "Pod", "apiVersion": "v1"}),
        ("DELETE", f"{MAPS}/a", {"dryRun": ["All"]}),
        ("DELETE", f"{MAPS}/a", {"propagationPolicy": "Foreground"}),
        ("DELETE", f"{MAPS}/a"),
        ("PATCH", f"{MAPS}/a", {"metadata": {"finalizers": None}}, sending(MERGE)),
        ("GET", f"{MAPS}/a"),
        ("DELETE", f"{MAPS}/a"),
        ("POST", MAPS, named("b")),
        ("DELETE", f"{MAPS}/b"),
        ("POST", MAPS, named("c")),
        ("DELETE", f"{MAPS}?labelSelector=none"),
        ("DELETE", f"{HERE}/serviceaccounts/x"),
        ("POST", f"{HERE}/serviceaccounts", named("x")),
        ("DELETE", f"{HERE}/serviceaccounts/x"),
        ("DELETE", "/api/v1/namespaces/default"),
    ],
    "paths and methods": [
        ("GET", "/nothing"),
        ("GET", "/apis/nothing"),
        ("GET", "/apis/nothing/v1"),
        ("GET", "/api/v1/nothing"),
        ("GET", "/api/v2"),
        ("GET", f"{ALPHA.replace('v1alpha3', 'v9')}/podgroups"),
        ("GET", f"{GROUP}/compositepodgroups"),
        ("POST", f"{GROUP}/namespaces/HERE/compositepodgroups", named("x")),
        ("GET", f"{HERE}/nodes"),
        ("GET", "/api/v1/pods/x"),
        ("GET", f"{PODS}/x/nothing"),
        ("POST", f"{MAPS}/x", {}),
        ("PUT", MAPS, {}),
        ("POST", "/api/v1/configmaps", named("x")),
        ("DELETE", "/api/v1/configmaps"),
        ("DELETE", "/api/v1/namespaces"),
        ("GET", "/healthz"),
        ("GET", GROUP),
        ("GET", ALPHA),
        ("GET", "/apis/scheduling.k8s.io"),
        ("GET", "/apis/events.k8s.io/v1"),
        ("GET", "/apis/coordination.k8s.io/v1"),
    ],
    "pods": [
        ("POST", PODS, pod("p")),
        ("POST", PODS, pod("g", schedulingGates=[{"name": "x.example/wait"}])),
        ("POST", PODS, pod("q", priorityClassName="none-such")),
        ("POST", PODS, pod("q", priority=5)),
        ("POST", PODS, pod("q", schedulingGroup={})),
        ("POST", PODS, pod("q", schedulingGroup={"podGroupName": "A_b"})),
        ("POST", PODS, named("q", spec={})),
        ("POST", f"{PODS}/g/binding", binding("g", "n")),
        ("POST", f"{PODS}/p/binding", binding("p", "n", uid="x")),
        ("POST", f"{PODS}/p/binding", binding("q", "n")),
        ("POST", f"{PODS}/p/binding", binding("p", "n", "Pie")),
        ("POST", f"{PODS}/p/binding", binding("p", "")),
        ("POST", f"{PODS}/z/binding", binding("z", "n")),
        ("POST", f"{PODS}/p/binding", binding("p", "n", annotations={"a": "b"}, labels={"l": "m"})),
        ("POST", f"{PODS}/p/binding", binding("p", "n")),
        ("GET", f"{PODS}/p"),
        ("GET", f"{PODS}?fieldSelector=spec.nodeName%3Dn,status.phase%3DPending"),
        ("PUT", f"{PODS}/p/status", named("p", status={"phase": "Running"})),
        ("PATCH", f"{PODS}/p", {"status": {"phase": "Failed"}}, sending(MERGE)),
        ("PATCH", f"{PODS}/p", {"metadata": {"labels": {"x": "y"}}}, sending(STRATEGIC)),
        ("PATCH", f"{PODS}/p", {"spec": {"containers": [{"name": "c", "image": "j"}]}}, sending(STRATEGIC)),
        ("GET", PODS, None, reading(TABLE)),
        ("GET", f"{PODS}?includeObject=Object", None, reading(TABLE)),
        ("GET", f"{PODS}?includeObject=None", None, reading(TABLE)),
        ("GET", f"{PODS}?includeObject=Half", None, reading(TABLE)),
        ("GET", PODS, None, reading(METADATA_LIST)),
        ("GET", f"{PODS}/p", None, reading(METADATA)),
        ("POST", f"{PODS}/p/eviction", named("q")),
        ("POST", f"{PODS}/p/eviction", named("p")),
        ("GET", f"{PODS}/p"),
        ("POST", f"{PODS}/p/binding", binding("p", "n")),
        ("DELETE", f"{PODS}/p?gracePeriodSeconds=5"),
        ("DELETE", f"{PODS}/p", {"gracePeriodSeconds": 0}),
        ("GET", f"{PODS}/p"),
        ("DELETE", f"{PODS}/g"),
    ],
    "groups": [
        ("POST", GROUPS, group("g")),
        ("GET", f"{ALPHA}/namespaces/HERE/podgroups/g"),
        ("POST", GROUPS, group("h", {"gang": {"minCount": 0}})),
        ("POST", GROUPS, group("h", {"gang": {"minCount": -1}})),
        ("POST", GROUPS, group("h", {"basic": {}, "gang": {"minCount": 1}})),
        ("POST", GROUPS, named("h", spec={})),
        ("POST", GROUPS, group("h", disruptionMode={})),
        ("POST", GROUPS, group("h", priorityClassName="none-such")),
        ("POST", GROUPS, group("h", priority=7)),
        ("POST", GROUPS, group("h", priorityClassName="system-cluster-critical")),
        ("POST", GROUPS, group("h", parentCompositePodGroupName="c")),
        ("POST", GROUPS, group("Bad_Name")),
        ("PUT", f"{GROUPS}/g", group("g")),
        ("PATCH", f"{GROUPS}/g", {"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}, sending(MERGE)),
        ("PATCH", f"{GROUPS}/g", {"spec": {"priority": None}}, sending(MERGE)),
        ("PATCH", f"{GROUPS}/g", {"spec": {"disruptionMode": {"single": None, "all": {}}}}, sending(MERGE)),
        ("PATCH", f"{GROUPS}/g", {"spec": {"workloadRef": {"workloadName": "w", "templateName": "t"}}}, sending(MERGE)),
        ("PATCH", f"{GROUPS}/g/status", {"status": {"conditions": [{"type": "T", "status": "Maybe"}]}}, sending(MERGE)),
        ("PATCH", f"{GROUPS}/g/status", {"status": {"conditions": [{"type": "T", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}, "metadata": {"labels": {"a": "b"}}}, sending(MERGE)),
        ("GET", GROUPS, None, reading(TABLE)),
        ("DELETE", f"{GROUPS}/g"),
        ("PATCH", f"{GROUPS}/g", {"metadata": {"finalizers": None}}, sending(MERGE)),
        ("GET", f"{GROUPS}/g"),
        ("POST", f"{GROUP}/namespaces/HERE/workloads", named("w", spec={})),
        ("POST", f"{GROUP}/namespaces/HERE/workloads", named("w", spec={"podGroupTemplates": [{"name": "a", "schedulingPolicy": {"basic": {}}}]})),
        ("DELETE", f"{GROUP}/namespaces/HERE/workloads/w"),
        ("POST", f"{ALPHA}/namespaces/HERE/compositepodgroups", named("c", spec={"schedulingPolicy": {"basic": {}}})),
        ("POST", f"{ALPHA}/namespaces/HERE/compositepodgroups", named("c", spec={"schedulingPolicy": {"basic": {}}, "workloadRef": {"workloadName": "w", "templateName": "t"}})),
        ("GET", f"{ALPHA}/namespaces/HERE/compositepodgroups", None, reading(TABLE)),
        ("DELETE", f"{ALPHA}/namespaces/HERE/compositepodgroups/c"),
    ],
    "storage": [
        ("POST", f"{STORAGE}/storageclasses", named("HERE", provisioner="x.example/p")),
        ("POST", f"{STORAGE}/storageclasses", named("bad")),
        ("POST", f"{STORAGE}/storageclasses", named("bad", provisioner="p", reclaimPolicy="Burn", volumeBindingMode="Now")),
        ("PATCH", f"{STORAGE}/storageclasses/HERE", {"reclaimPolicy": "Retain"}, sending(MERGE)),
        ("GET", f"{STORAGE}/storageclasses/HERE", None, reading(TABLE)),
        ("DELETE", f"{STORAGE}/storageclasses/HERE"),
        ("POST", "/api/v1/persistentvolumes", named("HERE", spec={"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}})),
        ("POST", "/api/v1/persistentvolumes", named("bad", spec={})),
        ("POST", "/api/v1/persistentvolumes", named("bad", spec={"capacity": {"cpu": "1"}, "accessModes": ["Some"], "persistentVolumeReclaimPolicy": "Burn", "volumeMode": "X"})),
        ("PATCH", "/api/v1/persistentvolumes/HERE", {"spec": {"volumeMode": "Block"}}, sending(MERGE)),
        ("GET", "/api/v1/persistentvolumes/HERE", None, reading(TABLE)),
        ("PATCH", "/api/v1/persistentvolumes/HERE/status", {"status": {"phase": "Available"}}, sending(MERGE)),
        ("POST", f"{HERE}/persistentvolumeclaims", named("c", spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}})),
        ("POST", f"{HERE}/persistentvolumeclaims", named("bad", spec={})),
        ("POST", f"{HERE}/persistentvolumeclaims", named("bad", spec={"accessModes": ["ReadWriteOncePod", "ReadWriteMany"], "resources": {"requests": {"storage": "0"}}, "storageClassName": "A_b"})),
        ("PATCH", f"{HERE}/persistentvolumeclaims/c", {"spec": {"volumeName": "HERE"}}, sending(MERGE)),
        ("PATCH", f"{HERE}/persistentvolumeclaims/c/status", {"status": {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "5Gi"}}}, sending(MERGE)),
        ("GET", f"{HERE}/persistentvolumeclaims", None, reading(TABLE)),
        ("POST", f"{STORAGE}/csinodes", named("HERE", spec={"drivers": [{"name": "d", "nodeID": "i", "allocatable": {"count": 3}}]})),
        ("POST", f"{STORAGE}/csinodes", named("bad", spec={"drivers": [{"name": "d", "nodeID": "i"}, {"name": "d", "nodeID": ""}]})),
        ("GET", f"{STORAGE}/csinodes/HERE", None, reading(TABLE)),
        ("DELETE", f"{STORAGE}/csinodes/HERE"),
        ("POST", f"{STORAGE}/csidrivers", named("HERE", spec={})),
        ("GET", f"{STORAGE}/csidrivers/HERE", None, reading(TABLE)),
        ("DELETE", f"{STORAGE}/csidrivers/HERE"),
        ("GET", STORAGE.removesuffix("/v1")),
    ],
    "budgets": [
        ("POST", BUDGETS, named("b", spec={"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}})),
        ("POST", BUDGETS, named("bad", spec={"minAvailable": "x%", "unhealthyPodEvictionPolicy": "Never"})),
        ("POST", BUDGETS, named("bad", spec={"minAvailable": -1})),
        ("POST", BUDGETS, named("bad", spec={"maxUnavailable": "101%"})),
        ("GET", BUDGETS, None, reading(TABLE)),
        ("POST", PODS, pod("p")),
        ("POST", f"{PODS}/p/binding", binding("p", "n")),
        ("POST", PODS, pod("pending")),
        ("POST", f"{PODS}/pending/eviction", named("pending")),
        ("PATCH", f"{PODS}/p/status", {"status": {"phase": "Running"}}, sending(MERGE)),
        ("POST", f"{PODS}/p/eviction", named("p")),
        ("PATCH", f"{BUDGETS}/b/status", {"status": {"observedGeneration": 1, "desiredHealthy": 1, "currentHealthy": 1, "expectedPods": 1}}, sending(MERGE)),
        ("PATCH", f"{PODS}/p/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, sending(STRATEGIC)),
        ("POST", f"{PODS}/p/eviction", named("p")),
        ("PATCH", f"{BUDGETS}/b/status", {"status": {"disruptionsAllowed": 1, "currentHealthy": 2}}, sending(MERGE)),
        ("POST", f"{PODS}/p/eviction?dryRun=All", named("p")),
        ("POST", f"{PODS}/p/eviction", named("p")),
        ("GET", f"{BUDGETS}/b"),
        ("GET", f"{PODS}/p"),
        ("PATCH", f"{BUDGETS}/b", {"spec": {"minAvailable": 2}}, sending(MERGE)),
        ("DELETE", f"{BUDGETS}/b"),
    ],
    "devices": [
        ("POST", f"{DEVICES}/deviceclasses", named("HERE", spec={"selectors": [{"cel": {"expression": "device.driver == 'd.example.com'"}}]})),
        ("GET", f"{DEVICES}/deviceclasses/HERE", None, reading(TABLE)),
        ("DELETE", f"{DEVICES}/deviceclasses/HERE"),
        ("POST", f"{DEVICES}/resourceslices", named("HERE", spec={"driver": "d.example.com", "nodeName": "HERE", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}, "devices": [{"name": "d0"}]})),
        ("GET", f"{DEVICES}/resourceslices?fieldSelector=spec.nodeName%3DHERE", None, reading(TABLE)),
        ("DELETE", f"{DEVICES}/resourceslices/HERE"),
        ("POST", f"{DEVICES}/namespaces/HERE/resourceclaims", named("c", spec={"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "x"}}]}})),
        ("GET", f"{DEVICES}/namespaces/HERE/resourceclaims", None, reading(TABLE)),
        ("DELETE", f"{DEVICES}/namespaces/HERE/resourceclaims/c"),
        ("POST", f"{DEVICES}/namespaces/HERE/resourceclaimtemplates", named("t", spec={"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "x"}}]}}})),
        ("GET", DEVICES.removesuffix("/v1")),
        ("GET", "/apis/policy/v1"),
    ],
    "owners of pods": [
        ("POST", f"{APPS}/replicasets", named("r", spec=owning())),
        ("POST", f"{APPS}/replicasets", named("bad", spec={})),
        ("POST", f"{APPS}/replicasets", named("bad", spec={**owning(), "replicas": -1, "selector": {"matchLabels": {"app": "b"}}})),
        ("PATCH", f"{APPS}/replicasets/r", {"spec": {"replicas": 3}}, sending(MERGE)),
        ("PATCH", f"{APPS}/replicasets/r/status", {"status": {"replicas": 2, "readyReplicas": 1}}, sending(MERGE)),
        ("GET", f"{APPS}/replicasets?fieldSelector=status.replicas%3D2", None, reading(TABLE)),
        ("POST", f"{APPS}/statefulsets", named("s", spec={**owning(), "serviceName": "s"})),
        ("POST", f"{APPS}/statefulsets", named("bad", spec={})),
        ("PATCH", f"{APPS}/statefulsets/s", {"spec": {"serviceName": "t"}}, sending(MERGE)),
        ("GET", f"{APPS}/statefulsets", None, reading(TABLE)),
        ("POST", f"{HERE}/replicationcontrollers", named("c", spec={"template": owning()["template"]})),
        ("POST", f"{HERE}/replicationcontrollers", named("bad", spec={})),
        ("GET", f"{HERE}/replicationcontrollers", None, reading(TABLE)),
        ("POST", f"{HERE}/services", named("h", spec={"clusterIP": "None", "selector": {"app": "a"}, "ports": [{"port": 80}]})),
        ("DELETE", f"{APPS}/replicasets/r", {"propagationPolicy": "Background"}),
        ("DELETE", f"{APPS}/statefulsets/s", {"propagationPolicy": "Background"}),
    ],
    "events": [
        ("POST", f"{HERE}/events", {**named("e"), "involvedObject": {"kind": "Pod", "name": "p", "namespace": "HERE", "uid": "u"}, "reason": "R", "message": "m", "type": "Normal", "source": {"component": "c"}, "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z", "count": 1}),
        ("GET", f"{EVENTS}/e"),
        ("POST", EVENTS, {**named("f"), "regarding": {"kind": "Pod", "name": "p", "namespace": "HERE", "uid": "u"}, "reason": "R", "note": "m", "type": "Normal", "action": "A", "reportingController": "c", "reportingInstance": "i", "eventTime": "2026-01-01T00:00:00.000000Z"}),
        ("GET", f"{HERE}/events/f"),
        ("GET", f"{HERE}/events?fieldSelector=involvedObject.name%3Dp,involvedObject.uid%3Du"),
        ("GET", f"{EVENTS}?fieldSelector=regarding.name%3Dp"),
        ("GET", f"{HERE}/events?fieldSelector=regarding.name%3Dp"),
        ("GET", f"{HERE}/events", None, reading(TABLE)),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def both(real_plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    with beside(real_plane, tmp_path_factory.mktemp("embedded")) as pair:
        yield pair


@pytest.mark.parametrize("story", STORIES)
def test_every_answer_is_the_real_ones(both: Both, story: str, namespace: str) -> None:
    both.embedded.ask("POST", "/api/v1/namespaces", named(namespace))
    for step in STORIES[story]:
        method, path, body, headers = (*step, None, None)[:4]
        told = (method, _there(path, namespace), _there(body, namespace))
        embedded, real = both.ask(*told, **(headers or {}))
        assert embedded == real, told


def _there(value: Any, namespace: str) -> Any:
    """With the story's namespace in the place of HERE."""
    match value:
        case str():
            return value.replace("HERE", namespace)
        case dict():
            return {key: _there(one, namespace) for key, one in value.items()}
        case list():
            return [_there(one, namespace) for one in value]
        case _:
            return value
