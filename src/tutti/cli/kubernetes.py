"""How etcd and Kubernetes' own programs are run here: their flags, and the files they read.

All run in the data folder, which its owner alone may enter, and all paths in it are relative.
etcd listens on sockets there and on no port, so there is none to guess, and none that somebody
else could have taken. (Relative, because the path of a socket may have 107 bytes at most.)
"""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tutti.cli.credentials import write_private

FAMILY = (
    "GenericWorkload",
    "TopologyAwareWorkloadScheduling",
    "CompositePodGroup",
    "PodGroupPreemptionPolicy",
    "DRAWorkloadResourceClaims",
    "WorkloadWithJob",
)
SERVED = ("scheduling.k8s.io/v1alpha3", "scheduling.k8s.io/v1beta1")
OPEN_PATHS = ("/healthz", "/livez", "/readyz", "/version")

# Nodes are pretended: nobody heartbeats for them, and nobody hands out their addresses.
UNWANTED_CONTROLLERS = (
    "node-lifecycle-controller",
    "node-ipam-controller",
    "taint-eviction-controller",
)
UNWANTED_ADMISSION = ("ServiceAccount", "TaintNodesByCondition")

Users = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the API server listens, and what it shows there."""

    host: str
    port: int
    certificate: Path
    key: Path
    authority: Path

    @property
    def url(self) -> str:
        return f"https://{self.host}:{self.port}"


def etcd(*, durable: bool) -> list[str]:
    client, peer = "unix://etcd.sock:0", "unix://etcd-peer.sock:0"
    return [
        "--name=tutti",
        "--data-dir=etcd",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=tutti={peer}",
        f"--quota-backend-bytes={8 << 30}",
        "--log-level=warn",
        *([] if durable else ["--unsafe-no-fsync"]),
    ]


def apiserver(endpoint: Endpoint, *, share_port: bool, gates: str) -> list[str]:
    return [
        "--etcd-servers=unix://etcd.sock:0",
        f"--bind-address={endpoint.host}",
        f"--advertise-address={endpoint.host}",
        f"--secure-port={endpoint.port}",
        f"--permit-port-sharing={str(share_port).lower()}",
        f"--tls-cert-file={endpoint.certificate}",
        f"--tls-private-key-file={endpoint.key}",
        "--token-auth-file=tokens.csv",
        "--authentication-config=authentication.json",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-account-key-file=service-account.key",
        "--service-account-signing-key-file=service-account.key",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--endpoint-reconciler-type=none",
        "--enable-priority-and-fairness=false",
        "--delete-collection-workers=8",
        f"--disable-admission-plugins={','.join(UNWANTED_ADMISSION)}",
        f"--runtime-config={','.join(f'{version}=true' for version in SERVED)}",
        feature_gates(gates),
    ]


def companion(program: str, *, gates: str) -> list[str]:
    """kube-controller-manager or kube-scheduler, the only one of its kind and without a port."""
    flags = [
        "--kubeconfig=companion.kubeconfig",
        "--leader-elect=false",
        "--secure-port=0",
        feature_gates(gates),
    ]
    if program == "kube-controller-manager":
        unwanted = ",".join(f"-{name}" for name in UNWANTED_CONTROLLERS)
        flags.append(f"--controllers=*,{unwanted}")
    return flags


def feature_gates(more: str) -> str:
    """The gates of the whole family; what the user says about one comes last, and wins."""
    return f"--feature-gates={','.join([f'{gate}=true' for gate in FAMILY] + [more] * bool(more))}"


def write_files(folder: Path, endpoint: Endpoint, users: Users) -> None:
    """What the flags above name. A service account's key lasts as long as the folder."""
    # As on the embedded server, whoever has a token may do everything (for now).
    tokens = io.StringIO()
    csv.writer(tokens).writerows(
        (token, user["name"], user["name"], ",".join(sorted({*user["groups"], "system:masters"})))
        for token, user in users.items()
    )
    write_private(folder / "tokens.csv", tokens.getvalue())
    _write(
        folder / "authentication.json",
        apiVersion="apiserver.config.k8s.io/v1",
        kind="AuthenticationConfiguration",
        anonymous={"enabled": True, "conditions": [{"path": path} for path in OPEN_PATHS]},
    )
    server = {"server": endpoint.url, "certificate-authority": str(endpoint.authority)}
    _write(
        folder / "companion.kubeconfig",
        apiVersion="v1",
        kind="Config",
        clusters=[{"name": "tutti", "cluster": server}],
        users=[{"name": "companion", "user": {"token": next(iter(users))}}],
        contexts=[{"name": "tutti", "context": {"cluster": "tutti", "user": "companion"}}],
        **{"current-context": "tutti"},
    )
    key = folder / "service-account.key"
    if not key.exists():
        write_private(
            key,
            ec.generate_private_key(ec.SECP256R1())
            .private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.TraditionalOpenSSL,  # it reads no other
                serialization.NoEncryption(),
            )
            .decode(),
        )


def _write(path: Path, **content: object) -> None:
    write_private(path, json.dumps(content, indent=1))
