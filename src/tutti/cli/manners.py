"""How every process of ours behaves: what it takes, how it says that it works, how it ends."""

import argparse
import asyncio
import contextlib
import signal
from collections.abc import Coroutine

from tutti.api.errors import ApiError, Unanswered
from tutti.cli import logs, output
from tutti.cli.offspring import parent_ended
from tutti.cli.output import Trouble


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--bind-address",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="where /healthz, /livez, /readyz and /metrics are served (default: %(default)s)",
    )
    parser.add_argument(
        "--port", type=port, default=0, help="their port; 0 picks one and prints it (default: 0)"
    )
    parser.add_argument(
        "--log-level",
        choices=("debug", "info", "warning", "error"),
        default="info",
        help="how much is said on stderr (default: %(default)s)",
    )
    parser.add_argument("--exit-with-parent", action="store_true", help=argparse.SUPPRESS)


def port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port (0 to 65535)")
    return int(text)


def listening(at: int) -> None:
    print(f"listening: {at}", flush=True)


def ready() -> None:
    print("ready", flush=True)


def live(life: Coroutine[None, None, None], args: argparse.Namespace) -> int:
    """Run until SIGTERM or SIGINT (or, for a child of ours, the parent's end); then end in good order."""
    import uvloop

    from tutti.web.serve import CannotListen

    logs.to_stderr(args.log_level)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        try:
            runner.run(until_asked_to_stop(life, exit_with_parent=args.exit_with_parent))
        except (ApiError, Unanswered) as error:
            raise Trouble(output.refusal(error)) from error
        except ExceptionGroup as group:
            if isinstance(first := first_of(group), CannotListen):
                raise Trouble(str(first)) from group
            raise
    return 0


async def until_asked_to_stop(life: Coroutine[None, None, None], *, exit_with_parent: bool) -> None:
    """Live until a signal, or the parent's end, says that it is enough."""
    living = asyncio.create_task(life)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, living.cancel)
    watching = asyncio.create_task(_outlive(living)) if exit_with_parent else None
    try:
        with contextlib.suppress(asyncio.CancelledError):
            await living
    finally:
        if watching:
            watching.cancel()


async def _outlive(living: asyncio.Task[None]) -> None:
    await parent_ended()
    living.cancel()


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What went wrong first: the one thing that people are told."""
    first = group.exceptions[0]
    return first_of(first) if isinstance(first, BaseExceptionGroup) else first
