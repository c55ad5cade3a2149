"""The language of `scenarios/*.yaml`, and the manifests that its words stand for.

`docs/scenarios.md` explains it to people; whoever adds a field adds it there, too.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

SCHEDULING = "scheduling.k8s.io/v1beta1"
COMPOSITES = "scheduling.k8s.io/v1alpha3"
Manifest = dict[str, Any]


class Words(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A word that isn't known is a mistake, never ignored."""


class PodSet(Words, frozen=True, kw_only=True):
    """Pods that are alike, NAME-0, NAME-1, …; without a count one pod, NAME."""

    name: str
    count: int | None = None
    group: str | None = None
    requests: dict[str, str | int | float] = msgspec.field(default_factory=lambda: {"cpu": 1})
    priority: str | None = None
    node_selector: dict[str, str] = {}
    tolerations: tuple[dict[str, str], ...] = ()
    gates: tuple[str, ...] = ()
    runs_for: float | None = None
    exit_code: int = 0
    lingers: bool = False
    spec: dict[str, Any] = {}

    @property
    def names(self) -> list[str]:
        if self.count is None:
            return [self.name]
        return [f"{self.name}-{number}" for number in range(self.count)]

    def manifests(self, scheduler: str) -> Iterator[Manifest]:
        spec: dict[str, Any] = {
            "schedulerName": scheduler,
            "terminationGracePeriodSeconds": 0,
            "containers": [
                {
                    "name": "main",
                    "image": "example.com/sample:1",
                    "resources": {"requests": self.requests},
                }
            ],
        }
        if self.group is not None:
            spec["schedulingGroup"] = {"podGroupName": self.group}
        if self.priority is not None:
            spec["priorityClassName"] = self.priority
        if self.node_selector:
            spec["nodeSelector"] = self.node_selector
        if self.tolerations:
            spec["tolerations"] = list(self.tolerations)
        if self.gates:
            spec["schedulingGates"] = [{"name": name} for name in self.gates]
        metadata: Manifest = {"annotations": _course(self.runs_for, self.exit_code)}
        if self.lingers:
            metadata["finalizers"] = [LINGERS]
        for name in self.names:
            yield {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": metadata | {"name": name},
                "spec": spec | self.spec,
            }


LINGERS = "example.com/lingers"
"""The finalizer of pods that stay, on their way out, until the scenario is over."""


def _course(runs_for: float | None, exit_code: int) -> dict[str, str]:
    """How the pretend kubelet lets a pod run: for how long, and what it ends with."""
    course = {"tutti.dev/exit-code": str(exit_code)}
    if runs_for is not None:
        course["tutti.dev/runs-for"] = str(runs_for)
    return course


class Group(Words, frozen=True, kw_only=True):
    """A PodGroup: a gang where it has a `minCount`, basic where it has none."""

    name: str
    min_count: int | None = None
    parent: str | None = None
    workload: str | None = None
    priority: str | None = None

    def manifest(self) -> Manifest:
        gang = {"gang": {"minCount": self.min_count}}
        spec: dict[str, Any] = {
            "schedulingPolicy": {"basic": {}} if self.min_count is None else gang
        }
        return {
            "apiVersion": SCHEDULING,
            "kind": "PodGroup",
            "metadata": {"name": self.name},
            "spec": spec | _place_in_a_tree(self.parent, self.workload) | _priority(self.priority),
        }


class Composite(Words, frozen=True, kw_only=True):
    """A CompositePodGroup: a gang of groups where it has a `minGroupCount`, basic without."""

    name: str
    min_group_count: int | None = None
    parent: str | None = None
    workload: str | None = None
    priority: str | None = None

    def manifest(self) -> Manifest:
        gang = {"gang": {"minGroupCount": self.min_group_count}}
        policy = {"basic": {}} if self.min_group_count is None else gang
        spec = {"schedulingPolicy": policy, "workloadRef": _made_from(self.workload)}
        return {
            "apiVersion": COMPOSITES,
            "kind": "CompositePodGroup",
            "metadata": {"name": self.name},
            "spec": spec | _place_in_a_tree(self.parent, self.workload) | _priority(self.priority),
        }


def _made_from(workload: str | None) -> Manifest:
    """The API wants a Workload wherever groups hang together; it need not be there."""
    return {"workloadName": workload or "nobody", "templateName": "none"}


def _place_in_a_tree(parent: str | None, workload: str | None) -> Manifest:
    if parent is None:
        return {}
    return {"parentCompositePodGroupName": parent, "workloadRef": _made_from(workload)}


def _priority(name: str | None) -> Manifest:
    return {} if name is None else {"priorityClassName": name}


class Gang(PodSet, frozen=True, kw_only=True):
    """A group and its pods in one: NAME, and `pods` members of it."""

    min_count: int | None = None
    parent: str | None = None
    pods: int

    def parts(self) -> tuple[Group, PodSet]:
        members = {field: getattr(self, field) for field in PodSet.__struct_fields__}
        group = Group(
            name=self.name,
            min_count=self.min_count,
            parent=self.parent,
            priority=self.priority,
        )
        return group, PodSet(**members | {"count": self.pods, "group": self.name})


class JobSet(Words, frozen=True, kw_only=True):
    """A Job, Indexed where it has `completions`; its pods run for so many seconds, or for ever."""

    name: str
    parallelism: int = 1
    completions: int | None = None
    requests: dict[str, str | int | float] = msgspec.field(default_factory=lambda: {"cpu": 1})
    runs_for: float | None = None
    exit_code: int = 0
    spec: dict[str, Any] = {}

    def manifest(self, scheduler: str) -> Manifest:
        container = {
            "name": "main",
            "image": "example.com/sample:1",
            "resources": {"requests": self.requests},
        }
        template = {
            "metadata": {"annotations": _course(self.runs_for, self.exit_code)},
            "spec": {
                "schedulerName": scheduler,
                "restartPolicy": "Never",
                "terminationGracePeriodSeconds": 0,
                "containers": [container],
            },
        }
        spec: dict[str, Any] = {"parallelism": self.parallelism, "template": template}
        if self.completions is not None:
            spec |= {"completions": self.completions, "completionMode": "Indexed"}
        return {"metadata": {"name": self.name}, "spec": spec | self.spec}


class Deletion(Words, frozen=True, kw_only=True):
    pods: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    composites: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()


class Expectation(Words, frozen=True, kw_only=True):
    """What must come to be true of a group and its members, of a Job and its pods, or of a pod."""

    bound: int | None = None
    waiting: int | None = None
    running: int | None = None
    node: str | None = None
    phase: str | None = None
    scheduled: bool | None = None
    reason: str | None = None
    says: str | None = None
    satisfied: str | None = None
    event: str | None = None
    finalizer: str | None = None
    quorum: int | None = None
    succeeded: int | None = None
    over: str | None = None
    gone: bool = False


class Step(Words, frozen=True, kw_only=True):
    """What is done, in the order of the fields, and what then comes to be true."""

    delete: Deletion = Deletion()
    cluster: dict[str, Any] | None = None
    composites: tuple[Composite, ...] = ()
    groups: tuple[Group, ...] = ()
    pods: tuple[PodSet, ...] = ()
    gangs: tuple[Gang, ...] = ()
    jobs: tuple[JobSet, ...] = ()
    min_count: dict[str, int] = {}
    job_specs: dict[str, dict[str, Any]] = {}
    ungate: tuple[str, ...] = ()
    expect: dict[str, Expectation] = {}


class Scenario(Step, frozen=True, kw_only=True):
    """The first step, and `then` the others."""

    title: str
    priorities: dict[str, int] = {}
    then: tuple[Step, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        return (self, *self.then)


def read(file: Path) -> Scenario:
    return msgspec.convert(yaml.safe_load(file.read_text()), Scenario)
