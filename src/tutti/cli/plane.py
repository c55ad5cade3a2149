"""A real control plane on loopback: etcd and kube-apiserver, run from a folder of programs.

    python -m tutti.cli.plane --binaries DIR --data-dir DIR --tokens F --tls-cert F --tls-key F --tls-ca F

One process, which stands in for the embedded server and has its manners: it prints
`listening: PORT` once it serves, ends on SIGTERM, and, with `--exit-with-parent`, when its stdin
does. If one of its programs ends, it says so and ends, too. Kubernetes' own controllers or
scheduler run beside the two where `--with` asks for them.
"""

import argparse
import asyncio
import fcntl
import json
import socket
import ssl
import sys
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tutti.cli import binaries, kubernetes, manners
from tutti.cli.offspring import Child, Ended
from tutti.cli.output import Trouble

COMPANIONS = ("kube-controller-manager", "kube-scheduler")
START_PATIENCE = 60.0
STOP_PATIENCE = 10.0


def main() -> int:
    try:
        asyncio.run(run(_arguments()))
    except (Trouble, Ended, binaries.Unusable) as trouble:
        print(trouble, file=sys.stderr)
        return 1
    return 0


async def run(options: argparse.Namespace) -> None:
    """The whole life of one control plane; returns when it was asked to end."""
    absent = binaries.missing(options.binaries)
    if lacking := [name for name in options.companions if name in absent]:
        raise binaries.Unusable(f"{options.binaries} has no {', no '.join(lacking)}")
    with alone_in(options.data_dir), reserved(options.host, options.port) as port:
        endpoint = kubernetes.Endpoint(
            options.host, port, options.tls_cert, options.tls_key, options.tls_ca
        )
        plane = Plane(options, endpoint)
        try:
            await manners.until_asked_to_stop(
                plane.live(), exit_with_parent=options.exit_with_parent
            )
        finally:
            await plane.stop()


class Plane:
    """The programs of one control plane, from the first to the end of any."""

    def __init__(self, options: argparse.Namespace, endpoint: kubernetes.Endpoint) -> None:
        self._options = options
        self._endpoint = endpoint
        self._users: kubernetes.Users = json.loads(options.tokens.read_text())
        self._children: list[Child] = []
        self._logs = ExitStack()

    async def live(self) -> None:
        """Start, say so, and go on; raises Ended when a program does."""
        options, endpoint = self._options, self._endpoint
        gates = options.feature_gates
        kubernetes.write_files(options.data_dir, endpoint, self._users)
        await self._spawn("etcd", kubernetes.etcd(durable=not options.no_fsync))
        share_port = options.port == 0
        await self._spawn(
            "kube-apiserver", kubernetes.apiserver(endpoint, share_port=share_port, gates=gates)
        )
        await first(self._ready(), *map(_outlived, self._children))
        for name in options.companions:
            await self._spawn(name, kubernetes.companion(name, gates=gates))
        manners.listening(endpoint.port)
        await first(*map(_outlived, self._children))

    async def stop(self) -> None:
        """The API server goes before its etcd; without one it would wait for it, so it is killed."""
        grace = 0.0 if any(child.ended for child in self._children) else STOP_PATIENCE
        for child in reversed(self._children):
            await child.stop(grace)
        self._logs.close()

    async def _spawn(self, program: str, flags: list[str]) -> None:
        folder = self._options.data_dir
        log = self._logs.enter_context((folder / f"{program}.log").open("w", buffering=1))
        self._children.append(
            await Child.spawn(
                program,
                [self._options.binaries / program, *flags],
                on_line=lambda line: print(line, file=log),
                folder=folder,
            )
        )

    async def _ready(self) -> None:
        try:
            async with asyncio.timeout(START_PATIENCE):
                for path in ("/readyz", "/api/v1/namespaces/default"):
                    while not await self._answers(path):  # noqa: ASYNC110 (it can only be asked)
                        await asyncio.sleep(0.05)
        except TimeoutError:
            last = self._children[-1]
            raise Trouble(
                f"{last.name} isn't ready after {START_PATIENCE:.0f} s; it said last:\n{last.last_words()}"
            ) from None

    async def _answers(self, path: str) -> bool:
        token = next(iter(self._users))
        trusted = ssl.create_default_context(cafile=self._endpoint.authority)
        try:
            reader, writer = await asyncio.open_connection(
                self._endpoint.host, self._endpoint.port, ssl=trusted
            )
        except OSError:
            return False
        try:
            writer.write(f"GET {path} HTTP/1.0\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
            return b" 200 " in await reader.readline()
        except OSError:
            return False
        finally:
            writer.close()


async def first(*coroutines: Coroutine[Any, Any, object]) -> None:
    """Run them all until one ends, or fails."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _outlived(child: Child) -> None:
    raise Ended(child, await child.wait())


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """One control plane to a folder."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Trouble(f"{folder} is in use by another control plane") from None
        yield


@contextmanager
def reserved(host: str, port: int) -> Iterator[int]:
    """The port, or where it is 0 a free one, which nobody can take until the API server has it."""
    if port:
        yield port
        return
    with socket.socket() as reservation:
        # Bound, but never listening: kube-apiserver shares the port and gets every connection.
        reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reservation.bind((host, 0))
        yield reservation.getsockname()[1]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tutti.cli.plane", description=__doc__)
    file = _absolute
    parser.add_argument("--binaries", type=file, required=True, metavar="DIR")
    parser.add_argument("--data-dir", type=file, required=True, metavar="DIR")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--tls-cert", type=file, required=True, metavar="FILE")
    parser.add_argument("--tls-key", type=file, required=True, metavar="FILE")
    parser.add_argument("--tls-ca", type=file, required=True, metavar="FILE")
    parser.add_argument(
        "--tokens", type=file, required=True, metavar="FILE", help="JSON: token to user"
    )
    parser.add_argument(
        "--feature-gates", default="", metavar="K=V,…", help="beside the family's own"
    )
    parser.add_argument(
        "--with", dest="companions", action="append", default=[], choices=COMPANIONS
    )
    parser.add_argument("--no-fsync", action="store_true", help="for tests: lose data, but quickly")
    parser.add_argument("--exit-with-parent", action="store_true")
    return parser.parse_args()


def _absolute(path: str) -> Path:
    return Path(path).absolute()


if __name__ == "__main__":
    sys.exit(main())
