"""Projections read what a server sends, and skip what they do not name."""

import msgspec

from tutti.api.core_v1 import Pod
from tutti.api.scheduling import Workload


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
