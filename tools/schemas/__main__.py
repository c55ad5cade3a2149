"""`make schemas`: writes src/tutti/api/schemas/*.json. Same input, same bytes.

python -m tools.schemas                      starts the real server of `make control-plane` and asks it
python -m tools.schemas --openapi DIR        reads OpenAPI v3 documents that were saved before
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools import throwaway
from tools.schemas import build
from tutti.api import registry
from tutti.cli import binaries

TARGET = Path(__file__).parents[2] / "src" / "tutti" / "api" / "schemas"
META_KINDS = ("DeleteOptions", "PartialObjectMetadata", "PartialObjectMetadataList", "Status")


def main() -> int:
    arguments = _arguments()
    if arguments.openapi:
        version, components = arguments.kubernetes, _saved(arguments.openapi)
    else:
        version, components = _asked(binaries.folder_from(os.environ) or _binaries())
    modules = version.replace("v1.", "v0.", 1)
    sources = build.Sources(
        _module("k8s.io/api", modules), _module("k8s.io/apimachinery", modules), components
    )
    documents = build.documents(sources, roots(), version)
    TARGET.mkdir(exist_ok=True)
    for stale in set(TARGET.glob("*.json")) - {TARGET / name for name in documents}:
        stale.unlink()
    for name, document in sorted(documents.items()):
        (TARGET / name).write_text(written(document))
        print(f"{name}: {len(document['types'])} types")
    return 0


def roots() -> Iterator[tuple[str, str]]:
    """Every kind that goes over the wire, by package: the registry's rows and what comes with them."""
    for storage in registry.STORAGES:
        for group, version in storage.served:
            yield _package(group, version), storage.kind
    for kind in registry.SUBRESOURCE_KINDS.values():
        yield _package(kind.group, kind.version), kind.kind
    for name in META_KINDS:
        yield build.META, name


def written(document: dict[str, Any]) -> str:
    """JSON with a line per field, so that a change of Kubernetes shows as a few lines."""
    lines = [f' "kubernetes": {json.dumps(document["kubernetes"])},']
    lines.append(f' "package": {json.dumps(document["package"])},')
    lines.append(f' "named": {json.dumps(document["named"])},')
    types = [_written_type(name, described) for name, described in document["types"].items()]
    return "{\n" + "\n".join(lines) + '\n "types": {\n' + ",\n".join(types) + "\n }\n}\n"


def _written_type(name: str, described: dict[str, Any]) -> str:
    rest = {key: value for key, value in described.items() if key != "fields"}
    head = "".join(f"{json.dumps(key)}: {json.dumps(value)}, " for key, value in rest.items())
    fields = ",\n".join(
        f"   {json.dumps(field)}: {json.dumps(facts)}"
        for field, facts in described["fields"].items()
    )
    return (
        f'  {json.dumps(name)}: {{{head}"fields": {{' + (f"\n{fields}\n  " if fields else "") + "}}"
    )


def _package(group: str, version: str) -> str:
    """`scheduling.k8s.io` is in the folder `scheduling`; the group without a name in `core`."""
    return f"{build.API}{group.partition('.')[0] or 'core'}/{version}"


def _asked(programs: Path) -> tuple[str, dict[str, Any]]:
    """The version of the real server in this folder, and its OpenAPI schemas, all gates open."""
    components: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, throwaway.plane(programs, Path(folder)) as plane:
        version = plane.request("GET", "/version")["gitVersion"]
        for path in plane.request("GET", "/openapi/v3")["paths"].values():
            document = plane.request("GET", path["serverRelativeURL"])
            components |= document.get("components", {}).get("schemas", {})
    return version, components


def _binaries() -> Path:
    """Where `make control-plane` has put the real programs."""
    print("building the real control plane, if it is not there yet", file=sys.stderr)
    build_it = [sys.executable, "tools/control-plane/build.py"]
    answer = subprocess.run(build_it, check=True, stdout=subprocess.PIPE, text=True)
    return Path(answer.stdout.splitlines()[-1])


def _saved(folder: Path) -> dict[str, Any]:
    components: dict[str, Any] = {}
    for file in sorted(folder.glob("*.json")):
        document = json.loads(file.read_text())
        components |= document.get("components", {}).get("schemas", {})
    return components


def _module(path: str, version: str) -> Path:
    """Where Go keeps the module, downloaded if need be."""
    print(f"reading {path} {version}", file=sys.stderr)
    answer = subprocess.run(
        ["go", "mod", "download", "-json", f"{path}@{version}"],
        check=True,
        capture_output=True,
        cwd="/",
    )
    return Path(json.loads(answer.stdout)["Dir"])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make schemas", description=__doc__)
    parser.add_argument("--openapi", type=Path, help="a folder of saved OpenAPI v3 documents")
    parser.add_argument("--kubernetes", default="v1.37.1", help="the version they are of")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
