"""The embedded server beside a real one: the same request to both, and what differs in the answers."""

import http.client
import json
import re
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tools.throwaway import Plane
from tutti.cli.credentials import Credentials, make

PATIENCE_S = 30

# Known and wanted: descriptions are prose, nobody's fields are managed yet, and nobody here would
# ever take away what protects volumes in use.
_NOT_COMPARED = frozenset({"managedFields", "description"})
_NOT_OURS = frozenset({"kubernetes.io/pv-protection", "kubernetes.io/pvc-protection"})
_OPAQUE = {"uid": "UID", "resourceVersion": "VERSION", "continue": "TOKEN"}
_PASSING = (
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
    (r"\A\d+s\Z", "AGE"),  # a cell of a table: one of the two may be the slower
    (r"(?<=precondition \()\d+(?=\))|(?<=record \()\d+(?=\))|(?<=current: )\d+", "VERSION"),
    # A patch that makes no sense is quoted whole, in an order of fields of its own.
    (r'(?<=patch: Invalid value: ")\{.*\}(?=":)|(?<=\AInvalid value: ")\{.*\}(?=":)', "PATCHED"),
)


@dataclass(frozen=True)
class Answer:
    """What is compared."""

    status: int
    content_type: str
    warnings: tuple[str, ...]
    body: Any


@dataclass(frozen=True)
class Endpoint:
    """An API server, and how to be its admin."""

    url: str
    credentials: Credentials

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        trusted = ssl.create_default_context(cafile=self.credentials.authority)
        place = urlsplit(self.url).netloc
        connection = http.client.HTTPSConnection(place, context=trusted, timeout=PATIENCE_S)
        usual = {
            "Accept": "application/json",
            "Authorization": f"Bearer {self.credentials.token('admin')}",
        }
        content = body if body is None or isinstance(body, str) else json.dumps(body)
        if content is not None:
            usual["Content-Type"] = "application/json"
        connection.request(method, path, content, {**usual, **(headers or {})})
        found = connection.getresponse()
        text = found.read().decode()
        connection.close()
        return Answer(
            found.status,
            found.getheader("Content-Type", ""),
            tuple(found.headers.get_all("Warning", [])),
            comparable(_parsed(text)),
        )

    def kubectl(self, program: Path, *words: str, given: str = "") -> tuple[int, str, str]:
        """Exit status, output and complaints of a kubectl command."""
        config = f"--kubeconfig={self.credentials.kubeconfig('admin')}"
        cache = f"--cache-dir={self.credentials.folder / 'kubectl-cache'}"
        ended = subprocess.run(
            [program, config, cache, *words],
            input=given,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return ended.returncode, passing(ended.stdout), passing(ended.stderr)


@dataclass(frozen=True)
class Both:
    """The embedded server and the real one."""

    embedded: Endpoint
    real: Endpoint

    def ask(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[Answer, Answer]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return (
            self.embedded.ask(method, path, body, named),
            self.real.ask(method, path, body, named),
        )


@contextmanager
def beside(plane: Plane, folder: Path) -> Iterator[Both]:
    """An embedded server beside a real one."""
    with embedded(folder) as ours:
        yield Both(ours, Endpoint(plane.url, plane.credentials))


@contextmanager
def embedded(folder: Path) -> Iterator[Endpoint]:
    """An embedded server for as long as the block lasts."""
    keys = make(folder)
    command = [sys.executable, "-m", "tutti.server", "--memory", "--exit-with-parent"]
    with subprocess.Popen(
        [*command, *keys.server_flags()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline().removeprefix("listening: "))
            url = f"https://127.0.0.1:{port}"
            keys.write_kubeconfigs(url)
            yield Endpoint(url, keys)
        finally:
            process.terminate()


def comparable(found: Any, name: str = "") -> Any:
    """An answer without what differs from run to run."""
    match found:
        case dict():
            return {
                key: comparable(value, key)
                for key, value in sorted(found.items())
                if key not in _NOT_COMPARED and not _is_not_ours(key, value)
            }
        case list():
            return [comparable(value) for value in found]
        case str() if found and name in _OPAQUE:
            return _OPAQUE[name]
        case str():
            return passing(found)
        case _:
            return found


def _is_not_ours(name: str, value: Any) -> bool:
    return name == "finalizers" and bool(value) and _NOT_OURS.issuperset(value)


def passing(text: str) -> str:
    for pattern, word in _PASSING:
        text = re.sub(pattern, word, text)
    return text


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
