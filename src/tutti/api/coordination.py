"""The Lease, by which one scheduler of a name is the one that binds."""

from __future__ import annotations

from datetime import datetime

from tutti.api.meta import ObjectMeta, Wire


class LeaseSpec(
    Wire,
    frozen=True,
    kw_only=True,
    rename={
        "holder_identity": "holderIdentity",
        "lease_duration_seconds": "leaseDurationSeconds",
        "acquire_time": "acquireTime",
        "renew_time": "renewTime",
        "lease_transitions": "leaseTransitions",
    },
):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: datetime | None = None
    renew_time: datetime | None = None
    lease_transitions: int | None = None


class Lease(Wire, frozen=True, kw_only=True):
    metadata: ObjectMeta
    spec: LeaseSpec = LeaseSpec()
