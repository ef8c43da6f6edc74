"""Review items and their results: the door between what is judged and who judges it."""

import threading

import pytest
from django.db import connection

from medbench.cases.editions import Edition
from medbench.cases.models import Triplet
from medbench.errors import Conflict
from medbench.review import triplets
from medbench.review.models import ItemResult, ReviewItem
from medbench.review.services import Decision, create_items, payload_digest, record_results
from tests.cases.build import make_benchmark, make_case, make_release, make_triplet, make_version


@pytest.fixture
def benchmark(team):
    return make_benchmark(team)


@pytest.fixture
def case(benchmark):
    return make_case(benchmark, "TCGA-A6-3810", slide="TCGA-A6-3810.svs")


def items_of(benchmark, **filters):
    return create_items(triplets.as_items(triplets.chosen(Edition(benchmark, None), **filters)))


def test_a_triplet_is_frozen_with_its_goal_report_and_slide(benchmark, case):
    triplet = make_triplet(case, "1", evidence="Tumour size: 6 cm", category="diagnostic")
    (item,) = items_of(benchmark)
    assert item.payload == {
        "number": 1,
        "category": "diagnostic",
        "question": "How large is it?",
        "insight": "Insight 1 of TCGA-A6-3810.",
        "evidence": "Tumour size: 6 cm",
        "span": [triplet.current.span_start, triplet.current.span_end],
        "goal": "Judge the nodal status",
        "difficulty": 2,
        "report_version": 1,
        "slide": [str(case.slide.pk), 1],
    }
    assert (item.case, item.slide, item.report) == (case, case.slide, case.report)
    assert item.subject_id == str(triplet.current.pk)
    assert item.payload_sha256 == payload_digest(item.payload)


def test_neither_file_name_nor_case_name_is_in_the_payload(benchmark, case):
    make_triplet(case, "1", insight="The tumour measures 6 cm.")
    (item,) = items_of(benchmark)
    assert "3810" not in str(item.payload)


def test_asking_twice_about_the_same_makes_one_item(benchmark, case):
    make_triplet(case, "1")
    first = items_of(benchmark)
    assert items_of(benchmark) == first
    assert ReviewItem.objects.count() == 1


def test_a_new_wording_is_a_new_item(benchmark, case):
    triplet = make_triplet(case, "1")
    (old,) = items_of(benchmark)
    triplet.current = make_version(
        triplet, 2, category="descriptive", question="How large?", insight="It measures 6 cm."
    )
    triplet.save()
    (new,) = items_of(benchmark)
    assert new != old
    old.refresh_from_db()
    assert old.payload["insight"] == "Insight 1 of TCGA-A6-3810."


def test_an_item_never_changes(benchmark, case):
    make_triplet(case, "1")
    (item,) = items_of(benchmark)
    item.payload = {}
    with pytest.raises(Conflict):
        item.save()


def test_items_come_in_the_order_of_cases_and_triplets(benchmark, case):
    make_triplet(case, "b")
    make_triplet(case, "a")
    make_triplet(make_case(benchmark, "A-first-by-name"), "1")
    assert [item.payload["insight"] for item in items_of(benchmark)] == [
        "Insight b of TCGA-A6-3810.",
        "Insight a of TCGA-A6-3810.",
        "Insight 1 of A-first-by-name.",
    ]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["1", "2", "3"]),
        ({"site": "Rectum"}, ["3"]),
        ({"category": "predictive"}, ["2"]),
        ({"state": "verified"}, ["3"]),
        ({"site": "Colon", "state": "verified"}, []),
    ],
)
def test_filters_narrow_both_the_working_copy_and_a_release(benchmark, case, filters, expected):
    make_triplet(case, "1")
    make_triplet(case, "2", category="predictive")
    make_triplet(make_case(benchmark, "C-2", site="Rectum"), "3", state="verified")
    release = make_release(benchmark)
    for edition in (Edition(benchmark, None), Edition(benchmark, release)):
        items = triplets.as_items(triplets.chosen(edition, **filters))
        assert [item.payload["insight"].split()[1] for item in items] == expected


def test_a_release_is_asked_about_in_its_own_wording(benchmark, case):
    triplet = make_triplet(case, "1")
    release = make_release(benchmark)
    triplet.current = make_version(
        triplet, 2, category="descriptive", question="How large?", insight="It measures 6 cm."
    )
    triplet.save()
    (item,) = triplets.as_items(triplets.chosen(Edition(benchmark, release)))
    assert item.payload["insight"] == "Insight 1 of TCGA-A6-3810."


def test_the_number_of_queries_does_not_grow_with_the_triplets(benchmark, case, django_assert_num_queries):
    make_triplet(case, "1")
    with django_assert_num_queries(3):
        items_of(benchmark)
    for key in "2345":
        make_triplet(make_case(benchmark, f"C-{key}"), key)
    with django_assert_num_queries(3):
        items_of(benchmark)


def test_a_verified_item_makes_its_triplet_verified(benchmark, case):
    triplet = make_triplet(case, "1")
    (item,) = items_of(benchmark)
    record_results("study:1", [Decision(item, "verified", {"verdicts": 2})])
    triplet.refresh_from_db()
    assert triplet.state == Triplet.State.VERIFIED
    assert ItemResult.objects.get().detail == {"verdicts": 2}


def test_a_triplet_that_was_reworded_meanwhile_keeps_its_state(benchmark, case):
    triplet = make_triplet(case, "1")
    (item,) = items_of(benchmark)
    triplet.current = make_version(
        triplet, 2, category="descriptive", question="How large?", insight="It measures 6 cm."
    )
    triplet.save()
    record_results("study:1", [Decision(item, "verified", {})])
    triplet.refresh_from_db()
    assert triplet.state == Triplet.State.PROPOSED


def test_the_same_result_twice_is_one_result(benchmark, case):
    make_triplet(case, "1")
    (item,) = items_of(benchmark)
    for _ in range(2):
        record_results("study:1", [Decision(item, "verified", {})])
    assert ItemResult.objects.count() == 1


def test_another_result_of_the_same_study_is_refused_and_nothing_is_recorded(benchmark, case):
    first, second = make_triplet(case, "1"), make_triplet(case, "2")
    one, two = items_of(benchmark)
    record_results("study:1", [Decision(one, "verified", {})])
    with pytest.raises(Conflict):
        record_results("study:1", [Decision(two, "verified", {}), Decision(one, "rejected", {})])
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, second.state) == (Triplet.State.VERIFIED, Triplet.State.PROPOSED)


@pytest.mark.django_db(transaction=True)
def test_two_curators_asking_at_the_same_time_share_the_items(team):
    benchmark = make_benchmark(team)
    for number in range(20):
        make_triplet(make_case(benchmark, f"C-{number}"), "1")
    barrier = threading.Barrier(4)
    found = []

    def ask():
        wanted = triplets.as_items(triplets.chosen(Edition(benchmark, None)))
        barrier.wait()
        found.append([item.pk for item in create_items(wanted)])
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(keys == found[0] for keys in found)
    assert ReviewItem.objects.count() == 20
