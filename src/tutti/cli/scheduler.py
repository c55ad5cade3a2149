"""Run the scheduler against any Kubernetes API server.

It schedules the pods that name it (`schedulerName`), and their groups all together or not at all.
Of several with one name one works at a time: the one that holds the Lease.
"""

import argparse
import os
import secrets
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from tutti.cli import manners, wiring
from tutti.cli.controllers import job_gangs
from tutti.cli.output import Trouble

if TYPE_CHECKING:
    from tutti.core.plugins import Plugin
    from tutti.engine.configuration import Configuration

USUAL_NAME = "tutti"
LONGEST_LEASE_S = 60.0


def arguments(parser: argparse.ArgumentParser) -> None:
    wiring.connection_arguments(parser)
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="a KubeSchedulerConfiguration: profiles by scheduler name, weights, plugins",
    )
    parser.add_argument(
        "--scheduler-name",
        metavar="NAME",
        action="append",
        help=f"whose pods are scheduled; may be repeated (default: {USUAL_NAME})",
    )
    job_gangs(parser)
    parser.add_argument(
        "--lease-duration",
        type=_seconds,
        metavar="S",
        default=5.0,
        help="after how many seconds of silence another takes over (default: %(default)s)",
    )
    parser.add_argument(
        "--identity", help="who holds the Lease (default: made from the host's name)"
    )
    parser.add_argument(
        "--journal",
        type=Path,
        metavar="DIR",
        help="write down all that the scheduler hears and decides, for tutti replay DIR",
    )
    manners.arguments(parser)


def run(args: argparse.Namespace) -> int:
    # Before NumPy is imported: no matrices are multiplied here, and its threads take 35 ms to start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if args.config and args.scheduler_name:
        raise Trouble("with --config the profiles in the file say the scheduler names")
    if args.config and args.journal:
        raise Trouble("--journal doesn't write profiles down yet: it can't go with --config")
    configuration = _configuration(args.config) if args.config else None
    return manners.live(
        wiring.scheduler(
            wiring.connection(args),
            names=tuple(
                configuration.profiles if configuration else args.scheduler_name or (USUAL_NAME,)
            ),
            configuration=configuration,
            journal=args.journal,
            job_gangs=args.job_gangs,
            lease_duration=args.lease_duration,
            identity=args.identity or f"{socket.gethostname()}_{secrets.token_hex(8)}",
            bind_address=args.bind_address,
            port=args.port,
        ),
        args,
    )


def _configuration(file: Path) -> "Configuration":
    import yaml

    from tutti.engine.configuration import Misconfigured, read

    try:
        return read(yaml.safe_load(file.read_text()), _own_plugins())
    except (OSError, yaml.YAMLError, Misconfigured) as error:
        raise Trouble(f"{file}: {error}") from error


def _own_plugins() -> "dict[str, Plugin]":
    """The plugins that installed packages bring, by the name of their entry point."""
    from importlib.metadata import entry_points

    return {found.name: found.load() for found in entry_points(group="tutti.plugins")}


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 1.0 <= seconds <= LONGEST_LEASE_S:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not between 1 and {LONGEST_LEASE_S:.0f} seconds"
        )
    return seconds
