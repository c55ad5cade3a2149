"""The table of what a pod may ask."""

import msgspec
import pytest

from tutti.api.core_v1 import Pod, Volume
from tutti.api.podspec import INSIDE, REPORTED, TABLES, VOLUME, unsupported
from tutti.api.schema import load
from tutti.api.shapes import List, Nested


def apart_in(labels: dict[str, str]) -> dict[str, object]:
    """Keep away from pods of the namespaces that carry these labels."""
    term = {"topologyKey": "zone", "namespaceSelector": {"matchLabels": labels}}
    terms = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return {"affinity": {"podAntiAffinity": terms}}


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        pytest.param({}, [], id="a plain pod"),
        pytest.param(
            {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "c"}}]},
            [],
            id="volumes that every node can serve",
        ),
        pytest.param(
            {
                "volumes": [
                    {"name": "a", "persistentVolumeClaim": {"claimName": "c"}},
                    {"name": "b", "ephemeral": {}},
                ]
            },
            [],
            id="claims",
        ),
        pytest.param(
            {"volumes": [{"name": "a", "hostPath": {"path": "/"}}, {"name": "b", "rbd": {}}]},
            ["spec.volumes[1].rbd"],
            id="a disk without a claim",
        ),
        pytest.param(
            {"resourceClaims": [{"name": "gpu", "resourceClaimName": "x"}]},
            ["spec.resourceClaims"],
            id="a device claim",
        ),
        pytest.param(apart_in({"kubernetes.io/metadata.name": "a"}), [], id="a namespace by name"),
        pytest.param(
            apart_in({"team": "a"}),
            [
                "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"
                ".namespaceSelector"
            ],
            id="namespaces by their labels",
        ),
    ],
)
def test_what_is_not_supported_is_named(spec: dict[str, object], fields: list[str]) -> None:
    pod = msgspec.convert({"metadata": {"name": "pod"}, "spec": spec}, Pod)

    assert unsupported(pod) == fields


def test_every_field_inside_has_a_table() -> None:
    inside = {
        f"{path}.{field}".lstrip(".")
        for path, table in TABLES.items()
        for field, bearing in table.items()
        if bearing is INSIDE
    }

    assert inside == set(TABLES) - {""}


def test_every_reported_volume_is_read() -> None:
    reported = {name for name, bearing in VOLUME.items() if bearing is REPORTED}

    assert reported <= set(Volume.__struct_encode_fields__)


def fields_at(path: str) -> set[str]:
    """The fields that Kubernetes 1.37 has at this place in a pod's spec."""
    fields = load("", "v1", "Pod").fields
    for name in ("spec", *filter(None, path.split("."))):
        shape = fields[name].shape
        within = shape.of if isinstance(shape, List) else shape
        assert isinstance(within, Nested)
        fields = within.message.fields
    return set(fields)


@pytest.mark.parametrize("path", TABLES)
def test_no_field_is_forgotten_and_none_is_made_up(path: str) -> None:
    assert set(TABLES[path]) == fields_at(path)
