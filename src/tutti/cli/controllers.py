"""Run the controllers against any Kubernetes API server.

  protection   groups stay while their pods are there
  garbage      objects go when their owners are gone
  namespaces   deleted namespaces are emptied
  kubelets     the pods of pretend nodes run

By default: protection, where the cluster doesn't have it. What deletes or pretends runs on a
foreign cluster only when it is named.
"""

import argparse

from tutti.cli import manners, wiring
from tutti.cli.output import Trouble

NAMES = ("protection", "garbage", "namespaces", "kubelets")


def arguments(parser: argparse.ArgumentParser) -> None:
    wiring.connection_arguments(parser)
    parser.add_argument(
        "--controllers",
        metavar="LIST",
        help=f"which ones, with commas between: {', '.join(NAMES)}; or all",
    )
    manners.arguments(parser)


def run(args: argparse.Namespace) -> int:
    return manners.live(
        wiring.controllers(
            wiring.connection(args),
            names=None if args.controllers is None else _named(args.controllers),
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
