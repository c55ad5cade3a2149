"""Node selectors and required node affinity: which nodes a term speaks of."""

import re
from dataclasses import dataclass

import numpy as np

from tutti.core import columns
from tutti.core.columns import Mask
from tutti.core.pods import PodClass, Requirement, Term
from tutti.core.snapshot import Label, Nodes

NAME_FIELD = "metadata.name"


def matches_selector(nodes: Nodes, cls: PodClass) -> Mask:
    """The nodes that carry what `nodeSelector` asks, and meet one of the required terms."""
    kept = nodes.present.copy()
    for requirement in cls.asks.selector:
        kept &= meets(nodes, requirement)
    if cls.asks.required is not None:
        kept &= meets_one(nodes, cls.asks.required)
    return kept


@dataclass(frozen=True, slots=True)
class EnforcedAffinity:
    """The nodes that meet one of the terms that a profile asks for beside the pod's own."""

    terms: tuple[Term, ...]

    def __call__(self, nodes: Nodes, cls: PodClass) -> Mask:
        del cls  # whatever it asks
        return nodes.present & meets_one(nodes, self.terms)


def is_pinned_to(nodes: Nodes, cls: PodClass) -> Mask:
    """The nodes that required terms name: all of them, unless every term names some."""
    names = pinned_names(cls)
    return nodes.present if names is None else nodes.present & _named(nodes, names)


def pinned_names(cls: PodClass) -> tuple[str, ...] | None:
    """The names that the required terms agree on; None where some term leaves the name open."""
    union: dict[str, None] = {}
    for term in cls.asks.required or ():
        named = [field.values for field in term.fields if _pins(field)]
        if not named:
            return None
        union.update((name, None) for name in named[0] if all(name in other for other in named))
    return tuple(union) if cls.asks.required else None


def meets_one(nodes: Nodes, terms: tuple[Term, ...]) -> Mask:
    met = columns.mask(len(nodes))
    for term in terms:
        met |= meets_all(nodes, term)
    return met


def meets_all(nodes: Nodes, term: Term) -> Mask:
    """The nodes that meet every rule of a term; none meets an empty one, or one that can't be read."""
    if not (term.labels or term.fields):
        return columns.mask(len(nodes))
    met = nodes.present.copy()
    for requirement in term.labels:
        met &= meets(nodes, requirement)
    for requirement in term.fields:
        met &= _field_meets(nodes, requirement)
    return met


def meets(nodes: Nodes, requirement: Requirement) -> Mask:
    """The nodes whose label meets a rule. NotIn and DoesNotExist are met where there is none."""
    label = nodes.labels.get(requirement.key)
    if label is None:
        return columns.mask(len(nodes), requirement.operator in ("NotIn", "DoesNotExist"))
    return _accepted(label, requirement)[label.codes]


def _accepted(label: Label, requirement: Requirement) -> Mask:
    """Whether each value of the label is accepted; the last place stands for having none."""
    accepted = columns.mask(len(label.values) + 1)
    match requirement.operator:
        case "In" | "NotIn":
            known = (label.code_of.get(value) for value in requirement.values)
            accepted[[code for code in known if code is not None]] = True
            if requirement.operator == "NotIn":
                np.logical_not(accepted, out=accepted)
        case "Exists":
            accepted[:-1] = True
        case "DoesNotExist":
            accepted[-1] = True
        case "Gt" | "Lt":
            accepted[:-1] = _compared(label, requirement)
        case _:
            pass  # a rule that can't be read is met by nobody
    return accepted


def _compared(label: Label, requirement: Requirement) -> list[bool]:
    bound = whole_number(requirement.values[0]) if len(requirement.values) == 1 else None
    if bound is None:
        return [False] * len(label.values)
    numbers = [whole_number(value) for value in label.values]
    if requirement.operator == "Gt":
        return [number is not None and number > bound for number in numbers]
    return [number is not None and number < bound for number in numbers]


def whole_number(text: str) -> int | None:
    """A number as Kubernetes reads it in rules: 64 bits, decimal, with or without a sign."""
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def _field_meets(nodes: Nodes, requirement: Requirement) -> Mask:
    if len(requirement.values) != 1 or requirement.operator not in ("In", "NotIn"):
        return columns.mask(len(nodes))
    # A field that nodes don't have is empty on all of them.
    named = (
        _named(nodes, requirement.values)
        if requirement.key == NAME_FIELD
        else columns.mask(len(nodes), requirement.values == ("",))
    )
    return named if requirement.operator == "In" else ~named


def _pins(field: Requirement) -> bool:
    return field.key == NAME_FIELD and field.operator == "In"


def _named(nodes: Nodes, names: tuple[str, ...]) -> Mask:
    named = columns.mask(len(nodes))
    named[[nodes.row_of[name] for name in names if name in nodes.row_of]] = True
    return named
