"""Where an API server is and how one proves who one is: a kubeconfig, or a pod's service account."""

import base64
import binascii
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class BadConfig(Exception):
    """The kubeconfig can't be used; the sentence says what in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """One server and one user. Secrets stay out of the representation, so that no log shows them."""

    server: str
    namespace: str = "default"
    ca: str | None = None
    """The authorities to trust, as PEM; without it the system's."""
    verify: bool = True
    server_name: str | None = None
    """The name that the server's certificate must bear, where it isn't the host's."""
    token: str | None = field(default=None, repr=False)
    token_file: Path | None = None
    """Read again from time to time: a service account's token is replaced while one runs."""
    certificate: str | None = None
    key: str | None = field(default=None, repr=False)


def load(path: Path, context: str | None = None) -> Config:
    """The server and user of one context of a kubeconfig file, by default its current one."""
    document = _parse(path)
    chosen = context or document.get("current-context")
    if not chosen:
        raise BadConfig(f"{path}: there is no current-context; name one with --context")
    where = _named(path, document, "contexts", "context", chosen)
    cluster = _named(path, document, "clusters", "cluster", where.get("cluster"))
    user = _named(path, document, "users", "user", where["user"]) if where.get("user") else {}
    for unsupported in ("exec", "auth-provider", "username"):
        if user.get(unsupported):
            raise BadConfig(
                f"{path}: users.user.{unsupported} is not supported: use a token or a client certificate"
            )
    if cluster.get("proxy-url"):
        raise BadConfig(f"{path}: clusters.cluster.proxy-url is not supported")
    if not cluster.get("server"):
        raise BadConfig(f"{path}: clusters.cluster.server is missing")
    token = user.get("token") or None
    return Config(
        server=cluster["server"].rstrip("/"),
        namespace=where.get("namespace") or "default",
        ca=_data_or_file(path, cluster, "certificate-authority"),
        verify=not cluster.get("insecure-skip-tls-verify", False),
        server_name=cluster.get("tls-server-name"),
        token=token,
        token_file=None if token else _beside(path, user.get("tokenFile")),
        certificate=_data_or_file(path, user, "client-certificate"),
        key=_data_or_file(path, user, "client-key"),
    )


def in_cluster(folder: Path = SERVICE_ACCOUNT) -> Config:
    """The server that a pod's service account belongs to."""
    host = os.environ.get("KUBERNETES_SERVICE_HOST")
    port = os.environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port or not (folder / "token").exists():
        raise BadConfig("this is no pod with a service account: name a kubeconfig")
    return Config(
        server=f"https://{f'[{host}]' if ':' in host else host}:{port}",
        namespace=(folder / "namespace").read_text().strip(),
        ca=(folder / "ca.crt").read_text(),
        token_file=folder / "token",
    )


def _parse(path: Path) -> dict[str, Any]:
    try:
        text = path.read_bytes()
    except OSError as error:
        raise BadConfig(f"{path}: {error.strerror}") from error
    try:
        document = msgspec.json.decode(text)  # JSON is YAML too, and read without the YAML library
    except msgspec.DecodeError:
        import yaml

        try:
            document = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise BadConfig(f"{path}: neither YAML nor JSON: {error}") from error
    if not isinstance(document, dict):
        raise BadConfig(f"{path}: not a kubeconfig")
    return document


def _named(path: Path, document: dict[str, Any], list_: str, key: str, name: Any) -> dict[str, Any]:
    for entry in document.get(list_) or ():
        if entry.get("name") == name:
            return entry.get(key) or {}
    raise BadConfig(f"{path}: {list_} has no entry named {name!r}")


def _data_or_file(path: Path, entry: dict[str, Any], name: str) -> str | None:
    if data := entry.get(f"{name}-data"):
        try:
            return base64.b64decode(data, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError) as error:
            raise BadConfig(f"{path}: {name}-data is not base64 of a PEM text") from error
    file = _beside(path, entry.get(name))
    if file is None:
        return None
    try:
        return file.read_text()
    except OSError as error:
        raise BadConfig(f"{path}: {name}: {file}: {error.strerror}") from error


def _beside(path: Path, name: str | None) -> Path | None:
    """A file named in a kubeconfig is looked for from the kubeconfig's own folder."""
    return path.parent / name if name else None
