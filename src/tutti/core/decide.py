"""plan: what live scheduling, `why`, `plan`, the simulator and the tests all call."""

from tutti.core.gang import plan_group
from tutti.core.groups import Leaf, Root, Tree
from tutti.core.plan import Plan
from tutti.core.profile import Profile
from tutti.core.tree import plan_tree
from tutti.core.trial import Trial


def plan(trial: Trial, root: Root, profile: Profile | None = None, *, effort: int = 1) -> Plan:
    """Decide one root. What it is given stays taken in the trial; a refusal leaves no trace.

    The profile is the trial's; naming another one is a mistake. `effort` widens the search that
    goes before a refusal by so many times.
    """
    if profile is not None and profile != trial.profile:
        raise ValueError("a trial serves one profile; make another trial for another profile")
    match root:
        case Leaf():
            return plan_group(trial, root, effort)
        case Tree():
            return plan_tree(trial, root, effort)
