"""Run a control plane here, in the foreground, with a scheduler, controllers and pretend nodes.

Once all of it works, one line on stdout says so:  ready: https://127.0.0.1:PORT kubeconfig=FILE
Ctrl-C or SIGTERM ends it, together with everything that it started.
"""

import argparse
import asyncio
import contextlib
import fcntl
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tutti.api.errors import ApiError, Unanswered
from tutti.cli import controllers, credentials, manners, nodes, parts
from tutti.cli.offspring import Ended
from tutti.cli.output import Trouble, note
from tutti.cli.supervisor import Supervisor

USUAL_PORT = 6443
USUAL_NAMES = ("default-scheduler", "tutti")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port",
        type=manners.port,
        default=USUAL_PORT,
        help="0 picks a free one (default: %(default)s)",
    )
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument(
        "--nodes", type=_count, metavar="N", help="so many equal pretend nodes (default: 3)"
    )
    wanted.add_argument(
        "--cluster", type=Path, metavar="FILE", help="the pretend nodes that FILE describes"
    )
    parser.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="keep everything in DIR (default: a temporary folder that goes at the end)",
    )
    parser.add_argument(
        "--kubeconfig",
        type=Path,
        metavar="FILE",
        help="where to write the way in (default: admin.kubeconfig in the data folder)",
    )
    parser.add_argument("--no-scheduler", action="store_true", help="leave scheduling to others")
    parser.add_argument("--no-controllers", action="store_true", help="run no controllers")
    parser.add_argument(
        "--scheduler-name",
        metavar="NAME",
        action="append",
        help=f"whose pods are scheduled; may be repeated (default: {' and '.join(USUAL_NAMES)})",
    )
    controllers.job_gangs(parser)
    parser.add_argument("--feature-gates", metavar="K=V,…", default="", help="as kube-apiserver's")
    parser.add_argument(
        "--control-plane",
        type=Path,
        metavar="DIR",
        help="use the real etcd and kube-apiserver in DIR in place of the embedded server",
    )


def run(args: argparse.Namespace) -> int:
    wanted = nodes.wanted(args.nodes, args.cluster)
    if args.kubeconfig is not None:
        _check_place(args.kubeconfig)
    with _data_folder(args.data_dir) as folder:
        try:
            asyncio.run(_until_asked_to_stop(args, folder, wanted))
        except* (Ended, Trouble, ApiError, Unanswered) as group:
            raise Trouble(str(manners.first_of(group))) from None
    return 0


async def _until_asked_to_stop(
    args: argparse.Namespace, folder: Path, wanted: nodes.Wanted
) -> None:
    asked = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, asked.set)
    async with asyncio.TaskGroup() as group:
        supervisor = Supervisor(group, note)
        rise = group.create_task(_rise(args, folder, wanted, supervisor))
        try:
            await asked.wait()
            rise.cancel()
        finally:
            await supervisor.stop()


async def _rise(
    args: argparse.Namespace, folder: Path, wanted: nodes.Wanted, supervisor: Supervisor
) -> None:
    """From nothing to the line that says that all of it works."""
    secrets = credentials.make(folder)
    if args.control_plane is None:
        server = parts.embedded_server(secrets, args.feature_gates)
    else:
        server = parts.real_server(secrets, args.feature_gates, args.control_plane)
    port = await supervisor.start(server, args.port)
    address = f"https://{parts.HOST}:{port}"
    secrets.write_kubeconfigs(address)
    admin = secrets.kubeconfig("admin")
    async with asyncio.TaskGroup() as group:
        group.create_task(nodes.create(admin, wanted))
        if not args.no_scheduler:
            names = args.scheduler_name or USUAL_NAMES
            group.create_task(supervisor.start(parts.scheduler(secrets, names, args.job_gangs)))
        if not args.no_controllers:
            part = parts.controllers(secrets, args.job_gangs, args.feature_gates)
            group.create_task(supervisor.start(part))
    if args.kubeconfig is not None:
        _hand_out(admin, args.kubeconfig)
    print(f"ready: {address} kubeconfig={args.kubeconfig or admin}", flush=True)


def _hand_out(kubeconfig: Path, to: Path) -> None:
    """A copy for its owner's eyes alone, from the first byte."""
    content = kubeconfig.read_text()
    to.unlink(missing_ok=True)
    with os.fdopen(os.open(to, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(content)


def _check_place(kubeconfig: Path) -> None:
    """A kubeconfig can be written there, and writes over nothing but an earlier one of ours."""
    import yaml

    if not kubeconfig.absolute().parent.is_dir():
        raise Trouble(f"{kubeconfig} can't be written: there is no folder {kubeconfig.parent}")
    if not kubeconfig.exists():
        return
    try:
        document = yaml.safe_load(kubeconfig.read_text()) or {}
        others = {context["name"] for context in document.get("contexts") or ()} - {"tutti"}
    except (OSError, ValueError, yaml.YAMLError, AttributeError, KeyError, TypeError):
        raise Trouble(f"{kubeconfig} is there and is no kubeconfig: name another file") from None
    if others:
        names = ", ".join(sorted(others))
        raise Trouble(f"{kubeconfig} holds other contexts ({names}): name another file")


@contextlib.contextmanager
def _data_folder(said: Path | None) -> Iterator[Path]:
    """The folder, for us alone while we run."""
    if said is None:
        with tempfile.TemporaryDirectory(prefix="tutti-") as temporary:
            yield Path(temporary)
        return
    try:
        said.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (said / "up.lock").open("w")
    except OSError as error:
        raise Trouble(f"{said} can't be used as a data folder: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Trouble(f"{said} is in use: another tutti up keeps its data there") from None
        yield said.absolute()


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of nodes")
    return int(text)
