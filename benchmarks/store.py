"""The store alone: durable writes by many, and long lists."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import uvloop

from benchmarks.measure import timed
from benchmarks.report import Row
from tutti.store import OPENING, Put, Store

WRITERS = 100
EACH = 100
VALUE = OPENING + b'"name":"a"},"padding":"%b"}' % (b"x" * 1500)


def rows(*, short: bool) -> Iterator[Row]:
    count = WRITERS * EACH
    with ExitStack() as folders:

        def new_folder() -> Path:
            return Path(folders.enter_context(TemporaryDirectory()))

        yield timed(
            f"{count:,} durable creates by {WRITERS} writers, in the store",
            lambda folder: uvloop.run(created(folder)),
            prepare=new_folder,
            limit_ms=1_000,
        )
        if not short:
            folder = new_folder()
            uvloop.run(created(folder))
            yield timed(
                f"a list of {count:,} objects, by the store",
                lambda _: uvloop.run(listed(folder)),
                limit_ms=200,
            )


async def created(folder: Path) -> None:
    store = Store.open(folder)

    async def write(writer: int) -> None:
        for number in range(EACH):
            name = f"pod-{writer}-{number}"
            await store.commit([Put("pods", "default", name, "uid", VALUE, 0)])

    await asyncio.gather(*(write(writer) for writer in range(WRITERS)))
    assert store.revision == 1 + WRITERS * EACH
    await store.close()


async def listed(folder: Path) -> None:
    store = Store.open(folder)
    assert len((await store.list("pods", None)).rows) == WRITERS * EACH
    await store.close()
