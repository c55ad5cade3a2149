"""Real kubectl 1.37 on the embedded server: the same commands on a real plane say the same."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.both import Both, Endpoint, beside
from tools.throwaway import Plane

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]

MANIFEST = """
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers:
  - {name: main, image: "registry.example/web:1", livenessProbe: {httpGet: {path: /, port: 80}}}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: train}
spec: {schedulingPolicy: {gang: {minCount: 3}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: red}
"""
CHANGED = MANIFEST.replace("red", "blue").replace("app: web", "app: shop")
WRONG_FIELD = MANIFEST.replace("colour: red", "colour: red}\ncolor: {")
WRONG_TYPE = MANIFEST.replace("minCount: 3", "minCount: three")
WRONG_VALUE = MANIFEST.replace("minCount: 3", "minCount: -1")

Said = tuple[int, str, str]


@pytest.fixture(scope="module")
def both(real_plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    with beside(real_plane, tmp_path_factory.mktemp("embedded")) as pair:
        yield pair


@pytest.fixture(scope="session")
def kubectl(programs: Path) -> Path:
    return programs / "kubectl"


STORIES: dict[str, list[str | tuple[str, str]]] = {
    "create and get": [
        ("create -f -", MANIFEST),
        ("create -f -", MANIFEST),
        "get pods",
        "get pods -o wide",
        "get po,podgroups,cm/settings",
        "get pod web -o jsonpath={.spec.schedulerName}",
        "get pod web -o custom-columns=NAME:.metadata.name,QOS:.status.qosClass",
        "get podgroups -o name",
        "get pods -l app=web --show-labels",
        "get pods -l app=shop",
        "get pods --field-selector status.phase=Pending,spec.nodeName=",
        "get pods --field-selector spec.volumes=x",
        "get pods --sort-by=.metadata.name",
        "get pod missing",
        "get pies",
        "get workloads,compositepodgroups",
        "get podgroups.v1alpha3.scheduling.k8s.io",
        "get events",
        "get pods --chunk-size=1",
    ],
    "create by typed forms": [
        "create configmap c --from-literal=a=b",
        "create configmap c --from-literal=a=b",
        "create serviceaccount s",
        "create configmap d --from-literal=a=b --dry-run=server",
        "get configmap d",
        "run shell --image=registry.example/shell --labels=a=b",
        "get pod shell -L a",
        "create priorityclass HERE --value=10 --description=x --preemption-policy=Never",
        "get priorityclass HERE",
        "create priorityclass system-HERE --value=10",
        "delete priorityclass HERE",
        "create namespace HERE",
    ],
    "apply what is wrong": [
        ("apply -f -", WRONG_TYPE),
        ("apply -f -", WRONG_FIELD),
        ("apply -f -", WRONG_VALUE),
        ("apply -f - --validate=false", WRONG_FIELD),
        "get pods,podgroups,cm -o name",
    ],
    "apply": [
        ("apply -f -", MANIFEST),
        ("apply -f -", MANIFEST),
        ("diff -f -", CHANGED),
        ("apply -f - --dry-run=server", CHANGED),
        ("apply -f -", CHANGED),
        "get pods --show-labels",
        "get cm settings -o jsonpath={.data}",
        ("apply -f -", MANIFEST.replace("registry.example/web:1", "registry.example/web:2")),
        "get pod web -o jsonpath={.metadata.generation}",
        ("apply -f -", WRONG_FIELD),
        ("apply -f -", WRONG_VALUE),
        ("replace -f -", CHANGED.partition("---")[0]),
        ("delete -f - --wait=false --ignore-not-found", MANIFEST),
    ],
    "change and describe": [
        ("create -f -", MANIFEST),
        "label pod web tier=front",
        "label pod web tier=back",
        "label pod web tier=back --overwrite",
        "label pod web tier-",
        "annotate podgroup train team=blue",
        "patch cm settings -p {\"data\":{\"colour\":\"green\"}}",
        "patch cm settings --type=merge -p {\"data\":{\"size\":\"l\"}}",
        "patch cm settings --type=json -p [{\"op\":\"remove\",\"path\":\"/data/size\"}]",
        "patch podgroup train --type=merge -p {\"spec\":{\"priority\":5}}",
        "patch pod web --subresource=status --type=merge -p {\"status\":{\"phase\":\"Running\"}}",
        "get pod web --subresource=status",
        "set image pod/web main=registry.example/web:3",
        "describe pod web",
        "describe cm settings",
        "describe podgroup train",
        "wait pod/web --for=jsonpath={.status.phase}=Running --timeout=5s",
        "wait pod/web --for=condition=Ready --timeout=0s",
    ],
    "delete": [
        ("create -f -", MANIFEST),
        "delete pod web --dry-run=server",
        "delete pod web",
        "delete pod web",
        "delete cm --all --cascade=foreground --wait=false",
        "delete podgroup train --wait=false",
        "delete podgroup train --wait=false --force --grace-period=0",
        "delete pods -l none=such",
        "delete namespace default",
    ],
    "nodes": [
        ("create -f -", "{apiVersion: v1, kind: Node, metadata: {name: HERE, labels: {node-role.kubernetes.io/gpu: ''}}}"),
        "get node HERE",
        "get node HERE -o wide",
        "cordon HERE",
        "get node HERE",
        "uncordon HERE",
        "taint node HERE a=b:NoSchedule",
        "describe node HERE",
        "delete node HERE",
    ],
}  # fmt: skip


@pytest.mark.parametrize("story", STORIES)
def test_kubectl_says_what_it_says_of_a_real_server(
    both: Both, kubectl: Path, story: str, namespace: str
) -> None:
    both.embedded.ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    for step in STORIES[story]:
        command, given = (step, "") if isinstance(step, str) else step
        embedded, real = (
            said(endpoint, kubectl, namespace, command, given)
            for endpoint in (both.embedded, both.real)
        )
        assert embedded == real, command


@pytest.mark.parametrize(
    "path",
    ["pod.spec.containers", "podgroups.spec", "compositepodgroups", "workload.spec", "lease.spec"],
)
def test_explain_names_the_same_fields(both: Both, kubectl: Path, path: str) -> None:
    embedded, real = (
        fields(endpoint.kubectl(kubectl, "explain", path, "--recursive"))
        for endpoint in (both.embedded, both.real)
    )

    assert len(real) > 3
    assert embedded == real


def test_api_resources_are_a_part_of_the_real_ones(both: Both, kubectl: Path) -> None:
    command = ("api-resources", "--no-headers", "-o", "wide")
    embedded, real = (
        {" ".join(line.split()) for line in endpoint.kubectl(kubectl, *command)[1].splitlines()}
        for endpoint in (both.embedded, both.real)
    )

    assert len(embedded) > 10
    assert embedded - real == set()


def said(endpoint: Endpoint, kubectl: Path, namespace: str, command: str, given: str) -> Said:
    """What kubectl says, without ages, and without how wide the columns are."""
    words = [word.replace("HERE", namespace) for word in command.split(" ")]
    status, output, complaints = endpoint.kubectl(
        kubectl, "-n", namespace, *words, given=given.replace("HERE", namespace)
    )
    return status, plain(output), plain(complaints)


def plain(text: str) -> str:
    text = re.sub(r"(?<![\w.])\d+(m\d+)?s(?!\w)", "AGE", text)
    text = re.sub(r"/tmp/(LIVE|MERGED)-\d+/", r"\1/", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}", "TIME", text)
    text = re.sub(r'resourceVersion: "\d+"|Resource Version: +\d+', "VERSION", text)
    text = re.sub(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME", text)
    text = re.sub(r"127\.0\.0\.1:\d+", "SERVER", text)
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def fields(found: Said) -> list[str]:
    status, output, _ = found
    assert status == 0
    return re.findall(r"^\s+\S+\t<.*>.*$", output, re.MULTILINE)
