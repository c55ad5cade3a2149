"""The store against a dict: whatever is written, read and watched, in any order."""

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.store.values import value
from tutti.store import Change, Changed, Compacted, Put, Refused, Remove, Row, Store, Watch

Key = tuple[str, str, str]
State = dict[Key, tuple[bytes, int]]
"""What stands: each object's bytes and the version at which they were written."""

KEPT = 12

resources = st.sampled_from(["pods", "nodes"])
namespaces = st.sampled_from(["a", "b"])
keys = st.tuples(resources, namespaces, st.sampled_from(["x", "x-1", "y", "z"]))
where = st.tuples(resources, namespaces | st.none())
ways = st.sampled_from(["create", "replace", "put", "remove", "replace a stale one"])


class Model(RuleBasedStateMachine):
    """Keeps a dict for every version there ever was, and asks the store for the same."""

    folder: Path | None = None

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.states: dict[int, State] = {1: {}}
        self.revision = 1
        self.texts = 0
        self.watches: list[tuple[Watch, State, str, str | None]] = []

    @initialize()
    def open(self) -> None:
        self.store = Store.open(self.folder, history_rows=KEPT)

    def run(self, answer: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(answer)

    def teardown(self) -> None:
        self.run(self.store.close())
        self.runner.close()

    @property
    def now(self) -> State:
        return self.states[self.revision]

    @rule(changes=st.lists(st.tuples(keys, ways), min_size=1, max_size=3, unique_by=lambda c: c[0]))
    def one_caller_writes(self, changes: list[tuple[Key, str]]) -> None:
        self.expect(self.run(self.write([self.change(*change) for change in changes])))

    @rule(callers=st.lists(st.tuples(keys, ways), min_size=2, max_size=5))
    def several_callers_write_at_once(self, callers: list[tuple[Key, str]]) -> None:
        commits = [[self.change(*change)] for change in callers]

        async def together() -> list[Any]:
            return await asyncio.gather(*(self.write(commit) for commit in commits))

        for outcome in self.run(together()):
            self.expect(outcome)

    @rule(place=where, limit=st.none() | st.integers(1, 4), back=st.integers(0, KEPT + 3))
    def list_pages(self, place: tuple[str, str | None], limit: int | None, back: int) -> None:
        at = max(1, self.revision - back)
        try:
            found, remaining = self.run(self.pages(*place, at, limit))
        except Compacted:
            assert back >= KEPT, "the newest changes are kept"
            return
        expected = [
            (*key[1:], bytes_, revision)
            for key, (bytes_, revision) in sorted(self.states[at].items())
            if key[0] == place[0] and place[1] in (None, key[1])
        ]
        assert found == expected
        size = limit or len(expected)
        assert remaining == [
            max(0, len(expected) - size * page) for page, _ in enumerate(remaining, 1)
        ]

    @rule(place=where, back=st.integers(0, KEPT))
    def watch(self, place: tuple[str, str | None], back: int) -> None:
        since = max(1, self.revision - back)
        try:
            watch = self.run(self.store.watch(*place, since))
        except Compacted:
            assert back >= KEPT
            return
        self.watches.append((watch, dict(self.states[since]), *place))

    @rule(key=keys)
    def get(self, key: Key) -> None:
        row = self.run(self.store.get(*key))
        assert (row and (row.value, row.revision)) == self.now.get(key)

    @precondition(lambda self: self.folder is not None)
    @rule()
    def stop_and_start_again(self) -> None:
        for watch, *_ in self.watches:
            watch.close()
        self.watches.clear()
        self.run(self.store.close())
        self.open()

    @invariant()
    def the_version_is_that_of_the_last_write(self) -> None:
        if hasattr(self, "store"):
            assert self.store.revision == self.revision

    @invariant()
    def who_watches_and_follows_has_what_stands(self) -> None:
        for watch, state, resource, namespace in self.watches:
            self.run(self.follow(watch, state, resource))
            theirs = {
                key: row
                for key, row in self.now.items()
                if key[0] == resource and namespace in (None, key[1])
            }
            followed = {
                key: row
                for key, row in state.items()
                if key[0] == resource and namespace in (None, key[1])
            }
            assert followed == theirs

    def change(self, key: Key, way: str) -> Change:
        self.texts += 1
        new = value(str(self.texts))
        _, stands = self.now.get(key, (b"", 1))
        match way:
            case "create":
                return Put(*key, "uid", new, 0)
            case "replace":
                return Put(*key, "uid", new, stands)
            case "put":
                return Put(*key, "uid", new, None)
            case "remove":
                return Remove(*key, stands, new)
            case _:
                return Put(*key, "uid", new, stands + 1)

    async def write(self, changes: list[Change]) -> tuple[list[Change], list[int] | Refused]:
        try:
            return changes, await self.store.commit(changes)
        except Refused as refusal:
            return changes, refusal

    def expect(self, outcome: tuple[list[Change], list[int] | Refused]) -> None:
        """Carry the commit out on the dict; it must fare as it did in the store."""
        changes, answer = outcome
        if not all(self.fits(change) for change in changes):
            assert isinstance(answer, Refused)
            return
        assert answer == [self.revision + number for number in range(1, len(changes) + 1)]
        for change in changes:
            key = (change.resource, change.namespace, change.name)
            state = dict(self.now)
            self.revision += 1
            if isinstance(change, Put):
                state[key] = (change.value, self.revision)
            else:
                del state[key]
            self.states[self.revision] = state

    def fits(self, change: Change) -> bool:
        found = self.now.get((change.resource, change.namespace, change.name))
        return change.expect is None or change.expect == (found[1] if found else 0)

    async def pages(
        self, resource: str, namespace: str | None, at: int, limit: int | None
    ) -> tuple[list[tuple[str, str, bytes, int]], list[int]]:
        """All pages' objects, and what each page says of how many remain."""
        rows: list[Row] = []
        remaining: list[int] = []
        after = None
        while True:
            page = await self.store.list(resource, namespace, at=at, after=after, limit=limit)
            assert page.revision == at
            assert (page.last is None) == (page.remaining == 0)
            rows += page.rows
            remaining.append(page.remaining)
            after = page.last
            if after is None:
                return [(r.namespace, r.name, r.value, r.revision) for r in rows], remaining

    async def follow(self, watch: Watch, state: State, resource: str) -> None:
        """Apply to `state` what the watch has to tell."""
        while True:
            try:
                async with asyncio.timeout(0):
                    changes = await anext(watch)
            except TimeoutError:
                return
            for change in changes:
                self.apply(change, state, resource)

    def apply(self, change: Changed, state: State, resource: str) -> None:
        key = (resource, change.namespace, change.name)
        before, before_revision = state.pop(key, (None, 0))
        assert before_revision == change.before_revision
        if change.after is not None:
            assert change.before == before
            state[key] = (change.after, change.revision)
        else:
            assert before is not None


def test_a_store_in_memory_agrees_with_a_dict() -> None:
    run_state_machine_as_test(Model, settings=settings(stateful_step_count=30))


def test_a_store_on_disk_agrees_with_a_dict_and_forgets_nothing() -> None:
    class OnDisk(Model):
        def __init__(self) -> None:
            self.folder = Path(tempfile.mkdtemp(prefix="tutti-store-"))
            super().__init__()

        def teardown(self) -> None:
            super().teardown()
            assert self.folder is not None
            shutil.rmtree(self.folder)

    run_state_machine_as_test(OnDisk, settings=settings(max_examples=15, stateful_step_count=30))
