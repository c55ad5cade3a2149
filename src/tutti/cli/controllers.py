"""Run the controllers against any Kubernetes API server.

  protection   groups stay while their pods are there
  garbage      objects go when their owners are gone
  namespaces   deleted namespaces are emptied
  kubelets     the pods of pretend nodes run
  jobs         Jobs get their pods, and the groups that these are scheduled in
  cronjobs     Jobs are started by the clock

By default: protection, where the cluster doesn't have it. What deletes or pretends runs on a
foreign cluster only when it is named.
"""

import argparse

from tutti.cli import manners, wiring
from tutti.cli.output import Trouble

NAMES = ("protection", "garbage", "namespaces", "kubelets", "jobs", "cronjobs")


def arguments(parser: argparse.ArgumentParser) -> None:
    wiring.connection_arguments(parser)
    parser.add_argument(
        "--controllers",
        metavar="LIST",
        help=f"which ones, with commas between: {', '.join(NAMES)}; or all",
    )
    job_gangs(parser)
    manners.arguments(parser)


def job_gangs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--job-gangs",
        choices=("auto", "ask", "off"),
        default="auto",
        help="which Jobs become gangs: every Indexed Job that runs all its indexes at once, only "
        "those that ask for it in spec.scheduling, or none (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    return manners.live(
        wiring.controllers(
            wiring.connection(args),
            names=None if args.controllers is None else _named(args.controllers),
            job_gangs=args.job_gangs,
            bind_address=args.bind_address,
            port=args.port,
        ),
        args,
    )


def _named(text: str) -> tuple[str, ...]:
    if text == "all":
        return NAMES
    wanted = tuple(filter(None, text.split(",")))
    for name in wanted:
        if name not in NAMES:
            raise Trouble(f"there is no controller {name!r}: there are {', '.join(NAMES)}")
    return wanted
