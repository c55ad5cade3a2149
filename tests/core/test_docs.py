"""The example of docs/core.md does what the page says."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.core.support import cluster, gang, node, sized, trial
from tutti.core.decide import plan
from tutti.core.plan import Placed, Refusal
from tutti.core.profile import Profile
from tutti.engine.configuration import read

PAGE = (Path(__file__).parents[2] / "docs" / "core.md").read_text()


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def profile() -> Profile:
    """The profile of the page's scheduler.yaml, with the page's own plugin."""
    module: dict[str, Any] = {}
    exec(block("python"), module)
    document = yaml.safe_load(block("yaml"))
    (made,) = read(document, {"YoungEnough": module["young_enough"]}).profiles.values()
    return made


def test_the_plugin_of_the_page_keeps_pods_off_old_nodes(profile: Profile) -> None:
    here = cluster(*(node(f"aged-{age}", labels={"age": age}) for age in ("3", "5", "7")))
    root = gang(here, (2, sized()))

    decided = plan(trial(here, profile=profile), root)

    assert isinstance(decided, Placed)
    assert "aged-7" not in {name for _, name in decided.bindings}


def test_what_it_rules_out_is_said_in_its_own_words(profile: Profile) -> None:
    here = cluster(node("aged-9", labels={"age": "9"}))

    decided = plan(trial(here, profile=profile), gang(here, (1, sized())))

    assert isinstance(decided, Refusal)
    assert decided.message == "0/1 nodes are available: 1 node(s) were too old."
