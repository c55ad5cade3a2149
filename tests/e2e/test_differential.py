"""Tutti's rules against the real kube-scheduler's: the same nodes, the same scores, the same reasons.

Random clusters and pods on a real API server; kube-scheduler says which nodes passed, what each score
made of them, and what it counted where none did. The same objects, as the server showed them, go
through Tutti's columns. Every pod is asked about twice, the second time with a need that few nodes meet
and that is asked after all others, so that refusals are compared for nearly all of them.

Its answers are kept for the run, to see that they bite: whichever rule is left out, whichever score
is weighed otherwise, some answer shows it.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
import pytest

from tests.e2e import judge, questions
from tests.e2e.comparison import Case, differences, differences_in_nodes
from tests.e2e.conftest import one_at_a_time, run_folder
from tests.e2e.judge import Record
from tests.e2e.mutants import OVERSIGHTS, Mutant, Oversight, mutants
from tests.e2e.questions import RARE
from tools import throwaway
from tutti.api.podspec import unsupported

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

CLUSTERS: Final = 30

KNOWN: Final[Mapping[str, str]] = {
    "of-a-service": "spreading by Services and owners is not done: only what a pod states counts",
    "unreadable-preference": "kube-scheduler fails with an error and never places the pod; "
    "to Tutti a preference that can't be read is one that no node meets",
    "waits-for-its-pod": "a claim that is bound where its first pod goes isn't served yet: "
    "the pod waits, and the words say so",
}
"""Differences that stand: the names of pods, each with the reason why."""


@pytest.fixture(scope="module")
def cases(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    """What was asked and answered: once in a run, however many workers it has."""
    folder = run_folder(tmp_path_factory) / "kube-scheduler"
    folder.mkdir(mode=0o700, exist_ok=True)
    answers = folder / "answers.json"
    with one_at_a_time(folder / "gate"):
        if not answers.exists():
            clusters = [
                questions.oddities(),
                *(
                    questions.cluster(
                        number, nodes=12, running=20, asking=len(questions.WISHES) + 1
                    )
                    for number in range(CLUSTERS)
                ),
            ]
            with throwaway.plane(programs, folder) as plane:
                asked = asyncio.run(judge.ask(programs, plane, folder, clusters))
            answers.write_bytes(msgspec.json.encode(asked))
    record = msgspec.json.decode(answers.read_bytes(), type=Record)
    return [
        Case(scene.nodes, scene.running, question, record.disks)
        for scene in record.scenes
        for question in scene.questions
    ]


@pytest.fixture(scope="module")
def agreeing(cases: list[Case]) -> list[Case]:
    """Without those whose answers differ anyhow, for they would notice every mistake."""
    return [case for case in cases if case.name.removesuffix(RARE) not in KNOWN]


def test_there_is_enough_to_compare(cases: list[Case]) -> None:
    answers = [case.question.answer for case in cases]
    assert len({case.name.removesuffix(RARE) for case in cases}) >= 500
    assert sum(bool(answer.refusal) for answer in answers) >= 400
    assert sum(len(answer.totals) >= 5 for answer in answers) >= 100
    assert not [unsupported(case.question.pod) for case in cases if unsupported(case.question.pod)]


def test_both_say_the_same(cases: list[Case]) -> None:
    differing = {
        case.name: found for case in cases if (found := list(differences(case, case.profile)))
    }
    known = {name for name in differing if name.removesuffix(RARE) in KNOWN}
    assert {name: found for name, found in differing.items() if name not in known} == {}
    assert {name.removesuffix(RARE) for name in known} == KNOWN.keys()


@pytest.mark.parametrize("mutant", list(mutants()), ids=str)
def test_no_rule_can_be_left_out_or_weighed_otherwise(agreeing: list[Case], mutant: Mutant) -> None:
    assert any(map(mutant.is_noticed, agreeing))


@pytest.mark.parametrize("oversight", OVERSIGHTS, ids=lambda oversight: oversight.__name__)
def test_nothing_that_bears_on_who_fits_where_can_be_overlooked(
    agreeing: list[Case], oversight: Oversight
) -> None:
    assert any(any(differences_in_nodes(oversight(case), case.profile)) for case in agreeing)
