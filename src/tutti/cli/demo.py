"""See gangs start, wait and run: a control plane of its own, with a sample GPU cluster in racks.

Nothing of it outlives the command, and nothing outside is touched. In a terminal it goes on showing
the cluster until Ctrl-C, so that things can be tried from another one.
"""

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from tutti.cli import manners, picture
from tutti.cli.offspring import Child, Ended
from tutti.cli.output import Trouble
from tutti.cli.screen import Screen
from tutti.cli.stage import Stage
from tutti.kube import config
from tutti.kube.client import Client
from tutti.pretend import cluster

LAYOUT = {"blocksPerZone": 2, "racksPerBlock": 2, "nodesPerRack": 4}
HARDWARE = {"cpu": "96", "memory": "768Gi", picture.GPU: "8"}
SAMPLE = {"nodes": [{"name": "gpu", "layout": LAYOUT, "resources": HARDWARE}]}
IN_RACK_3 = {cluster.ZONE: "zone-0", cluster.BLOCK: "block-1", cluster.RACK: "rack-3"}
ONE_MORE = {"nodes": [{"name": "new", "count": 1, "resources": HARDWARE, "labels": IN_RACK_3}]}

JOB_RUNS_S = 3.0
"""How long the pods of the Job take: long enough to be seen."""

PATIENCE_S = 15.0
"""How long the control plane may take to end."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=manners.port, default=0, help="of its API server (default: a free one)"
    )
    parser.add_argument(
        "--control-plane",
        type=Path,
        metavar="DIR",
        help="use the real etcd and kube-apiserver in DIR in place of the embedded server",
    )


def run(args: argparse.Namespace) -> int:
    try:
        asyncio.run(_until_asked_to_stop(args))
    except* (Ended, Trouble) as group:
        raise Trouble(str(manners.first_of(group))) from None
    return 0


async def _until_asked_to_stop(args: argparse.Namespace) -> None:
    showing = asyncio.create_task(_show(args, Screen(sys.stdout)))
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, showing.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await showing


async def _show(args: argparse.Namespace, screen: Screen) -> None:
    print("starting a control plane, a scheduler and 16 pretend nodes …", flush=True)
    async with _control_plane(args) as (plane, kubeconfig):
        client = Client(config.load(kubeconfig))
        stage = Stage(client, screen)
        try:
            async with asyncio.TaskGroup() as group:
                beside = [group.create_task(stage.follow()), group.create_task(_outlive(plane))]
                await _play(stage)
                await stage.tell(*_what_next(kubeconfig, stays=screen.is_live))
                if screen.is_live:
                    await asyncio.Event().wait()
                for task in beside:
                    task.cancel()
        finally:
            await client.close()


async def _play(stage: Stage) -> None:
    await stage.until("the nodes are there", lambda: stage.size() == 16)
    await stage.tell("16 nodes in 4 racks, with 8 GPUs each: a row is a node, a dot a free GPU.")

    await stage.add_gang("pretrain", pods=8, gpus=8)
    await stage.until("pretrain runs", lambda: stage.runs("pretrain"))
    await stage.tell("pretrain, a gang of 8 pods with 8 GPUs each, has started: all 8 together.")

    await stage.add_gang("finetune", pods=9, gpus=4)
    await stage.until("finetune runs", lambda: stage.runs("finetune"))
    await stage.tell("finetune, a gang of 9 pods with 4 GPUs each, has started beside it.")

    await stage.add_job("research", pods=8, gpus=4, runs_for=JOB_RUNS_S)
    await stage.until("research is refused", lambda: stage.refused("research"))
    await stage.tell(
        "research, a Job of 8 pods with 4 GPUs each, is a gang by itself.",
        "It waits: there is room for 7 of them.",
        "None is started, so no GPU is held by a Job that can't run.",
    )

    await stage.add_nodes(ONE_MORE)
    await stage.until("research runs", lambda: stage.runs("research"))
    await stage.tell("A node came to rack-3, and research has started: all 8 together.")

    await stage.until("research has finished", lambda: stage.finished("research"))
    await stage.tell("research has finished: all 8 pods succeeded, and their GPUs are free again.")


def _what_next(kubeconfig: Path, *, stays: bool) -> Iterator[str]:
    tutti = os.path.relpath(sys.argv[0]) if sys.argv[0].endswith("tutti") else "tutti"
    if not stays:
        yield "That was a demonstration. In a terminal it stays, to be tried with kubectl. Or start your own:"
        yield ""
        yield f"  {tutti} up --cluster examples/racks.yaml"
        yield f"  {tutti} apply -f examples/gang.yaml"
        return
    kubectl = "kubectl" if shutil.which("kubectl") else tutti
    yield "That was all. Now you, from another terminal (Ctrl-C here ends it all):"
    yield ""
    yield f"  export KUBECONFIG={kubeconfig}"
    yield f"  {kubectl} get jobs,podgroups,pods -o wide"
    yield f"  {tutti} apply -f examples/gang.yaml"
    yield f"  {tutti} why podgroup/example"
    if shutil.which("kubectl"):
        yield "  kubectl create job mine --image=example.com/mine"


@contextlib.asynccontextmanager
async def _control_plane(args: argparse.Namespace) -> AsyncIterator[tuple[Child, Path]]:
    """`tutti up` with the sample cluster; the way in is a kubeconfig, as for everybody."""
    with _files() as (description, kubeconfig):
        plane = await Child.spawn(
            "control plane",
            [
                *(sys.executable, "-m", "tutti.cli", "up", "--port", str(args.port)),
                *("--cluster", description, "--kubeconfig", kubeconfig),
                *(("--control-plane", args.control_plane) if args.control_plane else ()),
            ],
        )
        try:
            await plane.line_starting("ready: ")
            yield plane, kubeconfig
        finally:
            await plane.stop(PATIENCE_S)


@contextlib.contextmanager
def _files() -> Iterator[tuple[Path, Path]]:
    with tempfile.TemporaryDirectory(prefix="tutti-demo-") as folder:
        description = Path(folder, "cluster.json")
        description.write_text(json.dumps(SAMPLE))
        yield description, Path(folder, "kubeconfig")


async def _outlive(plane: Child) -> None:
    raise Ended(plane, await plane.wait())
