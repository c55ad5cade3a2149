"""What can be set about the engine: one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tutti.core.profile import Profile


@dataclass(frozen=True, slots=True)
class Settings:
    """Times are seconds. Budgets count work, so that equal inputs give equal decisions."""

    scheduler_names: tuple[str, ...] = ("tutti",)
    profile: Profile = field(default_factory=Profile)
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    """By scheduler name; whose name isn't there goes by `profile`."""
    seed: int = 0
    session: str = "0"
    """Begins the id of every commit; no two runs of a scheduler may share it."""

    commit_deadline: float = 8.0
    """How long a commit of which bindings failed may look for other places before it is undone."""
    retry_interval: float = 0.5
    """Between two attempts to complete such a commit, or to undo it."""
    moment: float = 1.0
    """How long a root may wait, or commit, before that is said in conditions."""
    refresh_interval: float = 10.0
    """Between two changes of a condition's numbers that leave its reason as it was."""

    initial_backoff: float = 1.0
    max_backoff: float = 10.0
    work_per_turn: int = 20_000
    """Members looked at in one turn, with a surcharge for every root; then the next turn goes on."""
    intent_bytes: int = 200_000
    """What the units of all running commits may take on the Lease."""
