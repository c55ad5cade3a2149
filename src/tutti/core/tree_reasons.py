"""Why a tree has no place: what keeps out each of its groups, and what is proved."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from tutti.core.bounds import is_impossible
from tutti.core.gang import (
    by_class,
    find_quorum,
    hardest_first,
    refusal_of,
    shortfall_of,
)
from tutti.core.groups import Leaf, Tree, batches_of, leaves_of
from tutti.core.plan import Refusal
from tutti.core.reasons import Tally, tally
from tutti.core.trial import Trial

Node = Leaf | Tree


def is_hopeless(trial: Trial, tree: Tree) -> bool:
    """Whether sums alone show that the fewest members that would do have no place at once."""
    least = _least_members(tree)
    return least > 0 and is_impossible(trial, by_class(list(batches_of(tree))), least)


def _least_members(node: Node) -> int:
    if isinstance(node, Leaf):
        return node.lacking
    lacking = sorted(_least_members(child) for child in node.children if child.lacking)
    return sum(lacking[: node.lacking])


def refuse_tree(trial: Trial, tree: Tree, *, proved: bool) -> Refusal:
    """The trial is as it was before anything of the tree was placed, and stays so."""
    reasons = _alone(trial, tree)
    if not proved and tree.lacking:
        proved = not _could(tree, reasons, lambda why: not why.proved)
    for key, why in _together(trial, tree, reasons):
        reasons.setdefault(key, why)
    return _of_tree(trial, tree, reasons, proved)


def _alone(trial: Trial, tree: Tree) -> dict[str, Refusal]:
    """The leaves that have no place even with all the room to themselves."""
    reasons: dict[str, Refusal] = {}
    known: dict[tuple[object, ...], Refusal | None] = {}
    for leaf in leaves_of(tree):
        kind = (leaf.lacking, *((batch.cls.id, len(batch.pods)) for batch in leaf.batches))
        if kind not in known:
            known[kind] = _why_not(trial, leaf)
        why = known[kind]
        if why is not None:
            reasons[leaf.key] = why
    return reasons


def _why_not(trial: Trial, leaf: Leaf) -> Refusal | None:
    """None when the leaf has a place; then it is taken back."""
    start = trial.checkpoint()
    batches = hardest_first(trial, by_class(leaf.batches))
    if not leaf.lacking:
        return shortfall_of(trial, leaf, batches, 0)
    found = find_quorum(trial, batches, leaf.lacking, steps=trial.profile.search_steps // 8)
    if found.shares is None:
        return refusal_of(trial, replace(leaf, gang=True), batches, found)
    trial.rollback(start)
    return None


def _together(trial: Trial, tree: Tree, alone: dict[str, Refusal]) -> Iterator[tuple[str, Refusal]]:
    """The leaves that have no place beside their siblings, though they have one alone."""
    start = trial.checkpoint()
    for leaf in leaves_of(tree):
        if leaf.key in alone or not leaf.lacking:
            continue
        batches = hardest_first(trial, by_class(leaf.batches))
        found = find_quorum(trial, batches, leaf.lacking, steps=0)
        if found.shares is None:
            why = refusal_of(trial, replace(leaf, gang=True), batches, found)
            message = f"fits alone, but not beside the others: {why.message}"
            yield leaf.key, replace(why, proved=False, status="Unschedulable", message=message)
    trial.rollback(start)


def _of_tree(trial: Trial, tree: Tree, reasons: dict[str, Refusal], proved: bool) -> Refusal:
    fits = _standing(tree, reasons, _no_hope)
    resolvable = _could(tree, reasons, lambda why: why.status == "Unschedulable")
    why, culprit = _first_reason(trial, tree, reasons)
    return Refusal(
        status="Unschedulable" if resolvable else "UnschedulableAndUnresolvable",
        fits=fits,
        needs=tree.quorum,
        tally=why,
        proved=proved,
        message=_sentence(tree, fits, proved, culprit),
        below=tuple(_below(trial, tree, reasons, proved)),
    )


def _below(
    trial: Trial, tree: Tree, reasons: dict[str, Refusal], proved: bool
) -> Iterator[tuple[str, Refusal]]:
    """What has a reason of its own, at every level."""
    for child in tree.children:
        if isinstance(child, Leaf):
            if child.key in reasons:
                yield child.key, reasons[child.key]
        else:
            if not _could(child, reasons, _no_hope):
                yield child.key, _of_tree(trial, child, reasons, proved)
            yield from _below(trial, child, reasons, proved)


def _no_hope(_: Refusal) -> bool:
    return False


def _could(node: Node, reasons: dict[str, Refusal], hope: Callable[[Refusal], bool]) -> bool:
    """Whether enough of it could stand, going by what each leaf alone leaves to hope for."""
    if isinstance(node, Leaf):
        return not node.lacking or node.key not in reasons or hope(reasons[node.key])
    return _standing(node, reasons, hope) >= node.quorum


def _standing(tree: Tree, reasons: dict[str, Refusal], hope: Callable[[Refusal], bool]) -> int:
    """How many children stand, or could."""
    return tree.counted + sum(_could(child, reasons, hope) for child in tree.children)


def _first_reason(trial: Trial, tree: Tree, reasons: dict[str, Refusal]) -> tuple[Tally, str]:
    """The tally of the first leaf that has a reason, and its sentence."""
    for leaf in leaves_of(tree):
        if leaf.key in reasons:
            why = reasons[leaf.key]
            return why.tally, f"{leaf.key.rpartition('/')[2]}: {why.message}"
    leaf = next(leaf for leaf in leaves_of(tree) if leaf.batches)
    return tally(trial.snapshot, trial.used, trial.profile, leaf.batches[0].cls), ""


def _sentence(tree: Tree, fits: int, proved: bool, culprit: str) -> str:
    if not tree.lacking:
        return culprit
    doubt = "" if proved else " (not every arrangement was tried)"
    needs = f"needs {tree.quorum} group{'' if tree.quorum == 1 else 's'}, {fits} fit{doubt}"
    return f"{needs}: {culprit}" if culprit else needs
