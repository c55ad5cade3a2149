"""`tutti up --control-plane`: with the real API server all is as with our own."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.cli.test_up import gone, refused, up
from tests.e2e.test_real_plane import programs_in

pytestmark = pytest.mark.real

CONFIG_MAP = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}})


def test_it_runs_stops_and_comes_back_with_what_was_written(programs: Path, tmp_path: Path) -> None:
    flags = ("--control-plane", str(programs), "--data-dir", str(tmp_path))
    with up(*flags) as running:
        assert "node-0" in running.tutti("get", "nodes").stdout
        applied = running.tutti("apply", "-f", "-", stdin=CONFIG_MAP)
        assert applied.stdout == "configmap/kept created\n", applied.stderr
        assert running.stop() == 0
    assert not programs_in(tmp_path)
    with up(*flags) as running:
        assert "kept" in running.tutti("get", "configmaps").stdout


def test_killed_it_leaves_neither_etcd_nor_kube_apiserver(programs: Path, tmp_path: Path) -> None:
    with up("--control-plane", str(programs), "--data-dir", str(tmp_path)) as running:
        ours = [pid for pid, _ in programs_in(tmp_path).values()]
        assert len(ours) == 2
        running.process.kill()
        assert gone(ours)


def test_when_etcd_dies_both_are_started_again(programs: Path, tmp_path: Path) -> None:
    with up("--control-plane", str(programs), "--data-dir", str(tmp_path)) as running:
        etcd, _ = programs_in(tmp_path)["etcd"]
        os.kill(etcd, signal.SIGKILL)
        assert "the server ended (status 1); it is started again" in running.next_line("ended (st")
        running.next_line("etcd ended (signal SIGKILL)")
        running.next_line("the server works again")
        applied = running.tutti("apply", "-f", "-", stdin=CONFIG_MAP)
        assert applied.stdout == "configmap/kept created\n", applied.stderr


def test_a_folder_without_the_programs_is_refused(tmp_path: Path) -> None:
    assert "etcd is missing, kube-apiserver is missing" in refused("--control-plane", str(tmp_path))
