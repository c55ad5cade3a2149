"""The one way in which a condition gets into an object's status.

Native kinds merge conditions by type on the server (strategic merge), whatever else is written there
at the same time. Where a kind has no such patch, as one made by a CRD, the list is read, changed and
written under its resource version, and again after each conflict. In both, `lastTransitionTime`
moves only when the status did.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from tutti.api.errors import Conflict, Invalid, NotFound, UnsupportedMediaType
from tutti.api.meta import Condition
from tutti.api.registry import COMPOSITE_POD_GROUPS, POD_GROUPS, PODS, Storage
from tutti.engine.messages import GroupRef, PodRef
from tutti.kube.client import Client

Ref = PodRef | GroupRef

TRIES: Final = 5
"""How often a list of conditions is read and written anew when others write it too."""


class StatusWriter:
    def __init__(self, client: Client, allowed: Callable[[], bool]) -> None:
        self._client = client
        self._allowed = allowed
        self._unmergeable: set[str] = set()

    async def write(
        self,
        ref: Ref,
        conditions: Sequence[Condition],
        turned: Collection[str],
        nominated: str | None = None,
    ) -> None:
        """`turned` are the types whose status changes. An object that is gone is passed over."""
        storage = storage_of(ref)
        try:
            if storage.key not in self._unmergeable:
                try:
                    await self._merge(storage, ref, conditions, turned, nominated)
                except UnsupportedMediaType:
                    self._unmergeable.add(storage.key)
            if storage.key in self._unmergeable:
                await self._replace(storage, ref, conditions)
        except NotFound:
            pass
        except (Conflict, Invalid) as error:
            if not _is_another(error):
                raise

    async def _merge(
        self,
        storage: Storage,
        ref: Ref,
        conditions: Sequence[Condition],
        turned: Collection[str],
        nominated: str | None,
    ) -> None:
        now = _now()
        status: dict[str, Any] = {
            "conditions": [
                _entry(each, now if each.type in turned else None) for each in conditions
            ]
        }
        if nominated is not None:
            status["nominatedNodeName"] = nominated or None
        await self._client.patch(
            storage,
            ref.namespace,
            ref.name,
            {"metadata": {"uid": ref.uid}, "status": status},
            kind="strategic",
            subresource="status",
            allowed=self._allowed,
        )

    async def _replace(self, storage: Storage, ref: Ref, conditions: Sequence[Condition]) -> None:
        for left in reversed(range(TRIES)):
            there = await self._client.get(storage, ref.namespace, ref.name, into=dict[str, Any])
            if there["metadata"]["uid"] != ref.uid:
                return
            listed = _merged(there.get("status", {}).get("conditions") or [], conditions, _now())
            patch = {
                "metadata": {"resourceVersion": there["metadata"]["resourceVersion"]},
                "status": {"conditions": listed},
            }
            try:
                await self._client.patch(
                    storage,
                    ref.namespace,
                    ref.name,
                    patch,
                    kind="merge",
                    subresource="status",
                    allowed=self._allowed,
                )
            except Conflict:
                if not left:
                    raise
            else:
                return


def storage_of(ref: Ref) -> Storage:
    if isinstance(ref, PodRef):
        return PODS
    return POD_GROUPS if ref.kind == "PodGroup" else COMPOSITE_POD_GROUPS


def _merged(
    listed: Sequence[dict[str, Any]], conditions: Sequence[Condition], now: str
) -> list[dict[str, Any]]:
    """The list with our conditions in their places, or at its end."""
    by_type = {each["type"]: each for each in listed}
    for condition in conditions:
        before = by_type.get(condition.type, {})
        same = before.get("status") == condition.status
        time = before.get("lastTransitionTime", now) if same else now
        by_type[condition.type] = _entry(condition, time)
    return list(by_type.values())


def _entry(condition: Condition, transition: str | None) -> dict[str, Any]:
    """Empty texts are written too: a merge keeps what a patch leaves out."""
    entry: dict[str, Any] = {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
    }
    if transition is not None:
        entry["lastTransitionTime"] = transition
    if condition.observed_generation:
        entry["observedGeneration"] = condition.observed_generation
    return entry


def _is_another(error: Conflict | Invalid) -> bool:
    """Whether the server says that the object of this name has another uid."""
    return "uid" in error.message.lower()


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
