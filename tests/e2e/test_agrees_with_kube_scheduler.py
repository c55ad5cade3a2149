"""The columns against the real kube-scheduler: random clusters and pods, one pod to place at a time.

Where kube-scheduler finds a node, it must be one of those that are worth most to Tutti; where it
finds none the sentences must be the same, so every rule must count the same nodes. And the cases
bite: whichever rule is left out, some case shows it.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.error import HTTPError

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings

from tests.core import clusters
from tests.core.clusters import Situation
from tools import throwaway
from tools.throwaway import Plane
from tutti.api.core_v1 import Node, Pod
from tutti.core.pods import PodClass
from tutti.core.profile import DEFAULT, Profile
from tutti.core.reasons import tally
from tutti.core.trial import Trial
from tutti.engine.encode import Cluster

pytestmark = [pytest.mark.real, pytest.mark.timeout(1200)]

OF_EACH_KIND = 20
each_kind = settings(
    max_examples=OF_EACH_KIND,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
PATIENCE_S = 6.0
"""How long kube-scheduler may take to see what was made, and to look again at what it refused."""
TRIES = 3
"""A pod that it bound elsewhere is made again: it may not have seen all nodes and pods yet."""

Wire = dict[str, Any]


@pytest.fixture(scope="module")
def judge(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """A control plane of its own, with kube-scheduler: its nodes come and go with the cases."""
    folder = tmp_path_factory.mktemp("judge")
    with throwaway.plane(programs, folder, companions=["kube-scheduler"]) as plane:
        plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
        yield plane


def mutants() -> dict[str, Profile]:
    """The default profile with one rule left out, for each rule."""
    without = {}
    for kind in ("filters", "relation_filters", "node_scores", "load_scores", "relation_scores"):
        rules = getattr(DEFAULT, kind)
        for index, rule in enumerate(rules):
            left = (*rules[:index], *rules[index + 1 :])
            name = f"{kind}: {getattr(rule, 'reason', rule.plugin)}"
            without[name] = replace(DEFAULT, name=name, **{kind: left})
    return without


MUTANTS = mutants()


def test_tutti_and_kube_scheduler_agree(judge: Plane) -> None:
    verdicts: Counter[str] = Counter()
    unnoticed = dict(MUTANTS)

    def cases(situation: Situation) -> None:
        case = Case(judge)
        try:
            verdict, agreed = case.play(*situation)
        finally:
            case.clear()
        assert agreed, f"kube-scheduler says {verdict!r}, Tutti {answer(case.columns(), DEFAULT)}"
        verdicts["refused" if " " in verdict else "placed"] += 1
        columns = case.columns()
        for name, profile in tuple(unnoticed.items()):
            if not agrees(verdict, answer(columns, profile)):
                del unnoticed[name]

    for situations in clusters.situations().values():
        each_kind(given(situations.filter(nobody_leaves))(cases))()

    assert verdicts.total() >= 200
    assert min(verdicts.values()) >= 20
    assert list(unnoticed) == []


def nobody_leaves(situation: Situation) -> bool:
    """A pod that is being deleted can't be made."""
    _, running, pending = situation
    pods = (*(pod for _, pod in running), pending)
    return all(pod.metadata.deletion_timestamp is None for pod in pods)


@dataclass
class Case:
    """One cluster and one pod to place, as the API server shows them."""

    plane: Plane
    nodes: list[Node] = field(default_factory=list)
    running: list[Pod] = field(default_factory=list)
    pending: Pod | None = None
    made: list[str] = field(default_factory=list)

    def play(
        self, nodes: list[Node], running: list[tuple[int, Pod]], pending: Pod
    ) -> tuple[str, bool]:
        """kube-scheduler's verdict, and whether Tutti's is the same."""
        for node in nodes:
            shown = self.create("/api/v1/nodes", msgspec.to_builtins(node))
            self.nodes.append(msgspec.convert(shown, Node))
        for number, (index, pod) in enumerate(running):
            on = nodes[index % len(nodes)].metadata.name
            self.running.append(self.create_pod(pod, f"running-{number}", on))
        verdict = ""
        for _ in range(TRIES):
            self.pending = self.create_pod(pending, "pending")
            ours = answer(self.columns(), DEFAULT)
            verdict = self.verdict(ours)
            if agrees(verdict, ours):
                return verdict, True
            self.delete(self.made.pop())
        return verdict, False

    def verdict(self, ours: list[str]) -> str:
        """The node that the pod got, or why it got none: once it is ours, or stays another."""
        deadline = monotonic() + PATIENCE_S
        verdict = ""
        while monotonic() < deadline:
            pod = msgspec.convert(self.plane.request("GET", self.made[-1]), Pod)
            if pod.spec.node_name:
                return pod.spec.node_name
            refused = [c.message for c in pod.status.conditions if c.reason == "Unschedulable"]
            verdict = refused[0].partition(" preemption:")[0] if refused else ""
            if agrees(verdict, ours):
                return verdict
            sleep(0.02)
        return verdict

    def columns(self) -> tuple[Cluster, PodClass]:
        """The same cluster in columns, and the class of the pod."""
        assert self.pending is not None
        cluster = Cluster()
        for node in self.nodes:
            cluster.node_seen(node)
        cluster.class_of(self.pending)
        for _ in range(2):  # the last pod may ask what tells the first ones apart
            for pod in self.running:
                cluster.hold(pod.metadata.uid, cluster.class_of(pod), pod.spec.node_name)
        return cluster, cluster.class_of(self.pending)

    def create_pod(self, pod: Pod, name: str, node: str = "") -> Pod:
        path = f"/api/v1/namespaces/{pod.metadata.namespace}/pods"
        return msgspec.convert(self.create(path, manifest(pod, name, node)), Pod)

    def create(self, path: str, body: Wire) -> Wire:
        """The object as the server shows it; what the server refuses makes no case."""
        try:
            shown: Wire = self.plane.request("POST", path, body)
        except HTTPError as error:
            assume(error.code != 422)
            raise
        self.made.append(f"{path}/{shown['metadata']['name']}")
        return shown

    def delete(self, path: str) -> None:
        with suppress(HTTPError):
            self.plane.request("DELETE", path, {"gracePeriodSeconds": 0})

    def clear(self) -> None:
        for path in reversed(self.made):
            self.delete(path)


def answer(columns: tuple[Cluster, PodClass], profile: Profile) -> list[str]:
    """The nodes that are worth most, or the sentence of a refusal."""
    cluster, cls = columns
    trial = Trial(cluster.snapshot(), profile)
    ranking = trial.ranking(cls)
    passing = ranking.passing()
    if not passing.any():
        return [tally(trial.snapshot, trial.used, profile, cls).sentence()]
    totals = ranking.totals(passing)
    best = passing & (totals == totals[passing].max())
    return [trial.snapshot.nodes.names[row] for row in best.nonzero()[0]]


def agrees(verdict: str, ours: list[str]) -> bool:
    return verdict in ours


def manifest(pod: Pod, name: str, node: str) -> Wire:
    """A pod that the API server takes: what it is strict about is mended."""
    body: Wire = msgspec.to_builtins(pod)
    body["metadata"] = {"name": name, "labels": pod.metadata.labels}
    spec: Wire = body["spec"]
    spec |= {"schedulerName": "default-scheduler", "terminationGracePeriodSeconds": 0}
    if node:
        spec["nodeName"] = node
    for index, container in enumerate(spec["containers"]):
        container |= {"name": f"c{index}", "image": container.get("image") or "pause"}
        container.pop("volumeMounts", None)  # they would need volumes
        requests = container.get("resources", {}).get("requests", {})
        if gpus := requests.get("example.com/gpu"):
            container["resources"]["limits"] = {"example.com/gpu": gpus}
        for port in container.get("ports", ()):
            port["containerPort"] = port.get("hostPort", 1)
    for toleration in spec.get("tolerations", ()):
        if not toleration.get("key"):
            toleration["operator"] = "Exists"
        if toleration.get("operator") == "Exists":
            toleration.pop("value", None)
    for constraint in spec.get("topologySpreadConstraints", ()):
        if constraint["whenUnsatisfiable"] == "ScheduleAnyway":
            constraint.pop("minDomains", None)
    _mend(spec)
    return body


def _mend(part: object) -> None:
    """Operators get as many values as they take; keys to match need a selector."""
    if isinstance(part, list):
        for one in part:
            _mend(one)
    if not isinstance(part, dict):
        return
    if part.get("operator") in ("Exists", "DoesNotExist"):
        part.pop("values", None)
    if part.get("operator") in ("Gt", "Lt"):
        part["values"] = [value if value.isdigit() else "0" for value in part["values"]]
    if "topologyKey" in part and "labelSelector" not in part:
        part.pop("matchLabelKeys", None)
        part.pop("mismatchLabelKeys", None)
    for one in part.values():
        _mend(one)
