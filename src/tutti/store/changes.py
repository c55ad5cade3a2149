"""The values that go into a store and come out of it."""

from typing import NamedTuple

import msgspec


class Put(msgspec.Struct, frozen=True, tag=True, gc=False):
    """Create or replace one object.

    `expect` is 0 where none may exist yet, n where it must stand at version n, None where either
    is fine. The value is JSON without a resource version and begins as `objects.OPENING` says.
    """

    resource: str
    namespace: str
    name: str
    uid: str
    value: bytes
    expect: int | None


class Remove(msgspec.Struct, frozen=True, tag=True, gc=False):
    """Remove the object that stands at version `expect`; `value` is what its watchers see last."""

    resource: str
    namespace: str
    name: str
    expect: int
    value: bytes


Change = Put | Remove
Revisions = list[int]  # one for each change of a commit


class Changed(msgspec.Struct, frozen=True, gc=False):
    """A change that is on disk.

    `before` is None where the object came to be, `after` where it went; an object that went has
    as `before` the last bytes that its `Remove` gave. One `Changed` is handed to all watchers:
    `shared` is theirs, to keep the line they send by whatever decides its shape.
    """

    revision: int
    namespace: str
    name: str
    before: bytes | None
    after: bytes | None
    before_revision: int
    shared: dict[object, bytes] = msgspec.field(default_factory=dict)


class Row(NamedTuple):
    """One object, and the version at which it was written."""

    namespace: str
    name: str
    uid: str
    value: bytes
    revision: int


class Page(NamedTuple):
    """Some objects as they stood at `revision`, in the order of namespace and name.

    `last` is where the next page goes on, None where there is none; `remaining` counts what it
    and those after it will hold.
    """

    rows: list[Row]
    revision: int
    remaining: int
    last: tuple[str, str] | None
