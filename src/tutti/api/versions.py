"""The served versions of a storage, and the one form that is stored.

Workload and PodGroup have the same fields in each of their versions, so that only events, which two
groups serve under different field names, are converted.
"""

from __future__ import annotations

from typing import Any, Final

from tutti.api.registry import EVENTS, Storage, api_version

_EVENTS_GROUP: Final = "events.k8s.io"
_STORED_NAMES: Final = {
    "note": "message",
    "regarding": "involvedObject",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
_SERVED_NAMES: Final = {stored: served for served, stored in _STORED_NAMES.items()}
_SELECTED_NAMES: Final = {
    "regarding": "involvedObject",
    "reportingController": "reportingComponent",
}


def to_stored(storage: Storage, group: str, version: str, obj: dict[str, Any]) -> dict[str, Any]:
    """An object of a served group and version in the form in which it is stored."""
    if storage is EVENTS and group == _EVENTS_GROUP:
        obj = {_STORED_NAMES.get(name, name): value for name, value in obj.items()}
        if not obj.get("reportingInstance"):
            obj["reportingInstance"] = ""
    return _stamped(obj, storage.api_version, storage.kind)


def from_stored(storage: Storage, group: str, version: str, obj: dict[str, Any]) -> dict[str, Any]:
    """A stored object as this group and version shows it."""
    if storage is EVENTS and group == _EVENTS_GROUP:
        obj = {_SERVED_NAMES.get(name, name): value for name, value in obj.items()}
        for empty in ("reportingInstance", "reportingController"):
            if not obj.get(empty):
                obj.pop(empty, None)
    return _stamped(obj, api_version(group, version), storage.kind)


def stored_field(storage: Storage, group: str, name: str) -> str:
    """The field that a selector of this group means, under its name in the stored form."""
    if storage is not EVENTS or group != _EVENTS_GROUP:
        return name
    head, dot, rest = name.partition(".")
    return _SELECTED_NAMES.get(head, head) + dot + rest


def _stamped(obj: dict[str, Any], api_version: str, kind: str) -> dict[str, Any]:
    if obj.get("apiVersion") == api_version and obj.get("kind") == kind:
        return obj
    return {**obj, "kind": kind, "apiVersion": api_version}
