from pathlib import Path

import pytest

from tests.kube.peer import Papers, make_papers


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    folder: Path = tmp_path_factory.mktemp("papers")
    return make_papers(folder)
