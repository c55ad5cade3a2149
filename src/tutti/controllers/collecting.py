"""The garbage collector, kept from walking over a cluster again and again."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

YOUNG: Final = 50_000
"""Allocations between two collections: what is made in a turn mostly goes by itself."""


@contextmanager
def collecting_later() -> Iterator[None]:
    """While first lists come in nothing is garbage; what is there then is left alone for good."""
    gc.unfreeze()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(YOUNG, 20, 50)
        gc.enable()
