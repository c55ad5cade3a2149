"""The commits that are in the air: launched, answered, mended, undone.

`commit.py` draws the states of one; here they are all, with what has to be done next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tutti.core.plan import Binding
from tutti.engine.assume import Assumptions
from tutti.engine.commit import Commit, Stage, halves, is_whole, top_of, would_stand
from tutti.engine.forest import Forest
from tutti.engine.groups import Group
from tutti.engine.intake import Intake
from tutti.engine.members import ASSUMED, BOUND, LEAVING, UNBOUND, Member
from tutti.engine.messages import Action, Bind, Note, PodRef, ReadPod, UndoBind, Unit
from tutti.engine.settings import Settings
from tutti.engine.words import scheduled_note

UNIT_OVERHEAD = 80
"""Bytes that a unit takes on the Lease beside its names."""
MOST_TRIES = 3
"""How often a binding without an answer is asked for again, at the same node."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A binding whose fate only a look at the pod can tell, and what was heard of it."""

    node: str
    commit: str
    refused: bool
    heard: str


class Flights:
    def __init__(
        self, settings: Settings, forest: Forest, assumptions: Assumptions, intake: Intake
    ) -> None:
        self.commits: dict[str, Commit] = {}
        self.outbox: list[Action] = []
        self.landed: dict[str, bool] = {}
        """Roots whose commits have all ended, and whether something of theirs failed."""
        self.unit_bytes = 0
        self.units_changed = False
        """Whether other units have to stand on the Lease than were last asked for."""
        self._settings = settings
        self._forest = forest
        self._assumptions = assumptions
        self._intake = intake
        self._by_top: dict[str, Commit] = {}
        self._by_root: dict[str, dict[str, Commit]] = {}
        self._intended: dict[str, Commit] = {}
        self._troubled: dict[str, Commit] = {}
        self._answered: dict[str, None] = {}
        self._doubts: dict[str, Doubt] = {}
        self._failed_roots: dict[str, None] = {}
        self._launched = 0

    # --- going out ----------------------------------------------------------------------------

    def launch(self, root: str, assignments: Iterable[Binding]) -> None:
        """Assume a plan, and send what needs no intent, or has its intent already."""
        tops: dict[str, str | None] = {}
        seats: dict[str | None, list[tuple[Member, str]]] = {}
        for uid, node in assignments:
            member = self._forest.members[uid]
            leaf = member.group
            assert leaf is not None
            if leaf.key not in tops:
                top = top_of(leaf)
                tops[leaf.key] = top.key if top else None
            seats.setdefault(tops[leaf.key], []).append((member, node))
        for key, taken in seats.items():
            commit = self._by_top.get(key) if key else None
            if commit is None:
                commit = self._begin(root, key)
            for member, node in taken:
                self._assumptions.assume(member, node, commit.id)
                commit.open[member.ref.uid] = node
            if commit.stage is not Stage.INTENDED:
                self._go(commit, [member for member, _ in taken])

    def is_in_flight(self, root: str) -> bool:
        return root in self._by_root

    def units(self) -> tuple[Unit, ...]:
        """What has to stand on the Lease, from now on."""
        self.units_changed = False
        return tuple(commit.unit for commit in self.commits.values() if commit.unit is not None)

    def set_out(self, number: int) -> bool:
        """Intents that have no number yet go out under this one; whether there are any."""
        fresh = [commit for commit in self._intended.values() if not commit.number]
        for commit in fresh:
            commit.number = number
        return bool(fresh)

    def intent_written(self, number: int, has_node: Callable[[str], bool]) -> None:
        """Send the bindings whose unit stands on the Lease now, if they still make sense."""
        for commit in list(self._intended.values()):
            if not 0 < commit.number <= number:
                continue
            for uid, node in list(commit.open.items()):
                if not has_node(node):
                    self._back_out(commit, uid)
            top = self._forest.groups.get(commit.top or "")
            if top is None or _is_outgrown(top) or not would_stand(top):
                self._cancel(commit)
            else:
                del self._intended[commit.id]
                self._go(commit, [self._forest.members[uid] for uid in commit.open])

    def intent_refused(self, number: int) -> None:
        for commit in list(self._intended.values()):
            if commit.number == number:
                self.units_changed = True
                self._failed_roots[commit.root] = None
                self._cancel(commit)

    def recover(self, units: Iterable[Unit], now: float) -> None:
        """Take up the units that the last holder of the Lease left there."""
        for unit in units:
            top = self._forest.groups.get(f"{unit.kind}/{unit.namespace}/{unit.name}")
            if top is None or unit.commit in self.commits:
                continue
            commit = Commit(unit.commit, self._forest.root_of(top).key, unit)
            commit.recovered = True
            for leaf in top.leaves():
                for member in leaf.members.values():
                    if member.state is BOUND and member.commit == commit.id:
                        commit.bound[member.ref.uid] = None
            self._file(commit)
            self._mend(commit, now)
            self._forest.touch(top)

    def drop_all(self) -> None:
        """The Lease is lost: what wasn't sent is not sent, what was sent is waited for."""
        unsent = [action for action in self.outbox if isinstance(action, Bind)]
        self.outbox = [action for action in self.outbox if isinstance(action, ReadPod)]
        for bind in unsent:
            if (commit := self.commits.get(bind.commit)) is not None:
                self._back_out(commit, bind.pod.uid)
        for commit in list(self.commits.values()):
            if commit.stage is Stage.INTENDED:
                self._cancel(commit)
            else:
                self._close(commit)

    # --- coming back --------------------------------------------------------------------------

    def bound(self, ref: PodRef, node: str, id: str) -> None:
        member = self._forest.members.get(ref.uid)
        if member is None:
            self._answer(id, ref.uid, False)
        elif member.state is ASSUMED or member.state in UNBOUND:
            self._assumptions.confirm(member, node)
            self.seen_bound(member, id)
        elif member.state is LEAVING:
            self._answer(id, ref.uid, False)

    def seen_bound(self, member: Member, mark: str) -> None:
        """A watch, a look or an answer showed the pod bound, by the commit of this mark."""
        uid = member.ref.uid
        self._doubts.pop(uid, None)
        if not mark:
            self._forest.bound_by_another(member)
        if mark != member.commit:
            if member.commit:
                self._complain(member.commit, member.ref, "somebody else bound it")
                self._answer(member.commit, uid, False)
            member.commit = mark
        elif mark in self.commits and uid in self.commits[mark].open:
            self.outbox.append(scheduled_note(member))
        self._answer(mark, uid, True)

    def refused(self, ref: PodRef, node: str, id: str, reason: str, message: str) -> None:
        doubt = Doubt(node, id, True, f"{reason}: {message}")
        if reason in ("Conflict", "NotFound"):
            self._look(ref, doubt)
        else:
            self._fail(ref, doubt)

    def unknown(self, ref: PodRef, node: str, id: str, message: str) -> None:
        self._look(ref, Doubt(node, id, False, message))

    def read_unbound(self, ref: PodRef) -> None:
        """Somebody has looked: the pod is there, and on no node."""
        doubt = self._doubts.pop(ref.uid, None)
        if doubt is None:
            return
        commit = self.commits.get(doubt.commit)
        if doubt.refused or commit is None or commit.tries.get(ref.uid, 0) >= MOST_TRIES:
            self._fail(ref, doubt)
        else:
            commit.tries[ref.uid] = commit.tries.get(ref.uid, 0) + 1
            self.outbox.append(Bind(ref, doubt.node, doubt.commit))

    def gone(self, member: Member) -> None:
        """The pod is going, or gone: no commit waits for it, or has to undo it, any more."""
        uid = member.ref.uid
        commit = self.commits.get(member.commit)
        if commit is None:
            return
        commit.bound.pop(uid, None)
        commit.undoing.pop(uid, None)
        if member.state is not ASSUMED or uid not in self._forest.members:
            self._doubts.pop(uid, None)
            self._answer(commit.id, uid, False)

    def delete_failed(self, uid: str, now: float) -> None:
        for commit in self._troubled.values():
            if uid in commit.undoing:
                commit.undoing[uid] = False
                commit.retry_at = now + self._settings.retry_interval

    # --- what is to be done -------------------------------------------------------------------

    def advance(self, now: float, replan: Callable[[str], None]) -> None:
        """Close what is whole, look for other places for what isn't, undo what ran out of time."""
        for id in list(self._answered):
            commit = self.commits.get(id)
            if commit is not None and not commit.open:
                self._conclude(commit, now)
        self._answered.clear()
        for commit in list(self._troubled.values()):
            if commit.stage is Stage.UNDOING:
                self._press(commit, now)
            elif commit.stage is Stage.MENDING and not commit.open:
                if self._is_done(commit):
                    self._close(commit)
                elif commit.deadline is not None and now >= commit.deadline:
                    self._undo(commit, now)
                elif now >= commit.retry_at:
                    commit.retry_at = now + self._settings.retry_interval
                    replan(commit.root)

    def next_wake(self) -> float | None:
        wakes = (commit.next_wake for commit in self._troubled.values())
        return min((wake for wake in wakes if wake is not None), default=None)

    @property
    def has_answers(self) -> bool:
        return bool(self._answered or self.landed)

    # --- inside -------------------------------------------------------------------------------

    def _begin(self, root: str, key: str | None) -> Commit:
        self._launched += 1
        id = f"{self._settings.session}-{self._launched}"
        unit = None
        if key is not None:
            unit = self._forest.groups[key].unit(id)
        commit = Commit(id, root, unit)
        self._file(commit)
        if unit is not None:
            self._intended[id] = commit
        return commit

    def _file(self, commit: Commit) -> None:
        self.commits[commit.id] = commit
        self._by_root.setdefault(commit.root, {})[commit.id] = commit
        if commit.unit is not None and commit.top is not None:
            self._by_top[commit.top] = commit
            self.unit_bytes += _bytes_of(commit.unit)
            self.units_changed = True

    def _go(self, commit: Commit, members: Iterable[Member]) -> None:
        commit.stage = Stage.BINDING
        self._troubled.pop(commit.id, None)
        for member in members:
            self.outbox.append(Bind(member.ref, member.node, commit.id))

    def _answer(self, id: str, uid: str, bound: bool) -> None:
        commit = self.commits.get(id)
        if commit is None:
            return
        commit.open.pop(uid, None)
        if bound:
            commit.bound[uid] = None
        if not commit.open:
            self._answered[id] = None

    def _look(self, ref: PodRef, doubt: Doubt) -> None:
        member = self._forest.members.get(ref.uid)
        if member is None or member.state is not ASSUMED:
            self._answer(doubt.commit, ref.uid, False)
            if member is not None and member.state is LEAVING:
                self._assumptions.release_unbound(member)
            return
        self._doubts[ref.uid] = doubt
        self.outbox.append(ReadPod(ref))

    def _fail(self, ref: PodRef, doubt: Doubt) -> None:
        """The binding didn't happen; the member waits again."""
        member = self._forest.members.get(ref.uid)
        if member is not None and member.commit == doubt.commit:
            if member.state is ASSUMED:
                self._assumptions.forget(member, self._intake.state_of(member.pod))
            elif member.state is LEAVING:
                self._assumptions.release_unbound(member)
        self._complain(doubt.commit, ref, f"binding to node {doubt.node} failed: {doubt.heard}")
        self._answer(doubt.commit, ref.uid, False)

    def _complain(self, id: str, ref: PodRef, message: str) -> None:
        if (commit := self.commits.get(id)) is not None:
            self._failed_roots[commit.root] = None
            commit.failures.append(f"{ref.name}: {message}")
        self.outbox.append(Note(ref, "Warning", "FailedScheduling", "Binding", message))

    def _back_out(self, commit: Commit, uid: str) -> None:
        """A member that is assumed, and was not sent, waits again."""
        commit.open.pop(uid, None)
        member = self._forest.members.get(uid)
        if member is not None and member.state is ASSUMED:
            self._assumptions.forget(member, self._intake.state_of(member.pod))

    def _cancel(self, commit: Commit) -> None:
        for uid in list(commit.open):
            self._back_out(commit, uid)
        self._close(commit)

    def _close(self, commit: Commit) -> None:
        commit.stage = Stage.DONE
        del self.commits[commit.id]
        self._intended.pop(commit.id, None)
        self._troubled.pop(commit.id, None)
        if commit.unit is not None:
            self.unit_bytes -= _bytes_of(commit.unit)
            self.units_changed = True
        if commit.top is not None and self._by_top.get(commit.top) is commit:
            del self._by_top[commit.top]
        siblings = self._by_root[commit.root]
        del siblings[commit.id]
        if not siblings:
            del self._by_root[commit.root]
            failed = commit.root in self._failed_roots
            self._failed_roots.pop(commit.root, None)
            self.landed[commit.root] = failed

    def _conclude(self, commit: Commit, now: float) -> None:
        if commit.stage is Stage.UNDOING:
            self._press(commit, now)
        elif self._is_done(commit):
            self._close(commit)
        elif commit.stage is Stage.BINDING:
            self._mend(commit, now)

    def _is_done(self, commit: Commit) -> bool:
        if commit.top is None:
            return True
        top = self._forest.groups.get(commit.top)
        if top is None:
            return not commit.bound
        if commit.recovered and not top.tally.standing:
            return False
        return is_whole(top, commit)

    def _mend(self, commit: Commit, now: float) -> None:
        commit.stage = Stage.MENDING
        if commit.deadline is None:
            commit.deadline = now + self._settings.commit_deadline
            commit.retry_at = now
        self._troubled[commit.id] = commit

    def _undo(self, commit: Commit, now: float) -> None:
        """Give back exactly what this commit bound where no quorum came to stand."""
        commit.stage = Stage.UNDOING
        commit.retry_at = now
        top = self._forest.groups.get(commit.top or "")
        commit.undoing = self._to_undo(commit)
        self._failed_roots[commit.root] = None
        if top is not None and top.subject is not None and commit.undoing:
            why = "; ".join(commit.failures[:3]) or "members or places were lost"
            message = (
                f"needs {top.quorum}, {top.counted} bound, and no place for the rest: "
                f"undoing {len(commit.undoing)} bindings ({why})"
            )
            self.outbox.append(Note(top.subject, "Warning", "GangUndone", "Binding", message))
        self._press(commit, now)

    def _to_undo(self, commit: Commit) -> dict[str, bool]:
        top = self._forest.groups.get(commit.top or "")
        half = None if top is None else {uid for leaf in halves(top) for uid in leaf.members}
        return {
            uid: False
            for uid in commit.bound
            if uid in self._forest.members and (half is None or uid in half)
        }

    def _press(self, commit: Commit, now: float) -> None:
        if not commit.undoing:
            commit.undoing = self._to_undo(commit)  # what landed meanwhile
        if not commit.undoing:
            self._close(commit)
        elif now >= commit.retry_at:
            for uid, asked in commit.undoing.items():
                if not asked:
                    commit.undoing[uid] = True
                    self.outbox.append(UndoBind(self._forest.members[uid].ref, commit.id))


def _is_outgrown(top: Group) -> bool:
    """Whether a gang above it has come to need it since: then that one's quorum is the unit."""
    return (top_of(top) or top) is not top


def _bytes_of(unit: Unit) -> int:
    names = (unit.uid, unit.kind, unit.namespace, unit.name, unit.commit)
    return UNIT_OVERHEAD + sum(map(len, names))
