"""The pretend nodes that `tutti up` begins with: read from what was asked for, then created."""

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutti.api.errors import AlreadyExists
from tutti.api.meta import Wire
from tutti.api.registry import NODES
from tutti.cli.output import Trouble
from tutti.kube import config
from tutti.kube.client import Client
from tutti.pretend import cluster

USUAL_COUNT = 3
USUAL_RESOURCES: dict[str, str | int | float] = {"cpu": "32", "memory": "128Gi", "pods": 110}


class Named(Wire, frozen=True, kw_only=True):
    """A node, as far as it matters here that there is one."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Node manifests. `unasked` ones are made only where there is no node at all."""

    manifests: list[dict[str, Any]]
    unasked: bool = False


def wanted(count: int | None, description: Path | None) -> Wanted:
    """What `--nodes` and `--cluster` ask for."""
    if description is not None:
        return Wanted(described(description))
    size = USUAL_COUNT if count is None else count
    shape = {"name": "node", "count": size, "resources": USUAL_RESOURCES}
    return Wanted(cluster.nodes({"nodes": [shape]}), unasked=count is None)


def described(file: Path) -> list[dict[str, Any]]:
    """The Node manifests of a cluster description in YAML or JSON."""
    import yaml

    try:
        return cluster.nodes(yaml.safe_load(file.read_text()))
    except OSError as error:
        raise Trouble(f"{file} can't be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise Trouble(f"{file} is no YAML: {' '.join(str(error).split())}") from error
    except cluster.ClusterError as error:
        raise Trouble(f"{file}: {error}") from error


async def create(kubeconfig: Path, wanted: Wanted) -> None:
    """Make the nodes that aren't there yet; those that are stay as they are."""
    client = Client(config.load(kubeconfig), connections=16, within=60.0)
    try:
        if wanted.unasked and (await client.list(NODES, into=Named)).items:
            return
        async with asyncio.TaskGroup() as group:
            for manifest in wanted.manifests:
                group.create_task(_create(client, manifest))
    finally:
        await client.close()


async def _create(client: Client, manifest: dict[str, Any]) -> None:
    with contextlib.suppress(AlreadyExists):
        await client.create(NODES, manifest)
