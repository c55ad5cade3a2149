"""How a group stands, in a word for programs and a sentence for people.

Derived from the counts as they are, and from the root's last refusal while it holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tutti.core.plan import Refusal
from tutti.engine.groups import Group, mixture, named
from tutti.engine.members import ASSUMED, FINISHED, GATED, PENDING, REPORTED

Reason = Literal[
    "Bound",
    "WaitingForObject",
    "WaitingForMembers",
    "Gated",
    "NotFound",
    "ProvedImpossible",
    "Committing",
    "BelowQuorum",
    "Invalid",
]
"""Of `tutti.dev/Satisfied`; for programs. `WaitingForVictims` comes with preemption."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """How a group stands, in a word and a sentence, and what that means for who waits in it."""

    reason: Reason
    sentence: str

    @property
    def is_satisfied(self) -> bool:
        return self.reason == "Bound"

    @property
    def is_waiting(self) -> bool:
        return self.reason in ("WaitingForObject", "WaitingForMembers", "Gated")


def outlook(group: Group, root: Group, refusal: Refusal | None) -> Outlook:
    """`refusal` is the root's last one, while it holds."""
    if (wrong := fault_of(root)) is not None:
        return Outlook("Invalid", wrong)
    if root.unserved is not None:
        return Outlook("NotFound", root.unserved)
    if not group.is_there:
        return Outlook("WaitingForObject", f"waiting for {named(group)} to be created")
    if group.wanted == 0:
        return Outlook("Bound", f"{_bound(group)}, and its Jobs want no more pods")
    if group.tally.standing:
        return Outlook("Bound", _standing_sentence(group, own_refusal(group, root, refusal)))
    if group.counts[ASSUMED]:
        return Outlook("Committing", f"{_bound(group)}, {group.counts[ASSUMED]} being bound")
    why = waiting_for(group) or _refused(group, root, refusal)
    if group.counted:
        short = group.quorum - group.counted
        return Outlook("BelowQuorum", f"{_bound(group)}, {short} short: {why.sentence}")
    return why


def fault_of(root: Group) -> str | None:
    """What is wrong with the tree, in its layout or in its members."""
    if root.fault is not None or not root.tally.mixed:
        return root.fault
    for leaf in root.leaves():
        if (mixed := mixture(leaf)) is not None:
            return mixed if leaf is root else f"{named(leaf)}: {mixed}"
    return None


def own_refusal(group: Group, root: Group, refusal: Refusal | None) -> Refusal | None:
    """What the last refusal of the root says of this group itself; None if it says nothing."""
    if refusal is None or group is root:
        return refusal
    return refusal.about(group.key)


def waiting_for(group: Group) -> Outlook | None:
    """What has to come before anything of the group can be placed, if something has to."""
    if not group.tally.admissible:
        return _short(group)
    above = group.parent
    while above is not None:
        if not above.is_there:
            return Outlook("WaitingForObject", f"waiting for {named(above)} to be created")
        if not above.tally.admissible:
            return Outlook("WaitingForMembers", f"{named(above)} {_short(above).sentence}")
        above = above.parent
    return None


def _refused(group: Group, root: Group, refusal: Refusal | None) -> Outlook:
    if refusal is None:
        return Outlook("Committing", f"{_bound(group)}, and is about to be tried")
    own = own_refusal(group, root, refusal)
    if own is not None:
        return Outlook("ProvedImpossible" if own.proved else "NotFound", own.message)
    reason: Reason = "ProvedImpossible" if refusal.proved else "NotFound"
    return Outlook(reason, f"{named(root)} {refusal.message}")


def _short(group: Group) -> Outlook:
    if group.kind == "CompositePodGroup":
        complete = group.tallies[0]
        needs = f"needs {_number(group.quorum, 'group')}, {complete} {_are(complete)} complete"
        if group.awaited:
            names = ", ".join(f'"{name}"' for name in group.awaited)
            needs += f"; there is no group of template {names} yet"
        return Outlook("WaitingForMembers", needs)
    counts = group.counts
    here = group.counted + sum(counts[state] for state in (ASSUMED, PENDING, GATED, REPORTED))
    needs = f"needs {_number(group.quorum, 'member')}, {here} {_are(here)} here"
    if gated := counts[GATED]:
        held = "it is" if gated == here == 1 else f"{gated} {_are(gated)}"
        reason: Reason = "Gated" if here >= group.quorum else "WaitingForMembers"
        return Outlook(reason, f"{needs}: {held} held by scheduling gates")
    if reported := counts[REPORTED]:
        return Outlook(
            "WaitingForMembers", f"{needs}: {reported} ask for what is not supported yet"
        )
    return Outlook("WaitingForMembers", needs)


def _standing_sentence(group: Group, refusal: Refusal | None) -> str:
    sentence = _bound(group)
    if finished := group.counts[FINISHED]:
        sentence += f", {finished} of them finished"
    if group.counts[PENDING] and refusal is not None:
        more = group.counts[PENDING]
        sentence += f"; {more} more wait{'s' if more == 1 else ''}: {refusal.message}"
    return sentence


def _bound(group: Group) -> str:
    return f"needs {group.quorum}, {group.counted} bound"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
