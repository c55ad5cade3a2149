"""Names of what is made for Jobs: as Kubernetes makes them wherever it can."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutti.controllers.jobs import names


@pytest.mark.parametrize(
    ("job", "uid", "workload"),
    [
        ("basic", "68fa9813-43ad-4206-a649-48551c8ae448", "basic-ddd5bdcbf"),
        ("gang", "b5c0e65d-ac5a-46be-922e-90a91f910a28", "gang-7d59f78bb7"),
        ("my-job", "uid-123", "my-job-795ddf89fd"),
    ],
)
def test_workloads_have_the_names_that_kubernetes_gives_them_111(job: str, uid: str, workload: str):
    assert names.workload(job, uid) == workload


@pytest.mark.parametrize(
    ("workload", "template", "group"),
    [
        ("basic-ddd5bdcbf", "basic-pgt-0", "basic-ddd5bdcbf-basic-pgt-0-ff84fddf5"),
        ("gang-7d59f78bb7", "gang-pgt-0", "gang-7d59f78bb7-gang-pgt-0-57b7dc6c54"),
        ("pw", "workers", "pw-workers-66c586db7"),
        ("my-workload", "my-template", "my-workload-my-template-67bd6bbcc4"),
        ("w" * 200, "t" * 200, f"{'w' * 121}-{'t' * 120}-6f9f45db49"),
    ],
)
def test_groups_have_the_names_that_kubernetes_gives_them_111(
    workload: str, template: str, group: str
):
    assert names.pod_group(workload, template) == group


@pytest.mark.parametrize(
    ("workload", "template"),
    [
        pytest.param("w" * 253, "t", id="long workload"),
        pytest.param("w", "t" * 253, id="long template"),
    ],
)
def test_the_short_part_of_a_groups_name_stays_whole_111(workload: str, template: str):
    name = names.pod_group(workload, template)
    assert len(name) == 253
    assert "-t" in name or name.startswith("w-")


def test_a_template_is_named_after_the_job():
    assert names.template("train") == "train-pgt-0"
    assert names.template("j" * 57) == "j" * 57 + "-pgt-0"


@given(
    st.from_regex(
        r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*", fullmatch=True
    )
)
def test_every_name_of_a_job_gives_a_template_that_is_a_label_126(job: str):
    template = names.template(job[:253].rstrip(".-"))
    assert len(template) <= 63
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", template)


def test_names_that_are_cut_alike_still_differ_126():
    assert names.template("a.b") != names.template("a-b") == "a-b-pgt-0"
    assert names.template("j" * 60 + "x") != names.template("j" * 60 + "y")


def test_two_jobs_of_one_template_get_two_groups_127a():
    assert names.pod_group("pw", "workers", "one") != names.pod_group("pw", "workers", "other")
    assert names.pod_group("pw", "workers", "one") != names.pod_group("pw", "workers")


@pytest.mark.parametrize(
    ("job", "index", "prefix"),
    [
        ("train", 3, "train-3-"),
        ("train", None, "train-"),
        ("j" * 63, 12, "j" * 54 + "-12-"),
        ("j" * 63, None, "j" * 57 + "-"),
    ],
)
def test_pods_are_named_after_job_and_index(job: str, index: int | None, prefix: str):
    assert names.pod_prefix(job, index) == prefix
