"""Serving an `App` on a port, with uvicorn, until told to stop.

A stop is graceful: nothing new is accepted, streams end, what is in flight is answered.
"""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tutti.web.app import ABORT, App

_HEAD_LIMIT = 1024 * 1024  # as kube-apiserver has it
_HEAD_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_IDLE_S = 120  # longer than clients keep one: who finds it closed would not know what was done


class CannotListen(Exception):
    """The address isn't to be had: in use, not of this machine, or not allowed."""


async def serve(
    app: App,
    *,
    host: str,
    port: int,
    tls: tuple[Path, Path] | None,
    on_listening: Callable[[int], None],
    stop: asyncio.Event,
    grace_s: float = 3,
) -> None:
    """Serve until `stop` is set. Port 0 takes a free one; `on_listening` is told which.

    `tls` has the files of a certificate and its key. Who is still connected `grace_s` after the
    stop is dropped.
    """
    certificate, key = tls or (None, None)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    config = uvicorn.Config(
        app,
        loop="none",
        http=_Protocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_IDLE_S,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    with _listener(host, port) as listener:
        await server.startup([listener])
        on_listening(listener.getsockname()[1])
        ticking = asyncio.create_task(server.main_loop())
        try:
            await stop.wait()
        finally:
            app.stop()
            server.should_exit = True
            await ticking
            await _shut_down(server, listener, grace_s)


async def _shut_down(server: uvicorn.Server, listener: socket.socket, grace_s: float) -> None:
    """Answer what is in flight, then drop what is still connected."""
    ending = asyncio.create_task(server.shutdown([listener]))
    await asyncio.wait({ending}, timeout=grace_s)
    for task in server.server_state.tasks:
        task.cancel()
    for connection in server.server_state.connections:
        connection.transport.abort()
    await ending


def stop_on_signals() -> asyncio.Event:
    """An event that SIGTERM or SIGINT sets."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop


async def stop_with_input(stop: asyncio.Event) -> None:
    """Set `stop` when standard input ends, as a pipe does when the process at its other end has."""
    loop = asyncio.get_running_loop()
    descriptor = sys.stdin.fileno()

    def read() -> None:
        if not os.read(descriptor, 4096):
            stop.set()
            loop.remove_reader(descriptor)

    loop.add_reader(descriptor, read)
    try:
        await stop.wait()
    finally:
        loop.remove_reader(descriptor)


class _Protocol(HttpToolsProtocol):
    """uvicorn's protocol, with a limit for what comes before a body, which has none of its own;
    and it lends the application a way to drop a connection that is stuck."""

    _head_bytes = 0
    _in_head = True

    def data_received(self, data: bytes) -> None:  # type: ignore[explicit-override]
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > _HEAD_LIMIT:
                if not self.transport.is_closing():
                    self.transport.write(_HEAD_TOO_LARGE)
                    self.transport.close()
                return
        super().data_received(data)

    def _unsupported_upgrade_warning(self) -> None:  # type: ignore[explicit-override]
        """Nothing: who asks for another protocol (as `kubectl exec` does) hears it in the answer."""

    def on_message_begin(self) -> None:  # type: ignore[explicit-override]
        super().on_message_begin()
        scope: dict[str, Any] = self.scope  # type: ignore[assignment]
        scope["extensions"] = {ABORT: {"abort": self.transport.abort}}

    def on_headers_complete(self) -> None:  # type: ignore[explicit-override]
        super().on_headers_complete()
        self._in_head = False

    def on_message_complete(self) -> None:  # type: ignore[explicit-override]
        super().on_message_complete()
        self._in_head = True
        self._head_bytes = 0


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise CannotListen(f"can't listen on {host}, port {port}: {why}") from error
