"""A small real server on a TLS loopback port whose every answer, or silence, a test decides."""

import asyncio
import base64
import datetime
import ipaddress
import ssl
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tutti.kube.config import Config


@dataclass
class Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


@dataclass
class Wire:
    """The server's end of one connection."""

    writer: asyncio.StreamWriter
    requests: int = 0

    def answer(self, status: int = 200, body: object = b"", headers: str = "") -> None:
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(data)}\r\n{headers}\r\n"
        self.writer.write(head.encode() + data)

    def begin_stream(self) -> None:
        self.writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")

    def send_chunk(self, data: bytes) -> None:
        self.writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def end_stream(self) -> None:
        self.writer.write(b"0\r\n\r\n")

    def hang_up(self) -> None:
        self.writer.close()

    def cut(self) -> None:
        """Reset the connection: what was sent may be lost."""
        self.writer.transport.abort()


Responds = Callable[[Request, Wire], Awaitable[None]]


@dataclass
class Peer:
    config: Config
    requests: list[Request] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)


@dataclass(frozen=True)
class Papers:
    """A certificate that is its own authority, for 127.0.0.1."""

    certificate: str
    key: str
    file: Path


def make_papers(folder: Path) -> Papers:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "peer")])
    now = datetime.datetime.now(datetime.UTC)
    hosts = [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    text = certificate.public_bytes(pem).decode()
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain).decode()
    file = folder / "peer.pem"
    file.write_text(text + secret)
    return Papers(text, secret, file)


@asynccontextmanager
async def serving(papers: Papers, responds: Responds, port: int = 0, **config: Any):
    """Serve until the block ends; every connection is cut then."""
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(papers.file)
    peer = Peer(Config(server="unknown"))
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        wire = Wire(writer)
        peer.wires.append(wire)
        try:
            while True:
                request = await _read(reader)
                peer.requests.append(request)
                wire.requests += 1
                await responds(request, wire)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", port, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    known = {"server": f"https://127.0.0.1:{port}", "ca": papers.certificate, "token": "s3cret"}
    peer.config = Config(**{**known, **config})
    try:
        yield peer
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


async def until(condition: Callable[[], object], within: float = 5.0) -> None:
    """Let everybody else run until the condition holds; a test that waits in vain fails."""
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110  (what is waited for tells nobody)
            await asyncio.sleep(0)


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.split("\r\n")
    method, target, _ = first.split(" ")
    headers = dict(line.lower().split(": ", 1) for line in lines if line)
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, target, headers, body)


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
