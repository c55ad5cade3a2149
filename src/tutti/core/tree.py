"""A tree of groups: the quorums of all its levels first, then whole groups beyond them, then extras.

So no sibling's surplus takes what another's quorum needs. Which children make a quorum, and in
which order they are placed, is searched: the most constrained first; the smallest first, since of
those more fit; as they were made; each spread by the scores and packed tightly; then with going
back on choices, within a budget of placements. Where every quorum is needed and members are alike,
all are at last searched as one gang, and that search proves what it doesn't find.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tutti.core.company import heed_others
from tutti.core.gang import (
    Share,
    Way,
    bindings_of,
    by_class,
    ease,
    fill,
    find_quorum,
    hardest_first,
    remainders,
)
from tutti.core.groups import Batch, Leaf, Tree, all_needed, batches_of, first, leaves_of, nodes_of
from tutti.core.plan import Placed, Plan
from tutti.core.search import MOST_CLASSES, Search
from tutti.core.tree_reasons import is_hopeless, refuse_tree
from tutti.core.trial import Checkpoint, Trial

MOST_CHOICES: Final = 200
"""Children among which choices are gone back on; where there are more, orders must do."""

Node = Leaf | Tree
Ease = tuple[int, float]


def plan_tree(trial: Trial, tree: Tree, effort: int = 1) -> Plan:
    """Place a tree in the trial. On a refusal the trial is as it was before."""
    if not tree.children:
        raise ValueError(f"{tree.key} has no child with anything to place")
    start = trial.checkpoint()
    growth = Growth(trial, tree, effort * trial.profile.search_steps)
    if not growth.place_quorums():
        return refuse_tree(trial, tree, proved=growth.is_proved)
    growth.add_groups(tree)
    quorum = growth.bindings()
    extras = growth.add_extras(tree)
    if quorum or extras:
        return Placed(quorum, extras)
    trial.rollback(start)
    return refuse_tree(trial, tree, proved=growth.is_proved)


@dataclass(frozen=True, slots=True)
class Seated:
    """A leaf whose quorum has its places, or stood before."""

    leaf: Leaf
    shares: list[Share]


class Growth:
    """A tree as it is placed, leaf by leaf; choices are undone in reverse order."""

    def __init__(self, trial: Trial, root: Tree, steps: int) -> None:
        self.is_proved = False
        """Whether a refusal is: nothing is left to be tried."""
        self._trial = trial
        self._root = root
        self._seated: list[Seated] = []
        self._standing: dict[str, None] = {}
        self._leaves = sum(1 for _ in leaves_of(root))
        self._search_steps = steps
        self._steps = max(8 * self._leaves, steps // 4)
        self._eases: dict[int, Ease] = {}

    def place_quorums(self) -> bool:
        """The root's quorum, and those of enough groups below it."""
        root, trial = self._root, self._trial
        if not root.lacking:
            return True
        if is_hopeless(trial, root):
            self.is_proved = True
            return False
        for packing in (False, True):
            if self._seat_tree(root, packing):
                return True
        for packing in (False, True):
            for order in self._orders(root):
                if len(order) > MOST_CHOICES:
                    break
                if self._choose(order, 0, root.lacking, packing):
                    self._standing[root.key] = None
                    return True
        return self._seat_all_as_one()

    def add_groups(self, tree: Tree) -> None:
        """Whole groups beyond the quorum, where they fit, under whatever stands."""
        for child in tree.children:
            if not self._stands(child):
                self._seat(child, packing=False)
            if self._stands(child) and isinstance(child, Tree):
                self.add_groups(child)

    def bindings(self) -> tuple[tuple[str, str], ...]:
        return tuple(
            pair for seated in self._seated for pair in bindings_of(self._trial, seated.shares)
        )

    def add_extras(self, tree: Tree) -> tuple[tuple[str, str], ...]:
        """Members beyond the quorums, where they fit, of leaves that stand."""
        placed = {seated.leaf.key: seated.shares for seated in self._seated}
        extras: list[tuple[str, str]] = []
        for leaf in self._standing_leaves(tree):
            batches = hardest_first(self._trial, by_class(leaf.batches))
            rest = remainders(batches, placed.get(leaf.key, []))
            count = sum(len(batch.pods) for batch in rest)
            extras += bindings_of(self._trial, fill(self._trial, Way(rest), count))
        return tuple(extras)

    # --- quorums ------------------------------------------------------------------------------

    def _seat(self, node: Node, packing: bool) -> bool:
        if isinstance(node, Tree):
            return self._seat_tree(node, packing)
        return self._seat_leaf(node, packing)

    def _seat_leaf(self, leaf: Leaf, packing: bool) -> bool:
        if not leaf.lacking:
            return True
        self._steps -= 1
        found = find_quorum(
            self._trial,
            hardest_first(self._trial, by_class(leaf.batches)),
            leaf.lacking,
            packing=packing,
            steps=self._search_steps // self._leaves,
        )
        if found.shares is None:
            return False
        self._seated.append(Seated(leaf, found.shares))
        self._standing[leaf.key] = None
        return True

    def _seat_tree(self, tree: Tree, packing: bool) -> bool:
        """Child after child, leaving out who doesn't fit, in one order after the other."""
        before = self._mark()
        for order in self._orders(tree):
            lacking = tree.lacking
            most = len(tree.children) - sum(self._stands(child) for child in tree.children)
            for at, child in enumerate(order):
                if not lacking or most - at < lacking or self._steps <= 0:
                    break
                lacking -= self._seat(child, packing)
            if not lacking:
                self._standing[tree.key] = None
                return True
            self._undo(before)
        return False

    def _choose(self, children: Sequence[Node], at: int, lacking: int, packing: bool) -> bool:
        """With this child or without it; going back on every choice while the budget lasts."""
        if not lacking:
            return True
        if len(children) - at < lacking or self._steps <= 0:
            return False
        before = self._mark()
        if self._seat(children[at], packing) and self._choose(
            children, at + 1, lacking - 1, packing
        ):
            return True
        self._undo(before)
        return self._choose(children, at + 1, lacking, packing)

    def _seat_all_as_one(self) -> bool:
        """Every quorum of the tree at once, where there is no choice of groups or members."""
        needed = all_needed(self._root)
        if needed is None:
            return False
        batches = by_class(
            [batch for leaf in needed for batch in first(leaf.batches, leaf.lacking)]
        )
        if heed_others(batches) or len(batches) > MOST_CLASSES:
            return False
        batches = hardest_first(self._trial, batches)
        search = Search(self._trial, batches, self._search_steps)
        found = search.find(sum(leaf.lacking for leaf in needed))
        if found is None:
            self.is_proved = search.is_complete
            return False
        places = {
            pod: rows[at : at + 1]
            for batch, rows in zip(batches, found, strict=True)
            for at, pod in enumerate(batch.pods)
        }
        for leaf in needed:
            shares = [
                Share(Batch(batch.cls, (pod,)), places[pod])
                for batch in first(leaf.batches, leaf.lacking)
                for pod in batch.pods
            ]
            self._seated.append(Seated(leaf, shares))
        self._standing.update((node.key, None) for node in nodes_of(self._root))
        return True

    def _stands(self, node: Node) -> bool:
        return not node.lacking or node.key in self._standing

    def _standing_leaves(self, tree: Tree) -> Iterator[Leaf]:
        for child in tree.children:
            if self._stands(child):
                if isinstance(child, Tree):
                    yield from self._standing_leaves(child)
                else:
                    yield child

    def _mark(self) -> tuple[Checkpoint, int, int]:
        return self._trial.checkpoint(), len(self._seated), len(self._standing)

    def _undo(self, mark: tuple[Checkpoint, int, int]) -> None:
        checkpoint, seated, standing = mark
        self._trial.rollback(checkpoint)
        del self._seated[seated:]
        while len(self._standing) > standing:
            self._standing.popitem()

    # --- orders -------------------------------------------------------------------------------

    def _orders(self, tree: Tree) -> Iterator[list[Node]]:
        """Each order of the children that still lack something, once."""
        made = [child for child in tree.children if child.lacking]
        known: list[list[Node]] = []
        for order in (
            sorted(made, key=self._ease_of),
            sorted(made, key=self._demand_of),
            made,
        ):
            if order not in known:
                known.append(order)
                yield order

    def _ease_of(self, node: Node) -> Ease:
        """Fewest nodes to go to first, then the largest share of one."""
        return min((self._class_ease(batch) for batch in batches_of(node)), default=(0, 0.0))

    def _demand_of(self, node: Node) -> float:
        """How much of the cluster its quorum takes, in nodes."""
        if isinstance(node, Tree):
            return sum(sorted(map(self._demand_of, node.children))[: node.lacking])
        return sum(
            self._share(batch) * len(batch.pods)
            for batch in first(sorted(node.batches, key=self._share), node.lacking)
        )

    def _class_ease(self, batch: Batch) -> Ease:
        known = self._eases.get(batch.cls.id)
        if known is None:
            share, nodes = ease(self._trial, batch.cls)
            known = self._eases[batch.cls.id] = nodes, share
        return known

    def _share(self, batch: Batch) -> float:
        return -self._class_ease(batch)[1]
