"""The keys to one control plane: its certificate, the tokens of its users, and their kubeconfigs.

Kept in a folder that only its owner may enter, and made once: who comes back finds the same.
"""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tutti.web import tls

USERS = {
    "admin": {"name": "tutti:admin", "groups": ["system:masters"]},
    "scheduler": {"name": "tutti:scheduler", "groups": []},
    "controllers": {"name": "tutti:controllers", "groups": []},
}
HOSTS = ("127.0.0.1", "localhost")


@dataclass(frozen=True, slots=True)
class Credentials:
    folder: Path
    authority: Path
    certificate: Path
    key: Path
    tokens: Path

    def server_flags(self) -> list[str]:
        """What a server process, ours or the real one, is told about them."""
        return [
            f"--tokens={self.tokens}",
            f"--tls-cert={self.certificate}",
            f"--tls-key={self.key}",
        ]

    def token(self, who: str) -> str:
        """The token of `admin`, `scheduler` or `controllers`."""
        users = json.loads(self.tokens.read_text())
        return next(token for token, user in users.items() if user["name"] == USERS[who]["name"])

    def kubeconfig(self, who: str) -> Path:
        return self.folder / f"{who}.kubeconfig"

    def write_kubeconfigs(self, url: str) -> None:
        """One for each user; to be repeated when the server has another address."""
        for who in USERS:
            self.write_kubeconfig(self.kubeconfig(who), url, who)

    def write_kubeconfig(self, path: Path, url: str, who: str) -> None:
        """Complete in itself, so that it works from wherever it is carried to."""
        import base64

        import yaml

        authority = base64.b64encode(self.authority.read_bytes()).decode()
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": "tutti",
                    "cluster": {"server": url, "certificate-authority-data": authority},
                }
            ],
            "users": [{"name": who, "user": {"token": self.token(who)}}],
            "contexts": [{"name": "tutti", "context": {"cluster": "tutti", "user": who}}],
            "current-context": "tutti",
        }
        write_private(path, yaml.safe_dump(content, sort_keys=False))


def make(folder: Path, hosts: Sequence[str] = HOSTS) -> Credentials:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    authority = tls.make_authority(folder)
    certificate, key = tls.issue(authority, folder, "server", hosts)
    tokens = folder / "tokens.json"
    if not tokens.exists():
        users = {secrets.token_urlsafe(32): user for user in USERS.values()}
        write_private(tokens, json.dumps(users, indent=1))
    return Credentials(folder, authority.certificate, certificate, key, tokens)


def write_private(path: Path, text: str) -> None:
    """Whole or not at all, and for its owner's eyes from the first byte."""
    draft = path.with_name(f".{path.name}.new")
    draft.touch(mode=0o600)
    draft.write_text(text)
    draft.replace(path)
