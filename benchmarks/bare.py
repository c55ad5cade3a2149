"""The ceiling: gives every unbound pod the next node in turn, and decides nothing.

python -m benchmarks.bare --kubeconfig FILE
"""

import asyncio
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

from tutti.api import registry
from tutti.api.core_v1 import Node, Pod
from tutti.kube import config
from tutti.kube.client import Client

IN_FLIGHT = 128
"""Fewer need more disk syncs per binding in etcd; more gain nothing."""


async def bind_all(kubeconfig: Path) -> None:
    client = Client(config.load(kubeconfig), connections=IN_FLIGHT)
    found = await client.list(registry.NODES, into=Node)
    names = itertools.cycle([node.metadata.name for node in found.items])
    while True:
        pods = (await client.list(registry.PODS, into=Pod, field="spec.nodeName=")).items
        work = iter(pods)
        async with asyncio.TaskGroup() as group:
            for _ in range(IN_FLIGHT):
                group.create_task(_bind(client, work, names))
        await asyncio.sleep(0.2)


async def _bind(client: Client, pods: Iterator[Pod], names: Iterator[str]) -> None:
    for pod in pods:
        meta = pod.metadata
        await client.bind(meta.namespace, meta.name, meta.uid, next(names), {})


if __name__ == "__main__":
    import uvloop

    uvloop.run(bind_all(Path(sys.argv[-1])))
