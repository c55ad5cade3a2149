"""One server's address: how a connection to it is made, and what both sides must prove."""

import asyncio
import contextlib
import errno
import functools
import ipaddress
import os
import socket
import ssl
import tempfile
from collections.abc import Callable
from urllib.parse import urlsplit

from tutti.kube.config import BadConfig, Config


class Endpoint:
    """Where connections go, and what they must prove."""

    def __init__(self, config: Config) -> None:
        url = urlsplit(config.server)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise BadConfig(f"{config.server!r} is no address of an API server")
        self.host = url.hostname
        self.port = url.port or (443 if url.scheme == "https" else 80)
        self.prefix = url.path.rstrip("/")
        self.authority = url.netloc.rpartition("@")[2]
        self._server_name = config.server_name or self.host
        self._tls = _tls(config) if url.scheme == "https" else None

    async def connect(self) -> socket.socket:
        loop = asyncio.get_running_loop()
        last: OSError | None = None
        for family, address in await self._addresses(loop):
            sock = socket.socket(family, socket.SOCK_STREAM)
            try:
                sock.setblocking(False)
                _notice_dead_peers(sock)
                await loop.sock_connect(sock, address)
                return await self._secured(loop, sock)
            except OSError as error:
                sock.close()
                last = error
            except BaseException:
                sock.close()
                raise
        raise last or OSError(errno.EHOSTUNREACH, "no address")

    async def _addresses(
        self, loop: asyncio.AbstractEventLoop
    ) -> list[tuple[int, tuple[str, int]]]:
        with contextlib.suppress(ValueError):
            version = ipaddress.ip_address(self.host).version
            family = socket.AF_INET if version == 4 else socket.AF_INET6
            return [(family, (self.host, self.port))]
        found = await loop.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        return [(family, (str(address[0]), self.port)) for family, _, _, _, address in found]

    async def _secured(
        self, loop: asyncio.AbstractEventLoop, plain: socket.socket
    ) -> socket.socket:
        if self._tls is None:
            return plain
        sock = self._tls.wrap_socket(
            plain, server_hostname=self._server_name, do_handshake_on_connect=False
        )
        try:
            while True:
                try:
                    sock.do_handshake()
                except ssl.SSLWantReadError:
                    await _ready(loop.add_reader, loop.remove_reader, sock)
                except ssl.SSLWantWriteError:
                    await _ready(loop.add_writer, loop.remove_writer, sock)
                else:
                    return sock
        except BaseException:
            sock.close()
            raise


@functools.cache
def _tls(config: Config) -> ssl.SSLContext:
    """One for all connections by one configuration: reading authorities takes milliseconds."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if not config.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        elif config.ca is not None:
            context.load_verify_locations(cadata=config.ca)
        else:
            context.load_default_certs()
        if config.certificate and config.key:
            _load_certificate(context, config.certificate, config.key)
    except ssl.SSLError as error:
        raise BadConfig(f"the certificates of the kubeconfig can't be used: {error}") from error
    return context


def _load_certificate(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """OpenSSL takes a client's certificate from a file only: one that nobody else can read."""
    descriptor, name = tempfile.mkstemp()
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{certificate}\n{key}\n")
        context.load_cert_chain(name)
    finally:
        os.unlink(name)


def _notice_dead_peers(sock: socket.socket) -> None:
    """A peer that vanished without a word is found out within half a minute, idle or not."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", 10),
        ("TCP_KEEPINTVL", 5),
        ("TCP_KEEPCNT", 3),
        ("TCP_USER_TIMEOUT", 25_000),
    ):
        if option := getattr(socket, name, None):
            sock.setsockopt(socket.IPPROTO_TCP, option, value)


async def _ready(
    add: Callable[..., None], remove: Callable[[int], object], sock: socket.socket
) -> None:
    """Wait until a socket can be read, or written: whichever `add` and `remove` are about."""
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    descriptor = sock.fileno()

    def is_ready() -> None:
        if not ready.done():
            ready.set_result(None)

    add(descriptor, is_ready)
    try:
        await ready
    finally:
        remove(descriptor)
