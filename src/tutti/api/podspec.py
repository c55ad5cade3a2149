"""What a pod may ask of a scheduler: one table over every field of PodSpec.

A field has no bearing on which node a pod gets, or is honoured, or is reported: a pod that sets it
stays pending with a sentence that names it, and is never placed as if it hadn't asked. A test walks
Kubernetes' schema, so that no field is forgotten.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final

from tutti.api.core_v1 import Pod, PodAffinity, Volume
from tutti.api.meta import LabelSelector


class Bearing(Enum):
    IRRELEVANT = "has no bearing on which node a pod gets"
    HONOURED = "is honoured"
    REPORTED = "is not supported yet, and is reported on the pod"
    INSIDE = "depends on the fields inside, which have rows of their own"


IRRELEVANT: Final = Bearing.IRRELEVANT
HONOURED: Final = Bearing.HONOURED
REPORTED: Final = Bearing.REPORTED
INSIDE: Final = Bearing.INSIDE

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"

POD_SPEC: Final[Mapping[str, Bearing]] = {
    "activeDeadlineSeconds": IRRELEVANT,
    "affinity": INSIDE,
    "automountServiceAccountToken": IRRELEVANT,
    "containers": INSIDE,
    "dnsConfig": IRRELEVANT,
    "dnsPolicy": IRRELEVANT,
    "enableServiceLinks": IRRELEVANT,
    "ephemeralContainers": IRRELEVANT,  # they come later, and hold no resources
    "evictionResponders": IRRELEVANT,
    "hostAliases": IRRELEVANT,
    "hostIPC": IRRELEVANT,
    "hostNetwork": HONOURED,  # the server writes the ports it takes into the containers
    "hostPID": IRRELEVANT,
    "hostUsers": HONOURED,  # with hostNetwork it takes a kubelet that can do both
    "hostname": IRRELEVANT,
    "hostnameOverride": IRRELEVANT,
    "imagePullSecrets": IRRELEVANT,
    "initContainers": INSIDE,
    "nodeName": HONOURED,  # whoever sets it has placed the pod
    "nodeSelector": HONOURED,
    "os": IRRELEVANT,  # kubelets check it; kube-scheduler doesn't either
    "overhead": HONOURED,
    "preemptionPolicy": HONOURED,
    "priority": HONOURED,
    "priorityClassName": HONOURED,
    "readinessGates": IRRELEVANT,
    "resourceClaims": REPORTED,
    "resources": INSIDE,
    "restartPolicy": IRRELEVANT,
    "runtimeClassName": IRRELEVANT,  # the server writes its selector and overhead into the pod
    "schedulerName": HONOURED,
    "schedulingGates": HONOURED,
    "schedulingGroup": HONOURED,
    "securityContext": IRRELEVANT,
    "serviceAccount": IRRELEVANT,
    "serviceAccountName": IRRELEVANT,
    "setHostnameAsFQDN": IRRELEVANT,
    "shareProcessNamespace": IRRELEVANT,
    "subdomain": IRRELEVANT,
    "terminationGracePeriodSeconds": IRRELEVANT,
    "tolerations": HONOURED,
    "topologySpreadConstraints": HONOURED,
    "volumes": INSIDE,
}

AFFINITY: Final[Mapping[str, Bearing]] = {
    "nodeAffinity": HONOURED,
    "podAffinity": INSIDE,
    "podAntiAffinity": INSIDE,
}

POD_AFFINITY: Final[Mapping[str, Bearing]] = {
    PREFERRED: INSIDE,
    REQUIRED: INSIDE,
}

WEIGHTED_TERM: Final[Mapping[str, Bearing]] = {"podAffinityTerm": INSIDE, "weight": HONOURED}

TERM: Final[Mapping[str, Bearing]] = {
    "labelSelector": HONOURED,
    "matchLabelKeys": HONOURED,
    "mismatchLabelKeys": HONOURED,
    "namespaceSelector": REPORTED,  # but for one that is empty, or goes by the name alone
    "namespaces": HONOURED,
    "topologyKey": HONOURED,
}

CONTAINER: Final[Mapping[str, Bearing]] = {
    "args": IRRELEVANT,
    "command": IRRELEVANT,
    "env": IRRELEVANT,
    "envFrom": IRRELEVANT,
    "image": HONOURED,  # nodes that have it already are worth more
    "imagePullPolicy": IRRELEVANT,
    "lifecycle": IRRELEVANT,
    "livenessProbe": IRRELEVANT,
    "name": IRRELEVANT,
    "ports": HONOURED,
    "readinessProbe": IRRELEVANT,
    "resizePolicy": IRRELEVANT,
    "resources": INSIDE,
    "restartPolicy": HONOURED,  # an init container that is always restarted is a sidecar
    "restartPolicyRules": HONOURED,  # some take a kubelet that can restart all containers
    "securityContext": IRRELEVANT,
    "startupProbe": IRRELEVANT,
    "stdin": IRRELEVANT,
    "stdinOnce": IRRELEVANT,
    "terminationMessagePath": IRRELEVANT,
    "terminationMessagePolicy": IRRELEVANT,
    "tty": IRRELEVANT,
    "volumeDevices": IRRELEVANT,  # the volume itself counts, not where it shows
    "volumeMounts": HONOURED,  # mount options take a kubelet that knows them
    "workingDir": IRRELEVANT,
}

RESOURCES: Final[Mapping[str, Bearing]] = {
    "claims": IRRELEVANT,  # they pick from the pod's resourceClaims
    "limits": IRRELEVANT,  # the server makes requests of them where there are none
    "requests": HONOURED,
}

VOLUME: Final[Mapping[str, Bearing]] = {
    "awsElasticBlockStore": REPORTED,
    "azureDisk": REPORTED,
    "azureFile": IRRELEVANT,  # a share, not attached to a node
    "cephfs": IRRELEVANT,
    "cinder": REPORTED,
    "configMap": IRRELEVANT,
    "csi": REPORTED,
    "downwardAPI": IRRELEVANT,
    "emptyDir": IRRELEVANT,
    "ephemeral": HONOURED,  # by the claim that is made for it
    "fc": IRRELEVANT,
    "flexVolume": IRRELEVANT,
    "flocker": IRRELEVANT,
    "gcePersistentDisk": REPORTED,
    "gitRepo": IRRELEVANT,
    "glusterfs": IRRELEVANT,
    "hostPath": IRRELEVANT,
    "image": HONOURED,  # as the image of a container
    "iscsi": REPORTED,
    "name": IRRELEVANT,
    "nfs": IRRELEVANT,
    "persistentVolumeClaim": HONOURED,  # a claim that is bound; others wait, and say so
    "photonPersistentDisk": IRRELEVANT,
    "portworxVolume": REPORTED,
    "projected": IRRELEVANT,
    "quobyte": IRRELEVANT,
    "rbd": REPORTED,
    "scaleIO": IRRELEVANT,
    "secret": IRRELEVANT,
    "storageos": IRRELEVANT,
    "vsphereVolume": REPORTED,
}

TABLES: Final[Mapping[str, Mapping[str, Bearing]]] = {
    "": POD_SPEC,
    "affinity": AFFINITY,
    **{
        f"affinity.{side}{inside}": table
        for side in ("podAffinity", "podAntiAffinity")
        for inside, table in (
            ("", POD_AFFINITY),
            (f".{REQUIRED}", TERM),
            (f".{PREFERRED}", WEIGHTED_TERM),
            (f".{PREFERRED}.podAffinityTerm", TERM),
        )
    },
    "containers": CONTAINER,
    "initContainers": CONTAINER,
    "containers.resources": RESOURCES,
    "initContainers.resources": RESOURCES,
    "resources": RESOURCES,
    "volumes": VOLUME,
}
"""The table of the fields inside each field whose row says INSIDE."""


def unsupported(pod: Pod) -> list[str]:
    """The fields that the pod sets and that aren't supported yet, as a user would find them."""
    return list(_reported(pod))


def _reported(pod: Pod) -> Iterator[str]:
    spec = pod.spec
    if spec.resource_claims:
        yield "spec.resourceClaims"
    if spec.affinity:
        yield from _reported_terms("podAffinity", spec.affinity.pod_affinity)
        yield from _reported_terms("podAntiAffinity", spec.affinity.pod_anti_affinity)
    for index, volume in enumerate(spec.volumes):
        for source in _sources(volume):
            yield f"spec.volumes[{index}].{source}"


def _reported_terms(side: str, affinity: PodAffinity | None) -> Iterator[str]:
    """Terms that choose namespaces by labels other than the name, which nobody here reads yet."""
    affinity = affinity or PodAffinity()
    for index, term in enumerate(affinity.required):
        if _asks_for_labels(term.namespace_selector):
            yield f"spec.affinity.{side}.{REQUIRED}[{index}].namespaceSelector"
    for index, weighted in enumerate(affinity.preferred):
        if _asks_for_labels(weighted.pod_affinity_term.namespace_selector):
            yield f"spec.affinity.{side}.{PREFERRED}[{index}].podAffinityTerm.namespaceSelector"


def _asks_for_labels(namespaces: LabelSelector | None) -> bool:
    if namespaces is None:
        return False
    keys = (*namespaces.match_labels, *(rule.key for rule in namespaces.match_expressions))
    return any(key != "kubernetes.io/metadata.name" for key in keys)


def _sources(volume: Volume) -> Iterator[str]:
    """The reported sources of a volume: those that its projection reads."""
    for attribute, name in _SOURCES.items():
        if getattr(volume, attribute) is not None:
            yield name


_SOURCES: Final = {
    attribute: name
    for attribute, name in zip(
        Volume.__struct_fields__, Volume.__struct_encode_fields__, strict=True
    )
    if VOLUME[name] is REPORTED
}
