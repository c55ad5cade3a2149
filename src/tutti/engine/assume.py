"""What is decided but not yet seen: assumed at once, then confirmed or forgotten.

An assumed pod holds its room in the columns like one that runs, so nobody plans over it. Nodes on
which room was given back are noted in `freed`: that may help somebody who waits.
"""

from __future__ import annotations

from tutti.engine.encode import Cluster
from tutti.engine.forest import Forest
from tutti.engine.members import ASSUMED, BOUND, Member, State


class Assumptions:
    def __init__(self, cluster: Cluster, forest: Forest) -> None:
        self.freed: dict[str, None] = {}
        self.moved = False
        """Whether a pod came to, or left, a node: that may help who heeds other pods."""
        self._cluster = cluster
        self._forest = forest

    def assume(self, member: Member, node: str, commit: str) -> None:
        member.node, member.commit = node, commit
        self.hold(member)
        self._forest.move(member, ASSUMED)

    def confirm(self, member: Member, node: str) -> None:
        """The pod is bound, to this node, whatever had been assumed."""
        if member.state is not ASSUMED or member.node != node:
            self.release(member)
            member.node = node
            self.hold(member)
        self._forest.move(member, BOUND)

    def hold(self, member: Member) -> None:
        """The member counts on its node, as what it is now."""
        self._cluster.hold(member.ref.uid, member.cls, member.node)
        self.moved = True

    def forget(self, member: Member, state: State) -> None:
        """It was not bound after all; it stands where it stood before."""
        self.release(member)
        member.commit = ""
        self._forest.move(member, state)

    def release(self, member: Member) -> None:
        """The member holds no room any more."""
        if member.node:
            self._cluster.release(member.ref.uid)
            self.freed[member.node] = None
            self.moved = True
            member.node = ""

    def release_unbound(self, member: Member) -> None:
        """A pod that is being deleted turned out to be on no node."""
        if not member.pod.spec.node_name:
            self.release(member)
