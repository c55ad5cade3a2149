"""Say why a pod, a Job or a group runs, or waits: what it needs, what it has, what is missing.

A pod that belongs to a group is shown with the whole of it, up to the top of its tree; where a
cluster has no groups, with its Job.

  tutti why podgroup/train       tutti why pod/train-0 -n research       tutti why job/train -o json
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby

import msgspec

from tutti.api.batch import Job
from tutti.api.core_v1 import Pod
from tutti.api.errors import NotFound
from tutti.api.registry import COMPOSITE_POD_GROUPS, JOBS, POD_GROUPS, PODS
from tutti.api.scheduling import CompositePodGroup, PodGroup
from tutti.cli import kinds, output, report, wiring
from tutti.cli.output import Trouble
from tutti.cli.report import Family, Member, Report
from tutti.controllers.asking import asked_by
from tutti.controllers.jobs.gangs import Rule
from tutti.engine.implied import is_job
from tutti.kube.client import Client

SHOWN_ONE_BY_ONE = 12


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", metavar="KIND/NAME", help="a pod, a job, a podgroup or a compositepodgroup"
    )
    parser.add_argument("-o", "--output", choices=("json",))
    wiring.namespace_arguments(parser)
    wiring.connection_arguments(parser)


def run(args: argparse.Namespace) -> int:
    return wiring.ask(args, lambda client, namespace: _why(client, namespace, args))


async def _why(client: Client, namespace: str, args: argparse.Namespace) -> int:
    found = await reported(client, namespace, args.what)
    if args.output == "json":
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    else:
        print("\n".join(told(found, datetime.now(UTC))))
    return 0


async def reported(client: Client, namespace: str, what: str) -> Report:
    """The report of the root that this object belongs to."""
    storage, name = await kinds.the_object(client, what)
    if storage == PODS:
        pod = await client.get(PODS, namespace, name, into=Pod)
        if group := report.group_name(pod):
            return await _of_member(client, pod, group)
        job = await _gang_of(client, pod)
        return report.of_pod(pod) if job is None else await _of_job(client, job)
    if storage == JOBS:
        return await _of_job(client, await client.get(JOBS, namespace, name, into=Job))
    if storage == POD_GROUPS:
        asked: report.Group = await client.get(POD_GROUPS, namespace, name, into=PodGroup)
    elif storage == COMPOSITE_POD_GROUPS:
        asked = await client.get(COMPOSITE_POD_GROUPS, namespace, name, into=CompositePodGroup)
    else:
        raise Trouble(
            f"of a {storage.singular} nothing can be said: ask about a pod, a job, a podgroup or "
            "a compositepodgroup"
        )
    family = await _family(client, namespace)
    return report.of_group(family.root_of(asked), family)


async def _of_member(client: Client, pod: Pod, group: str) -> Report:
    family = await _family(client, pod.metadata.namespace)
    if group not in family.groups:
        return report.of_absent_group(pod)
    return report.of_group(family.root_of(family.groups[group]), family)


async def _of_job(client: Client, job: Job) -> Report:
    """By the group that its pods are in; where they are in none, by the Job itself."""
    pods = await client.list(PODS, job.metadata.namespace, into=Pod)
    own = [pod for pod in pods.items if report.is_of(pod, job)]
    grouped = next(((pod, name) for pod in own if (name := report.group_name(pod))), None)
    if grouped is not None:
        return await _of_member(client, *grouped)
    return report.of_job(job, own, asked_by(job, Rule.AUTO))


async def _gang_of(client: Client, pod: Pod) -> Job | None:
    """The Job that the pod is of, if its pods are a gang."""
    owner = pod.metadata.controller
    if owner is None or not is_job(owner):
        return None
    try:
        job = await client.get(JOBS, pod.metadata.namespace, owner.name, into=Job)
    except NotFound:
        return None
    return job if report.is_of(pod, job) and asked_by(job, Rule.AUTO).is_gang else None


async def _family(client: Client, namespace: str) -> Family:
    discovery = await client.discover([POD_GROUPS.group])
    composites: list[CompositePodGroup] = []
    if discovery.served(COMPOSITE_POD_GROUPS.group, COMPOSITE_POD_GROUPS.plural):
        listed = await client.list(COMPOSITE_POD_GROUPS, namespace, into=CompositePodGroup)
        composites = listed.items
    groups = await client.list(POD_GROUPS, namespace, into=PodGroup)
    pods = await client.list(PODS, namespace, into=Pod)
    return Family.of(groups.items, composites, pods.items)


def told(root: Report, now: datetime) -> Iterator[str]:
    """The report as people read it: the root, its tree with a line for each group, its pods."""
    yield from _heading(root, now)
    if root.children:
        yield ""
        yield from _table(["GROUP", "NEEDS", "HAS", "BOUND", "STATE", "WHY"], _tree(root, ""))
    if root.kind != "Pod" and (members := list(_members_of(root))):
        yield ""
        yield from _members(members)


def _heading(root: Report, now: datetime) -> Iterator[str]:
    since = f" since {_duration(now, root.since)}" if root.since else ""
    reason = f" ({root.reason})" if root.reason else ""
    yield f"{root.kind.lower()}/{root.name} in {root.namespace} {root.state}{reason}{since}"
    if root.kind == "PodGroup" or (root.kind == "Job" and root.needs):
        yield f"  needs {root.needs} members, has {root.has}, {root.bound} of them bound"
    if root.kind == "CompositePodGroup":
        yield f"  needs {root.needs} groups, has {root.has}, {root.bound} of them run"
    if root.message:
        yield f"  {root.message}"
    elif root.kind == "Pod" and root.members[0].node:
        yield f"  it is on node {root.members[0].node}"


def _tree(group: Report, indent: str) -> Iterator[list[str]]:
    numbers = [str(number) for number in (group.needs, group.has, group.bound)]
    why = group.message if indent else ""  # the root's stands above already
    yield [indent + group.name, *numbers, group.state, why]
    for child in group.children:
        yield from _tree(child, indent + "  ")


def _members_of(group: Report) -> Iterator[Member]:
    yield from group.members
    for child in group.children:
        yield from _members_of(child)


def _members(members: Sequence[Member]) -> Iterator[str]:
    """Few members one by one; of many, those that are alike in one line."""
    if len(members) <= SHOWN_ONE_BY_ONE:
        rows = [[m.name, m.state, m.node or "<none>", m.message] for m in members]
        yield from _table(["POD", "STATE", "NODE", "WHY"], rows)
        return
    rows = []
    for (state, why), alike in groupby(sorted(members, key=_kind), key=_kind):
        names = [member.name for member in alike]
        rows.append([_range(names), state, str(len(names)), why])
    yield from _table(["PODS", "STATE", "COUNT", "WHY"], rows)


def _table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    return output.columns([head, *rows]).splitlines()


def _kind(member: Member) -> tuple[str, str]:
    return member.state, member.message


def _range(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"


def _duration(now: datetime, since: datetime) -> str:
    seconds = max(int((now - since).total_seconds()), 0)
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"
