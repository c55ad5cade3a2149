"""What a store can answer instead of doing what it was asked.

StoreError
├── Refused               a change expected something else; nothing of its commit was written
│   ├── Exists
│   ├── Missing
│   └── Stale
├── Compacted             the version asked for is older than the history
├── Ahead                 the version asked for has not been written yet
├── Behind                a watch was cut off because its reader does not keep up
├── Full                  no room on the disk: nothing was written, reads go on
├── Failed                the disk reports an error: whether the write stands is not known
├── Closed
├── Locked                another process has this folder
└── NewerSchema           a newer Tutti wrote this folder
"""


class StoreError(Exception):
    """Anything a store refuses."""


class Refused(StoreError):
    """A change expected something else than what stands."""

    def __init__(self, resource: str, namespace: str, name: str, sentence: str) -> None:
        path = f"{namespace}/{name}" if namespace else name
        super().__init__(f"{resource} {path} {sentence}")
        self.resource = resource
        self.namespace = namespace
        self.name = name


class Exists(Refused):
    """The object was expected not to exist."""

    def __init__(self, resource: str, namespace: str, name: str) -> None:
        super().__init__(resource, namespace, name, "exists already")


class Missing(Refused):
    """The object was expected to exist."""

    def __init__(self, resource: str, namespace: str, name: str) -> None:
        super().__init__(resource, namespace, name, "does not exist")


class Stale(Refused):
    """The object stands at another version than was expected."""

    def __init__(
        self, resource: str, namespace: str, name: str, *, expected: int, found: int
    ) -> None:
        super().__init__(
            resource, namespace, name, f"is at version {found}, not at {expected} as expected"
        )
        self.expected = expected
        self.found = found


class Compacted(StoreError):
    """The version asked for is older than the history that is kept."""

    def __init__(self, asked: int, oldest: int) -> None:
        super().__init__(f"version {asked} is no longer kept; the oldest one is {oldest}")
        self.asked = asked
        self.oldest = oldest


class Ahead(StoreError):
    """The version asked for has not been written yet."""

    def __init__(self, asked: int, newest: int) -> None:
        super().__init__(f"version {asked} is not written yet; the newest one is {newest}")
        self.asked = asked
        self.newest = newest


class Behind(StoreError):
    """A watch's reader does not keep up, and was cut off; it may watch again from where it was."""


class Full(StoreError):
    """There is no room on the disk: nothing was written, and reading goes on."""


class Failed(StoreError):
    """The disk or the file is broken: whether a write will be there after a crash is not known."""


class Closed(StoreError):
    """The store is closed."""


class Locked(StoreError):
    """Another process has this data folder open."""


class NewerSchema(StoreError):
    """The data folder was written by a newer version of Tutti."""
