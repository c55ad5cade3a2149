"""Joins the three sources into one small document per group-version."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.schemas import golang, proto

API = "k8s.io/api/"
META = "k8s.io/apimachinery/pkg/apis/meta/v1"
LEAVES = {
    f"{META}.Time": "Time",
    f"{META}.MicroTime": "MicroTime",
    f"{META}.Duration": "Duration",
    f"{META}.FieldsV1": "FieldsV1",
    "k8s.io/apimachinery/pkg/api/resource.Quantity": "Quantity",
    "k8s.io/apimachinery/pkg/util/intstr.IntOrString": "IntOrString",
    "k8s.io/apimachinery/pkg/runtime.RawExtension": "RawExtension",
    "k8s.io/apimachinery/pkg/types.UID": "UID",
}
"""Types that the reader of the schemas knows by itself."""

_NAME = re.compile(r"[A-Za-z][\w/.-]*")
Json = dict[str, Any]


class Disagreement(Exception):
    """Two sources say different things about one field."""


@dataclass
class Sources:
    """The unpacked modules k8s.io/api and k8s.io/apimachinery, and the OpenAPI documents' schemas."""

    api: Path
    apimachinery: Path
    components: Json
    _packages: dict[str, tuple[golang.GoPackage, dict[str, dict[str, int]]]] = field(
        default_factory=dict
    )

    def package(self, path: str) -> tuple[golang.GoPackage, dict[str, dict[str, int]]]:
        if path not in self._packages:
            folder = (
                self.apimachinery / path.removeprefix("k8s.io/apimachinery/")
                if path.startswith("k8s.io/apimachinery/")
                else self.api / path.removeprefix(API)
            )
            self._packages[path] = (
                golang.read(folder, path),
                proto.numbers(folder / "generated.proto"),
            )
        return self._packages[path]

    def openapi(self, path: str, name: str) -> Json | None:
        """What OpenAPI says of a Go type; nothing of types that no served path leads to."""
        prefix = path.removeprefix("k8s.io/").replace("/", ".")
        return self.components.get(f"io.k8s.{prefix}.{name}")


def documents(sources: Sources, roots: Iterable[tuple[str, str]], version: str) -> dict[str, Json]:
    """File name to document, for all types that the (package path, kind) pairs lead to."""
    documents: dict[str, Json] = {}
    wanted = list(roots)
    while wanted:
        path, name = wanted.pop()
        label = short(path)
        document = documents.setdefault(
            f"{label.replace('/', '_')}.json",
            {"kubernetes": version, "package": label, "named": {}, "types": {}},
        )
        if name in document["types"] or name in document["named"]:
            continue
        package, numbers = sources.package(path)
        if name in package.named:
            document["named"][name] = _written(package.named[name], path)
            wanted += _references(package.named[name])
            continue
        document["types"][name] = _type(sources, package, numbers, name)
        for go_field in package.structs[name]:
            wanted += _references(go_field.type)
    for document in documents.values():
        for part in ("named", "types"):
            document[part] = dict(sorted(document[part].items()))
    return documents


def short(path: str) -> str:
    """`core/v1` for k8s.io/api/core/v1, `meta/v1` for the one of apimachinery."""
    return "meta/v1" if path == META else path.removeprefix(API)


def _type(
    sources: Sources,
    package: golang.GoPackage,
    numbers: dict[str, dict[str, int]],
    name: str,
) -> Json:
    openapi = sources.openapi(package.path, name)
    written: Json = {"object": True} if name in package.objects else {}
    inline: Json = {}
    fields: Json = {}
    for go_field in package.structs[name]:
        number = _number(go_field, numbers, name)
        if not go_field.name:
            inline[_written(go_field.type, package.path)] = number
        else:
            described = _described(openapi, go_field, name)
            fields[go_field.name] = _field(go_field, package, number, described, openapi)
    if inline:
        written["inline"] = inline
    written["fields"] = fields
    return written


def _number(go_field: golang.GoField, numbers: dict[str, dict[str, int]], message: str) -> int:
    number = numbers.get(message, {}).get(go_field.proto_name)
    if number is None or number != go_field.number:
        field = f"{message}.{go_field.name or go_field.proto_name}"
        raise Disagreement(f"{field}: number {number} in .proto, {go_field.number} in Go")
    return number


def _described(openapi: Json | None, go_field: golang.GoField, name: str) -> Json:
    if openapi is None:
        return {}
    described = openapi.get("properties", {}).get(go_field.name)
    if described is None:
        raise Disagreement(f"{name}.{go_field.name} is declared, but OpenAPI does not have it")
    for fact, said in (("strategy", go_field.patch_strategy), ("merge-key", go_field.merge_key)):
        published = described.get(f"x-kubernetes-patch-{fact}", "")
        if published != said:
            raise Disagreement(f"{name}.{go_field.name}: patch {fact} {published!r} and {said!r}")
    return described


def _field(
    go_field: golang.GoField,
    package: golang.GoPackage,
    number: int,
    described: Json,
    openapi: Json | None,
) -> Json:
    written: Json = {"type": _written(go_field.type, package.path), "number": number}
    if _shown_when_empty(go_field, package):
        written["shown"] = True
    if openapi is not None and go_field.name in openapi.get("required", ()):
        written["required"] = True
    for key, name in (
        ("list", "x-kubernetes-list-type"),
        ("keys", "x-kubernetes-list-map-keys"),
        ("map", "x-kubernetes-map-type"),
        ("patch", "x-kubernetes-patch-strategy"),
        ("mergeKey", "x-kubernetes-patch-merge-key"),
    ):
        if name in described:
            written[key] = described[name]
    if described.get("default") not in (None, "", 0, False, {}):
        written["default"] = described["default"]
    return written


def _shown_when_empty(go_field: golang.GoField, package: golang.GoPackage) -> bool:
    """Go leaves out empty scalars, lists, maps and pointers if asked to, but never a struct."""
    if go_field.omits_zero:
        return False
    if not go_field.omits_empty:
        return True
    if go_field.type[0] in "*[" or go_field.type.startswith("map["):
        return False
    where, _, name = go_field.type.rpartition(".")
    if not where or LEAVES.get(go_field.type) == "UID":
        return False
    return where != package.path or name not in package.named


def _references(go_type: str) -> list[tuple[str, str]]:
    """The (package path, name) of every type that this type expression needs described."""
    named = [name for name in _NAME.findall(go_type) if "." in name and name not in LEAVES]
    return [(where, name) for where, _, name in (full.rpartition(".") for full in named)]


def _written(go_type: str, path: str) -> str:
    """The type expression with short names: `[]meta/v1.Condition`, `map[string]Quantity`."""

    def shortened(match: re.Match[str]) -> str:
        where, _, name = match[0].rpartition(".")
        if not where or where == path:
            return LEAVES.get(match[0], name)
        return LEAVES.get(match[0], f"{short(where)}.{name}")

    return _NAME.sub(shortened, go_type)
