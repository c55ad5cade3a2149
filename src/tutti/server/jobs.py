"""What the server decides about jobs and cron jobs: whose pods they are, their status, their generation."""

from typing import Any

Object = dict[str, Any]

_UID_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")
_NAME_LABELS = ("job-name", "batch.kubernetes.io/job-name")


def created(job: Object) -> None:
    """A new job is of generation 1, without a status; its pods are told apart by its uid."""
    fresh(job)
    if not job["spec"].get("manualSelector"):
        _select_by_uid(job)


def fresh(job: Object) -> None:
    """A new cron job: of generation 1, without a status."""
    job["metadata"]["generation"] = 1
    job["status"] = {}


def updated(new: Object, old: Object) -> None:
    """Status is kept; a change of the spec is a new generation."""
    new["status"] = old.get("status", {})
    if new["spec"] != old["spec"]:
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def _select_by_uid(job: Object) -> None:
    """Labels that the client gave stay: validation says so where they contradict these.

    A job without labels of its own has those of its pods.
    """
    metadata, spec = job["metadata"], job["spec"]
    described = spec["template"].setdefault("metadata", {})
    given = described.get("labels") or {}
    ours = dict.fromkeys(_UID_LABELS, metadata["uid"])
    ours |= dict.fromkeys(_NAME_LABELS, metadata.get("name", ""))
    described["labels"] = {**ours, **given}
    if metadata.get("labels", given) == given:
        metadata["labels"] = dict(described["labels"])
    selector = spec.setdefault("selector", {})
    selector.setdefault("matchLabels", {}).setdefault(_UID_LABELS[1], metadata["uid"])
