"""Show objects: as the tables that the server makes, or whole with -o json or -o yaml.

tutti get pods                 tutti get podgroups -A        tutti get node/gpu-r0-0 -o yaml
"""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from tutti.api.errors import NotFound
from tutti.api.registry import Storage
from tutti.cli import kinds, output, wiring
from tutti.cli.kinds import Wanted
from tutti.cli.output import Trouble, note
from tutti.kube.client import Client

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="+", metavar="KIND [NAME…] | KIND/NAME…")
    parser.add_argument("-o", "--output", choices=("json", "yaml", "wide", "name"))
    parser.add_argument("-A", "--all-namespaces", action="store_true")
    parser.add_argument("-l", "--selector", metavar="LABELS", help="like app=train,rack!=7")
    parser.add_argument("--field-selector", metavar="FIELDS", help="like spec.nodeName=gpu-0")
    parser.add_argument("-w", "--watch", action="store_true", help="go on showing what changes")
    wiring.namespace_arguments(parser)
    wiring.connection_arguments(parser)


def run(args: argparse.Namespace) -> int:
    return wiring.ask(args, lambda client, namespace: _Get(args, client, namespace).run())


class _Get:
    def __init__(self, args: argparse.Namespace, client: Client, namespace: str) -> None:
        self._args = args
        self._client = client
        self._namespace = None if args.all_namespaces else namespace
        self._query = {"labelSelector": args.selector, "fieldSelector": args.field_selector}

    async def run(self) -> int:
        wanted = await kinds.objects(self._client, self._args.what)
        if any(one.names for one in wanted) and self._args.all_namespaces:
            raise Trouble("a resource cannot be retrieved by name across all namespaces")
        if self._args.watch:
            return await self._watch(wanted)
        if self._args.output in ("json", "yaml", "name"):
            return await self._whole(wanted)
        return await self._tables(wanted)

    async def _whole(self, wanted: Sequence[Wanted]) -> int:
        items: list[dict[str, Any]] = []
        failed = False
        for storage, names in wanted:
            if names:
                for name in names:
                    try:
                        path = self._client.path(storage, self._namespace, name)
                        items.append(json.loads((await self._client.raw("GET", path)).body))
                    except NotFound as error:
                        failed = _missed(error)
            else:
                path = self._client.path(storage, self._namespace)
                answer = await self._client.raw("GET", path, query=self._query)
                listed = json.loads(answer.body)
                kind = {"apiVersion": listed["apiVersion"], "kind": storage.kind}
                items += [kind | item for item in listed["items"]]
        one_by_name = len(wanted) == 1 and len(wanted[0].names) == 1
        match self._args.output:
            case "name":
                for item in items:
                    print(output.reference(item))
            case _ if one_by_name and not items:
                pass
            case format_:
                write = output.as_json if format_ == "json" else output.as_yaml
                print(write(items[0] if one_by_name else output.as_list(items)))
        return int(failed)

    async def _tables(self, wanted: Sequence[Wanted]) -> int:
        failed = False
        tables: list[tuple[Storage, Table]] = []
        for storage, names in wanted:
            table = Table()
            for name in names or (None,):
                try:
                    table.add(await self._table(storage, name))
                except NotFound as error:
                    failed = _missed(error)
            if table.rows:
                tables.append((storage, table))
        if not tables and not failed:
            where = f"in {self._namespace} namespace" if self._namespace else "found"
            namespaced = self._namespace and any(one.storage.namespaced for one in wanted)
            note(f"No resources found {where}." if namespaced else "No resources found")
        for number, (storage, table) in enumerate(tables):
            if number:
                print()
            print(output.columns(self._rows(table, storage, prefixed=len(wanted) > 1)))
        return int(failed)

    def _rows(self, table: "Table", storage: Storage, *, prefixed: bool) -> list[list[str]]:
        spaces = self._args.all_namespaces and storage.namespaced
        prefix = f"{output.qualified(storage.singular, storage.group)}/" if prefixed else ""
        return table.text(wide=self._args.output == "wide", namespaces=spaces, prefix=prefix)

    async def _table(self, storage: Storage, name: str | None) -> dict[str, Any]:
        path = self._client.path(storage, self._namespace, name)
        query = None if name else self._query
        answer = await self._client.raw("GET", path, query=query, accept=TABLE)
        table: dict[str, Any] = json.loads(answer.body)
        return table

    async def _watch(self, wanted: Sequence[Wanted]) -> int:
        if len(wanted) != 1 or len(wanted[0].names) > 1 or self._args.output not in (None, "wide"):
            raise Trouble("-w shows one kind, all objects or one, as a table")
        [(storage, names)] = wanted
        query = dict(self._query)
        if names:
            query["fieldSelector"] = f"metadata.name={names[0]}"
        path = self._client.path(storage, self._namespace)
        answer = await self._client.raw("GET", path, query=query, accept=TABLE)
        listed = json.loads(answer.body)
        printed = output.Growing()
        table = Table()
        table.add(listed)
        printed.show(self._rows(table, storage, prefixed=False))

        def on_lines(lines: list[bytes]) -> None:
            for line in lines:
                event = json.loads(line)
                if event["type"] in ("ADDED", "MODIFIED", "DELETED"):
                    news = Table(table.columns)
                    news.add(event["object"])
                    printed.show(self._rows(news, storage, prefixed=False)[1:])

        await self._client.watch(
            storage,
            self._namespace,
            on_lines,
            since=listed["metadata"]["resourceVersion"],
            label=query["labelSelector"],
            field=query["fieldSelector"],
            accept=TABLE,
        )
        return 0


class Table:
    """A server's answer to "as a table"; the columns come with the first part."""

    def __init__(self, columns: Sequence[dict[str, Any]] = ()) -> None:
        self.columns = columns
        self.rows: list[dict[str, Any]] = []

    def add(self, table: dict[str, Any]) -> None:
        self.columns = self.columns or table.get("columnDefinitions") or ()
        self.rows += table.get("rows") or ()

    def text(self, *, wide: bool, namespaces: bool, prefix: str) -> list[list[str]]:
        shown = [i for i, column in enumerate(self.columns) if wide or not column.get("priority")]
        head = [self.columns[i]["name"].upper() for i in shown]
        rows = [[prefix * (i == 0) + _cell(row["cells"][i]) for i in shown] for row in self.rows]
        if namespaces:
            head = ["NAMESPACE", *head]
            spaces = [row["object"]["metadata"].get("namespace", "") for row in self.rows]
            rows = [[space, *row] for space, row in zip(spaces, rows, strict=True)]
        return [head, *rows]


def _cell(value: object) -> str:
    return "<none>" if value is None else str(value)


def _missed(error: NotFound) -> bool:
    note(output.refusal(error))
    return True
