"""What the engine was told and when it was asked, written down so that a run can be replayed.

A segment begins with the objects that are known, then come events and turns, a line each. Replaying
a segment gives the same actions: the engine reaches nothing that isn't written here. To begin a new
segment the engine is made anew from its own objects, so that what it knows is what the segment
says; that waits for a quiet moment, when no commit is on its way. Lines are bytes; where they are
kept is not decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from hashlib import blake2b

import msgspec

from tutti.engine.engine import Engine
from tutti.engine.messages import Action, Event
from tutti.engine.report import RootReport
from tutti.engine.settings import Settings


class Began(msgspec.Struct, frozen=True, tag=True, tag_field="is"):
    """The settings as far as they are numbers and names; the profile is the default one."""

    scheduler_names: tuple[str, ...]
    session: str
    seed: int
    work_per_turn: int
    commit_deadline: float
    retry_interval: float
    moment: float
    refresh_interval: float
    initial_backoff: float
    max_backoff: float
    intent_bytes: int

    @classmethod
    def of(cls, settings: Settings) -> Began:
        return cls(**{name: getattr(settings, name) for name in cls.__struct_fields__})

    def settings(self) -> Settings:
        return Settings(**{name: getattr(self, name) for name in self.__struct_fields__})


class Told(msgspec.Struct, frozen=True, tag=True, tag_field="is"):
    at: float
    event: Event


class Asked(msgspec.Struct, frozen=True, tag=True, tag_field="is"):
    """A turn, and a digest of the actions that came out."""

    at: float
    actions: str


Line = Began | Told | Asked


class RecordedEngine:
    """An engine that writes down all it is told and asked.

    `write` takes a line; `begin` is called before the first line of each segment.
    """

    def __init__(
        self,
        settings: Settings,
        write: Callable[[bytes], None],
        begin: Callable[[], None],
        segment_bytes: int = 64 << 20,
    ) -> None:
        self._settings = settings
        self._write = write
        self._begin = begin
        self._segment_bytes = segment_bytes
        self._segments = 0
        self._written = 0
        self.engine = Engine()
        self._start_segment((), 0.0)

    def handle(self, event: Event, now: float) -> None:
        self._put(Told(now, event))
        self.engine.handle(event, now)

    def turn(self, now: float) -> list[Action]:
        if self._written > self._segment_bytes and self.engine.is_quiet():
            self._start_segment(list(self.engine.known()), now)
        actions = self.engine.turn(now)
        self._put(Asked(now, digest(actions)))
        return actions

    def next_wake(self) -> float | None:
        return self.engine.next_wake()

    def explain(self, key: str) -> RootReport | None:
        return self.engine.explain(key)

    def check(self) -> list[str]:
        return self.engine.check()

    def _start_segment(self, known: Iterable[Event], now: float) -> None:
        self._segments += 1
        session = f"{self._settings.session}.{self._segments}"
        settings = replace(self._settings, session=session)
        self._begin()
        self._written = 0
        self._put(Began.of(settings))
        self.engine = Engine(settings)
        for event in known:
            self.handle(event, now)

    def _put(self, line: Line) -> None:
        encoded = msgspec.json.encode(line) + b"\n"
        self._written += len(encoded)
        self._write(encoded)


class Step(msgspec.Struct, frozen=True):
    """A turn as it was replayed; `same` says whether the same actions came out again."""

    at: float
    actions: tuple[Action, ...]
    same: bool


class Replay:
    """One segment, played again; `engine` is as it was after the last step."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.engine = Engine()
        self._lines = lines

    def steps(self, until: float | None = None) -> Iterator[Step]:
        """The turns, up to a time. A last line that was cut off in writing is left out."""
        decoder = msgspec.json.Decoder(Line)
        for encoded in self._lines:
            if not encoded.endswith(b"\n"):
                return
            line = decoder.decode(encoded)
            if isinstance(line, Began):
                self.engine = Engine(line.settings())
                continue
            if until is not None and line.at > until:
                return
            if isinstance(line, Told):
                self.engine.handle(line.event, line.at)
            else:
                actions = self.engine.turn(line.at)
                yield Step(line.at, tuple(actions), digest(actions) == line.actions)


def digest(actions: list[Action]) -> str:
    return blake2b(msgspec.json.encode(actions), digest_size=8).hexdigest()
