"""The embedded API server as a process of its own: `python -m tutti.server --help`.

It says `listening: PORT` on its standard output once it serves, and ends with status 0 when told to
(SIGTERM, SIGINT), or with `--exit-with-parent` when its standard input ends.
"""

import argparse
import asyncio
import gc
import logging
import sys
import uuid
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from tutti.server import expiry, gates, seeds
from tutti.server.app import Server, is_open
from tutti.server.context import Context
from tutti.server.discovery import Discovery
from tutti.server.objects import Objects
from tutti.server.view import View
from tutti.store import Store, StoreError
from tutti.web.app import App
from tutti.web.health import Health
from tutti.web.metrics import Metrics
from tutti.web.serve import CannotListen, serve, stop_on_signals, stop_with_input
from tutti.web.tokens import Tokens

_YOUNG_OBJECTS = 50_000  # decoded bodies come and go by reference counts; cycles are rare here


def main() -> int:
    """The command."""
    flags = _flags().parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        open_gates = gates.parse(flags.feature_gates)
        tokens = Tokens.load(flags.tokens) if flags.tokens else None
        store = Store.open(None if flags.memory else flags.data_dir)
    except (ValueError, OSError, StoreError) as error:
        print(f"tutti server: {error}", file=sys.stderr)
        return 1
    with asyncio.Runner(loop_factory=_loop) as runner:
        try:
            runner.run(_run(flags, store, open_gates, tokens))
        except CannotListen as error:
            print(f"tutti server: {error}", file=sys.stderr)
            return 1
    return 0


async def _run(
    flags: argparse.Namespace, store: Store, open_gates: gates.Gates, tokens: Tokens | None
) -> None:
    view = View()
    context = Context(Objects(store, view), view, open_gates, _now, lambda: str(uuid.uuid4()))
    await seeds.plant(context)
    metrics = Metrics()
    server = Server(context, Discovery(open_gates), Health(), metrics)
    app = App(server.handle, tokens=tokens, is_open=is_open)
    tls = (flags.tls_cert, flags.tls_key) if flags.tls_cert else None
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, 20, 100)
    stop = stop_on_signals()
    beside = [expiry.keep_expiring(context)]
    if flags.exit_with_parent:
        beside.append(stop_with_input(stop))
    try:
        async with _running(beside):
            await serve(
                app, host=flags.host, port=flags.port, tls=tls, on_listening=_say_port, stop=stop
            )
    finally:
        await store.close()


@asynccontextmanager
async def _running(coroutines: Iterable[Coroutine[None, None, None]]) -> AsyncIterator[None]:
    """Runs them beside the block, and no longer."""
    tasks = [asyncio.create_task(one) for one in coroutines]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _now() -> datetime:
    return datetime.now(UTC)


def _say_port(port: int) -> None:
    print(f"listening: {port}", flush=True)


def _loop() -> asyncio.AbstractEventLoop:
    import uvloop

    return uvloop.new_event_loop()


def _flags() -> argparse.ArgumentParser:
    flags = argparse.ArgumentParser(prog="python -m tutti.server", description=__doc__)
    place = flags.add_mutually_exclusive_group(required=True)
    place.add_argument("--data-dir", type=Path, help="the folder where objects are kept")
    place.add_argument("--memory", action="store_true", help="keep objects in memory only")
    flags.add_argument("--host", default="127.0.0.1")
    flags.add_argument("--port", type=int, default=0, help="0 takes a free one")
    flags.add_argument("--tls-cert", type=Path)
    flags.add_argument("--tls-key", type=Path)
    flags.add_argument("--tokens", type=Path, help="a JSON file: token -> name and groups")
    flags.add_argument(
        "--exit-with-parent", action="store_true", help="end when standard input does"
    )
    flags.add_argument("--feature-gates", default="", help="Gate=false,... (all are open)")
    return flags


if __name__ == "__main__":
    sys.exit(main())
