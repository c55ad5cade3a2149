"""A scenario, played on a running control plane: each step done, each expectation waited for."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from tests.e2e.scenario import (
    LINGERS,
    Composite,
    Deletion,
    Expectation,
    Group,
    Manifest,
    PodSet,
    Scenario,
    Step,
)
from tutti.api import registry
from tutti.api.batch import Job
from tutti.api.core_v1 import Event, Node, Pod
from tutti.api.errors import NotFound
from tutti.api.meta import Condition
from tutti.api.scheduling import CompositePodGroup, PodGroup
from tutti.kube.client import Client
from tutti.kube.informer import Gone, Informer, Relisted, Seen
from tutti.pretend import cluster

PATIENCE = 20.0
SATISFIED = "tutti.dev/Satisfied"
_OWN_CONDITION: dict[type, str] = {
    Pod: "PodScheduled",
    PodGroup: "PodGroupInitiallyScheduled",
    CompositePodGroup: "CompositePodGroupInitiallyScheduled",
}
Subject = Pod | PodGroup | CompositePodGroup | Job
T = TypeVar("T", Pod, PodGroup, CompositePodGroup, Event, Node, Job)


async def play(
    scenario: Scenario, client: Client, namespace: str, scheduler: str = "tutti"
) -> None:
    """Leaves the cluster as it found it, but for the namespace and what is left in it."""
    stage = Stage(client, namespace, scheduler)
    async with asyncio.TaskGroup() as group:
        watching = [group.create_task(watch) for watch in stage.watches()]
        try:
            await stage.prepare(scenario)
            for number, step in enumerate(scenario.steps, 1):
                await stage.do(step)
                for name, expected in step.expect.items():
                    await stage.comes_true(f"step {number}", name, expected)
        finally:
            await stage.clear()
            for task in watching:
                task.cancel()


class Stage:
    """One namespace as it is now, by watching it, and the nodes that were made for it."""

    def __init__(self, client: Client, namespace: str, scheduler: str) -> None:
        self._client = client
        self._namespace = namespace
        self._scheduler = scheduler
        self._changed = asyncio.Event()
        self._pods = Informer(client, registry.PODS, Pod, namespace=namespace)
        self._groups = Informer(client, registry.POD_GROUPS, PodGroup, namespace=namespace)
        self._composites = Informer(
            client, registry.COMPOSITE_POD_GROUPS, CompositePodGroup, namespace=namespace
        )
        self._events = Informer(client, registry.EVENTS, Event, namespace=namespace)
        self._jobs = Informer(client, registry.JOBS, Job, namespace=namespace)
        self._nodes: list[str] = []
        self._priorities: list[str] = []

    def watches(self) -> Iterator[Any]:
        def tell(_: Seen[T] | Gone[T] | Relisted) -> None:
            self._changed.set()

        for informer in (self._pods, self._groups, self._composites, self._events, self._jobs):
            yield informer.run(tell)

    async def prepare(self, scenario: Scenario) -> None:
        for name, value in scenario.priorities.items():
            self._priorities.append(name)
            await self._create(
                registry.PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value}
            )

    async def do(self, step: Step) -> None:
        await self._delete(step.delete)
        if step.cluster is not None:
            await self._add_nodes(step.cluster)
        pairs = [gang.parts() for gang in step.gangs]
        await self._add_composites(step.composites)
        await self._add_groups([*step.groups, *(group for group, _ in pairs)])
        await self._add_pods([*step.pods, *(pods for _, pods in pairs)])
        for job in step.jobs:
            await self._create(registry.JOBS, job.manifest(self._scheduler), self._namespace)
        for name, spec in step.job_specs.items():
            await self._patch(registry.JOBS, name, {"spec": spec})
        for name, count in step.min_count.items():
            policy = {"schedulingPolicy": {"gang": {"minCount": count}}}
            await self._patch(registry.POD_GROUPS, name, {"spec": policy})
        for name in step.ungate:
            await self._patch(registry.PODS, name, {"spec": {"schedulingGates": []}})

    async def comes_true(self, where: str, name: str, expected: Expectation) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while self.amiss(name, expected):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            amiss = "; ".join(self.amiss(name, expected))
            raise AssertionError(f"{where}: {name}: {amiss}") from None

    def amiss(self, name: str, expected: Expectation) -> list[str]:
        """What isn't as expected (yet), in words."""
        group = self._groups.known.get((self._namespace, name))
        pod = self._pods.known.get((self._namespace, name))
        job = self._jobs.known.get((self._namespace, name))
        composite = self._composites.known.get((self._namespace, name))
        subject = group or composite or pod or job
        if expected.gone or subject is None:
            return (
                []
                if expected.gone == (subject is None)
                else ["is there" if subject else "isn't there"]
            )
        if isinstance(subject, Job):
            group = self._group_of(subject)
        conditions = {c.type: c for c in (group or subject).status.conditions}
        own = conditions.get(_OWN_CONDITION.get(type(group or subject), ""))
        members = [pod] if subject is pod and pod else self._members(subject)
        found: dict[str, object] = {
            "bound": sum(bool(member.spec.node_name) for member in members),
            "waiting": sum(not member.spec.node_name for member in members),
            "running": sum(member.status.phase == "Running" for member in members),
            "node": members[0].spec.node_name if members else None,
            "phase": members[0].status.phase if members else None,
            "scheduled": own is not None and own.status == "True",
            "reason": own and own.reason,
            "satisfied": SATISFIED in conditions and conditions[SATISFIED].reason,
            "quorum": _quorum(group),
            "succeeded": job.status.succeeded if job else None,
            "over": job.ending.type if job and job.ending else None,
        }
        wrong = [
            f"{word} is {found[word]!r}, expected {wanted!r}"
            for word in found
            if (wanted := getattr(expected, word)) is not None and wanted != found[word]
        ]
        said = _sentences([own, conditions.get(SATISFIED)])
        if expected.says is not None and not any(expected.says in sentence for sentence in said):
            wrong.append(f"says {said}, expected {expected.says!r}")
        if expected.event is not None and not self._was_told(expected.event, subject, members):
            wrong.append(f"there is no event {expected.event}")
        if expected.finalizer is not None and expected.finalizer not in subject.metadata.finalizers:
            wrong.append(f"finalizers are {list(subject.metadata.finalizers)}")
        return wrong

    async def clear(self) -> None:
        await self._delete(Deletion(jobs=tuple(name for _, name in self._jobs.known)))
        for (_, name), pod in list(self._pods.known.items()):
            if LINGERS in pod.metadata.finalizers:
                await self._patch(registry.PODS, name, {"metadata": {"finalizers": []}})
        await self._delete(
            Deletion(
                pods=tuple(name for _, name in self._pods.known),
                groups=tuple(name for _, name in self._groups.known),
                composites=tuple(name for _, name in self._composites.known),
            )
        )
        async with asyncio.timeout(PATIENCE):
            while self._pods.known:
                self._changed.clear()
                await self._changed.wait()
        await self._delete(Deletion(nodes=tuple(self._nodes)))
        for name in self._priorities:
            await self._client.delete(registry.PRIORITY_CLASSES, None, name)

    def _members(self, subject: Subject) -> list[Pod]:
        """A group's members, or a Job's pods, those that have ended left out."""
        if isinstance(subject, Job):
            return [
                pod
                for pod in self._pods.known.values()
                if pod.metadata.controller
                and pod.metadata.controller.uid == subject.metadata.uid
                and pod.status.phase not in ("Succeeded", "Failed")
            ]
        return [
            pod
            for pod in self._pods.known.values()
            if pod.spec.scheduling_group
            and pod.spec.scheduling_group.pod_group_name == subject.metadata.name
        ]

    def _group_of(self, job: Job) -> PodGroup | None:
        return next(
            (
                group
                for group in self._groups.known.values()
                if group.metadata.controller and group.metadata.controller.uid == job.metadata.uid
            ),
            None,
        )

    def _was_told(self, reason: str, subject: Subject, members: Sequence[Pod]) -> bool:
        about = {subject.metadata.uid, *(member.metadata.uid for member in members)}
        return any(
            event.reason == reason and event.involved_object.uid in about
            for event in self._events.known.values()
        )

    async def _add_nodes(self, description: dict[str, Any]) -> None:
        for manifest in cluster.nodes(description):
            self._nodes.append(manifest["metadata"]["name"])
            await self._create(registry.NODES, manifest)

    async def _add_groups(self, groups: Sequence[Group]) -> None:
        for group in groups:
            await self._create(registry.POD_GROUPS, group.manifest(), self._namespace)

    async def _add_composites(self, composites: Sequence[Composite]) -> None:
        for composite in composites:
            await self._create(registry.COMPOSITE_POD_GROUPS, composite.manifest(), self._namespace)

    async def _add_pods(self, sets: Sequence[PodSet]) -> None:
        for pods in sets:
            for manifest in pods.manifests(self._scheduler):
                await self._create(registry.PODS, manifest, self._namespace)

    async def _create(
        self, storage: registry.Storage, manifest: Manifest, namespace: str | None = None
    ) -> None:
        named = {"apiVersion": storage.api_version, "kind": storage.kind} | manifest
        await self._client.create(storage, named, namespace)

    async def _patch(self, storage: registry.Storage, name: str, patch: Manifest) -> None:
        await self._client.patch(storage, self._namespace, name, patch, kind="merge")

    async def _delete(self, what: Deletion) -> None:
        for storage, namespace, names in (
            (registry.JOBS, self._namespace, what.jobs),
            (registry.PODS, self._namespace, what.pods),
            (registry.POD_GROUPS, self._namespace, what.groups),
            (registry.COMPOSITE_POD_GROUPS, self._namespace, what.composites),
            (registry.NODES, None, what.nodes),
        ):
            for name in names:
                try:
                    await self._client.delete(
                        storage, namespace, name, grace=0, propagation="Background"
                    )
                except NotFound:
                    continue


def _quorum(group: PodGroup | None) -> int | None:
    gang = group.spec.scheduling_policy.gang if group else None
    return gang.min_count if gang else None


def _sentences(conditions: Sequence[Condition | None]) -> list[str]:
    return [condition.message for condition in conditions if condition is not None]
