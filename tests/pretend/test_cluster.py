"""Descriptions of clusters: the nodes they stand for, and the sentences for wrong ones."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tutti.api.core_v1 import Node
from tutti.pretend import cluster

RACKS = {"zones": 2, "blocksPerZone": 1, "racksPerBlock": 2, "nodesPerRack": 3}
DOCS = Path(__file__).parents[2] / "docs"


def shape(**fields: Any) -> dict[str, Any]:
    return {"name": "gpu", "resources": {"cpu": 8}, **fields}


def nodes(*shapes: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    return cluster.nodes({"nodes": list(shapes), **fields})


def test_a_count_makes_so_many_nodes_whose_names_sort_as_they_count():
    names = [node["metadata"]["name"] for node in nodes(shape(count=11))]
    assert names == sorted(names)
    assert names[0] == "gpu-00"
    assert names[-1] == "gpu-10"


def test_a_layout_fills_every_rack_and_says_where_each_node_stands():
    made = nodes(shape(layout=RACKS))
    assert len(made) == 12
    places = {
        tuple(
            node["metadata"]["labels"][key] for key in (cluster.ZONE, cluster.BLOCK, cluster.RACK)
        )
        for node in made
    }
    assert places == {
        ("zone-0", "block-0", "rack-0"),
        ("zone-0", "block-0", "rack-1"),
        ("zone-1", "block-1", "rack-2"),
        ("zone-1", "block-1", "rack-3"),
    }


def test_the_labels_of_places_can_be_named():
    [node] = nodes(shape(layout={"nodesPerRack": 1}), rackLabel="example.com/rack")
    assert node["metadata"]["labels"]["example.com/rack"] == "rack-0"
    assert cluster.RACK not in node["metadata"]["labels"]


def test_what_is_reserved_is_not_allocatable():
    [node] = nodes(shape(count=1, resources={"cpu": 8, "memory": "64Gi"}, reserved={"cpu": "500m"}))
    assert node["status"]["capacity"] == {"cpu": "8", "memory": "64Gi", "pods": "110"}
    assert node["status"]["allocatable"] == {"cpu": "7500m", "memory": "64Gi", "pods": "110"}


def test_every_node_is_marked_as_pretended_and_carries_what_its_shape_says():
    [node] = nodes(
        shape(
            count=1,
            labels={"team": "a"},
            taints=[{"key": "gpu", "effect": "NoSchedule"}],
            unschedulable=True,
        )
    )
    read = msgspec.convert(node, Node)
    assert read.metadata.labels["team"] == "a"
    assert read.metadata.labels[cluster.PRETEND] == "true"
    assert read.spec.unschedulable
    assert [taint.key for taint in read.spec.taints] == ["gpu"]


def test_no_two_nodes_share_an_address():
    made = nodes(shape(count=600))
    assert len({node["status"]["addresses"][0]["address"] for node in made}) == 600


def test_no_nodes_are_a_cluster_too():
    assert nodes() == []


@pytest.mark.parametrize(
    ("description", "sentence"),
    [
        (None, 'a cluster is described by an object with a field "nodes"'),
        ({}, '"nodes" is missing'),
        ({"node": []}, 'unknown field "node"; did you mean "nodes"?'),
        ({"nodes": [shape(cuont=1)]}, 'nodes[0]: unknown field "cuont"; did you mean "count"?'),
        ({"nodes": [shape(count="3")]}, "nodes[0].count: expected int | null, got str"),
        ({"nodes": [shape(count=-1)]}, "nodes[0].count: expected int >= 0"),
        ({"nodes": [shape()]}, 'nodes[0]: say either "count" or "layout"'),
        ({"nodes": [shape(count=1, layout=RACKS)]}, 'nodes[0]: say either "count" or "layout"'),
        (
            {"nodes": [shape(count=1, resources={"cpu": "many"})]},
            "nodes[0].resources.cpu: 'many' is not a quantity (like 8, 500m or 64Gi)",
        ),
        (
            {"nodes": [shape(count=1, resources={"cpu": 1, "gpu": True})]},
            "nodes[0].resources.gpu: expected int | float | str, got bool",
        ),
        (
            {"nodes": [shape(count=1, labels={"a": "b", "rack": 7})]},
            "nodes[0].labels.rack: expected str, got int",
        ),
        (
            {"nodes": [shape(count=1, reserved={"cpu": 9})]},
            "nodes[0].reserved.cpu: more than the node has",
        ),
        (
            {"nodes": [shape(count=1), shape(count=1)]},
            "nodes: two nodes would be named 'gpu-0': rename one of the shapes",
        ),
        (
            {"nodes": [shape(count=1, taints=[{"key": "a", "effect": "No"}])]},
            "nodes[0].taints[0].effect: invalid enum value 'No'",
        ),
        (
            {"nodes": [shape(layout={"nodesPerRack": 2, "racks": 1})]},
            'nodes[0].layout: unknown field "racks"',
        ),
    ],
)
def test_a_wrong_description_is_refused_by_the_field_that_is_wrong(description, sentence):
    with pytest.raises(cluster.ClusterError) as refusal:
        cluster.nodes(description)
    assert str(refusal.value) == sentence


def test_the_schema_in_the_docs_is_the_one_that_is_read():
    written = json.loads((DOCS / "cluster.schema.json").read_text())
    assert written == cluster.schema()
