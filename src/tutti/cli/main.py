"""`tutti`: the table of commands, and how each of them ends.

A command's module is imported when the command is called, so that `tutti --help` costs nothing.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tutti.cli.output import Trouble


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    summary: str


class Implementation(Protocol):
    """What a command's module has."""

    __doc__: str | None

    def arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


COMMANDS = (
    Command("up", "run a control plane here, with a scheduler and as many pretend nodes as wanted"),
    Command("demo", "see gangs start, wait and run on a sample cluster"),
    Command("scheduler", "run the scheduler against any Kubernetes API server"),
    Command("controllers", "run the controllers against any Kubernetes API server"),
    Command("apply", "create or change objects so that they are as files say"),
    Command("get", "show objects, as tables or whole"),
    Command("why", "say why a group or a pod runs, or waits"),
    Command("replay", "play a scheduler's journal again, and say how things stood"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0 done, 1 not done (a sentence on stderr says why), 2 wrongly asked."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    program = "kubectl tutti" if os.path.basename(sys.argv[0]) == "kubectl-tutti" else "tutti"
    if not any(command.name == word for command in COMMANDS for word in words[:1]):
        return _without_command(program, words)
    name = f"{program} {words[0]}"
    module: Implementation = importlib.import_module(f"tutti.cli.{words[0]}")
    parser = argparse.ArgumentParser(
        prog=name,
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.arguments(parser)
    return _carried_out(name, module, parser.parse_args(words[1:]))


def _without_command(program: str, words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog=program,
        description="Tutti starts groups of pods all together, or not at all.",
        epilog=f"{program} COMMAND --help says more about one of them.",
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    for command in COMMANDS:
        commands.add_parser(command.name, help=command.summary)
    parser.parse_args(words)
    parser.print_help()
    return 0


def _carried_out(name: str, module: Implementation, args: argparse.Namespace) -> int:
    try:
        return module.run(args)
    except Trouble as trouble:
        print(f"{name}: {trouble}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _version() -> str:
    from importlib.metadata import version

    return f"tutti {version('tutti-scheduler')}"
