"""Reads the struct declarations of a Go package of k8s.io/api: interface facts, nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

_IMPORT = re.compile(r'^\s*(?:(\w+)\s+)?"([^"]+)"$')
_STRUCT = re.compile(r"^type (\w+) struct \{$")
_NAMED = re.compile(r"^type (\w+) ((?:string|bool|u?int\d*|\[\]|map\[)\S*)$")
_FIELD = re.compile(r"^\t(?:\w+\s+)?([\w.*\[\]]+)\s+`([^`]*)`")
_TAG = re.compile(r'(\w+):"([^"]*)"')
_NUMBER = re.compile(r"^\w+,(\d+)(?:,.*name=(\w+))?")


@dataclass(frozen=True)
class GoField:
    """One field; `name` is the JSON name, empty for an embedded struct that JSON flattens."""

    name: str
    type: str
    omits_empty: bool
    omits_zero: bool
    number: int | None
    proto_name: str
    patch_strategy: str
    merge_key: str


@dataclass
class GoPackage:
    path: str
    structs: dict[str, list[GoField]] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)
    objects: set[str] = field(default_factory=set)
    """The structs that carry apiVersion and kind."""


def read(folder: Path, path: str) -> GoPackage:
    """All declarations of the package in `folder`, every type with its import path."""
    package = GoPackage(path)
    for file in sorted(folder.glob("*.go")):
        if file.name.startswith(("zz_", "generated")) or file.name.endswith("_test.go"):
            continue
        _read_file(file.read_text(), package)
    return package


def _read_file(text: str, package: GoPackage) -> None:
    imports: dict[str, str] = {}
    current: list[GoField] | None = None
    name = ""
    for line in text.splitlines():
        if current is None:
            if found := _IMPORT.match(line):
                imports[found[1] or found[2].rsplit("/", 1)[-1]] = found[2]
            elif found := _STRUCT.match(line):
                name, current = found[1], []
                package.structs[name] = current
            elif found := _NAMED.match(line):
                package.named[found[1]] = _qualified(found[2], package.path, imports)
        elif line == "}":
            current = None
        elif found := _FIELD.match(line):
            go_type, tags = found.groups()
            if go_type.endswith("TypeMeta"):
                package.objects.add(name)
            else:
                current.append(
                    _field(_qualified(go_type, package.path, imports), dict(_TAG.findall(tags)))
                )


def _field(go_type: str, tags: dict[str, str]) -> GoField:
    name, *options = tags.get("json", "").split(",")
    number = _NUMBER.match(tags.get("protobuf", ""))
    own = go_type.rpartition(".")[2]
    return GoField(
        name=name,
        type=go_type,
        omits_empty="omitempty" in options,
        omits_zero="omitzero" in options,
        number=int(number[1]) if number else None,
        proto_name=(number and number[2]) or own[0].lower() + own[1:],
        patch_strategy=tags.get("patchStrategy", ""),
        merge_key=tags.get("patchMergeKey", ""),
    )


def _qualified(go_type: str, path: str, imports: dict[str, str]) -> str:
    """`*metav1.Time` becomes `*k8s.io/apimachinery/pkg/apis/meta/v1.Time`; own types likewise."""

    def full(match: re.Match[str]) -> str:
        where = imports.get(match[1], match[1]) if match[1] else path
        return f"{where}.{match[2]}"

    return re.sub(r"\b(?:(\w+)\.)?([A-Z]\w*)", full, go_type)
