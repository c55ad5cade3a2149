"""What a pod says of itself whose binding was undone, so that its owner can tell it from a failed one."""

from typing import Final

from tutti.api.core_v1 import Pod
from tutti.api.meta import Condition

UNDONE: Final = Condition(
    type="DisruptionTarget",
    status="True",
    reason="GangIncomplete",
    message="Tutti: the gang of this pod could not be completed, so its binding is undone",
)


def was_undone(pod: Pod) -> bool:
    return any((c.type, c.reason) == (UNDONE.type, UNDONE.reason) for c in pod.status.conditions)
