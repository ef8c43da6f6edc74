"""The participants' kit: enough to take part, and nothing that is held out."""

import io
import json
import zipfile

import pytest
from PIL import Image

from medbench.cases.models import Kit, Split
from medbench.cases.services import import_benchmark
from medbench.formats.bundle import read_bundle
from medbench.formats.results import read_results
from medbench.jobs.models import Job
from tests.cases.build import make_benchmark, make_case, make_release, make_triplet
from tests.cases.test_list_page import words
from tests.cases.work import work
from tests.people import signed_in

CANARY = "zqcanary"


@pytest.fixture(autouse=True)
def files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "files"


@pytest.fixture
def release(team):
    benchmark = make_benchmark(team, licence="CC0", citation="Cite us")
    make_triplet(make_case(benchmark, "C-1", slide=f"slides/{CANARY}.svs"), evidence="Margins")
    hidden = make_case(
        benchmark, "C-2", split=Split.HELD_OUT, report=f"{CANARY} report", slide=f"slides/{CANARY}-2.svs"
    )
    make_triplet(hidden, CANARY, question=CANARY, insight=f"{CANARY} insight", evidence=f"{CANARY} report")
    return make_release(benchmark)


def opened(session, release):
    answer = session.get(f"/releases/{release.pk}/kit/kit.zip")
    return zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))


def prepared(person, release):
    session = signed_in(person)
    assert session.post(f"/releases/{release.pk}/kit/").status_code == 302
    work()
    return opened(session, release)


def cases_of(kit):
    return {case["case_id"]: case for case in map(json.loads, kit.read("cases.jsonl").splitlines())}


def test_a_kit_is_prepared_on_request_and_then_downloaded(release, rosa):
    session = signed_in(rosa)
    address = f"/releases/{release.pk}/kit/"
    assert "Prepare the kit" in words(session.get(address))
    assert session.get(f"{address}kit.zip").status_code == 404
    session.post(address)
    assert "Queued" in words(session.get(address))
    assert session.post(address).status_code == 409
    work()
    page = session.get(address)
    assert "Download kit" in words(page)
    assert "Prepare again" not in words(page)
    answer = session.get(f"{address}kit.zip")
    answer.close()
    assert answer.headers["Content-Disposition"] == 'attachment; filename="colon-release-1-kit.zip"'


def test_held_out_references_and_file_names_are_nowhere_in_it(release, rosa):
    kit = prepared(rosa, release)
    for name in kit.namelist():
        assert CANARY not in name
        assert CANARY.encode() not in kit.read(name)
    cases = cases_of(kit)
    assert set(cases) == {"C-1", "C-2"}
    assert {"report", "triplets"} <= set(cases["C-1"])
    assert not {"report", "triplets"} & set(cases["C-2"])
    assert cases["C-2"]["goal"] == "Judge the nodal status"


def test_the_skeleton_is_a_valid_result_file(release, rosa):
    kit = prepared(rosa, release)
    found = read_results(kit.read("results_skeleton.json"), case_ids=["C-1", "C-2"])
    assert not found.problems
    assert {each.code for each in found.warnings} == {"empty_case"}


def test_a_missing_picture_has_its_reason(release, rosa):
    case = cases_of(prepared(rosa, release))["C-1"]
    assert (case["image"], case["image_reason"]) == (None, "slide_missing")


def test_the_readme_has_licence_citation_and_digest(release, rosa):
    text = prepared(rosa, release).read("README.md").decode()
    assert "CC0" in text
    assert "Cite us" in text
    assert release.digest in text


def test_the_real_slide_is_a_picture_of_at_most_2048_pixels(db, mini, rosa):
    release = import_benchmark(read_bundle(mini), by=None).release
    release.benchmark.team.open_to_researchers = True
    release.benchmark.team.save()
    kit = prepared(rosa, release)
    cases = [case for case in cases_of(kit).values() if case["image"]]
    assert {case["case_id"] for case in cases} == {"TCGA-CR-7395", "TCGA-XK-AAJU"}
    for case in cases:
        with Image.open(io.BytesIO(kit.read(case["image"]))) as picture:
            assert picture.format == "PNG"
            assert 512 < max(picture.size) <= 2048
    pictures = [name for name in kit.namelist() if name.startswith("images/")]
    assert pictures == [case["image"] for case in cases]


def test_a_curator_prepares_it_again(release, ada):
    prepared(ada, release)
    assert "Prepare again" in words(signed_in(ada).get(f"/releases/{release.pk}/kit/"))
    first = Kit.objects.get().file.name
    prepared(ada, release)
    kit = Kit.objects.get()
    assert kit.file.name != first
    assert Job.objects.count() == 2


def test_strangers_do_not_find_it(release, eve, client):
    for address in (f"/releases/{release.pk}/kit/", f"/releases/{release.pk}/kit/kit.zip"):
        assert signed_in(eve).get(address).status_code == 404
        assert client.get(address).status_code == 302
    assert signed_in(eve).post(f"/releases/{release.pk}/kit/").status_code == 404
