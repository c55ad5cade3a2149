"""What every verb is given: the objects, what admission sees, the gates, the clock, fresh uids."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from tutti.server.gates import Gates
from tutti.server.objects import Objects
from tutti.server.view import View


@dataclass(frozen=True, slots=True)
class Context:
    """The server without its requests."""

    objects: Objects
    view: View
    gates: Gates
    now: Callable[[], datetime]
    new_uid: Callable[[], str]
    bookmark_every_s: float = 60.0
    """How often a quiet watch that asked for it is told how far it has seen."""
