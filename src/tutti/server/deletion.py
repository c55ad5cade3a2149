"""What a delete does to an object: now, later, or nothing more. Pure functions of the object.

delete ──> finalizers?  ──yes──> marked: deletionTimestamp; goes with its last finalizer
      └──> grace (pods) ──yes──> marked: deletionTimestamp ahead; goes by a delete with grace 0
      └──> else         ───────> gone at once
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tutti.api.errors import Conflict
from tutti.server import ages, strategy
from tutti.server.options import Deletion
from tutti.server.routes import Target

Object = dict[str, Any]

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"

_DEFAULT_GRACE_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Gone:
    """It goes at once; `last` is how it is seen for the last time."""

    last: Object


@dataclass(frozen=True, slots=True)
class Marked:
    """It stays for now, as changed."""

    new: Object


@dataclass(frozen=True, slots=True)
class Pending:
    """It is being deleted already, and this delete changes nothing."""


Outcome = Gone | Marked | Pending


def check(target: Target, found: Object, options: Deletion) -> None:
    """The preconditions of a delete."""
    metadata, wanted = found["metadata"], options.preconditions
    kind = target.storage.qualified_kind
    if wanted.uid is not None and wanted.uid != metadata.get("uid"):
        raise Conflict.of(
            kind,
            metadata["name"],
            f"the UID in the precondition ({wanted.uid}) does not match the UID in record "
            f"({metadata.get('uid')}). The object might have been deleted and then recreated",
        )
    version = metadata["resourceVersion"]
    if wanted.resource_version is not None and wanted.resource_version != version:
        raise Conflict.of(
            kind,
            metadata["name"],
            f"the ResourceVersion in the precondition ({wanted.resource_version}) does not match "
            f"the ResourceVersion in record ({version}). The object might have been modified",
        )


def of(target: Target, found: Object, options: Deletion, now: datetime) -> Outcome:
    """What a delete with these options does to an object. Changes `found`."""
    if target.storage.key == "namespaces":
        return _of_namespace(found, options, now)
    grace = 0
    if target.storage.key == "pods":
        asked = _grace(found, options)
        if found["metadata"].get("deletionGracePeriodSeconds"):
            return _shortened(found, options.grace_period_seconds, now)
        if not found["metadata"].get("deletionTimestamp"):
            grace = asked
            _mark(found, now + timedelta(seconds=grace), grace)
    rule = strategy.of(target.storage.key)
    if rule.collected:
        _collect(found["metadata"], options, orphans=rule.orphans_by_default)
    if found["metadata"].get("finalizers"):
        _mark_deleting(found, now, grace)
        return Marked(found)
    return Marked(found) if grace else Gone(found)


def ends(target: Target, new: Object, old: Object) -> bool:
    """Whether an update takes away the last thing that held an object that is being deleted."""
    if new["metadata"].get("finalizers") or not old["metadata"].get("deletionTimestamp"):
        return False
    if target.storage.key == "namespaces" and new.get("spec", {}).get("finalizers"):
        return False
    return not old["metadata"].get("deletionGracePeriodSeconds")


def _of_namespace(found: Object, options: Deletion, now: datetime) -> Outcome:
    """A namespace is emptied first: its controller takes `spec.finalizers` when that is done."""
    metadata = found["metadata"]
    if not metadata.get("deletionTimestamp"):
        metadata["deletionTimestamp"] = ages.stamp(now)
        found.setdefault("status", {})["phase"] = "Terminating"
        _collect(metadata, options, orphans=False)
        return Marked(found)
    if found.get("spec", {}).get("finalizers") or metadata.get("finalizers"):
        return Pending()
    return Gone(found)


def _grace(pod: Object, options: Deletion) -> int:
    """How long the pod has: nothing where no kubelet has it, or it has ended."""
    if not pod["spec"].get("nodeName"):
        return 0
    if pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    asked = options.grace_period_seconds
    if asked is None:
        asked = pod["spec"].get("terminationGracePeriodSeconds", _DEFAULT_GRACE_SECONDS)
    return 1 if asked < 0 else asked


def _shortened(pod: Object, asked: int | None, now: datetime) -> Outcome:
    """A grace period that runs can only be made shorter."""
    metadata = pod["metadata"]
    runs = metadata["deletionGracePeriodSeconds"]
    if asked is None:
        return Pending()
    asked = 1 if asked < 0 else asked
    if asked >= runs:
        return Pending()
    began = ages.parse(metadata["deletionTimestamp"]) - timedelta(seconds=runs)
    ends_at = began + timedelta(seconds=asked)
    if ends_at < now:
        ends_at, asked = now, min(asked, 1)
    metadata["deletionTimestamp"] = ages.stamp(ends_at)
    metadata["deletionGracePeriodSeconds"] = asked
    if asked == 0 and not metadata.get("finalizers"):
        return Gone(pod)
    return Marked(pod)


def _mark(found: Object, when: datetime, grace: int) -> None:
    metadata = found["metadata"]
    metadata["deletionTimestamp"] = ages.stamp(when)
    metadata["deletionGracePeriodSeconds"] = grace
    if metadata.get("generation"):
        metadata["generation"] += 1


def _mark_deleting(found: Object, now: datetime, grace: int) -> None:
    """Held by finalizers: the mark says since when, and that no grace is owed beyond them."""
    metadata = found["metadata"]
    if not metadata.get("deletionTimestamp"):
        _mark(found, now, grace)
    elif not grace:
        metadata["deletionGracePeriodSeconds"] = 0


def _collect(metadata: Object, options: Deletion, *, orphans: bool) -> None:
    """Put on or take off the finalizers that tell the garbage collector what to do first."""
    stood = metadata.get("finalizers", [])
    wanted = _propagation(stood, options, ORPHAN if orphans else None)
    kept = [one for one in stood if one not in (ORPHAN, FOREGROUND)]
    if wanted is not None:
        kept.append(wanted)
    if kept:
        metadata["finalizers"] = kept
    else:
        metadata.pop("finalizers", None)


def _propagation(stood: list[str], options: Deletion, default: str | None) -> str | None:
    """What is asked for; else what already stands on the object; else what its kind does."""
    if options.orphan_dependents is not None:
        return ORPHAN if options.orphan_dependents else None
    match options.propagation:
        case "Orphan":
            return ORPHAN
        case "Foreground":
            return FOREGROUND
        case "Background":
            return None
    return next((one for one in stood if one in (ORPHAN, FOREGROUND)), default)
