"""The tables that the API's rules are tested with, put to a real API server: it says the same."""

import json
import urllib.error
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from tests.api import test_job_rules, test_pod_rules, test_scheduling_rules
from tools.throwaway import Plane
from tutti.api import registry

Json = dict[str, Any]

pytestmark = pytest.mark.real

TABLES = [
    (registry.WORKLOADS, "v1alpha3", test_scheduling_rules.test_a_new_workload),
    (registry.POD_GROUPS, "v1beta1", test_scheduling_rules.test_a_new_group),
    (registry.COMPOSITE_POD_GROUPS, "v1alpha3", test_scheduling_rules.test_a_new_composite_group),
    (registry.PODS, "v1", test_pod_rules.test_a_new_pod),
    (registry.CRONJOBS, "v1", test_job_rules.test_a_new_cron_job),
]


def rows(test: Any) -> Iterator[tuple[Json, list[str]]]:
    """The rows of a parametrized test: an object, and what is said against it."""
    (mark,) = test.pytestmark
    for row in mark.args[1]:
        new, errors = getattr(row, "values", row)
        yield deepcopy(new), errors


def said(plane: Plane, path: str, new: Json) -> list[str]:
    """What the server says against a new object; nothing is kept."""
    try:
        plane.request("POST", f"{path}?dryRun=All", new)
    except urllib.error.HTTPError as refused:
        causes = json.load(refused)["details"]["causes"]
        return [f"{cause['field']}: {cause['message']}" for cause in causes]
    return []


@pytest.mark.parametrize(
    ("storage", "version", "test"), TABLES, ids=[storage.key for storage, _, _ in TABLES]
)
def test_a_real_server_says_what_the_table_says(
    real_plane: Plane, namespace: str, storage: registry.Storage, version: str, test: Any
) -> None:
    path = storage.path(version, namespace)
    for new, errors in rows(test):
        new.setdefault("metadata", {}).setdefault("name", "x")
        assert said(real_plane, path, new) == errors
