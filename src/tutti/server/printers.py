"""The columns of each kind as `kubectl get` shows them, and what stands in them."""

from datetime import datetime

from tutti.server import (
    apps_printers,
    batch_printers,
    core_printers,
    policy_printers,
    scheduling_printers,
    storage_printers,
)
from tutti.server.columns import AGE, NAME, Cells, Object, Printer, age


def of(key: str) -> Printer:
    """The printer of a storage."""
    return _PRINTERS.get(key, _PLAIN)


def _name_and_age(found: Object, now: datetime) -> Cells:
    return [found["metadata"]["name"], age(found, now)]


_PLAIN = Printer((NAME, AGE), _name_and_age)
_PRINTERS = {
    **core_printers.PRINTERS,
    **scheduling_printers.PRINTERS,
    **batch_printers.PRINTERS,
    **apps_printers.PRINTERS,
    **storage_printers.PRINTERS,
    **policy_printers.PRINTERS,
}
