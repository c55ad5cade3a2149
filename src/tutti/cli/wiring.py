"""The only place that builds the whole program: from what a person said to values that work together."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutti.cli import manners, output
from tutti.cli.output import Trouble

if TYPE_CHECKING:  # what a command imports, every one would pay for
    from tutti.controllers.journal import Journal
    from tutti.engine.configuration import Configuration
    from tutti.kube.client import Client
    from tutti.kube.config import Config


def connection_arguments(parser: argparse.ArgumentParser) -> None:
    """How to reach a cluster, in kubectl's words."""
    parser.add_argument("--kubeconfig", metavar="FILE", type=Path, help="default: $KUBECONFIG")
    parser.add_argument("--context", metavar="NAME", help="default: the file's current one")


def namespace_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--namespace", help="default: the one of the context")


def connection(args: argparse.Namespace) -> Config:
    """What `--kubeconfig`, `$KUBECONFIG` or `~/.kube/config` says, in this order."""
    from tutti.kube import config
    from tutti.kube.config import BadConfig
    from tutti.kube.endpoint import Endpoint

    path = _kubeconfig(args.kubeconfig)
    try:
        loaded = config.load(path, args.context)
        Endpoint(loaded)  # what can't work in it is said now
    except OSError as error:
        raise Trouble(f"{path} can't be read: {error.strerror}") from error
    except BadConfig as error:
        raise Trouble(" ".join(str(error).split())) from error
    return loaded


def ask(args: argparse.Namespace, work: Callable[[Client, str], Coroutine[Any, Any, int]]) -> int:
    """One command's work with a client and a namespace; what the server refuses, as a sentence."""
    import asyncio

    from tutti.api.errors import ApiError, Unanswered
    from tutti.kube.client import Client

    config = connection(args)

    async def asked() -> int:
        client = Client(config)
        try:
            return await work(client, getattr(args, "namespace", None) or config.namespace)
        finally:
            await client.close()

    try:
        return asyncio.run(asked())
    except (ApiError, Unanswered) as error:
        raise Trouble(output.refusal(error)) from error


async def scheduler(
    config: Config,
    *,
    names: tuple[str, ...],
    configuration: Configuration | None = None,
    journal: Path | None = None,
    job_gangs: str = "auto",
    lease_duration: float,
    identity: str,
    bind_address: str,
    port: int,
) -> None:
    """A whole scheduler: the engine, and the hands that carry its decisions out."""
    from tutti.controllers.scheduler import Options, run

    options = Options(
        scheduler_names=names,
        profiles=configuration.profiles if configuration else {},
        backoff=(configuration.initial_backoff, configuration.max_backoff)
        if configuration
        else (1.0, 10.0),
        journal=_journal(journal) if journal else None,
        job_gangs=job_gangs,
        lease_duration=lease_duration,
        identity=identity,
        bind_address=bind_address,
        port=port,
        token=_token(config),
        listening=manners.listening,
        ready=manners.ready,
    )
    await run(config, options)


async def controllers(
    config: Config,
    *,
    names: tuple[str, ...] | None,
    job_gangs: str,
    bind_address: str,
    port: int,
) -> None:
    """The controllers of these names; without names those that a foreign cluster lacks."""
    from tutti.controllers import runner

    if names is None:
        names = await _lacking(config)
    options = runner.Options(
        bind_address=bind_address,
        port=port,
        token=_token(config),
        listening=manners.listening,
        ready=manners.ready,
        job_gangs=job_gangs,
    )
    await runner.run(config, names, options)


async def _lacking(config: Config) -> tuple[str, ...]:
    """What a foreign cluster has no controller for; a server that is away is waited for."""
    import asyncio

    from tutti.api.errors import Unanswered
    from tutti.controllers import protection
    from tutti.kube.client import Client

    client = Client(config)
    try:
        while True:
            try:
                return ("protection",) if await protection.is_wanted(client) else ()
            except Unanswered as silence:
                output.note(f"what the cluster lacks can't be asked yet: {silence}")
                await asyncio.sleep(1.0)
    finally:
        await client.close()


def _journal(folder: Path) -> Journal:
    from tutti.controllers.journal import Journal

    try:
        return Journal(folder)
    except OSError as error:
        raise Trouble(f"{folder} can't hold a journal: {error.strerror}") from error


def _token(config: Config) -> str:
    """Who may see metrics: whoever has the token that we have. Without one nobody may."""
    return config.token or ""


def _kubeconfig(said: Path | None) -> Path:
    if said is not None:
        return said
    for name in filter(None, os.environ.get("KUBECONFIG", "").split(os.pathsep)):
        if Path(name).is_file():
            return Path(name)
    usual = Path.home() / ".kube" / "config"
    if usual.is_file() and not os.environ.get("KUBECONFIG"):
        return usual
    raise Trouble(
        "no cluster is known here: say --kubeconfig FILE, set KUBECONFIG, or start one with tutti up"
    )
