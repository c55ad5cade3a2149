"""What every test may use: one event loop, and how hard Hypothesis searches."""

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci",
    max_examples=500,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "dev")


@pytest.hookimpl(trylast=True)  # Hypothesis marks its tests in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Properties may take longer than other tests: CI tries ten times as many examples."""
    for item in items:
        if item.get_closest_marker("hypothesis") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(600))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
