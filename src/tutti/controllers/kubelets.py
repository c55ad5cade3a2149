"""Pretend kubelets: one controller that plays them all, for nodes that say they are pretended.

What happens to a pod is decided by `pretend.kubelet`; here it is carried out. Nodes without the
label `tutti.dev/pretend: "true"`, and their pods, are left alone. When a pretend node is deleted its
pods are lost with it: they fail, and go.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, assert_never

from tutti.api.core_v1 import Node, Pod
from tutti.api.errors import Conflict, NotFound
from tutti.api.registry import NODES, PODS
from tutti.controllers.work import Work
from tutti.kube.client import Client
from tutti.kube.informer import Gone, Informer, Relisted, Seen
from tutti.pretend import cluster, kubelet
from tutti.pretend.kubelet import Finish, Remove, Start, Stop

Key = tuple[str, str]


async def run(client: Client, ready: Callable[[], None]) -> None:
    kubelets = Kubelets(client)
    async with asyncio.TaskGroup() as group:
        group.create_task(kubelets.run())
        await kubelets.synced()
        ready()


class Kubelets:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._nodes = Informer(client, NODES, Node, label=f"{cluster.PRETEND}=true")
        self._pods = Informer(client, PODS, Pod, field="spec.nodeName!=")
        self._pods_of: defaultdict[str, set[Key]] = defaultdict(set)
        self._lost_nodes: set[str] = set()
        self._addresses: dict[str, str] = {}  # by pod uid
        self._taken: set[str] = set()
        self._work: Work[Key] = Work(self._attend, workers=32)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._nodes.run(self._on_node))
            group.create_task(self._pods.run(self._on_pod))
            group.create_task(self._work.run())

    async def synced(self) -> None:
        await self._nodes.synced.wait()
        await self._pods.synced.wait()

    def _on_node(self, news: Seen[Node] | Gone[Node] | Relisted) -> None:
        match news:
            case Seen(node):
                self._lost_nodes.discard(node.metadata.name)
                self._look_at_pods_of(node)
            case Gone(node):
                self._lost_nodes.add(node.metadata.name)
                self._look_at_pods_of(node)
            case Relisted():
                pass

    def _look_at_pods_of(self, node: Node) -> None:
        for key in self._pods_of[node.metadata.name]:
            self._work.add(key)

    def _on_pod(self, news: Seen[Pod] | Gone[Pod] | Relisted) -> None:
        match news:
            case Seen(pod):
                self._pods_of[pod.spec.node_name].add(_key(pod))
                if pod.status.pod_ip:
                    self._keep_address(pod.metadata.uid, pod.status.pod_ip)
                self._work.add(_key(pod))
            case Gone(pod):
                self._pods_of[pod.spec.node_name].discard(_key(pod))
                self._taken.discard(self._addresses.pop(pod.metadata.uid, ""))
            case Relisted():
                pass

    async def _attend(self, key: Key) -> None:
        pod = self._pods.known.get(key)
        if pod is None:
            return
        if pod.spec.node_name in self._lost_nodes:
            await self._lose(pod)
        elif ("", pod.spec.node_name) in self._nodes.known:
            await self._advance(pod)

    async def _advance(self, pod: Pod) -> None:
        now = datetime.now(UTC)
        match kubelet.next_step(pod):
            case Start():
                host = self._nodes.known["", pod.spec.node_name]
                await self._report(pod, self._started(pod, host, now))
            case Stop(at) | Finish(at) if at > now:
                self._work.add(_key(pod), after=(at - now).total_seconds())
            case Stop():
                await self._report(pod, kubelet.stopped(pod, now=now))
            case Finish():
                await self._report(pod, kubelet.finished(pod, now=now))
            case Remove():
                await self._remove(pod)
            case None:
                pass
            case step:
                assert_never(step)

    async def _lose(self, pod: Pod) -> None:
        if pod.status.phase in ("Succeeded", "Failed"):
            await self._remove(pod)
        else:
            await self._report(pod, kubelet.lost(pod, now=datetime.now(UTC)))

    def _started(self, pod: Pod, host: Node, now: datetime) -> dict[str, Any]:
        uid = pod.metadata.uid
        if uid not in self._addresses:
            self._keep_address(uid, kubelet.address(uid, self._taken))
        host_ip = host.status.internal_ip
        pod_ip = (pod.spec.host_network and host_ip) or self._addresses[uid]
        return kubelet.running(pod, pod_ip=pod_ip, host_ip=host_ip, now=now)

    def _keep_address(self, uid: str, address: str) -> None:
        self._addresses[uid] = address
        self._taken.add(address)

    async def _report(self, pod: Pod, status: dict[str, Any]) -> None:
        """The uid in the patch is a precondition: a namesake made later is left alone."""
        patch = {"metadata": {"uid": pod.metadata.uid}, "status": status}
        try:
            await self._client.patch(
                PODS, *_key(pod), patch, kind="strategic", subresource="status"
            )
        except (Conflict, NotFound):
            return  # it is gone, or another pod now: the watch says what is to be done

    async def _remove(self, pod: Pod) -> None:
        try:
            await self._client.delete(PODS, *_key(pod), uid=pod.metadata.uid, grace=0)
        except (Conflict, NotFound):
            return


def _key(pod: Pod) -> Key:
    return pod.metadata.namespace, pod.metadata.name
