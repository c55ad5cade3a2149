"""What the real kube-scheduler answers: whether a pod fits each node, what the node is worth, or why not.

One pod at a time is asked about: made, decided and deleted again, so that all of a cluster's questions
are about the same cluster. Everything that was asked and answered can be kept as JSON, to be looked at
again without a control plane.
"""

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec

from tests.e2e import disks
from tests.e2e.disks import Disks
from tests.e2e.questions import (
    NAMESPACES,
    ODD,
    PROFILES,
    RUNTIME_CLASS,
    SERVICE,
    Cluster,
    Json,
    Running,
    with_a_rare_need,
)
from tools.throwaway import Plane
from tutti.api.core_v1 import Node, Pod
from tutti.api.registry import NAMESPACES as NAMESPACE_STORAGE
from tutti.api.registry import NODES, PODS, SERVICES
from tutti.cli.kubernetes import feature_gates
from tutti.cli.offspring import Child
from tutti.kube import config
from tutti.kube.client import Client
from tutti.kube.informer import Gone, Informer, Relisted, Seen

PATIENCE_S: Final = 60
LAST: Final = "last-of"
"""A label that a node gets when all nodes are there: who knows of it knows of them all."""


class Answer(msgspec.Struct, frozen=True):
    """Scores by plugin and node are weighed; there are none where there was no choice."""

    node: str
    refusal: str
    scores: Mapping[str, Mapping[str, int]]
    totals: Mapping[str, int]

    @property
    def passing(self) -> set[str]:
        return set(self.totals) or ({self.node} if self.node else set())


class Question(msgspec.Struct, frozen=True):
    """A pod that asks for a place, as the server showed it at first, and what became of it."""

    pod: Pod
    answer: Answer


class Scene(msgspec.Struct, frozen=True):
    """A cluster as the server shows it, and what was asked about it."""

    nodes: Sequence[Node]
    running: Sequence[Pod]
    questions: Sequence[Question]


class Record(msgspec.Struct, frozen=True):
    """All scenes, and the disks that are the same in all of them."""

    scenes: Sequence[Scene]
    disks: Disks


async def ask(programs: Path, plane: Plane, folder: Path, clusters: Sequence[Cluster]) -> Record:
    """Put all clusters to kube-scheduler, one after the other."""
    client = Client(config.load(plane.kubeconfig("admin")))
    scores = Scores()
    try:
        shown = await _make_what_all_need(client, clusters)
        async with kube_scheduler(programs, plane, folder, scores), Bench(client) as bench:
            asked = [await bench.play(cluster) for cluster in clusters]
    finally:
        await client.close()
    scenes = [
        Scene(nodes, running, [Question(pod, scores.answer(pod, *end)) for pod, end in ends])
        for nodes, running, ends in asked
    ]
    return Record(scenes, shown)


def configuration(client: Mapping[str, object]) -> Json:
    """No preemption: a refused pod is told why, and nobody else is touched."""
    off = {"postFilter": {"disabled": [{"name": "*"}]}}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": 100,
        "leaderElection": {"leaderElect": False},
        "clientConnection": client,
        "profiles": [{**one, "plugins": {**one.get("plugins", {}), **off}} for one in PROFILES],
    }


@asynccontextmanager
async def kube_scheduler(
    programs: Path, plane: Plane, folder: Path, scores: "Scores"
) -> AsyncIterator[None]:
    """kube-scheduler at work, telling its scores; it is heard to the end."""
    settings = folder / "kube-scheduler.json"
    access = {"kubeconfig": str(plane.kubeconfig("admin")), "qps": 5000, "burst": 5000}
    settings.write_text(json.dumps(configuration(access)))
    child = await Child.spawn(
        "kube-scheduler",
        [
            programs / "kube-scheduler",
            f"--config={settings}",
            "--secure-port=0",
            "--vmodule=schedule_one=10",
            # Every pod is looked at afresh, however much it is like the last one.
            feature_gates("OpportunisticBatching=false"),
        ],
        on_line=scores.hear,
    )
    try:
        yield
    finally:
        await child.stop(10)
        await child.wait()


class Scores:
    """What kube-scheduler says about the nodes that passed, line by line."""

    _LINE: Final = re.compile(
        r'"(?:Plugin scored node|Calculated node\'s final score) for pod" '
        r'pod="(?P<pod>[^"]+)" (?:plugin="(?P<plugin>\w+)" )?node="(?P<node>[^"]+)" score=(?P<score>\d+)'
    )

    def __init__(self) -> None:
        self._by_pod: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))

    def hear(self, line: str) -> None:
        said = self._LINE.search(line)
        if said is not None:
            plugin = said["plugin"] or ""
            self._by_pod[said["pod"]][plugin][said["node"]] = int(said["score"])

    def answer(self, pod: Pod, node: str, refusal: str) -> Answer:
        scores = dict(self._by_pod[f"{pod.metadata.namespace}/{pod.metadata.name}"])
        totals = scores.pop("", {})
        return Answer(node, refusal, scores, totals)


End = tuple[str, str]
"""The node that a pod got, or why it got none; the other is empty."""


class Bench:
    """The cluster that questions are about, and the pods that were asked about and not answered yet."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._waiting: dict[str, asyncio.Future[End]] = {}
        self._pods = Informer(client, PODS, Pod)

    async def __aenter__(self) -> "Bench":
        self._ear = asyncio.create_task(self._pods.run(self._hear))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ear.cancel()
        await asyncio.gather(self._ear, return_exceptions=True)

    async def play(self, cluster: Cluster) -> tuple[list[Node], list[Pod], list[tuple[Pod, End]]]:
        for node in cluster.nodes:
            await self._client.create(NODES, node)
        for pod in cluster.running:
            await self._run(pod)
        last = cluster.nodes[-1]["metadata"]["name"]
        await self._client.patch(NODES, None, last, {"metadata": {"labels": {LAST: last}}})
        shown = await self._client.list(NODES, into=Node)
        running = await self._client.list(PODS, into=Pod)
        await self._until_known(last, len(cluster.nodes))
        asked = []
        for pod in cluster.asking:
            asked += [await self.ask(pod), await self.ask(with_a_rare_need(pod))]
        await self._clear()
        return shown.items, running.items, asked

    async def ask(self, pod: Json) -> tuple[Pod, End]:
        """Make the pod, wait until it is decided, and delete it."""
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        decided = self._waiting[name] = asyncio.get_running_loop().create_future()
        made = msgspec.json.decode(await self._client.create(PODS, pod, namespace), type=Pod)
        async with asyncio.timeout(PATIENCE_S):
            end = await decided
        await self._client.delete(PODS, namespace, name, grace=0)
        return made, end

    async def _until_known(self, last: str, count: int) -> None:
        """Wait until kube-scheduler knows of the node that was made last."""
        probe: Json = {
            "metadata": {"name": f"probe-{last}", "namespace": NAMESPACES[0]},
            "spec": {
                "nodeSelector": {LAST: last},
                "tolerations": [{"operator": "Exists"}],
                "containers": [{"name": "main", "image": "pause"}],
            },
        }
        others = f" {count - 1} node(s) didn't match Pod's node affinity/selector"
        async with asyncio.timeout(PATIENCE_S):
            while True:
                _, (node, refusal) = await self.ask(probe)
                if node or others in refusal:
                    break

    async def _run(self, running: Running) -> None:
        meta = running.pod["metadata"]
        place = PODS, meta["namespace"], meta["name"]
        await self._client.create(PODS, running.pod, meta["namespace"])
        await self._client.patch(*place, {"status": running.status}, subresource="status")
        if running.leaves:
            await self._client.delete(*place)

    async def _clear(self) -> None:
        for namespace in (*NAMESPACES, ODD):
            await self._client.raw(
                "DELETE", PODS.path(namespace=namespace), body=b'{"gracePeriodSeconds":0}'
            )
        await self._client.raw("DELETE", NODES.path())

    def _hear(self, news: Seen[Pod] | Gone[Pod] | Relisted) -> None:
        if not isinstance(news, Seen):
            return
        pod = news.object
        waiting = self._waiting.get(pod.metadata.name)
        refused = [c.message for c in pod.status.conditions if c.type == "PodScheduled"]
        if waiting is None or waiting.done():
            return
        if pod.spec.node_name:
            waiting.set_result((pod.spec.node_name, ""))
        elif refused:
            waiting.set_result(("", refused[0]))


async def _make_what_all_need(client: Client, clusters: Sequence[Cluster]) -> Disks:
    """Made before kube-scheduler begins, so that it knows of all this from the start."""
    for namespace in (*NAMESPACES, ODD):
        await client.create(NAMESPACE_STORAGE, {"metadata": {"name": namespace}})
    await client.create(SERVICES, SERVICE, ODD)
    await client.raw(
        "POST",
        "/apis/node.k8s.io/v1/runtimeclasses",
        body=msgspec.json.encode(RUNTIME_CLASS),
    )
    limits = {node: count for cluster in clusters for node, count in cluster.limits.items()}
    return await disks.make(client, (*NAMESPACES, ODD), limits)
