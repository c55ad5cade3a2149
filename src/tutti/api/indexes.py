"""Sets of completion indexes in the short form that a Job's status has: `0,3-5,7`."""

from collections.abc import Iterable, Iterator


def read(text: str, *, below: int) -> frozenset[int]:
    """The indexes that the text names; what is no index, or past the last one, is left out."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            found.update(range(int(first), min(int(last or first), below - 1) + 1))
    return frozenset(found)


def written(numbers: Iterable[int]) -> str:
    """Two neighbours are listed, three or more are a range."""
    return ",".join(_part(first, last) for first, last in _runs(sorted(numbers)))


def _part(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first},{last}" if last == first + 1 else f"{first}-{last}"


def _runs(ordered: list[int]) -> Iterator[tuple[int, int]]:
    start = 0
    for place in range(1, len(ordered) + 1):
        if place == len(ordered) or ordered[place] != ordered[place - 1] + 1:
            yield ordered[start], ordered[place - 1]
            start = place
