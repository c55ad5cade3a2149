"""A server for each test."""

from collections.abc import AsyncIterator

import pytest

from tests.server.door import Door, opened


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    async with opened() as here:
        yield here
