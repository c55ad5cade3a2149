"""The flags and files by which Kubernetes' own programs are run."""

import csv
import json
import stat
from pathlib import Path

import pytest

from tutti.cli import kubernetes
from tutti.cli.kubernetes import Endpoint

ENDPOINT = Endpoint(
    host="127.0.0.1",
    port=6443,
    certificate=Path("/keys/server.crt"),
    key=Path("/keys/server.key"),
    authority=Path("/keys/ca.crt"),
)
USERS = {
    "secret-1": {"name": "tutti:admin", "groups": ["system:masters"]},
    "secret-2": {"name": "tutti:scheduler", "groups": []},
}


def test_what_the_user_says_about_a_gate_comes_last_and_wins() -> None:
    said = kubernetes.feature_gates("CompositePodGroup=false,Other=true")
    assert said.startswith("--feature-gates=GenericWorkload=true,")
    assert said.endswith(",CompositePodGroup=false,Other=true")


@pytest.mark.parametrize("gate", kubernetes.FAMILY)
def test_all_gates_of_the_family_are_open(gate: str) -> None:
    assert f"{gate}=true" in kubernetes.feature_gates("")


def test_nobody_asks_after_the_pretended_nodes() -> None:
    flags = kubernetes.companion("kube-controller-manager", gates="")
    assert (
        "--controllers=*,-node-lifecycle-controller,-node-ipam-controller,-taint-eviction-controller"
    ) in flags


def test_etcd_syncs_unless_it_is_told_otherwise() -> None:
    assert "--unsafe-no-fsync" not in kubernetes.etcd(durable=True)
    assert "--unsafe-no-fsync" in kubernetes.etcd(durable=False)


def test_etcd_has_no_port() -> None:
    assert not [flag for flag in kubernetes.etcd(durable=True) if "://127" in flag]


def test_every_token_is_let_in(tmp_path: Path) -> None:
    kubernetes.write_files(tmp_path, ENDPOINT, USERS)
    with (tmp_path / "tokens.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["secret-1", "tutti:admin", "tutti:admin", "system:masters"],
            ["secret-2", "tutti:scheduler", "tutti:scheduler", "system:masters"],
        ]


def test_who_has_no_token_sees_health_and_version_only(tmp_path: Path) -> None:
    kubernetes.write_files(tmp_path, ENDPOINT, USERS)
    anonymous = json.loads((tmp_path / "authentication.json").read_text())["anonymous"]
    assert [condition["path"] for condition in anonymous["conditions"]] == [
        "/healthz",
        "/livez",
        "/readyz",
        "/version",
    ]


def test_the_key_of_service_accounts_stays(tmp_path: Path) -> None:
    kubernetes.write_files(tmp_path, ENDPOINT, USERS)
    key = (tmp_path / "service-account.key").read_bytes()
    kubernetes.write_files(tmp_path, ENDPOINT, USERS)
    assert (tmp_path / "service-account.key").read_bytes() == key


def test_secrets_are_for_their_owner_alone(tmp_path: Path) -> None:
    kubernetes.write_files(tmp_path, ENDPOINT, USERS)
    secret = ("tokens.csv", "companion.kubeconfig", "service-account.key")
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in secret} == {0o600}
