"""The docs name what the product says: no reason, metric, event or link is missing in them."""

import re
from pathlib import Path
from typing import get_args

import pytest

from tutti.cli import main
from tutti.controllers import binder
from tutti.engine import outlook, words
from tutti.pretend import cluster, kubelet

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def in_source(pattern: str) -> set[str]:
    """Everything in the source that looks like this; the pattern's group is what counts."""
    return {
        found
        for file in (ROOT / "src").rglob("*.py")
        for found in re.findall(pattern, file.read_text())
    }


def test_every_reason_is_explained():
    page = (DOCS / "reasons.md").read_text()
    said = {
        *get_args(outlook.Reason),
        *words.INITIALLY.values(),
        *in_source(r'PodWord\(\s*"(\w+)"'),
        *in_source(r'Note\(\s*[\w.]+,\s*"\w+",\s*"(\w+)"'),
        binder.UNDONE.reason,
        "DeletionByPodGC",
    }
    assert {reason for reason in said if f"`{reason}`" not in page} == set()


def test_every_key_of_ours_is_explained():
    page = (DOCS / "reasons.md").read_text()
    keys = {words.SATISFIED, binder.COMMIT, cluster.PRETEND, kubelet.STOPS_AFTER}
    assert {key for key in keys | in_source(r'"(tutti\.dev/[\w-]+)"') if key not in page} == set()


def test_every_metric_is_explained():
    page = (DOCS / "metrics.md").read_text()
    counted = in_source(r'\.(?:counter|gauge|histogram)\(\s*"((?:tutti|scheduler|apiserver)_\w+)"')
    assert {"tutti_lease_held", "apiserver_request_total"} <= counted
    assert {metric for metric in counted if f"`{metric}`" not in page} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_link_leads_nowhere(page: Path):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_make_target_that_the_readme_names_exists():
    named = set(re.findall(r"`make ([a-z0-9-]+)", (ROOT / "README.md").read_text()))
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert named - targets == set()


def test_every_command_that_the_readme_names_exists():
    named = set(re.findall(r"`tutti ([a-z]+)", (ROOT / "README.md").read_text()))
    assert named - {command.name for command in main.COMMANDS} == set()
