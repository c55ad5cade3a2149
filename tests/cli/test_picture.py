"""The map of a cluster: what a cell, a row and a column mean."""

import re

import msgspec

from tutti.api.core_v1 import (
    Container,
    Node,
    NodeStatus,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    SchedulingGroup,
)
from tutti.api.meta import ObjectMeta, OwnerReference
from tutti.api.scheduling import Gang, PodGroup, PodGroupSpec, SchedulingPolicy
from tutti.cli import picture
from tutti.cli.report import Family
from tutti.pretend import cluster


def node(name: str, rack: str = "", gpus: int = 4) -> Node:
    labels = {cluster.RACK: rack} if rack else {}
    return Node(
        metadata=ObjectMeta(name=name, labels=labels),
        status=NodeStatus(allocatable={picture.GPU: str(gpus)}),
    )


def pod(group: str, number: int, on: str = "", phase: str = "Running", gpus: int = 2) -> Pod:
    asked = ResourceRequirements(requests={picture.GPU: str(gpus)})
    return Pod(
        metadata=ObjectMeta(name=f"{group}-{number}"),
        spec=PodSpec(
            node_name=on,
            containers=(Container(name="c", resources=asked),),
            scheduling_group=SchedulingGroup(pod_group_name=group),
        ),
        status=PodStatus(phase=phase if on else "Pending"),
    )


def gang(name: str, of: int = 2) -> PodGroup:
    policy = SchedulingPolicy(gang=Gang(min_count=of))
    return PodGroup(metadata=ObjectMeta(name=name), spec=PodGroupSpec(scheduling_policy=policy))


def drawn(nodes: list[Node], pods: list[Pod], groups: list[PodGroup]) -> list[str]:
    return list(picture.racks(nodes, pods, picture.styles(groups), colour=False))


def test_racks_stand_side_by_side_and_a_row_is_a_node():
    nodes = [node("a", "r0"), node("b", "r0"), node("c", "r1")]
    assert drawn(nodes, [], []) == [
        "  r0           r1",
        "  ····         ····",
        "  ····",
    ]


def test_a_pod_fills_the_cells_of_its_gpus_small_until_it_runs():
    pods = [pod("train", 0, on="a"), pod("train", 1, on="a", phase="Pending"), pod("train", 2)]
    assert drawn([node("a", "r0", gpus=5)], pods, [gang("train")])[1] == "  TTtt·"


def test_pods_that_have_ended_hold_nothing():
    pods = [pod("train", 0, on="a", phase="Failed")]
    assert drawn([node("a", "r0")], pods, [gang("train")])[1] == "  ····"


def test_nodes_without_a_rack_stand_at_the_end():
    assert drawn([node("a"), node("b", "r0")], [], [])[0] == "  r0           no rack"


def test_two_groups_never_share_a_letter():
    letters = [letter for letter, _ in picture.styles([gang("tt"), gang("t"), gang("at")]).values()]
    assert letters == ["T", "A", "B"]


def test_the_legend_says_how_each_group_stands_and_keeps_to_its_width():
    groups = [gang("train"), gang("eval")]
    pods = [pod("train", n, on="a") for n in range(2)]
    family = Family.of(groups, (), pods)
    chosen = picture.styles(groups)
    lines = list(picture.legend(family, chosen, colour=False, width=40))
    assert lines[0] == "  [T] train  2 of 2 run"
    assert lines[1].startswith("  [E] eval   0 of 2 run; ")
    assert len(lines[1]) <= 40


def test_a_group_is_called_after_its_job_and_says_when_that_is_done():
    owner = OwnerReference(kind="Job", name="train", uid="u", controller=True)
    made = gang("train-x1-train-pgt-0-y2")
    made = msgspec.structs.replace(
        made, metadata=msgspec.structs.replace(made.metadata, owner_references=(owner,))
    )
    pods = [pod(made.metadata.name, n, on="a", phase="Succeeded") for n in range(2)]
    lines = list(
        picture.legend(Family.of([made], (), pods), picture.styles([made]), colour=False, width=80)
    )
    assert lines == ["  [T] train  2 of 2 have finished"]


def test_colours_add_nothing_but_colours():
    nodes, pods, chosen = [node("a", "r0")], [pod("t", 0, on="a")], picture.styles([gang("t")])
    plain = list(picture.racks(nodes, pods, chosen, colour=False))
    coloured = list(picture.racks(nodes, pods, chosen, colour=True))
    assert coloured != plain
    assert [re.sub(r"\x1b\[\d+m", "", line) for line in coloured] == plain
