"""Query options, verb by verb: known and served, known and refused, unknown and ignored.

An option that Kubernetes has and this server doesn't serve is a 400, so that nobody believes it was heeded.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from tutti.api.errors import (
    BadRequest,
    FieldError,
    Invalid,
    forbidden,
    invalid,
    not_supported,
    too_long,
)

Query = Sequence[tuple[str, str]]

_FIELD_VALIDATION = ("", "Ignore", "Strict", "Warn")
_PROPAGATION = ("Foreground", "Background", "Orphan")
_LONGEST_MANAGER = 128

# What Kubernetes 1.37 knows beside what is read below.
_UNSERVED = {
    "ListOptions": ("shardSelector",),
    "DeleteOptions": ("ignoreStoreReadErrorWithClusterBreakingPotential",),
}


@dataclass(frozen=True, slots=True)
class Write:
    """The options of create, update and patch."""

    dry_run: bool = False
    field_validation: str = "Warn"


@dataclass(frozen=True, slots=True)
class Listing:
    """The options of list and watch. A resource version of "" means the newest, "0" any."""

    labels: str = ""
    fields: str = ""
    watch: bool = False
    bookmarks: bool = False
    resource_version: str = ""
    match: str = ""
    timeout_seconds: int | None = None
    limit: int = 0
    continued: str = ""
    initial_events: bool | None = None


class Preconditions(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What must still hold when the delete is carried out."""

    uid: str | None = None
    resource_version: str | None = None


class Deletion(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The options of delete, named as in a DeleteOptions body."""

    dry_run: list[str] = []
    grace_period_seconds: int | None = None
    propagation: str | None = msgspec.field(default=None, name="propagationPolicy")
    orphan_dependents: bool | None = None
    preconditions: Preconditions = Preconditions()


def write(query: Query, kind: str) -> Write:
    """The options of a create, update or patch (`kind` is their Kubernetes name, for the errors)."""
    if not query:
        return _PLAIN_WRITE
    values = _served(query, kind)
    errors = []
    if kind == "PatchOptions" and "force" in values:
        errors.append(forbidden("force", "may not be specified for non-apply patch"))
    errors += [*_manager_errors(values), *_dry_run_errors(values.get("dryRun", []))]
    validation = _first(values, "fieldValidation")
    if validation not in _FIELD_VALIDATION:
        errors.append(not_supported("fieldValidation", validation, _FIELD_VALIDATION))
    _refuse(kind, errors)
    return Write(bool(values.get("dryRun")), validation or "Warn")


def listing(query: Query) -> Listing:
    """The options of a list or watch."""
    if not query:
        return _PLAIN_LISTING
    values = _served(query, "ListOptions")
    options = Listing(
        labels=_first(values, "labelSelector"),
        fields=_first(values, "fieldSelector"),
        watch=_flag(values, "watch") or False,
        bookmarks=_flag(values, "allowWatchBookmarks") or False,
        resource_version=_first(values, "resourceVersion"),
        match=_first(values, "resourceVersionMatch"),
        timeout_seconds=_whole(values, "timeoutSeconds"),
        limit=max(0, _whole(values, "limit") or 0),  # less than none is none, as there
        continued=_first(values, "continue"),
        initial_events=_flag(values, "sendInitialEvents"),
    )
    _refuse("ListOptions", _watch_errors(options) if options.watch else _list_errors(options))
    return options


def deletion(query: Query, body: dict[str, object] | None) -> Deletion:
    """The options of a delete: Kubernetes reads the body if there is one, else the query."""
    values = _served(query, "DeleteOptions")
    options = _of_query(values) if body is None else _of_body(body)
    errors = []
    if options.orphan_dependents is not None and options.propagation is not None:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(invalid("propagationPolicy", options.propagation, detail))
    if options.propagation is not None and options.propagation not in _PROPAGATION:
        known = (*_PROPAGATION, "nil")
        errors.append(not_supported("propagationPolicy", options.propagation, known))
    _refuse("DeleteOptions", errors + _dry_run_errors(options.dry_run))
    return options


def resource_version(text: str) -> int:
    """A resource version as clients send it back; they are opaque to them, not to us."""
    if not re.fullmatch("[0-9]{1,19}", text):
        raise BadRequest(f"invalid resource version: resourceVersion: {unparsable(text)}")
    return int(text)


def unparsable(version: str) -> str:
    """What Kubernetes says of a resource version that is none."""
    shown = quoted(version)
    return f"Invalid value: {shown}: strconv.ParseUint: parsing {shown}: invalid syntax"


def _of_query(values: dict[str, list[str]]) -> Deletion:
    return Deletion(
        dry_run=values.get("dryRun", []),
        grace_period_seconds=_whole(values, "gracePeriodSeconds"),
        propagation=_first(values, "propagationPolicy") or None,
        orphan_dependents=_flag(values, "orphanDependents"),
    )


def _of_body(body: dict[str, object]) -> Deletion:
    try:
        return msgspec.convert(body, Deletion)
    except msgspec.ValidationError as error:
        raise BadRequest(f"DeleteOptions cannot be read: {error}") from error


def _served(query: Query, kind: str) -> dict[str, list[str]]:
    """The values by name, after a look for what Kubernetes has and we don't."""
    values: dict[str, list[str]] = {}
    for name, value in query:
        values.setdefault(name, []).append(value)
    for name in _UNSERVED.get(kind, ()):
        if name in values:
            raise BadRequest(f"the query option {quoted(name)} is not served by this server")
    return values


def _first(values: dict[str, list[str]], name: str) -> str:
    return values[name][0] if name in values else ""


def _flag(values: dict[str, list[str]], name: str) -> bool | None:
    """Kubernetes takes everything but "false" and "0" as true, also nothing at all."""
    if name not in values:
        return None
    return values[name][0].lower() not in ("false", "0")


def _whole(values: dict[str, list[str]], name: str) -> int | None:
    text = _first(values, name)
    if not text:
        return None
    if not re.fullmatch("[+-]?[0-9]{1,18}", text):
        raise BadRequest(f"strconv.ParseInt: parsing {quoted(text)}: invalid syntax")
    return int(text)


def _list_errors(options: Listing) -> list[FieldError]:
    """How a list may combine versions, pages and initial events."""
    errors = []
    if options.match:
        path = "resourceVersionMatch"
        if not options.resource_version:
            detail = "resourceVersionMatch is forbidden unless resourceVersion is provided"
            errors.append(forbidden(path, detail))
        if options.continued:
            detail = "resourceVersionMatch is forbidden when continue is provided"
            errors.append(forbidden(path, detail))
        if options.match not in ("Exact", "NotOlderThan"):
            errors.append(not_supported(path, options.match, ("Exact", "NotOlderThan", "")))
        if options.match == "Exact" and options.resource_version == "0":
            detail = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
            errors.append(forbidden(path, detail))
    if options.initial_events is not None:
        errors.append(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return errors


def _watch_errors(options: Listing) -> list[FieldError]:
    """How a watch may combine versions and initial events."""
    errors = []
    path = "resourceVersionMatch"
    if options.initial_events is not None and options.match != "NotOlderThan":
        detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        errors.append(forbidden(path, detail))
    if options.match:
        if options.initial_events is None:
            detail = (
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
            )
            errors.append(forbidden(path, detail))
        if options.match != "NotOlderThan":
            errors.append(not_supported(path, options.match, ("NotOlderThan",)))
        if options.continued:
            detail = "resourceVersionMatch is forbidden when continue is provided"
            errors.append(forbidden(path, detail))
    return errors


def _manager_errors(values: dict[str, list[str]]) -> list[FieldError]:
    """Field managers are not kept, but a wrong one is refused as Kubernetes does."""
    manager = _first(values, "fieldManager")
    errors = []
    if len(manager.encode()) > _LONGEST_MANAGER:
        errors.append(too_long("fieldManager", _LONGEST_MANAGER))
    for position, character in enumerate(manager):
        if not character.isprintable():
            detail = f"invalid character U+{ord(character):04X} (at position {position})"
            errors.append(invalid("fieldManager", manager, detail))
    return errors


def _dry_run_errors(asked: list[str]) -> list[FieldError]:
    if all(value == "All" for value in asked):
        return []
    return [not_supported("dryRun", asked, ("All",))]


def quoted(text: str) -> str:
    """A text in double quotes, escaped as JSON (and Go) would."""
    return json.dumps(text, ensure_ascii=False)


def _refuse(kind: str, errors: list[FieldError]) -> None:
    if errors:
        raise Invalid.of(f"{kind}.meta.k8s.io", "", errors)


_PLAIN_WRITE = Write()
_PLAIN_LISTING = Listing()
