"""Releases: what a freeze takes, what it refuses, and the page that asks once more."""

import zipfile

import pytest

from medbench.cases.bundles import bundle_of, digest
from medbench.cases.editions import Edition
from medbench.cases.models import Release
from medbench.cases.queries import draft_numbers
from medbench.cases.services import Wording, edit_triplet, freeze_release
from medbench.errors import Conflict
from medbench.formats.bundle import text_files
from tests.cases.build import make_benchmark, make_case, make_triplet
from tests.cases.test_list_page import CountedQueries, words
from tests.people import signed_in


@pytest.fixture
def benchmark(team):
    benchmark = make_benchmark(team, licence="CC0")
    case = make_case(benchmark, slide="x.svs")
    make_triplet(case, "1", state="verified")
    make_triplet(case, "2", state="rejected")
    make_case(benchmark, "C-2", split="heldout", retired_at=None)
    make_case(benchmark, "C-3", retired_at="2026-01-01T00:00:00Z")
    return benchmark


def test_a_freeze_copies_the_working_copy_without_rejected_and_retired(benchmark, ada):
    release = freeze_release(benchmark, by=ada)
    assert (release.number, release.version, release.frozen_by, release.licence) == (1, "1", ada, "CC0")
    rows = list(release.cases.all())
    assert [(row.case.case_id, row.split, row.triplets.count()) for row in rows] == [
        ("C-1", "open", 1),
        ("C-2", "heldout", 0),
    ]
    assert rows[0].slide.file_name == "x.svs"
    assert release.digest == digest(bundle_of(Edition(benchmark, release)))


def test_nothing_changed_is_refused(benchmark, ada):
    freeze_release(benchmark, by=ada)
    with pytest.raises(Conflict) as refused:
        freeze_release(benchmark, by=ada, version="another")
    assert refused.value.code == "nothing_changed"
    benchmark.cases.filter(case_id="C-2").update(split="open")
    assert freeze_release(benchmark, by=ada).number == 2


def test_a_release_stays_what_it_was(benchmark, ada):
    release = freeze_release(benchmark, by=ada)
    before = bundle_of(Edition(benchmark, release))
    triplet = benchmark.cases.get(case_id="C-1").triplets.get(key="1")
    edit_triplet(triplet, Wording("predictive", "q", "i", "Margins"), by=ada, based_on=1)
    benchmark.cases.update(site="Lung", split="heldout")
    benchmark.title = "Renamed"
    benchmark.save()
    assert bundle_of(Edition(benchmark, Release.objects.get())) == before


def test_labels_are_unique_and_default_to_a_free_number(benchmark, ada):
    freeze_release(benchmark, by=ada, version="2")
    benchmark.cases.update(site="Lung")
    with pytest.raises(Conflict, match="another label"):
        freeze_release(benchmark, by=ada, version="2")
    assert freeze_release(benchmark, by=ada).version == "3"


def test_an_empty_working_copy_is_refused(team, ada):
    with pytest.raises(Conflict, match="no cases"):
        freeze_release(make_benchmark(team), by=ada)


def test_the_numbers_before_a_freeze(benchmark, ada):
    freeze_release(benchmark, by=ada)
    benchmark.cases.filter(case_id="C-1").update(split="heldout")
    benchmark.cases.filter(case_id="C-2").update(split="open")
    found = draft_numbers(benchmark)
    assert (found.cases, found.held_out, found.triplets, found.verified, found.rejected) == (2, 1, 1, 1, 1)
    assert (found.without_slide, found.opened, found.closed) == (2, 1, 1)


def test_the_page_asks_with_the_numbers_and_then_freezes(benchmark, ada):
    session = signed_in(ada)
    page = session.get(f"/benchmarks/{benchmark.pk}/freeze/")
    assert "2, 1 of them held-out" in words(page)
    assert "1 rejected triplet" in words(page)
    assert not Release.objects.exists()
    answer = session.post(f"/benchmarks/{benchmark.pk}/freeze/", {"version": "2026-1"}, follow=True)
    assert "Release 1 is frozen." in words(answer)
    again = session.post(f"/benchmarks/{benchmark.pk}/freeze/", {"version": ""})
    assert again.status_code == 422
    assert "Nothing changed since release 1." in words(again)


def test_only_curators_freeze(benchmark, bruno, rosa, eve):
    for person, status in ((bruno, 403), (rosa, 403), (eve, 404)):
        session = signed_in(person)
        assert session.get(f"/benchmarks/{benchmark.pk}/freeze/").status_code == status
        assert session.post(f"/benchmarks/{benchmark.pk}/freeze/").status_code == status
    assert not Release.objects.exists()


def test_the_benchmark_page_lists_releases(benchmark, ada, rosa):
    freeze_release(benchmark, by=ada, version="2026-1")
    found = words(signed_in(rosa).get(f"/benchmarks/{benchmark.pk}/"))
    assert "Release 1 2026-1" in found
    assert "Held-out" not in found
    assert "CC0" in found
    assert "Held-out" in words(signed_in(ada).get(f"/benchmarks/{benchmark.pk}/"))


def test_the_benchmark_page_costs_the_same_with_more_releases(benchmark, ada, django_assert_num_queries):
    session = signed_in(ada)
    freeze_release(benchmark, by=ada)
    with CountedQueries() as one:
        session.get(f"/benchmarks/{benchmark.pk}/")
    for site in ("Lung", "Brain"):
        benchmark.cases.update(site=site)
        freeze_release(benchmark, by=ada)
    with django_assert_num_queries(len(one)):
        session.get(f"/benchmarks/{benchmark.pk}/")


def test_a_curator_downloads_the_texts_of_a_release(benchmark, ada, rosa, eve, tmp_path):
    release = freeze_release(benchmark, by=ada)
    address = f"/releases/{release.pk}/bundle.zip"
    answer = signed_in(ada).get(address)
    (tmp_path / "bundle.zip").write_bytes(b"".join(answer.streaming_content))
    bundle = bundle_of(Edition(benchmark, release))
    with zipfile.ZipFile(tmp_path / "bundle.zip") as packed:
        assert {name: packed.read(name) for name in packed.namelist()} == text_files(bundle)
    assert signed_in(rosa).get(address).status_code == 403
    assert signed_in(eve).get(address).status_code == 404
