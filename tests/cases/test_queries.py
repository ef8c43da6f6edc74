"""Lists of an edition: filters, search, counts, order."""

import pytest

from medbench.cases import queries
from medbench.cases.editions import Edition
from medbench.cases.queries import Filters
from tests.cases.build import make_benchmark, make_case, make_release, make_triplet, make_version


@pytest.fixture
def benchmark(team):
    benchmark = make_benchmark(team)
    first = make_case(benchmark, "C-1", site="Colon", difficulty=1, goal="Judge the nodal status")
    second = make_case(benchmark, "C-2", site="Lung", difficulty=3, report="Margins: positive.")
    make_case(benchmark, "C-3", site="Lung", difficulty=3, split="heldout", report=None)
    make_triplet(first, "1", category="descriptive", state="verified")
    make_triplet(first, "2", category="predictive", insight="The outlook is 100% good")
    make_triplet(second, "1", category="predictive", state="corrected")
    return benchmark


@pytest.fixture(params=["release", "draft"])
def edition(request, benchmark):
    return Edition(benchmark, make_release(benchmark) if request.param == "release" else None)


def names(edition, *, held_out=True, sort="", **filters):
    found = queries.rows(edition, held_out=held_out)
    found = queries.counted(queries.narrowed(found, edition, Filters(**filters)), edition)
    return [row.name for row in queries.ordered(found, sort)]


def test_cases_come_in_their_order(edition):
    assert names(edition) == ["C-1", "C-2", "C-3"]


def test_held_out_cases_are_left_out(edition):
    assert names(edition, held_out=False) == ["C-1", "C-2"]


def test_filters_narrow(edition):
    assert names(edition, site="Lung") == ["C-2", "C-3"]
    assert names(edition, difficulties=(1,)) == ["C-1"]
    assert names(edition, difficulties=(1, 3)) == ["C-1", "C-2", "C-3"]
    assert names(edition, category="descriptive") == ["C-1"]
    assert names(edition, split="heldout") == ["C-3"]
    assert names(edition, site="Lung", category="predictive") == ["C-2"]


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("NODAL", ["C-1", "C-2", "C-3"]),  # goal
        ("tumour size", ["C-1"]),  # report, both words
        ("size 6 outlook", ["C-1"]),  # across report and insight
        ("outlook", ["C-1"]),  # insight
        ("how large", ["C-1", "C-2"]),  # question
        ("c-2", ["C-2"]),  # name of the case
        ("100%", ["C-1"]),  # a sign that a database takes for a wildcard
        ("1_0%", []),
        ("nothing of this", []),
    ],
)
def test_search_finds_words_in_goal_report_and_triplets(edition, search, found):
    assert names(edition, search=search) == found


def test_counts_by_category_and_verified(edition):
    row = queries.counted(queries.rows(edition, held_out=True), edition).get(name="C-1")
    assert (row.n_triplets, row.n_verified, row.n_descriptive, row.n_predictive) == (2, 1, 1, 1)


def test_counts_stay_right_when_the_list_is_filtered_by_category(edition):
    found = queries.narrowed(queries.rows(edition, held_out=True), edition, Filters(category="predictive"))
    assert queries.counted(found, edition).get(name="C-1").n_triplets == 2


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("-case", ["C-3", "C-2", "C-1"]),
        ("-difficulty", ["C-2", "C-3", "C-1"]),
        ("triplets", ["C-3", "C-2", "C-1"]),
        ("no such column", ["C-1", "C-2", "C-3"]),
    ],
)
def test_sorting(edition, sort, order):
    assert names(edition, sort=sort) == order


def test_a_release_keeps_what_the_working_copy_changes(benchmark):
    edition = Edition(benchmark, make_release(benchmark))
    case = benchmark.cases.get(case_id="C-1")
    triplet = case.triplets.get(key="1")
    triplet.current = make_version(triplet, 2, category="evaluative", question="q", insight="Newer wording")
    triplet.save()
    case.site = "Rectum"
    case.save()
    shown = queries.shown_case(case, edition)
    assert shown.row.site == "Colon"
    assert [each.version.insight for each in shown.triplets] == [
        "Insight 1 of C-1.",
        "The outlook is 100% good",
    ]
    assert queries.shown_case(case, Edition(benchmark, None)).triplets[0].version.insight == "Newer wording"


def test_an_older_wording_does_not_count_as_verified(benchmark):
    """The verification of a newer wording says nothing about the one in the release."""
    edition = Edition(benchmark, make_release(benchmark))
    case = benchmark.cases.get(case_id="C-1")
    triplet = case.triplets.get(key="1")
    triplet.current = make_version(triplet, 2, category="descriptive", question="q", insight="Newer")
    triplet.save()
    assert queries.shown_case(case, edition).n_verified == 0
    assert queries.counted(queries.rows(edition, held_out=True), edition).get(name="C-1").n_verified == 0
    assert queries.shown_case(case, Edition(benchmark, None)).n_verified == 1


def test_rejected_and_retired_triplets_count_nowhere(benchmark):
    case = benchmark.cases.get(case_id="C-1")
    case.triplets.filter(key="1").update(state="rejected")
    draft = Edition(benchmark, None)
    assert queries.counted(queries.rows(draft, held_out=True), draft).get(name="C-1").n_triplets == 1
    assert names(draft, category="descriptive") == []


def test_neighbours_follow_the_edition(edition):
    row = queries.rows(edition, held_out=True)[1]
    before, after = queries.neighbours(row, edition, held_out=True)
    assert (str(before).split()[0], str(after).split()[0]) == ("C-1", "C-3")
    assert queries.neighbours(row, edition, held_out=False)[1] is None


def test_a_case_that_is_not_in_the_edition_is_not_shown(benchmark):
    edition = Edition(benchmark, make_release(benchmark))
    assert queries.shown_case(make_case(benchmark, "C-4"), edition) is None


def test_references_come_in_order_with_a_constant_number_of_queries(benchmark, django_assert_num_queries):
    release = make_release(benchmark)
    with django_assert_num_queries(2):
        found = {
            row.case.case_id: [each.version.insight for each in row.triplets.all()]
            for row in queries.references(release, "open")
        }
    assert found == {
        "C-1": ["Insight 1 of C-1.", "The outlook is 100% good"],
        "C-2": ["Insight 1 of C-2."],
    }
