"""What every Kubernetes object carries, as lean projections.

A projection names the fields that scheduling and controllers read, and no others; what it does not
name is skipped in decoding. Projections are read-only: none is ever written back to a server.
"""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec import field


class Wire(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What all projections share. They are trees, so the garbage collector may leave them alone."""


class OwnerReference(
    Wire,
    frozen=True,
    kw_only=True,
    rename={"api_version": "apiVersion", "block_owner_deletion": "blockOwnerDeletion"},
):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "resource_version": "resourceVersion",
        "creation_timestamp": "creationTimestamp",
        "deletion_timestamp": "deletionTimestamp",
        "deletion_grace_period_seconds": "deletionGracePeriodSeconds",
        "owner_references": "ownerReferences",
    },
):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()

    @property
    def controller(self) -> OwnerReference | None:
        """The one owner that manages this object, if there is one."""
        return next((owner for owner in self.owner_references if owner.controller), None)


class ListMeta(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "resource_version": "resourceVersion",
        "continue_": "continue",
        "remaining_item_count": "remainingItemCount",
    },
):
    resource_version: str = ""
    continue_: str = ""
    remaining_item_count: int | None = None


class Condition(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "last_transition_time": "lastTransitionTime",
        "observed_generation": "observedGeneration",
    },
):
    """A condition of any kind; pods and nodes have further times that nothing here reads."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None
    observed_generation: int = 0


class LabelSelectorRequirement(Wire, frozen=True, kw_only=True):
    key: str
    operator: str
    values: tuple[str, ...] = ()


class LabelSelector(
    Wire,
    frozen=True,
    kw_only=True,
    rename={"match_labels": "matchLabels", "match_expressions": "matchExpressions"},
):
    """A selector inside an object; `selectors.from_label_selector` makes it answer questions."""

    match_labels: dict[str, str] = field(default_factory=dict)
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()
