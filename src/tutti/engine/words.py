"""What is said about a root: conditions of its pods and groups, events, and `why`.

Everything is derived from how things are now; what was said already is not said again. A change of
a reason is said at once, a change of mere numbers on pods only now and then (`refresh_interval`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tutti.api.meta import Condition
from tutti.api.podspec import unsupported
from tutti.core.plan import Refusal
from tutti.core.pods import PodClass
from tutti.engine.groups import Group
from tutti.engine.members import GATED, PENDING, REPORTED, Member
from tutti.engine.messages import Action, Note, OwnerRef, SetGroupCondition, SetPodCondition
from tutti.engine.outlook import Outlook, outlook, own_refusal, waiting_for

SATISFIED = "tutti.dev/Satisfied"
INITIALLY = {
    "PodGroup": "PodGroupInitiallyScheduled",
    "CompositePodGroup": "CompositePodGroupInitiallyScheduled",
}
IGNORED = "ParentIgnored"
GATED_TEXT = "Scheduling is blocked due to non-empty scheduling gates"
LONGEST_NOTE = 1024


@dataclass(frozen=True, slots=True)
class PodWord:
    """What is said of a pod; many pods of a group share one."""

    reason: str
    message: str
    _conditions: dict[int, Condition] = field(default_factory=dict, repr=False, compare=False)

    def condition(self, generation: int) -> Condition:
        known = self._conditions.get(generation)
        if known is None:
            known = self._conditions[generation] = Condition(
                type="PodScheduled",
                status="False",
                reason=self.reason,
                message=self.message,
                observed_generation=generation,
            )
        return known


class Words:
    """Says what has not been said. Its memory is on the members and groups themselves."""

    def __init__(self, refresh_interval: float) -> None:
        self._refresh_interval = refresh_interval
        self._said_at: dict[str, float] = {}
        self.group_status = True
        self.composites = True

    def of_root(
        self, root: Group, refusal: Refusal | None, now: float
    ) -> tuple[list[Action], bool]:
        """What is new, and whether some numbers were held back that should be said later."""
        quiet = now - self._said_at.get(root.key, -self._refresh_interval) < self._refresh_interval
        actions: list[Action] = []
        held_back = False
        for group in root.all():
            view = outlook(group, root, refusal)
            if group.owner is None:
                actions.extend(self._about_group(group, root, view, refusal))
                actions.extend(self._about_parent(group))
            elif _is_news(group, view, quiet):
                actions.extend(_about_owner(group, group.owner, view))
            else:
                held_back |= _is_news(group, view, quiet=False)
            for member, word in _pod_words(group, root, view, refusal):
                if member.said == (word.reason, word.message):
                    continue
                if quiet and member.said is not None and member.said[0] == word.reason:
                    held_back = True
                    continue
                actions.extend(_about_pod(member, word))
        if len(actions) and not quiet:
            self._said_at[root.key] = now
        return actions, held_back

    def forget(self, key: str) -> None:
        self._said_at.pop(key, None)

    def _about_group(
        self, group: Group, root: Group, view: Outlook, refusal: Refusal | None
    ) -> Iterator[Action]:
        if not self.group_status or group.kind == "Pod":
            return
        status = "True" if view.is_satisfied else "False"
        yield from _say(group, SATISFIED, status, view.reason, view.sentence)
        condition = INITIALLY[group.kind]
        if group.said.get(condition, ("",))[0] == "True":
            return
        if is_scheduled(group):
            yield from _say(group, condition, "True", "Scheduled", "")
        elif view.reason == "Invalid":
            composite = group.kind == "CompositePodGroup"
            reason = "Invalid" if composite else "SchedulerError"
            yield from _say(group, condition, "False", reason, view.sentence)
        elif refusal is not None and not group.tally.standing and waiting_for(group) is None:
            said = _upstream(group, root, refusal)
            yield from _say(group, condition, "False", "Unschedulable", said)

    def _about_parent(self, group: Group) -> Iterator[Action]:
        """Where composite groups aren't served, a parent that is left over means nothing."""
        ref, made = group.ref, group.object
        if self.composites or ref is None or made is None or IGNORED in group.said:
            return
        if parent := made.spec.parent_composite_pod_group_name:
            message = f'parent "{parent}" is ignored: this API server serves no CompositePodGroups'
            group.said[IGNORED] = ("", "", message)
            yield Note(ref, "Warning", IGNORED, "Scheduling", message)


def _is_news(group: Group, view: Outlook, quiet: bool) -> bool:
    """Whether the owner of an implied group hasn't been told yet: a change of numbers can wait."""
    said = group.said.get(SATISFIED, ("", "", ""))
    return view.reason != said[1] or (not quiet and view.sentence != said[2])


def _about_owner(group: Group, owner: OwnerRef, view: Outlook) -> Iterator[Action]:
    """Events stand in for the conditions that an owner of any kind doesn't have."""
    waited = SATISFIED in group.said
    group.said[SATISFIED] = ("True" if view.is_satisfied else "False", view.reason, view.sentence)
    if view.is_waiting:
        yield Note(owner, "Normal", view.reason, "Scheduling", _cut(view.sentence))
    elif view.is_satisfied:
        if waited:
            yield Note(owner, "Normal", "Scheduled", "Binding", _cut(view.sentence))
    elif view.reason != "Committing":
        yield Note(owner, "Warning", "FailedScheduling", "Scheduling", _cut(view.sentence))


def left_alone_note(owner: OwnerRef) -> Note:
    message = (
        f'a pod of {owner.kind} "{owner.name}" was bound by somebody else: '
        "its pods are no gang, and are scheduled one by one"
    )
    return Note(owner, "Warning", "GangLeftAlone", "Scheduling", message)


def is_scheduled(group: Group) -> bool:
    """Its quorum is bound, and that of every gang above it."""
    at: Group | None = group
    while at is not None:
        if not at.tally.standing and (at is group or at.is_atomic()):
            return False
        at = at.parent
    return True


def scheduled_note(member: Member) -> Note:
    ref = member.ref
    message = f"Successfully assigned {ref.namespace}/{ref.name} to {member.node}"
    return Note(ref, "Normal", "Scheduled", "Binding", message)


def _upstream(group: Group, root: Group, refusal: Refusal) -> str:
    """The sentence of kube-scheduler's own condition; it says minCount for groups of groups too."""
    own = own_refusal(group, root, refusal)
    if own is None:
        group, own = root, refusal
    counted = 0 if group.kind == "CompositePodGroup" else group.counted
    return (
        f"minCount ({group.quorum}) cannot be satisfied: "
        f"{counted + own.fits} scheduled, 0 remaining"
    )


def _pod_words(
    group: Group, root: Group, view: Outlook, refusal: Refusal | None
) -> Iterator[tuple[Member, PodWord]]:
    counts = group.counts
    if not (counts[PENDING] or counts[GATED] or counts[REPORTED]):
        return
    if counts[GATED] or counts[REPORTED]:
        yield from _held_words(group)
    if view.reason == "Invalid":
        word = PodWord("SchedulerError", view.sentence)
    elif (
        root.unserved is not None
        or not group.is_there
        or not group.eligible
        or waiting_for(group) is not None
    ):
        word = PodWord("NotReadyForScheduling", view.sentence)
    elif refusal is not None:
        yield from _refused_words(group, root, refusal)
        return
    else:
        return
    for member in group.waiting():
        yield member, word


def _refused_words(group: Group, root: Group, refusal: Refusal) -> Iterator[tuple[Member, PodWord]]:
    """Members that could have been placed speak of the group, the others of the nodes."""
    own = own_refusal(group, root, refusal)
    together = PodWord(
        "Unschedulable", f"pod group is unschedulable, {_upstream(group, root, refusal)}"
    )
    alone = PodWord("Unschedulable", own.tally.sentence()) if own is not None else together
    for cls, alike in group.pending.items():
        members = sorted(alike.values(), key=lambda member: member.ref.name)
        placeable = _placeable(group, cls, own)
        for place, member in enumerate(members):
            yield member, together if place < placeable else alone


def _placeable(group: Group, cls: PodClass, own: Refusal | None) -> int:
    """How many of a class had a place: of the one that fell short, those that fit without others."""
    if own is None or not group.gang or group.tally.standing:
        return 0
    if own.short is not cls:
        return len(group.pending[cls])
    return own.fits if len(group.pending) == 1 else 0


def _held_words(group: Group) -> Iterator[tuple[Member, PodWord]]:
    for member in group.members.values():
        if member.state is GATED:
            yield member, PodWord("SchedulingGated", GATED_TEXT)
        elif member.state is REPORTED:
            fields = ", ".join(unsupported(member.pod))
            yield member, PodWord("Unschedulable", f"not supported by Tutti yet: {fields}")


def _say(group: Group, type: str, status: str, reason: str, message: str) -> Iterator[Action]:
    ref = group.ref
    if ref is None or group.said.get(type) == (status, reason, message):
        return
    group.said[type] = (status, reason, message)
    assert group.object is not None
    generation = group.object.metadata.generation
    yield SetGroupCondition(
        ref,
        Condition(
            type=type, status=status, reason=reason, message=message, observed_generation=generation
        ),
    )


def _about_pod(member: Member, word: PodWord) -> Iterator[Action]:
    member.said = (word.reason, word.message)
    nominated = "" if member.pod.status.nominated_node_name else None
    condition = word.condition(member.pod.metadata.generation)
    yield SetPodCondition(member.ref, condition, nominated)
    if word.reason in ("Unschedulable", "SchedulerError"):
        yield Note(member.ref, "Warning", "FailedScheduling", "Scheduling", _cut(word.message))


def _cut(message: str) -> str:
    return message if len(message) <= LONGEST_NOTE else message[: LONGEST_NOTE - 4] + " ..."


def said_of(conditions: tuple[Condition, ...], type: str) -> tuple[str, str, str] | None:
    for condition in conditions:
        if condition.type == type:
            return condition.status, condition.reason, condition.message
    return None
