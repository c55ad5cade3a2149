"""Who trusts our authority can talk to our server, and nobody else's files are needed."""

import socket
import ssl
import stat
import threading
from pathlib import Path

import pytest

from tutti.web.tls import issue, make_authority

HOSTS = ("127.0.0.1", "localhost")


def test_a_client_that_trusts_the_authority_trusts_the_server(tmp_path: Path) -> None:
    authority = make_authority(tmp_path)
    certificate, key = issue(authority, tmp_path, "server", HOSTS)
    assert shake_hands(certificate, key, authority.certificate, "127.0.0.1") == "TLSv1.3"


def test_a_client_asks_for_the_right_host(tmp_path: Path) -> None:
    authority = make_authority(tmp_path)
    certificate, key = issue(authority, tmp_path, "server", ["localhost"])
    with pytest.raises(ssl.SSLCertVerificationError, match="IP address mismatch"):
        shake_hands(certificate, key, authority.certificate, "127.0.0.1")


def test_another_authority_vouches_for_nothing_here(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = make_authority(tmp_path / "other")
    certificate, key = issue(make_authority(tmp_path), tmp_path, "server", HOSTS)
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(certificate, key, other.certificate, "127.0.0.1")


def test_what_is_there_already_is_kept(tmp_path: Path) -> None:
    first = [*issue(make_authority(tmp_path), tmp_path, "server", HOSTS), tmp_path / "ca.crt"]
    before = [file.read_bytes() for file in first]
    issue(make_authority(tmp_path), tmp_path, "server", ["localhost"])
    assert [file.read_bytes() for file in first] == before


def test_a_certificate_is_made_anew_for_a_host_that_it_does_not_cover(tmp_path: Path) -> None:
    authority = make_authority(tmp_path)
    issue(authority, tmp_path, "server", ["localhost"])
    certificate, key = issue(authority, tmp_path, "server", HOSTS)
    assert shake_hands(certificate, key, authority.certificate, "127.0.0.1")


def test_keys_are_for_their_owner_alone(tmp_path: Path) -> None:
    authority = make_authority(tmp_path)
    _, key = issue(authority, tmp_path, "server", HOSTS)
    assert [stat.S_IMODE(file.stat().st_mode) for file in (key, authority.key)] == [0o600, 0o600]


def shake_hands(certificate: Path, key: Path, trusted: Path, host: str) -> str | None:
    """The protocol that a client who trusts these and calls the server `host` agrees on."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    client = ssl.create_default_context(cafile=trusted)
    ours, theirs = socket.socketpair()
    ours.settimeout(10)
    theirs.settimeout(10)
    serving = threading.Thread(target=_serve, args=(server, theirs))
    serving.start()
    try:
        with client.wrap_socket(ours, server_hostname=host) as wrapped:
            return wrapped.version()
    finally:
        ours.close()
        serving.join()


def _serve(context: ssl.SSLContext, connection: socket.socket) -> None:
    try:
        with context.wrap_socket(connection, server_side=True) as wrapped:
            wrapped.recv(1)
    except (ssl.SSLError, OSError):
        connection.close()
