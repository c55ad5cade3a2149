"""The array types of the core. No other file names an element type.

Amounts are whole base units (millicores, bytes, devices) and never floats. The last axis of every
column is the node; tables of resources are `[resource, node]`, so that a question about one
resource reads one stretch of memory.
"""

from collections.abc import Iterable
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Amounts: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.int32]
Fractions: TypeAlias = NDArray[np.float64]
Hashes: TypeAlias = NDArray[np.uint64]
Mask: TypeAlias = NDArray[np.bool_]
Rows: TypeAlias = NDArray[np.intp]

_Element = TypeVar("_Element", bound=np.generic)

ABSENT = -1
"""The code of a node that doesn't carry a label, and the row of a node that isn't there."""


def amounts(*shape: int) -> Amounts:
    return np.zeros(shape, dtype=np.int64)


def ones(length: int) -> Amounts:
    return np.ones(length, dtype=np.int64)


def amounts_of(values: Iterable[int]) -> Amounts:
    return np.fromiter(values, dtype=np.int64)


def codes(length: int) -> Codes:
    return np.full(length, ABSENT, dtype=np.int32)


def hashes(length: int) -> Hashes:
    return np.zeros(length, dtype=np.uint64)


def hash_of(number: int) -> np.uint64:
    """The lowest 64 bits of a number, as an element of a column of hashes."""
    return np.uint64(number & 0xFFFF_FFFF_FFFF_FFFF)


def mask(length: int, value: bool = False) -> Mask:
    return np.full(length, value, dtype=np.bool_)


def mask_of(values: Iterable[bool]) -> Mask:
    return np.fromiter(values, dtype=np.bool_)


def rows(values: Iterable[int]) -> Rows:
    return np.fromiter(values, dtype=np.intp)


def no_fractions(length: int) -> Fractions:
    return np.zeros(length)


def truncated(values: Fractions) -> Amounts:
    """Whole numbers, cut off towards zero."""
    return values.astype(np.int64)


def sums(places: Rows, amounts: Amounts, count: int) -> Amounts:
    """The amounts of each place added up; exact up to 2**53."""
    return np.bincount(places, weights=amounts, minlength=count).astype(np.int64)


def places(codes: Codes) -> Rows:
    """Codes moved up by one, so that absence is place 0."""
    return codes.astype(np.intp) + 1


def read_only(column: NDArray[_Element]) -> NDArray[_Element]:
    """A view through which nothing can be changed; it shows what its owner changes."""
    view = column.view()
    view.flags.writeable = False
    return view


def widened(column: NDArray[_Element], length: int) -> NDArray[_Element]:
    """A copy with room for more nodes; the new ones repeat what a fresh column would hold."""
    shape = (*column.shape[:-1], length)
    fresh = np.full(shape, ABSENT if column.dtype == np.int32 else 0, dtype=column.dtype)
    fresh[..., : column.shape[-1]] = column
    return fresh


def with_more_rows(table: Amounts, count: int) -> Amounts:
    """A copy of a `[resource, node]` table with resources that nobody has yet."""
    return np.concatenate((table, amounts(count, table.shape[-1])))
