"""Cases as review items: goals, image and report, data quality, difficulty."""

import pytest

from medbench.cases.editions import Edition
from medbench.review import cases, sources
from medbench.review.services import Decision, create_items, record_results
from tests.cases.build import make_benchmark, make_case, make_release, make_triplet


@pytest.fixture
def benchmark(team):
    return make_benchmark(team)


def items_of(edition, kind, **filters):
    return create_items(cases.as_items(cases.chosen(edition, kind, **filters), kind))


def test_a_goal_is_judged_beside_the_questions_that_it_was_abstracted_from(benchmark):
    case = make_case(benchmark, "TCGA-A6-3810", goal="Judge the nodal status", slide="TCGA-A6-3810.svs")
    make_triplet(case, "1", question="How large is it?", insight="It measures 6 cm.")
    (item,) = items_of(Edition(benchmark, None), "goal")
    assert (item.subject_id, item.case, item.slide) == (str(case.goal.pk), case, case.slide)
    assert item.payload["goal"] == "Judge the nodal status"
    assert [each["question"] for each in item.payload["triplets"]] == ["How large is it?"]
    assert "3810" not in str(item.payload)


def test_image_and_report_are_judged_without_what_was_derived_from_them(benchmark):
    make_triplet(make_case(benchmark, "C-1"), "1")
    (item,) = items_of(Edition(benchmark, None), "report")
    assert item.payload == {"report_version": 1, "slide": None}


def test_only_what_is_there_is_put_up_for_judgement(benchmark):
    bare = make_case(benchmark, "C-1", report=None)
    bare.goal = None
    bare.save()
    make_case(benchmark, "C-2")
    edition = Edition(benchmark, None)
    assert [item.case.case_id for item in items_of(edition, "goal")] == ["C-2"]
    assert [item.case.case_id for item in items_of(edition, "report")] == ["C-2"]
    assert [item.case.case_id for item in items_of(edition, "case")] == ["C-1", "C-2"]


def test_a_release_is_judged_as_it_was_frozen(benchmark):
    case = make_case(benchmark, "C-1", site="Rectum")
    make_triplet(case, "1", insight="It measures 6 cm.")
    release = make_release(benchmark)
    make_triplet(case, "2", insight="Added later.")
    case.difficulty = 4
    case.save()
    for site in ("", "Rectum"):
        (item,) = items_of(Edition(benchmark, release), "difficulty", site=site)
        assert item.payload["difficulty"] == 2
        assert [each["insight"] for each in item.payload["triplets"]] == ["It measures 6 cm."]
    assert items_of(Edition(benchmark, release), "difficulty", site="Colon") == []


def test_a_sample_is_the_same_for_the_same_seed_and_never_larger_than_what_there_is(benchmark):
    for number in range(12):
        make_case(benchmark, f"C-{number}")
    rows = cases.chosen(Edition(benchmark, None), "case")

    def drawn(size, seed):
        return [case.case_id for case in sources.sample(rows, size, seed)]

    assert drawn(5, 1) == drawn(5, 1)
    assert len(set(drawn(5, 1))) == 5
    assert len({tuple(drawn(5, seed)) for seed in range(5)}) > 1
    assert len(drawn(100, 1)) == len(drawn(None, 1)) == 12


def test_an_agreed_level_becomes_that_of_the_case(benchmark):
    case = make_case(benchmark, "C-1", difficulty=2)
    (item,) = items_of(Edition(benchmark, None), "difficulty")
    record_results("study:1", [Decision(item, "level_4", {})])
    case.refresh_from_db()
    assert case.difficulty == 4


def test_a_level_that_a_curator_changed_meanwhile_stays(benchmark):
    case = make_case(benchmark, "C-1", difficulty=2)
    (item,) = items_of(Edition(benchmark, None), "difficulty")
    case.difficulty = 3
    case.save()
    record_results("study:1", [Decision(item, "level_4", {})])
    case.refresh_from_db()
    assert case.difficulty == 3


@pytest.mark.parametrize("is_frozen", [False, True])
def test_the_number_of_queries_does_not_grow_with_the_cases(benchmark, is_frozen, django_assert_num_queries):
    make_triplet(make_case(benchmark, "C-1"), "1")
    edition = Edition(benchmark, make_release(benchmark, 1) if is_frozen else None)
    with django_assert_num_queries(4):
        items_of(edition, "case")
    for key in "23":
        make_triplet(make_case(benchmark, f"C-{key}"), key)
    edition = Edition(benchmark, make_release(benchmark, 2) if is_frozen else None)
    with django_assert_num_queries(4):
        items_of(edition, "case")
