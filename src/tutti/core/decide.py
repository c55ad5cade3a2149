"""plan: what live scheduling, `why`, `plan`, the simulator and the tests all call."""

from tutti.core.gang import plan_group
from tutti.core.groups import Leaf, Root, Tree
from tutti.core.plan import Plan
from tutti.core.profile import Profile
from tutti.core.tree import plan_tree
from tutti.core.trial import Trial


def plan(trial: Trial, root: Root, profile: Profile | None = None, *, effort: int = 1) -> Plan:
    """Decide one root, by a profile of its own where one is given.

    What it is given stays taken in the trial; a refusal leaves no trace. `effort` widens the search
    that goes before a refusal by so many times.
    """
    usual = trial.profile
    trial.profile = profile or usual
    try:
        match root:
            case Leaf():
                return plan_group(trial, root, effort)
            case Tree():
                return plan_tree(trial, root, effort)
    finally:
        trial.profile = usual
