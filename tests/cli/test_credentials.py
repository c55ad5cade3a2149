"""The keys to a control plane are made once, kept, and shown to nobody else."""

import base64
import stat
from pathlib import Path

import pytest
import yaml

from tutti.cli.credentials import USERS, make

URL = "https://127.0.0.1:6443"


def test_who_comes_back_finds_the_same_keys(tmp_path: Path) -> None:
    first = make(tmp_path)
    before = [file.read_bytes() for file in sorted(tmp_path.iterdir())]
    assert make(tmp_path) == first
    assert [file.read_bytes() for file in sorted(tmp_path.iterdir())] == before


def test_every_user_has_a_token_of_its_own(tmp_path: Path) -> None:
    keys = make(tmp_path)
    assert len({keys.token(who) for who in USERS}) == len(USERS)


@pytest.mark.parametrize("who", USERS)
def test_a_kubeconfig_is_complete_in_itself(tmp_path: Path, who: str) -> None:
    keys = make(tmp_path)
    keys.write_kubeconfigs(URL)
    content = yaml.safe_load(keys.kubeconfig(who).read_text())
    (cluster,), (user,) = content["clusters"], content["users"]
    authority = base64.b64decode(cluster["cluster"]["certificate-authority-data"])
    assert cluster["cluster"]["server"] == URL
    assert authority == keys.authority.read_bytes()
    assert user["user"] == {"token": keys.token(who)}
    assert content["current-context"] in {context["name"] for context in content["contexts"]}


def test_secrets_are_for_their_owner_alone(tmp_path: Path) -> None:
    keys = make(tmp_path / "new")
    keys.write_kubeconfigs(URL)
    secrets = [keys.tokens, keys.key, *map(keys.kubeconfig, USERS)]
    assert {stat.S_IMODE(file.stat().st_mode) for file in secrets} == {0o600}
    assert stat.S_IMODE(keys.folder.stat().st_mode) == 0o700
