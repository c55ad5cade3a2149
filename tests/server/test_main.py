"""The process: how it starts, what it keeps, how it ends."""

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.objects import MAPS, NAMESPACES
from tests.server.process import PATIENCE_S, on_disk, started


async def test_a_new_cluster_has_its_namespaces_and_system_classes() -> None:
    async with started("--memory") as server:
        namespaces = json.loads((await server.ask("GET", NAMESPACES)).body)["items"]
        classes = await server.ask("GET", "/apis/scheduling.k8s.io/v1/priorityclasses")

    assert [one["metadata"]["name"] for one in namespaces] == [
        "default",
        "kube-node-lease",
        "kube-public",
        "kube-system",
    ]
    assert {one["metadata"]["name"]: one["value"] for one in json.loads(classes.body)["items"]} == {
        "system-cluster-critical": 2000000000,
        "system-node-critical": 2000001000,
    }


async def test_a_data_folder_keeps_objects_and_versions(tmp_path: Path) -> None:
    async with started(*on_disk(tmp_path)) as server:
        made = await server.ask("POST", MAPS, b'{"metadata":{"name":"a"},"data":{"k":"v"}}')
        server.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE_S):
            status = await server.process.wait()
    async with started(*on_disk(tmp_path)) as server:
        kept = await server.ask("GET", f"{MAPS}/a")

    assert status == 0
    assert json.loads(kept.body) == json.loads(made.body)


async def test_it_ends_when_its_parent_is_gone() -> None:
    async with started("--memory") as server:
        assert server.process.stdin is not None
        server.process.stdin.close()
        async with asyncio.timeout(PATIENCE_S):
            status = await server.process.wait()

    assert status == 0


async def test_a_data_folder_has_one_server(tmp_path: Path) -> None:
    async with started(*on_disk(tmp_path)):
        code, said = await asyncio.to_thread(refusal, *on_disk(tmp_path))

    assert code == 1
    assert "is in use by another process" in said


async def test_a_port_that_is_taken_is_said_in_a_sentence() -> None:
    async with started("--memory") as server:
        flags = ("--memory", "--port", str(server.port))
        code, said = await asyncio.to_thread(refusal, *flags)

    wanted = f"tutti server: can't listen on 127.0.0.1, port {server.port}: Address already in use"
    assert (code, said.strip()) == (1, wanted)


@pytest.mark.parametrize(
    ("gates", "sentence"),
    [
        ("GangScheduling=true", "unrecognized feature gate: GangScheduling"),
        (
            "TopologyAwareWorkloadScheduling=false",
            "CompositePodGroup is enabled, but depends on features that are disabled: "
            "[TopologyAwareWorkloadScheduling]",
        ),
    ],
)
def test_wrong_gates_are_an_error_at_the_start(gates: str, sentence: str) -> None:
    code, said = refusal("--memory", "--feature-gates", gates)

    assert code == 1
    assert sentence in said


def refusal(*flags: str) -> tuple[int, str]:
    """How a server that cannot start ends, and what it says."""
    command = [sys.executable, "-m", "tutti.server", *flags]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    return ended.returncode, ended.stderr
