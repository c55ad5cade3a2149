"""What the cluster has of the API of gangs: whether PodGroups are served, and pods keep theirs.

Where a gate is off a server drops `schedulingGroup` without a word, so it is asked with a pod that
it is told not to keep.
"""

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from tutti.api.errors import ApiError, Unanswered
from tutti.api.registry import POD_GROUPS, PODS
from tutti.kube.client import Client
from tutti.kube.discovery import Discovery

NAMESPACE: Final = "kube-system"
BY_THEMSELVES: Final = "Jobs that qualify are gangs by their own numbers"


@dataclass(frozen=True, slots=True)
class Offer:
    """`lack` says what is missing, None where nothing is, or nothing is known yet."""

    lack: str | None = None

    @classmethod
    async def found(cls, client: Client, discovery: Discovery, scheduler_name: str) -> "Offer":
        served = bool(discovery.served(POD_GROUPS.group, POD_GROUPS.plural))
        try:
            kept = await _keeps_groups(client, scheduler_name)
        except (ApiError, Unanswered) as error:
            if served:
                return cls(f"whether pods keep their schedulingGroup can't be told: {error}")
            kept = False
        match served, kept:
            case True, True:
                return cls()
            case True, False:
                return cls(f"the API server drops schedulingGroup from pods: {BY_THEMSELVES}")
            case _:
                return cls(f"the API server serves no PodGroups: {BY_THEMSELVES}")


async def _keeps_groups(client: Client, scheduler_name: str) -> bool:
    body = await client.create(PODS, _pod(scheduler_name), NAMESPACE, dry_run=True)
    return "schedulingGroup" in msgspec.json.decode(body)["spec"]


def _pod(scheduler_name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "tutti-asks-"},
        "spec": {
            "schedulerName": scheduler_name,
            "schedulingGroup": {"podGroupName": "tutti-asks"},
            "containers": [{"name": "none", "image": "example.com/none"}],
        },
    }
