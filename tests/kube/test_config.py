from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from tests.kube.peer import base64_of
from tutti.kube.config import BadConfig, in_cluster, load


def kubeconfig(folder: Path, *, cluster: dict[str, Any] | None = None, **user: Any) -> Path:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": "https://host:6443/", **(cluster or {})}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [
            {"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "blue"}},
            {"name": "there", "context": {"cluster": "c"}},
        ],
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(document))
    return path


def test_the_current_context_names_server_user_and_namespace(tmp_path: Path) -> None:
    config = load(kubeconfig(tmp_path, token="t"))
    assert (config.server, config.namespace, config.token) == ("https://host:6443", "blue", "t")


def test_another_context_can_be_asked_for(tmp_path: Path) -> None:
    config = load(kubeconfig(tmp_path, token="t"), "there")
    assert (config.namespace, config.token) == ("default", None)


def test_a_kubeconfig_in_json_is_read_as_well(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, token="t")
    path.write_bytes(msgspec.json.encode(yaml.safe_load(path.read_text())))
    assert load(path).token == "t"


def test_certificates_come_as_data_or_from_files_beside_the_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("KEY")
    data = {"certificate-authority-data": base64_of("CA"), "tls-server-name": "api"}
    user = {"client-certificate-data": base64_of("CERT"), "client-key": "key.pem"}
    config = load(kubeconfig(tmp_path, cluster=data, **user))
    assert (config.ca, config.certificate, config.key) == ("CA", "CERT", "KEY")
    assert config.server_name == "api"


def test_secrets_do_not_show_in_a_log(tmp_path: Path) -> None:
    data = {"client-certificate-data": base64_of("CERT"), "client-key-data": base64_of("HUSH")}
    shown = repr(load(kubeconfig(tmp_path, token="s3cret", **data)))
    assert "s3cret" not in shown
    assert "HUSH" not in shown


@pytest.mark.parametrize(
    ("cluster", "user", "sentence"),
    [
        pytest.param({}, {"exec": {"command": "x"}}, "users.user.exec is not supported", id="exec"),
        pytest.param({}, {"username": "x"}, "users.user.username is not supported", id="password"),
        pytest.param({"proxy-url": "x"}, {}, "clusters.cluster.proxy-url", id="proxy"),
        pytest.param({"server": ""}, {}, "clusters.cluster.server is missing", id="no server"),
        pytest.param(
            {}, {"client-key-data": "???"}, "client-key-data is not base64", id="bad base64"
        ),
        pytest.param(
            {"certificate-authority": "none.pem"},
            {},
            "certificate-authority: .*none.pem: No such file",
            id="a file that isn't there",
        ),
    ],
)
def test_what_can_not_be_used_is_said(
    tmp_path: Path, cluster: dict[str, Any], user: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadConfig, match=sentence):
        load(kubeconfig(tmp_path, cluster=cluster, **user))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param("[1]", "not a kubeconfig", id="another document"),
        pytest.param("{a", "neither YAML nor JSON", id="no document"),
        pytest.param("{}", "there is no current-context", id="no context"),
        pytest.param("current-context: x", "contexts has no entry named 'x'", id="no such context"),
    ],
)
def test_a_broken_kubeconfig_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    with pytest.raises(BadConfig, match=sentence):
        load(path)


def test_a_missing_kubeconfig_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="nowhere: No such file"):
        load(tmp_path / "nowhere")


def test_a_pod_uses_its_service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("token", "t"), ("namespace", "blue"), ("ca.crt", "CA")):
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    config = in_cluster(tmp_path)
    assert (config.server, config.namespace, config.ca) == ("https://[::1]:443", "blue", "CA")
    assert config.token_file == tmp_path / "token"


def test_outside_a_pod_a_kubeconfig_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(BadConfig, match="name a kubeconfig"):
        in_cluster(tmp_path)
