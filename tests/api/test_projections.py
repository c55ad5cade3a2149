"""Projections read what a server sends, skip what they do not name, and name only what there is."""

from collections.abc import Iterator
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest

from tutti.api import batch, coordination, core_v1, scheduling, shapes, storage
from tutti.api.core_v1 import Pod
from tutti.api.scheduling import Workload

PROJECTED = [
    ("core/v1", core_v1.Pod),
    ("core/v1", core_v1.Node),
    ("core/v1", core_v1.Namespace),
    ("core/v1", core_v1.Event),
    ("core/v1", core_v1.ConfigMap),
    ("core/v1", core_v1.ServiceAccount),
    ("core/v1", storage.PersistentVolume),
    ("core/v1", storage.PersistentVolumeClaim),
    ("storage/v1", storage.StorageClass),
    ("storage/v1", storage.CSINode),
    ("coordination/v1", coordination.Lease),
    ("scheduling/v1", scheduling.PriorityClass),
    ("scheduling/v1alpha3", scheduling.Workload),
    ("scheduling/v1beta1", scheduling.Workload),
    ("scheduling/v1alpha3", scheduling.PodGroup),
    ("scheduling/v1beta1", scheduling.PodGroup),
    ("scheduling/v1alpha3", scheduling.CompositePodGroup),
    ("batch/v1", batch.Job),
    ("batch/v1", batch.CronJob),
]
WIRE_TYPES: dict[Any, tuple[str, ...]] = {
    str: ("string", "Quantity"),
    int: ("int32", "int64"),
    bool: ("bool",),
    datetime: ("Time", "MicroTime"),
}


@pytest.mark.parametrize(("package", "kind"), PROJECTED, ids=lambda value: str(value))
def test_every_wire_name_is_a_field_of_the_schema_with_its_type(package: str, kind: Any) -> None:
    assert list(strays(kind, shapes.message(package, kind.__name__), set())) == []


def strays(kind: Any, message: shapes.Message, seen: set[Any]) -> Iterator[str]:
    """The fields of a projection that the schema does not have, or has as something else."""
    if (kind, message.go) in seen:
        return
    seen.add((kind, message.go))
    hints = get_type_hints(kind)
    for name, wire in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True):
        field = message.fields.get(wire)
        if field is None:
            yield f"{message.go}.{wire}"
        else:
            yield from misread(hints[name], field.shape, f"{message.go}.{wire}", seen)


def misread(hint: Any, shape: shapes.Shape, where: str, seen: set[Any]) -> Iterator[str]:
    if get_origin(hint) is UnionType:
        (hint,) = (part for part in get_args(hint) if part is not NoneType)
    match shape:
        case shapes.List(of) if get_origin(hint) is tuple:
            yield from misread(get_args(hint)[0], of, where, seen)
        case shapes.Map(of) if get_origin(hint) is dict:
            yield from misread(get_args(hint)[1], of, where, seen)
        case shapes.Nested() if hint == batch.Template:
            pass
        case shapes.Nested() if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            yield from strays(hint, shape.message, seen)
        case shapes.Scalar(kind) | shapes.Leaf(kind) if kind in WIRE_TYPES.get(hint, ()):
            pass
        case shapes.Scalar("bytes") if hint is str:
            pass
        case _:
            yield f"{where}: {hint} for {shape.go}"


def test_wire_names_that_are_not_plain_camel_case_are_read() -> None:
    pod = msgspec.json.decode(
        b'{"metadata":{"name":"a"},"status":{"podIP":"10.0.0.1","hostIP":"10.0.0.2"}}', type=Pod
    )
    assert (pod.status.pod_ip, pod.status.host_ip) == ("10.0.0.1", "10.0.0.2")


def test_fields_that_no_projection_names_are_skipped() -> None:
    pod = msgspec.json.decode(
        b'{"kind":"Pod","metadata":{"name":"a","managedFields":[{}]},'
        b'"spec":{"containers":[{"name":"c","livenessProbe":{"periodSeconds":3}}]}}',
        type=Pod,
    )
    assert pod.spec.containers[0].name == "c"


def test_null_reads_as_absent_where_servers_send_it() -> None:
    workload = msgspec.json.decode(
        b'{"metadata":{"name":"w","creationTimestamp":null},"spec":{"podGroupTemplates":null}}',
        type=Workload,
    )
    assert workload.spec.pod_group_templates is None
    assert workload.metadata.creation_timestamp is None
