"""A cluster as a map: racks side by side, a row for each node, a cell for each GPU. Pure.

A cell shows the letter of the group whose pod has the GPU: small while the pod is only bound, large
once it runs. Colours only tell the groups apart more quickly; without them nothing is lost.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, zip_longest

from tutti.api import quantity
from tutti.api.core_v1 import Node, Pod
from tutti.api.scheduling import PodGroup
from tutti.cli.report import Family, Report, group_name, of_group
from tutti.pretend import cluster

GPU = "nvidia.com/gpu"
FREE = "·"
COLOURS = (42, 44, 45, 46, 43, 41)
BLACK, DIM, BOLD, PLAIN = "\x1b[30m", "\x1b[2m", "\x1b[1m", "\x1b[0m"

Styles = Mapping[str, tuple[str, int]]
"""Of each group its letter and its colour."""


def styles(groups: Sequence[PodGroup]) -> Styles:
    """Letters in the order in which the groups came: its own first one, or the next that is free."""
    chosen: dict[str, tuple[str, int]] = {}
    for group, colour in zip(groups, cycle(COLOURS), strict=False):
        taken = {letter for letter, _ in chosen.values()}
        letters = [c for c in title(group).upper() + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c.isalpha()]
        letter = next((c for c in letters if c not in taken), "?")
        chosen[group.metadata.name] = (letter, colour)
    return chosen


def racks(
    nodes: Sequence[Node], pods: Sequence[Pod], chosen: Styles, *, colour: bool
) -> Iterator[str]:
    """The map: one column for each rack."""
    on: dict[str, list[Pod]] = {}
    for pod in sorted(pods, key=lambda pod: pod.metadata.name):
        if pod.status.phase not in ("Succeeded", "Failed"):
            on.setdefault(pod.spec.node_name, []).append(pod)
    columns: dict[str, list[Node]] = {}
    for node in sorted(nodes, key=lambda node: (not _rack(node), _rack(node), node.metadata.name)):
        columns.setdefault(_rack(node), []).append(node)
    widths = [max(_gpus(node) for node in column) for column in columns.values()]
    yield _row(
        [(_dim(rack or "no rack", colour), len(rack or "no rack")) for rack in columns], widths
    )
    for row in zip_longest(*columns.values()):
        cells = [_cells(node, on, chosen, colour=colour) if node else ("", 0) for node in row]
        yield _row(cells, widths)


def legend(family: Family, chosen: Styles, *, colour: bool, width: int) -> Iterator[str]:
    """A line for each group: how it stands, and why; cut to what a line can hold."""
    titles = {name: title(group) for name, group in family.groups.items() if name in chosen}
    longest = max(map(len, titles.values()), default=0)
    for name, (letter, background) in chosen.items():
        if group := family.groups.get(name):
            mark = _painted(f" {letter} ", background) if colour else f"[{letter}]"
            text = f" {titles[name].ljust(longest)}  {_standing(of_group(group, family))}"
            yield f"  {mark}{text if len(text) <= width - 6 else text[: width - 7] + '…'}"


def title(group: PodGroup) -> str:
    """What people call it: the name of the Job that it was made for, or its own."""
    owner = group.metadata.controller
    return owner.name if owner is not None and owner.kind == "Job" else group.metadata.name


def succeeded(found: Report) -> int:
    return sum(member.state == "Succeeded" for member in found.members)


def running(found: Report) -> int:
    return sum(member.state == "Running" for member in found.members)


def _standing(found: Report) -> str:
    if running(found) >= found.needs:
        return f"{running(found)} of {found.needs} run"
    if succeeded(found) >= found.needs:
        return f"{succeeded(found)} of {found.needs} have finished"
    if found.bound:
        return f"{found.bound} of {found.needs} have a node, {running(found)} run"
    return f"0 of {found.needs} run; {found.message}"


def _cells(
    node: Node, on: Mapping[str, Sequence[Pod]], chosen: Styles, *, colour: bool
) -> tuple[str, int]:
    """A node's GPUs as text, and how wide it looks."""
    size = _gpus(node)
    text, used = "", 0
    for pod in on.get(node.metadata.name, ()):
        letter, background = chosen.get(group_name(pod), ("?", COLOURS[-1]))
        count = min(_asked(pod), size - used)
        letters = (letter if pod.status.phase == "Running" else letter.lower()) * count
        text += _painted(letters, background) if colour and letters else letters
        used += count
    return text + _dim(FREE * (size - used), colour), size


def _row(cells: Sequence[tuple[str, int]], widths: Sequence[int]) -> str:
    return "".join(
        f"  {text}{' ' * (max(width, 8) - size)}   "
        for (text, size), width in zip(cells, widths, strict=True)
    ).rstrip()


def _painted(text: str, background: int) -> str:
    return f"{BLACK}\x1b[{background}m{text}{PLAIN}"


def _dim(text: str, colour: bool) -> str:
    return f"{DIM}{text}{PLAIN}" if colour and text else text


def _rack(node: Node) -> str:
    return node.metadata.labels.get(cluster.RACK, "")


def _gpus(node: Node) -> int:
    return quantity.base_units(GPU, node.status.allocatable.get(GPU, "0"))


def _asked(pod: Pod) -> int:
    return sum(
        quantity.base_units(GPU, container.resources.requests.get(GPU, "0"))
        for container in pod.spec.containers
    )
