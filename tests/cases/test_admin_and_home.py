"""Operators look without changing; the home page says what is next and what is new."""

import pytest
from django.contrib import admin

from medbench.cases.models import Benchmark, BundleUpload, Case, Kit, Release, Triplet
from medbench.jobs.models import Job
from tests.cases.build import make_benchmark, make_case, make_release, make_triplet
from tests.cases.test_list_page import CountedQueries, words
from tests.people import make_person, signed_in


@pytest.fixture
def operator(db):
    return make_person("sam", is_superuser=True, is_staff=True)


def fill(benchmark, n, by):
    make_triplet(make_case(benchmark, f"C-{n}", slide="x.svs"))
    job = Job.objects.create(kind="cases.build_kit")
    Kit.objects.create(release=make_release(benchmark, n), job=job)
    BundleUpload.objects.create(uploaded_by=by, job=job, file_name="x.zip")


@pytest.mark.parametrize("kind", [Benchmark, Release, Case, Triplet, BundleUpload, Kit])
def test_admin_lists_cost_the_same_with_more_rows(operator, team, kind, django_assert_num_queries):
    benchmark = make_benchmark(team)
    fill(benchmark, 1, operator)
    address = f"/admin/cases/{kind.__name__.lower()}/"
    session = signed_in(operator)
    with CountedQueries() as one:
        assert session.get(address).status_code == 200
    fill(benchmark, 2, operator)
    fill(benchmark, 3, operator)
    with django_assert_num_queries(len(one)):
        session.get(address)


@pytest.mark.parametrize("kind", [Benchmark, Release, Case, Triplet, BundleUpload, Kit])
def test_admin_changes_nothing(operator, team, kind, rf):
    made = admin.site._registry[kind]
    request = rf.get("/")
    request.user = operator
    assert not made.has_add_permission(request)
    assert not made.has_change_permission(request)
    assert not made.has_delete_permission(request)


def test_a_new_site_shows_its_curator_the_first_steps(operator, team):
    session = signed_in(operator)
    assert "Import a benchmark" in words(session.get("/"))
    make_release(make_case(make_benchmark(team), slide="x.svs").benchmark)
    Case.objects.get().slide.__class__.objects.update(state="ready")
    assert "First steps" not in words(session.get("/"))


def test_the_latest_release_is_shown_to_whoever_may_read_it(team, rosa, eve):
    make_triplet(make_case(make_benchmark(team)))
    make_release(Benchmark.objects.get())
    assert "Colon insight , release 1 · 1 case, 1 triplet, frozen" in words(signed_in(rosa).get("/"))
    assert "Colon insight" not in words(signed_in(eve).get("/"))


def test_the_bar_leads_to_the_cases_of_whoever_may_read_some(team, rosa, eve):
    make_benchmark(team)
    assert b'href="/cases/"' in signed_in(rosa).get("/help/keys/").content
    assert b'href="/cases/"' not in signed_in(eve).get("/help/keys/").content
