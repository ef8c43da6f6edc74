"""A bundle uploaded by page: checked by a job, shown with every problem, imported on request."""

import shutil
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from medbench.accounts.permissions import Role
from medbench.cases.models import Benchmark, BundleUpload, Release
from medbench.jobs.models import Job
from medbench.jobs.services import claim
from tests.cases.build import make_benchmark
from tests.cases.test_list_page import words
from tests.cases.work import work
from tests.people import join, make_person, signed_in


@pytest.fixture
def sam(db, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "files"
    return make_person("sam", "Sam Site", is_superuser=True)


@pytest.fixture
def packed(mini_texts, tmp_path):
    return Path(shutil.make_archive(str(tmp_path / "bundle"), "zip", mini_texts)).read_bytes()


def upload(person, data, name="bundle.zip"):
    file = SimpleUploadedFile(name, data, content_type="application/zip")
    return signed_in(person).post("/benchmarks/import/", {"file": file})


def test_a_bundle_is_checked_first_and_then_imported(sam, packed, django_capture_on_commit_callbacks):
    session = signed_in(sam)
    address = upload(sam, packed).headers["Location"]
    assert "Queued" in words(session.get(address))
    work()
    checked = session.get(address)
    assert "Checked : can be imported" in words(checked)
    assert "slide_missing" in words(checked)
    assert not Benchmark.objects.exists()

    session.post(address)
    with django_capture_on_commit_callbacks(execute=True):
        work()
    done = session.get(address)
    assert "Imported" in words(done)
    benchmark = Benchmark.objects.get()
    assert f"/benchmarks/{benchmark.pk}/" in done.content.decode()
    assert Release.objects.get().frozen_by == sam
    assert benchmark.team.memberships.get().user == sam
    upload_row = BundleUpload.objects.get()
    assert not upload_row.file.storage.exists(f"bundles/{upload_row.pk}.zip")


def test_a_region_polls_while_the_job_runs_and_then_stops(sam, packed):
    session, htmx = signed_in(sam), {"HX-Request": "true"}
    address = upload(sam, packed).headers["Location"]
    claim("elsewhere")
    running = session.get(address, headers=htmx).content
    assert b"Running" in running
    assert b'hx-trigger="every 2s"' in running
    assert b"<html" not in running
    Job.objects.update(state=Job.State.QUEUED, lease_until=None)
    work()
    assert b"hx-trigger" not in session.get(address, headers=htmx).content


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"not a zip at all", "bad_zip"), (b"", "bad_zip"), (b"PK\x05\x06" + bytes(18), "file_missing")],
)
def test_a_file_that_is_no_bundle_is_refused_with_its_problem(sam, data, code):
    answer = upload(sam, data or b" ")
    work()
    page = signed_in(sam).get(answer.headers["Location"])
    assert "Nothing was imported." in words(page)
    assert code in words(page)
    assert not Benchmark.objects.exists()


def test_problems_are_named_with_file_line_case_and_field(sam, mini_texts, tmp_path):
    bad = tmp_path / "bad"
    shutil.copytree(mini_texts, bad)
    cases = (
        (bad / "cases.jsonl").read_text().replace('"category": "diagnostic"', '"category": "<b>guess</b>"', 1)
    )
    (bad / "cases.jsonl").chmod(0o644)
    (bad / "cases.jsonl").write_text(cases)
    data = Path(shutil.make_archive(str(tmp_path / "bad"), "zip", bad)).read_bytes()
    address = upload(sam, data).headers["Location"]
    work()
    page = signed_in(sam).get(address)
    assert "1 problem. Nothing was imported." in words(page)
    assert "cases.jsonl 1 TCGA-CR-7395 triplets[1].category" in words(page)
    assert b"<b>guess" not in page.content
    assert signed_in(sam).post(address).status_code == 409


def test_a_check_is_cancelled_and_run_again(sam, packed):
    session = signed_in(sam)
    address = upload(sam, packed).headers["Location"]
    session.post(f"{address}cancel/")
    work()
    assert "Cancelled" in words(session.get(address))
    session.post(f"{address}retry/")
    work()
    assert "can be imported" in words(session.get(address))
    assert session.post(f"{address}retry/").status_code == 409
    assert session.post(f"{address}cancel/").status_code == 409


def test_a_second_import_of_the_same_upload_is_refused(sam, packed):
    address = upload(sam, packed).headers["Location"]
    assert signed_in(sam).post(address).status_code == 409
    work()
    assert signed_in(sam).post(address).status_code == 302
    assert signed_in(sam).post(address).status_code == 409


def test_an_import_that_is_done_twice_after_a_crash_leaves_one_release(sam, packed):
    address = upload(sam, packed).headers["Location"]
    work()
    signed_in(sam).post(address)
    work()
    Job.objects.filter(payload__upload=str(BundleUpload.objects.get().pk)).update(state=Job.State.QUEUED)
    BundleUpload.objects.update(outcome=None)
    row = BundleUpload.objects.get()
    row.file.save(f"{row.pk}.zip", SimpleUploadedFile("x", packed))
    work()
    assert Release.objects.count() == 1
    assert BundleUpload.objects.get().outcome["problems"] == []


def test_a_curator_may_not_import_what_is_not_theirs(sam, packed, ada, team):
    make_benchmark(team)
    upload(ada, packed)
    work()
    assert BundleUpload.objects.get().outcome["problems"][0]["code"] == "not_allowed"
    assert not Benchmark.objects.filter(name="tcga-mini").exists()


def test_who_curates_nothing_does_not_find_the_page(sam, packed, bruno, rosa, eve):
    for person in (bruno, rosa, eve):
        assert signed_in(person).get("/benchmarks/import/").status_code == 404
        assert upload(person, packed).status_code == 404
    assert not BundleUpload.objects.exists()


def test_an_upload_is_seen_by_its_uploader_only(sam, packed, team):
    address = upload(sam, packed).headers["Location"]
    other = join(team, make_person("olga", is_superuser=True), Role.CURATOR)
    assert signed_in(other).get(address).status_code == 404
    for path in (address, f"{address}cancel/", f"{address}retry/"):
        assert signed_in(other).post(path).status_code == 404


def test_the_list_tells_of_an_import_that_runs(sam, packed, team):
    make_benchmark(team)
    address = upload(sam, packed, "colon <2>.zip").headers["Location"]
    page = signed_in(sam).get("/cases/")
    assert "colon <2>.zip : being checked" in words(page)
    assert address in page.content.decode()
    work()
    assert "being checked" not in words(signed_in(sam).get("/cases/"))


def test_without_a_file_the_form_says_so(sam):
    answer = signed_in(sam).post("/benchmarks/import/")
    assert answer.status_code == 422
    assert "1 problem. Nothing was saved." in words(answer)
