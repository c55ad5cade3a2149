"""The files of a journal: segments of lines in one folder, numbered on, the oldest dropped.

A journal is there to be looked at when something went wrong; it never makes anything go wrong. A disk
that is full ends it, with one line in the log, until the next segment is begun.
"""

import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Final

log = logging.getLogger(__name__)

KEPT: Final = 8
"""Segments; with the engine's 64 MB for each, half a gigabyte."""


class Journal:
    """Readable by its owner alone: it holds what the scheduler saw of the cluster."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._file: BinaryIO | None = None

    def begin(self) -> None:
        """The lines from here on are a segment of their own."""
        self.close()
        there = segments(self._folder)
        number = _number(there[-1]) + 1 if there else 1
        try:
            for old in there[: len(there) + 1 - KEPT]:
                old.unlink(missing_ok=True)
            path = self._folder / f"segment-{number:08d}.jsonl"
            self._file = open(path, "xb", opener=_for_the_owner)  # noqa: SIM115  (kept open)
        except OSError as error:
            self._end(error)

    def write(self, line: bytes) -> None:
        if self._file is not None:
            try:
                self._file.write(line)
            except OSError as error:
                self._end(error)

    def flush(self) -> None:
        """What was written so far is there for whoever reads the file now."""
        if self._file is not None:
            try:
                self._file.flush()
            except OSError as error:
                self._end(error)

    def close(self) -> None:
        self.flush()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _end(self, error: OSError) -> None:
        log.error("the journal ends here", extra={"why": error.strerror})
        self._file = None


def segments(folder: Path) -> list[Path]:
    """The segments in a folder, the oldest first."""
    found: Iterable[Path] = folder.glob("segment-*.jsonl")
    return sorted((path for path in found if path.stem[8:].isdecimal()), key=_number)


def _number(segment: Path) -> int:
    return int(segment.stem[8:])


def _for_the_owner(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)
