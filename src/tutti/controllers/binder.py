"""Bindings and their way back: every action has one answer, whatever happens outside.

What is sent is sent while the Lease is held, asked for just before the kernel gets the bytes; what
may not be sent is refused here.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from tutti.api.core_v1 import Pod
from tutti.api.errors import ApiError, Conflict, NotFound, Unanswered
from tutti.api.registry import PODS
from tutti.controllers.conditions import Conditions
from tutti.controllers.statuses import StatusWriter
from tutti.controllers.undone import UNDONE
from tutti.engine.messages import (
    Bind,
    BindRefused,
    BindUnknown,
    Bound,
    Deleted,
    DeleteFailed,
    Event,
    PodRead,
    PodRef,
    ReadPod,
    UndoBind,
)
from tutti.kube.client import Client
from tutti.kube.transport import Withheld

log = logging.getLogger(__name__)

COMMIT: Final = "tutti.dev/commit"
"""The annotation by which a pod says which commit bound it."""
NOT_HELD: Final = "the Lease was not renewed in time: nothing was sent"
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0


class Binder:
    """`allowed` says whether the Lease is held now, `within` how long an answer may take."""

    def __init__(
        self,
        client: Client,
        conditions: Conditions,
        answer: Callable[[Event], None],
        *,
        allowed: Callable[[], bool],
        within: float,
    ) -> None:
        self._client = client
        self._conditions = conditions
        self._statuses = StatusWriter(client, allowed)
        self._answer = answer
        self._allowed = allowed
        self._within = within

    async def bind(self, action: Bind) -> Bound | BindRefused | BindUnknown:
        held_back, writing = self._conditions.hush(action.pod.uid)
        if writing is not None:
            await writing.wait()
        answer = await self._bound(action)
        if held_back is not None and not isinstance(answer, Bound):
            self._conditions.say_after_all(held_back)
        self._answer(answer)
        return answer

    async def read(self, action: ReadPod) -> None:
        """Look at the pod itself, until the server shows it or says that it is gone."""
        pause = FIRST_PAUSE
        while True:
            try:
                pod = await self._read(action.ref)
            except (ApiError, Unanswered) as error:
                log.debug(
                    "a pod can't be looked at yet",
                    extra={"pod": action.ref.name, "why": str(error)},
                )
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
            else:
                self._answer(PodRead(action.ref, pod))
                return

    async def undo(self, action: UndoBind) -> None:
        """Mark the pod as disrupted, then delete it: that one, and only if this commit bound it.

        By the mark its Job doesn't count it as a failure.
        """
        ref = action.pod
        try:
            pod = await self._read(ref)
            if pod is None:
                self._answer(Deleted(ref))
            elif not pod.spec.node_name or pod.metadata.annotations.get(COMMIT) != action.commit:
                self._answer(DeleteFailed(ref, "it is not bound by this commit"))
            else:
                await self._statuses.write(ref, [UNDONE], turned={UNDONE.type})
                await self._client.delete(
                    PODS, ref.namespace, ref.name, uid=ref.uid, allowed=self._allowed
                )
                self._answer(Deleted(ref))
        except Withheld:
            self._answer(DeleteFailed(ref, NOT_HELD))
        except (NotFound, Conflict):  # it went meanwhile; a namesake is none of our business
            self._answer(Deleted(ref))
        except (ApiError, Unanswered) as error:
            self._answer(DeleteFailed(ref, str(error)))

    async def _bound(self, action: Bind) -> Bound | BindRefused | BindUnknown:
        pod, node, commit = action.pod, action.node, action.commit
        try:
            await self._client.bind(
                pod.namespace,
                pod.name,
                pod.uid,
                node,
                {COMMIT: commit},
                within=self._within,
                allowed=self._allowed,
            )
        except Withheld:
            return BindRefused(pod, node, commit, "LeaseNotHeld", NOT_HELD)
        except Unanswered as silence:
            return BindUnknown(pod, node, commit, str(silence))
        except ApiError as refusal:
            if refusal.code >= 500:  # the server may have done it before it failed
                return BindUnknown(pod, node, commit, refusal.message)
            return BindRefused(pod, node, commit, refusal.reason, refusal.message)
        return Bound(pod, node, commit)

    async def _read(self, ref: PodRef) -> Pod | None:
        try:
            pod = await self._client.get(PODS, ref.namespace, ref.name, into=Pod)
        except NotFound:
            return None
        return pod if pod.metadata.uid == ref.uid else None
