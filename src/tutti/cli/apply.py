"""Create or change objects so that they are as files say, as kubectl's client-side apply does.

What was applied last is kept in an annotation, so that a field which goes from a file goes from the
object, and what others have set stays.

  tutti apply -f gang.yaml       tutti apply -f -       tutti apply -f manifests/
"""

import argparse
import copy
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from tutti.api import patch, registry, schema
from tutti.api.errors import ApiError, NotFound
from tutti.api.registry import Storage
from tutti.cli import manifests, output, wiring
from tutti.cli.manifests import Document
from tutti.cli.output import Trouble, note
from tutti.kube.client import Client

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
STRICT = {"fieldValidation": "Strict"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-f",
        "--filename",
        action="append",
        required=True,
        metavar="FILE",
        help="a file, a folder, or - for stdin; may be repeated",
    )
    parser.add_argument("-R", "--recursive", action="store_true", help="folders in folders, too")
    parser.add_argument("-o", "--output", choices=("json", "yaml", "name"))
    parser.add_argument("--server-side", action="store_true", help="not served yet: refused")
    wiring.namespace_arguments(parser)
    wiring.connection_arguments(parser)


def run(args: argparse.Namespace) -> int:
    if args.server_side:
        raise Trouble("--server-side is not served yet: leave it out to apply on the client's side")
    documents = [
        document
        for name in args.filename
        for document in manifests.read(name, recursive=args.recursive)
    ]
    if not documents:
        raise Trouble("no objects passed to apply")
    return wiring.ask(args, lambda client, namespace: _apply(client, namespace, documents, args))


async def _apply(
    client: Client, namespace: str, documents: Sequence[Document], args: argparse.Namespace
) -> int:
    """One after the other: what one document refuses doesn't keep the next from being applied."""
    targets = [_target(document, namespace, said=args.namespace) for document in documents]
    applied, failed = [], False
    for target in targets:
        try:
            result, done = await _carry_out(client, target)
        except ApiError as error:
            what = f"{target.storage.kind} {target.name!r}"
            note(f"{target.place}: {what}: {output.refusal(error)}")
            failed = True
            continue
        applied.append(result)
        if args.output is None:
            print(f"{output.reference(result)} {done}")
    _show(applied, args.output)
    return int(failed)


class Target(NamedTuple):
    place: str
    storage: Storage
    version: str
    namespace: str | None
    name: str
    content: dict[str, Any]


def _target(document: Document, namespace: str, said: str | None) -> Target:
    place, content = document
    group, _, version = content["apiVersion"].rpartition("/")
    storage = registry.by_kind(group, content["kind"])
    if storage is None or (group, version) not in storage.served:
        raise Trouble(
            f'{place}: no matches for kind "{content["kind"]}" in version "{content["apiVersion"]}"'
        )
    own = content["metadata"].get("namespace")
    if not storage.namespaced:
        return Target(place, storage, version, None, content["metadata"]["name"], content)
    if own and said and own != said:
        raise Trouble(
            f'{place}: the namespace from the provided object "{own}" does not match the namespace '
            f"\"{said}\". You must pass '--namespace={own}' to perform this operation."
        )
    whole = copy.deepcopy(content)
    whole["metadata"].setdefault("namespace", namespace)
    return Target(place, storage, version, own or namespace, content["metadata"]["name"], whole)


async def _carry_out(client: Client, target: Target) -> tuple[dict[str, Any], str]:
    """The object as it is now, and what was done to it."""
    group = target.content["apiVersion"].rpartition("/")[0]
    path = target.storage.path(target.version, target.namespace, target.name, group=group)
    wanted = annotated(target.content)
    try:
        current = json.loads((await client.raw("GET", path)).body)
    except NotFound:
        folder = path.rpartition("/")[0]
        answer = await client.raw("POST", folder, body=_bytes(wanted), query=STRICT)
        return json.loads(answer.body), "created"
    change = patch.three_way(
        last_applied(current),
        wanted,
        current,
        schema.load(group, target.version, target.storage.kind),
    )
    if not change:
        return current, "unchanged"
    answer = await client.raw(
        "PATCH",
        path,
        body=_bytes(change),
        query=STRICT,
        content_type="application/strategic-merge-patch+json",
    )
    changed = json.loads(answer.body)
    untouched = changed["metadata"]["resourceVersion"] == current["metadata"]["resourceVersion"]
    return changed, "unchanged" if untouched else "configured"


def annotated(content: dict[str, Any]) -> dict[str, Any]:
    """The object with what is applied written on it, as kubectl writes it."""
    bare = copy.deepcopy(content)
    annotations = bare["metadata"].get("annotations") or {}
    annotations.pop(LAST_APPLIED, None)
    bare["metadata"]["annotations"] = annotations
    text = json.dumps(bare, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    whole = copy.deepcopy(bare)
    whole["metadata"]["annotations"][LAST_APPLIED] = f"{text}\n"
    return whole


def last_applied(current: dict[str, Any]) -> dict[str, Any]:
    """What was applied before, by kubectl or by us; nothing if it was made otherwise."""
    text = (current["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    original: dict[str, Any] = json.loads(text) if text else {}
    return original


def _show(applied: list[dict[str, Any]], format_: str | None) -> None:
    if not applied or format_ is None:
        return
    if format_ == "name":
        print(*map(output.reference, applied), sep="\n")
        return
    write = output.as_json if format_ == "json" else output.as_yaml
    print(write(applied[0] if len(applied) == 1 else output.as_list(applied)))


def _bytes(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
