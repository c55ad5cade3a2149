"""Objects in SQLite: one resource version, a history, watches.

Values are bytes and nothing here looks into them; what a kind is, is the server's business.
"""

from tutti.store.changes import Change, Changed, Page, Put, Remove, Row
from tutti.store.errors import (
    Ahead,
    Behind,
    Closed,
    Compacted,
    Exists,
    Failed,
    Full,
    Locked,
    Missing,
    NewerSchema,
    Refused,
    Stale,
    StoreError,
)
from tutti.store.objects import OPENING, with_version
from tutti.store.store import Store
from tutti.store.watch import Watch

__all__ = [
    "OPENING",
    "Ahead",
    "Behind",
    "Change",
    "Changed",
    "Closed",
    "Compacted",
    "Exists",
    "Failed",
    "Full",
    "Locked",
    "Missing",
    "NewerSchema",
    "Page",
    "Put",
    "Refused",
    "Remove",
    "Row",
    "Stale",
    "Store",
    "StoreError",
    "Watch",
    "with_version",
]
