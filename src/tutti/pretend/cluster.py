"""A description of a cluster -> the Node manifests that it stands for.

One schema, wherever a cluster is described: `tutti up --cluster FILE`, scenarios, and whatever
else needs nodes. `docs/cluster.md` explains it; `docs/cluster.schema.json` is made from the types
below.
"""

import difflib
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec

from tutti.api import quantity

PRETEND = "tutti.dev/pretend"
"""Label of every node made here: the pretend kubelets run pods on nodes that carry it, only."""

ZONE = "topology.kubernetes.io/zone"
BLOCK = "topology.tutti.dev/block"
RACK = "topology.tutti.dev/rack"

MOST_NODES = 1_000_000

Name = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        max_length=40,
        description="Lower case letters, digits and dashes; the nodes' names begin with it.",
    ),
]
Some = Annotated[int, msgspec.Meta(ge=1, le=MOST_NODES)]
Amounts = dict[str, str | int | float]
Manifest = dict[str, Any]


class ClusterError(ValueError):
    """A description that can't be used; the text names the field that is wrong."""


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What all parts of a description share: a field that isn't known is a mistake."""


class Taint(Part, frozen=True, kw_only=True):
    """A taint on every node of a shape, as a Node has it."""

    key: Annotated[str, msgspec.Meta(min_length=1)]
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class Layout(Part, frozen=True, kw_only=True):
    """Where the nodes of a shape stand: racks in blocks in zones, all of them equally full."""

    zones: Some = 1
    blocks_per_zone: Some = 1
    racks_per_block: Some = 1
    nodes_per_rack: Some

    @property
    def size(self) -> int:
        return self.zones * self.blocks_per_zone * self.racks_per_block * self.nodes_per_rack


class Shape(Part, frozen=True, kw_only=True):
    """Nodes that are alike: `count` of them, or as many as `layout` has places for."""

    name: Name
    count: Annotated[int, msgspec.Meta(ge=0, le=MOST_NODES)] | None = None
    layout: Layout | None = None
    resources: Amounts
    reserved: Amounts = {}
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False


class Cluster(Part, frozen=True, kw_only=True):
    """The whole: shapes of nodes, and the labels that say where a node stands."""

    nodes: tuple[Shape, ...]
    zone_label: str = ZONE
    block_label: str = BLOCK
    rack_label: str = RACK


def nodes(description: object) -> list[Manifest]:
    """The Node manifests of a cluster, in the order in which it describes them."""
    cluster = read(description)
    made = [
        node
        for number, shape in enumerate(cluster.nodes)
        for node in _nodes_of(shape, cluster, field=f"nodes[{number}]")
    ]
    names: set[str] = set()
    for place, node in enumerate(made):
        name = node["metadata"]["name"]
        if name in names:
            raise ClusterError(
                f"nodes: two nodes would be named {name!r}: rename one of the shapes"
            )
        names.add(name)
        node["status"]["addresses"] = [
            {"type": "InternalIP", "address": _address(place)},
            {"type": "Hostname", "address": name},
        ]
    return made


def read(description: object) -> Cluster:
    """The description as a checked value; `ClusterError` names the first field that is wrong."""
    if not isinstance(description, dict):
        raise ClusterError('a cluster is described by an object with a field "nodes"')
    try:
        return msgspec.convert(description, Cluster)
    except msgspec.ValidationError as error:
        raise ClusterError(_in_words(str(error), description)) from None


def schema() -> dict[str, Any]:
    """The JSON Schema of a description, as editors read it."""
    made = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(Cluster)))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def _nodes_of(shape: Shape, cluster: Cluster, field: str) -> Iterator[Manifest]:
    if (shape.count is None) == (shape.layout is None):
        raise ClusterError(f'{field}: say either "count" or "layout"')
    capacity = _amounts(shape.resources, f"{field}.resources")
    capacity.setdefault("pods", 110)
    reserved = _amounts(shape.reserved, f"{field}.reserved")
    for resource, held_back in reserved.items():
        if held_back > capacity.get(resource, 0):
            raise ClusterError(f"{field}.reserved.{resource}: more than the node has")
    status = {
        "capacity": _written(capacity),
        "allocatable": _written({r: n - reserved.get(r, 0) for r, n in capacity.items()}),
    }
    for name, places in _places(shape, cluster):
        yield _node(shape, name, places, status)


def _places(shape: Shape, cluster: Cluster) -> Iterator[tuple[str, dict[str, str]]]:
    """Each node's name, and the labels of its place."""
    if shape.layout is None:
        count = shape.count or 0
        for number in range(count):
            yield f"{shape.name}-{_padded(number, count)}", {}
        return
    layout = shape.layout
    blocks = layout.zones * layout.blocks_per_zone
    racks = blocks * layout.racks_per_block
    for rack in range(racks):
        block = rack // layout.racks_per_block
        zone = block // layout.blocks_per_zone
        labels = {
            cluster.zone_label: f"zone-{_padded(zone, layout.zones)}",
            cluster.block_label: f"block-{_padded(block, blocks)}",
            cluster.rack_label: f"rack-{_padded(rack, racks)}",
        }
        for number in range(layout.nodes_per_rack):
            seat = _padded(number, layout.nodes_per_rack)
            yield f"{shape.name}-r{_padded(rack, racks)}-{seat}", labels


def _node(shape: Shape, name: str, places: dict[str, str], status: Manifest) -> Manifest:
    spec: Manifest = {}
    if shape.taints:
        spec["taints"] = [_taint(taint) for taint in shape.taints]
    if shape.unschedulable:
        spec["unschedulable"] = True
    metadata: Manifest = {
        "name": name,
        "labels": {
            PRETEND: "true",
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "node.kubernetes.io/instance-type": shape.name,
            **places,
            **shape.labels,
        },
    }
    if shape.annotations:
        metadata["annotations"] = dict(shape.annotations)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": spec,
        "status": {**status, "conditions": list(CONDITIONS), "nodeInfo": dict(NODE_INFO)},
    }


def _taint(taint: Taint) -> dict[str, str]:
    written = {"key": taint.key, "effect": taint.effect}
    return {**written, "value": taint.value} if taint.value else written


def _amounts(amounts: Amounts, field: str) -> dict[str, int]:
    """Base units by resource: millicores for cpu, bytes, pieces."""
    units = {}
    for resource, amount in amounts.items():
        try:
            units[resource] = quantity.base_units(resource, str(amount))
        except ValueError:
            raise ClusterError(
                f"{field}.{resource}: {amount!r} is not a quantity (like 8, 500m or 64Gi)"
            ) from None
        if units[resource] < 0:
            raise ClusterError(f"{field}.{resource}: {amount} is less than nothing")
    return units


def _written(units: dict[str, int]) -> dict[str, str]:
    return {resource: _quantity(resource, amount) for resource, amount in units.items()}


def _quantity(resource: str, amount: int) -> str:
    if resource == "cpu":
        return str(amount // 1000) if amount % 1000 == 0 else f"{amount}m"
    if resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-"):
        for suffix, size in (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
            if amount and amount % size == 0:
                return f"{amount // size}{suffix}"
    return str(amount)


def _padded(number: int, count: int) -> str:
    """Numbers that sort as they count."""
    return str(number).zfill(len(str(count - 1)))


def _address(place: int) -> str:
    """One of the million addresses of 172.16.0.0/12."""
    number = (172 << 24) + (16 << 16) + place + 1
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def _in_words(problem: str, description: object) -> str:
    """msgspec's finding as a sentence that begins with the field."""
    text, _, path = problem.partition(" - at `$")
    field = _named(path.rstrip("`").lstrip("."), description)
    if unknown := re.fullmatch(r"Object contains unknown field `(.*)`", text):
        text = f'unknown field "{unknown[1]}"' + _suggestion(unknown[1], field)
    elif missing := re.fullmatch(r"Object missing required field `(.*)`", text):
        text = f'"{missing[1]}" is missing'
    text = text.replace("`", "")
    text = text[0].lower() + text[1:]
    return f"{field}: {text}" if field else text


def _named(path: str, description: object) -> str:
    """The path with the key of a map's wrong value in place of msgspec's `[...]`."""
    if not path.endswith("[...]"):
        return path
    parent = path.removesuffix("[...]")
    found: Any = description
    for step in re.findall(r"[^.\[\]]+", parent):
        found = found[int(step)] if isinstance(found, list) else found[step]
    right = (str, int, float) if parent.endswith(("resources", "reserved")) else (str,)
    wrong = [k for k, v in found.items() if isinstance(v, bool) or not isinstance(v, right)]
    return f"{parent}.{wrong[0]}" if wrong else parent


def _suggestion(unknown: str, field: str) -> str:
    parts: tuple[tuple[str, type[Part]], ...] = (
        (r"", Cluster),
        (r"nodes\[\d+\]", Shape),
        (r"nodes\[\d+\]\.layout", Layout),
        (r"nodes\[\d+\]\.taints\[\d+\]", Taint),
    )
    known = next(part.__struct_encode_fields__ for path, part in parts if re.fullmatch(path, field))
    near = difflib.get_close_matches(unknown, known, 1)
    return f'; did you mean "{near[0]}"?' if near else ""


CONDITIONS = (
    {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "a pretend kubelet runs this node's pods",
    },
)

NODE_INFO = {
    "architecture": "amd64",
    "operatingSystem": "linux",
    "kubeletVersion": "v1.37.0-pretend",
    "kubeProxyVersion": "",
    "osImage": "none",
    "kernelVersion": "none",
    "containerRuntimeVersion": "pretend://0",
    "machineID": "",
    "systemUUID": "",
    "bootID": "",
}
