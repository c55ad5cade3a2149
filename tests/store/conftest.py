"""Stores that are closed when their test ends."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tutti.store import Store

OpenStore = Callable[..., Store]


@pytest.fixture
async def open_store() -> AsyncIterator[OpenStore]:
    opened: list[Store] = []

    def open_(folder: Path | None = None, **options: Any) -> Store:
        opened.append(Store.open(folder, **options))
        return opened[-1]

    yield open_
    for store in opened:
        await store.close()


@pytest.fixture
def store(open_store: OpenStore) -> Store:
    """A new store in memory."""
    return open_store()
