"""Which folders will do as a control plane, and what is said of the others."""

from pathlib import Path

import pytest

from tutti.cli import binaries
from tutti.cli.binaries import Unusable, folder_from, missing, version

KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def program(path: Path, says: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\necho called >> $0.calls\necho '{says}'\n")
    path.chmod(0o755)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with all that is wanted, as far as the programs' own words go."""
    for name in KUBERNETES:
        program(tmp_path / "bin" / name, "Kubernetes v1.37.1")
    program(tmp_path / "bin" / "etcd", "etcd Version: 3.7.0")
    return tmp_path / "bin"


def test_a_whole_folder_lacks_nothing(folder: Path) -> None:
    assert missing(folder) == []


def test_what_can_be_done_without_is_named(folder: Path) -> None:
    (folder / "kube-scheduler").unlink()
    assert missing(folder) == ["kube-scheduler"]


@pytest.mark.parametrize("name", ["etcd", "kube-apiserver"])
def test_a_folder_without_a_necessary_program_is_refused(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(Unusable, match=f"{name} is missing"):
        missing(folder)


@pytest.mark.parametrize(
    ("name", "says", "complaint"),
    [
        ("kube-apiserver", "Kubernetes v1.36.4", r"kube-apiserver is 1\.36\.4 \(needed: 1\.37\)"),
        ("kubectl", "Client Version: v1.30.0", r"kubectl is 1\.30\.0 \(needed: 1\.37\)"),
        ("etcd", "etcd Version: 3.4.9", r"etcd is 3\.4\.9 \(needed: 3\.5 or newer\)"),
        ("etcd", "no idea", "does not say which version"),
    ],
)
def test_a_program_of_another_version_is_refused(
    folder: Path, name: str, says: str, complaint: str
) -> None:
    program(folder / name, says)
    with pytest.raises(Unusable, match=complaint):
        missing(folder)


def test_a_program_is_asked_once_until_it_changes(folder: Path) -> None:
    etcd = folder / "etcd"
    assert [version(etcd), version(etcd)] == [(3, 7, 0), (3, 7, 0)]
    program(etcd, "etcd Version: 3.10.11")
    assert version(etcd) == (3, 10, 11)
    assert (folder / "etcd.calls").read_text().splitlines() == ["called", "called"]


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="is not a folder"):
        missing(tmp_path / "nothing here")


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        pytest.param({}, None, id="nobody points anywhere"),
        pytest.param({"KUBEBUILDER_ASSETS": "/envtest"}, Path("/envtest"), id="envtest's"),
        pytest.param(
            {"TUTTI_CONTROL_PLANE": "/ours", "KUBEBUILDER_ASSETS": "/envtest"},
            Path("/ours"),
            id="ours goes first",
        ),
    ],
)
def test_the_environment_points_at_ready_made_programs(
    environment: dict[str, str], folder: Path | None
) -> None:
    assert folder_from(environment) == folder


def test_the_cache_goes_where_the_user_keeps_caches(tmp_path: Path) -> None:
    assert binaries.cache_folder({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "tutti"
