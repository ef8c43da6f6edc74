"""Regions that belong to a verdict: saved with it, counted with it, shown where it was concluded."""

import csv
import io
import json
import re
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation import exports
from annotation.models import VerdictRevision
from annotation.services import studies
from annotation.services.assignments import claim_next
from annotation.services.verdicts import Draft, save_verdict, submit_verdict
from medbench.cases.models import Triplet
from medbench.cases.queries import ShownTriplet
from medbench.errors import Conflict
from medbench.formats.problems import Refused
from medbench.slides.regions import Plane, Region, from_geojson
from tests.annotation.build import FORM, YES, address, ask, make_cases, make_study, post
from tests.cases.build import make_version
from tests.people import signed_in

BOX = {"kind": "rectangle", "points": [[10, 20], [30, 40]], "revision": 2, "zoom": 0.5, "missing_tiles": 0}
POINT = {"kind": "point", "points": [[5, 6]], "revision": 2, "zoom": None, "missing_tiles": 0}


@pytest.fixture
def benchmark(team):
    """One case of two triplets, with a slide of 4,000 x 3,000 pixels in its second revision."""
    made = make_cases(team, 1, 2, slide="x.svs")
    slide = made.cases.get().slide
    slide.width_px, slide.height_px, slide.revision, slide.state = 4_000, 3_000, 2, "ready"
    slide.save()
    return made


@pytest.fixture
def study(benchmark, bruno, chen, ada):
    return make_study(benchmark, [bruno, chen], ada)


@pytest.fixture
def held(study, bruno):
    return claim_next(study, bruno)


def file_address(assignment):
    return f"{address(assignment)}regions.geojson"


def upload(person, assignment, content):
    file = SimpleUploadedFile("regions.geojson", content)
    return signed_in(person).post(file_address(assignment), {"file": file})


# Saving


def test_regions_are_saved_with_the_draft_and_every_change_stays_in_the_history(held):
    save_verdict(held, Draft({}, "", 0, [BOX]))
    verdict = save_verdict(held, Draft({}, "", 1, [BOX, POINT]))
    assert verdict.regions == [BOX, POINT]
    assert [row.regions for row in VerdictRevision.objects.all()] == [[BOX], [BOX, POINT]]
    with pytest.raises(Conflict):
        VerdictRevision.objects.update(regions=[])


def test_the_same_regions_again_are_no_change(held):
    save_verdict(held, Draft({}, "", 0, [BOX]))
    assert save_verdict(held, Draft({}, "", 0, [BOX])).version == 1


def test_a_window_that_says_nothing_of_regions_leaves_them_alone(held, bruno):
    save_verdict(held, Draft({}, "", 0, [BOX]))
    post(bruno, held, do="save", version=1, **FORM)
    held.verdict.refresh_from_db()
    assert (held.verdict.answers, held.verdict.regions) == (YES, [BOX])


@pytest.mark.parametrize(
    "bad", [[BOX | {"points": [[10, 20], [30, 3_001]]}], [BOX | {"revision": 3}], [{}], {"kind": "point"}, 5]
)
def test_regions_that_cannot_be_are_refused_and_nothing_is_written(held, bad):
    with pytest.raises(Refused):
        save_verdict(held, Draft({"grounded": "yes"}, "", 0, bad))
    assert not VerdictRevision.objects.exists()


def test_a_refused_region_is_named_in_the_answer(held, bruno):
    answer = ask(bruno, held, do="save", regions=json.dumps([BOX, BOX | {"kind": "circle"}]))
    assert answer.status_code == 400
    assert "regions[1]" in answer.json()["message"]
    assert ask(bruno, held, do="save", regions="[{").status_code == 400


def test_what_is_stored_can_be_saved_after_the_slide_went(held):
    save_verdict(held, Draft({}, "", 0, [BOX]))
    slide = held.study_item.item.slide
    slide.width_px = slide.height_px = None
    slide.save()
    assert save_verdict(held, Draft(YES, "", 1, [BOX])).regions == [BOX]
    with pytest.raises(Conflict, match="no slide"):
        save_verdict(held, Draft(YES, "", 2, [BOX, POINT]))


def test_the_page_has_them_in_one_order_whatever_the_database_does(held, bruno):
    save_verdict(held, Draft({}, "", 0, [dict(sorted(BOX.items()))]))
    page = signed_in(bruno).get(address(held)).content.decode()
    shown = json.dumps([BOX]).replace('"', "&quot;")
    assert f'name="regions" value="{shown}"' in page


# What counts


def test_a_verdict_over_holes_is_marked(held, bruno, ada):
    ask(bruno, held, do="submit", regions="[]", missing_tiles=2, **FORM)
    draft, submitted = VerdictRevision.objects.all()
    assert (draft.missing_tiles, submitted.missing_tiles) == (0, 2)
    (row,) = csv.DictReader(io.StringIO(exports.verdicts_csv(held.study_item.study)))
    assert row["missing_tiles"] == "2"
    history = signed_in(bruno).get(f"{address(held)}guidelines/").content.decode()
    assert "2 tiles of the slide missing" in history


def test_regions_reach_the_triplet_when_its_study_concludes(study, held, bruno, chen, ada, benchmark):
    submit_verdict(held, Draft(YES, "", 0, [BOX]))
    other = study.items.get(item=held.study_item.item).assignments.get(annotator=chen)
    while (found := claim_next(study, chen)) != other:
        submit_verdict(found, Draft(YES, "", 0))
    submit_verdict(found, Draft(YES, "", 0, [POINT]))
    page = f"/cases/{benchmark.cases.get().pk}/"
    assert "data-regions" not in signed_in(ada).get(page).content.decode()
    studies.close_study(study)
    (triplet,) = Triplet.objects.filter(state="verified")
    assert triplet.regions == [BOX, POINT]
    assert signed_in(ada).get(page).content.decode().count("data-regions") == 1


def test_a_new_wording_has_no_regions_of_the_old(benchmark):
    triplet = Triplet.objects.first()
    Triplet.objects.filter(pk=triplet.pk).update(state="verified", regions=[BOX])
    triplet.refresh_from_db()
    assert ShownTriplet(1, triplet, triplet.current).regions == [BOX]
    assert ShownTriplet(1, triplet, make_version(triplet, 2, question="?", insight="!")).regions == []


# Files


def test_regions_are_downloaded_as_geojson_and_read_again(held, bruno):
    save_verdict(held, Draft({}, "", 0, [BOX, POINT]))
    answer = signed_in(bruno).get(file_address(held))
    assert answer["Content-Type"] == "application/geo+json"
    assert "regions.geojson" in answer["Content-Disposition"]
    assert "x.svs" not in answer.content.decode()
    assert upload(bruno, held, answer.content).json() == {"regions": [BOX, POINT]}
    held.verdict.refresh_from_db()
    assert held.verdict.version == 1  # reading a file saves nothing


def test_a_file_that_holds_no_regions_is_refused_with_its_reasons(held, bruno):
    answer = upload(bruno, held, b'{"type": "LineString", "coordinates": [[1, 1], [2, 2]]}')
    assert answer.status_code == 422
    assert [each["code"] for each in answer.json()["problems"]] == ["wrong_geometry"]
    assert upload(bruno, held, b" " * 2_000_001).status_code == 400


def test_of_files_of_others_there_is_nothing(held, chen, eve):
    for person in (chen, eve):
        assert signed_in(person).get(file_address(held)).status_code == 404
        assert upload(person, held, b"{}").status_code == 404


def test_all_regions_of_a_study_are_a_file_for_each_slide_that_reads_back_in_place(study, ada, bruno, chen):
    slide = study.items.first().item.slide
    slide.bounds_l0_px = [100, 50, 3_000, 2_000]
    slide.save()
    submit_verdict(claim_next(study, bruno), Draft(YES, "", 0, [BOX, POINT]))
    submit_verdict(claim_next(study, chen), Draft(YES, "", 0, [BOX]))
    answer = signed_in(ada).get(f"/api/v1/studies/{study.pk}/regions.zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        (name,) = archive.namelist()
        content = archive.read(name)
    assert name == f"TCGA-1-{str(slide.pk)[:8]}.geojson"
    written = json.loads(content)
    names = sorted(each["properties"]["name"] for each in written["features"])
    assert len(names) == 3
    assert all(re.fullmatch(r"Item [12], [AB]: region [12]", each) for each in names)
    assert "Bruno" not in content.decode()
    plane = Plane(4_000, 3_000, 2, origin_l0_px=(100, 50))
    again = sorted(str(each.as_dict()) for each in from_geojson(content, plane))
    assert again == sorted(str(Region(**each).as_dict()) for each in (BOX, BOX, POINT))
    none = signed_in(ada).get(f"/api/v1/studies/{study.pk}/regions.zip?as_of=2020-01-01")
    assert zipfile.ZipFile(io.BytesIO(none.content)).namelist() == []
