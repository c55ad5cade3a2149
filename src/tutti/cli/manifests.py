"""Objects out of files: YAML or JSON, one document or many, from a folder or stdin."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tutti.cli.output import Trouble

SUFFIXES = (".json", ".yaml", ".yml")


class Document(NamedTuple):
    """One object, and where it stands, for the sentences about it."""

    place: str
    content: dict[str, Any]


def read(name: str, *, recursive: bool = False) -> Iterator[Document]:
    """The objects of a file, of the files of a folder, or of stdin (`-`); lists are taken apart."""
    if name == "-":
        yield from documents(sys.stdin.read(), "stdin")
        return
    path = Path(name)
    try:
        for file in _files(path, recursive=recursive) if path.is_dir() else [path]:
            yield from documents(file.read_text(), str(file))
    except OSError as error:
        raise Trouble(f"{error.filename or path} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Trouble(f"{path} is no text in UTF-8") from error


def documents(text: str, source: str) -> Iterator[Document]:
    try:
        contents = list(yaml.load_all(text, Loader=_Loader))
    except yaml.YAMLError as error:
        raise Trouble(f"{source}: {' '.join(str(error).split())}") from error
    for number, content in enumerate(contents, 1):
        if content is None:
            continue
        place = f"{source}, document {number}" if len(contents) > 1 else source
        yield from _apart(content, place)


def _apart(content: object, place: str) -> Iterator[Document]:
    if not isinstance(content, dict):
        raise Trouble(f"{place}: an object with apiVersion and kind is expected")
    for field in ("apiVersion", "kind"):
        if not isinstance(content.get(field), str) or not content[field]:
            raise Trouble(f"{place}: {field} is missing")
    if isinstance(content.get("items"), list) and content["kind"].endswith("List"):
        for number, item in enumerate(content["items"]):
            yield from _apart(item, f"{place}, items[{number}]")
        return
    metadata = content.get("metadata")
    if not isinstance(metadata, dict):
        raise Trouble(f"{place}: metadata is missing")
    if not isinstance(metadata.get("name"), str) or not metadata["name"]:
        raise Trouble(f"{place}: metadata.name is missing")
    yield Document(place, content)


def _files(folder: Path, *, recursive: bool) -> list[Path]:
    found = folder.rglob("*") if recursive else folder.glob("*")
    return sorted(file for file in found if file.suffix in SUFFIXES and file.is_file())


class _Loader(yaml.SafeLoader):
    """YAML as Kubernetes reads it: what looks like a time is a text, and no key comes twice."""

    def construct_mapping(  # type: ignore[explicit-override]  # Python 3.12 has it
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        for number, key in enumerate(keys):
            if key in keys[:number]:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is there twice", node.start_mark
                )
        return super().construct_mapping(node, deep=deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
