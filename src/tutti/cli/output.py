"""What commands print: tables, JSON, YAML, and the sentences that say what went wrong."""

import sys
from collections.abc import Sequence
from typing import Any


class Trouble(Exception):
    """Something a person can act on; the text is the sentence that they read."""


def columns(rows: Sequence[Sequence[str]], *, gap: int = 3) -> str:
    """Rows as aligned text, as kubectl lays them out: the last column is never padded."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    return "\n".join(
        "".join(
            cell if last else cell.ljust(width + gap)
            for cell, width, last in zip(
                row, widths, [False] * (len(row) - 1) + [True], strict=True
            )
        ).rstrip()
        for row in rows
    )


def as_json(value: Any) -> str:
    import json

    return json.dumps(value, indent=4, ensure_ascii=False)


def as_yaml(value: Any) -> str:
    import yaml

    text: str = yaml.safe_dump(value, default_flow_style=False, allow_unicode=True)
    return text.removesuffix("\n")


def refusal(error: Exception) -> str:
    """What a server answered, in kubectl's words, or that it didn't."""
    from tutti.api.errors import ApiError

    if isinstance(error, ApiError):
        return f"Error from server ({error.reason}): {error}"
    return f"the server doesn't answer: {error}"


def note(text: str) -> None:
    """For people, beside the answer: stderr, so that the answer can be piped."""
    print(text, file=sys.stderr, flush=True)


def reference(item: dict[str, Any]) -> str:
    """`pod/web-0`, `podgroup.scheduling.k8s.io/train`: how people and kubectl name an object."""
    group = item["apiVersion"].rpartition("/")[0]
    return f"{qualified(item['kind'].lower(), group)}/{item['metadata']['name']}"


def qualified(kind: str, group: str) -> str:
    return f"{kind}.{group}" if group else kind


def as_list(items: list[dict[str, Any]]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}


class Growing:
    """A table to which rows are added: the columns stay as wide as they were first."""

    def __init__(self) -> None:
        self._widths: list[int] = []

    def show(self, rows: Sequence[Sequence[str]], *, gap: int = 3) -> None:
        for row in rows:
            self._widths = [
                max([len(cell), *self._widths[i : i + 1]]) for i, cell in enumerate(row)
            ]
            line = "".join(
                cell.ljust(width + gap) for cell, width in zip(row, self._widths, strict=True)
            )
            print(line.rstrip(), flush=True)
