"""A study leaves as one file and comes back as it was, or not at all."""

import io
import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import models
from django.urls import reverse

from annotation import progress
from annotation.bundles import bundle_of, zipped
from annotation.models import Agreement, Assignment, Protocol, Study, StudyAction, Verdict, VerdictRevision
from annotation.services import studies
from annotation.services.adjudication import Ruling, decide
from annotation.services.assignments import claim_next, skip
from annotation.services.bundles import import_study
from annotation.services.outside import import_ratings
from annotation.services.verdicts import Draft, save_verdict, submit_verdict
from medbench.accounts.permissions import Role
from medbench.cases.editions import Edition
from medbench.errors import Conflict
from medbench.formats.problems import Refused
from medbench.review import cases
from medbench.review.models import ItemResult, ReviewItem
from tests.annotation.build import YES, answer_all, make_cases
from tests.people import join, make_annotator, signed_in


@pytest.fixture
def lived(study, bruno, chen, dara):
    """A study with everything in it: drafts, changes, passages, corrections, a decision, a skip."""
    held = claim_next(study, bruno)
    quote = held.study_item.item.report.text[:5]
    passage = [{"start": 0, "end": 5, "quote": quote}]
    save_verdict(held, Draft({"grounded": "no"}, "Zögernd 🔬", 0, visit="one", active_s=7))
    submit_verdict(held, Draft(YES, "=1+1", 1, spans=passage, corrections={"insight": "Anders."}))
    skip(claim_next(study, bruno), "Too hard")
    answer_all(study, chen, YES | {"grounded": "no"})
    decide(held.study_item, Ruling({"grounded": "no"}, "rejected", "Nowhere."), by=dara)
    import_ratings(study, b"item,Judge\n1,yes\n", kind="model", question="grounded", by=dara)
    return Study.objects.select_related("benchmark__team", "protocol", "created_by").get(pk=study.pk)


def forget(study):
    """As on a site that never had the study: its cases and people are there, nothing of itself."""
    for rows in (
        VerdictRevision.objects.filter(verdict__assignment__study_item__study=study),
        Verdict.objects.filter(assignment__study_item__study=study),
        ItemResult.objects.all(),
        Agreement.objects.all(),
        StudyAction.objects.filter(study=study),
    ):
        models.QuerySet(rows.model).filter(pk__in=list(rows.values_list("pk", flat=True))).delete()
    for rater in study.outside_raters.all():
        ratings = rater.ratings.all()
        ratings._raw_delete(ratings.db)  # frozen rows refuse anything else
    Assignment.objects.filter(study_item__study=study).delete()
    study.delete()
    items = ReviewItem.objects.all()
    items._raw_delete(items.db)


def repacked(packed, name, change):
    """The bundle with one of its files changed: the objects of its lines, or its one object."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        files = {each: archive.read(each) for each in archive.namelist()}
    if name.endswith(".jsonl"):
        rows = [json.loads(line) for line in files[name].decode().splitlines()]
        change(rows)
        files[name] = "".join(json.dumps(row) + "\n" for row in rows).encode()
    else:
        head = json.loads(files[name])
        change(head)
        files[name] = json.dumps(head).encode()
    return zipped(files)


def take(tmp_path, packed, by=None):
    path = tmp_path / "study.zip"
    path.write_bytes(packed)
    return import_study(path, by=by)


def test_a_study_comes_back_with_every_row_and_time_as_it_was(lived, tmp_path, ada):
    packed = bundle_of(lived)
    fields = ("version", "answers", "made_at", "spans", "corrections", "comment")
    rows = list(VerdictRevision.objects.order_by("made_at").values(*fields))
    forget(lived)
    study = take(tmp_path, packed, by=ada)
    assert bundle_of(study) == packed
    assert list(VerdictRevision.objects.order_by("made_at").values(*fields)) == rows
    result = ItemResult.objects.get()
    assert len(result.detail["verdicts"]) == 2
    assert VerdictRevision.objects.filter(pk__in=result.detail["verdicts"]).count() == 2
    assert signed_in(ada).get(reverse("annotation:study", args=[study.pk])).status_code == 200


def test_a_study_that_is_here_is_not_taken_twice(lived, tmp_path):
    packed = bundle_of(lived)
    assert packed == bundle_of(lived)
    with pytest.raises(Conflict, match="here already"):
        take(tmp_path, packed)


WRONG = [
    ("study.json", lambda head: head.update(schema="medbench.study/9"), "wrong_schema"),
    ("study.json", lambda head: head.update(benchmark="lung"), "unknown_benchmark"),
    ("study.json", lambda head: head["annotators"].append("stranger"), "unknown_person"),
    ("study.json", lambda head: head["study"].update(state="open"), "wrong_value"),
    ("study.json", lambda head: head["protocol"]["definition"].update(questions=[]), "wrong_protocol"),
    (
        "study.json",
        lambda head: head["protocol"]["definition"].update(introduction="?"),
        "protocol_differs",
    ),
    ("study.json", lambda head: head.update(repeats="x"), "wrong_type"),
    ("items.jsonl", lambda rows: rows[0].update(case_id="TCGA-9"), "unknown_item"),
    ("items.jsonl", lambda rows: rows[0]["payload"].update(insight="Other."), "unknown_item"),
    ("items.jsonl", lambda rows: rows[0].update(report_sha256="0"), "unknown_item"),
    ("items.jsonl", lambda rows: rows[0].update(position="first"), "wrong_type"),
    ("assignments.jsonl", lambda rows: rows[0].update(seat=None, state="held"), "inconsistent"),
    ("assignments.jsonl", lambda rows: rows[0].update(item=99), "wrong_value"),
    ("assignments.jsonl", lambda rows: rows[0].update(skip_reason="a\0b"), "wrong_value"),
    ("history.jsonl", lambda rows: rows[0].update(answers={"grounded": "perhaps"}), "wrong_value"),
    ("history.jsonl", lambda rows: rows[0].update(spans=[{"start": 0}]), "wrong_value"),
    ("history.jsonl", lambda rows: rows[0].update(regions=[{"kind": "point"}]), "wrong_value"),
    ("history.jsonl", lambda rows: rows.clear(), "wrong_value"),
    ("items.jsonl", lambda rows: rows[0]["payload"].update(span=[1]), "unknown_item"),
    ("items.jsonl", lambda rows: rows[0]["payload"].update(number=[]), "unknown_item"),
    ("items.jsonl", lambda rows: rows[0].update(case_id=[]), "wrong_type"),
    ("assignments.jsonl", lambda rows: rows[0].update(item=[]), "wrong_type"),
    ("history.jsonl", lambda rows: rows[0].update(annotator={}), "wrong_type"),
    ("decisions.jsonl", lambda rows: rows[0].update(item=9), "wrong_value"),
    ("decisions.jsonl", lambda rows: rows[0]["detail"].update(by=[]), "wrong_value"),
    ("decisions.jsonl", lambda rows: rows[0]["detail"].update(verdicts=[3]), "wrong_value"),
    ("decisions.jsonl", lambda rows: rows[0]["detail"].update(correction=["x"]), "wrong_value"),
    ("log.jsonl", lambda rows: rows[0].update(person=[]), "wrong_type"),
    ("outside.jsonl", lambda rows: rows[0].update(value="perhaps"), "wrong_value"),
    ("log.jsonl", lambda rows: rows[0].update(what="nothing"), "wrong_value"),
]


def test_a_bundle_that_is_wrong_anywhere_leaves_nothing_behind(lived, tmp_path):
    packed = bundle_of(lived)
    forget(lived)
    for name, change, code in WRONG:
        with pytest.raises(Refused) as refused:
            take(tmp_path, repacked(packed, name, change))
        assert code in {each.code for each in refused.value.problems}, (name, code)
        assert not Study.objects.exists()
        assert not ReviewItem.objects.exists()


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"../study.json": b"{}"}, "bad_path"),
        ({"items.jsonl": b""}, "file_missing"),
        ({"study.json": b"0" * 120_000_000}, "zip_bomb"),
        ({"study.json": b'{"schema": 1, "schema": 2}'}, "duplicate_key"),
        ({"study.json": b"\xff"}, "not_utf8"),
        (None, "bad_zip"),
    ],
)
def test_hostile_archives_are_refused(db, tmp_path, files, code):
    with pytest.raises(Refused) as refused:
        take(tmp_path, zipped(files) if files else b"PK\x03\x04 no zip")
    assert [each.code for each in refused.value.problems] == [code]


def test_the_page_takes_a_bundle_or_says_what_is_missing(lived, ada, team):
    client, address = signed_in(ada), reverse("annotation:import_study")
    packed = client.get(f"/api/v1/studies/{lived.pk}/bundle.zip").content
    assert "here already" in send(client, address, packed).content.decode()
    forget(lived)
    refused = send(client, address, repacked(packed, "study.json", lambda head: head.update(benchmark="x")))
    assert refused.status_code == 422
    assert "unknown_benchmark" in refused.content.decode()
    assert send(client, address, packed).status_code == 302
    assert Study.objects.get().title == lived.title


def send(client, address, packed):
    return client.post(address, {"file": SimpleUploadedFile("study.zip", packed)})


def test_a_curator_elsewhere_cannot_bring_a_study_into_this_team(lived, tmp_path, eve):
    packed = bundle_of(lived)
    forget(lived)
    with pytest.raises(Refused, match="unknown_benchmark"):
        take(tmp_path, packed, by=eve)


def test_the_commands_write_and_read_the_same(lived, tmp_path):
    path = tmp_path / "out.zip"
    study_id = str(lived.pk)
    call_command("export_study", study_id, out=path, json=True, stdout=io.StringIO())
    with pytest.raises(CommandError, match="This study is here already"):
        call_command("import_study", str(path), stderr=io.StringIO())
    forget(lived)
    out = io.StringIO()
    call_command("import_study", str(path), json=True, stdout=out)
    assert json.loads(out.getvalue()) == {"study": study_id, "items": 4}


def test_whoever_annotates_gets_no_file_of_others_before_the_study_is_closed(study, ada, bruno):
    join(study.benchmark.team, bruno, Role.CURATOR)
    for part in ("verdicts.csv", "history.jsonl", "regions.zip", "bundle.zip"):
        assert signed_in(bruno).get(f"/api/v1/studies/{study.pk}/{part}").status_code == 403
        assert signed_in(ada).get(f"/api/v1/studies/{study.pk}/{part}").status_code == 200


def test_letters_stay_those_they_were(lived, tmp_path, team):
    join(team, make_annotator("efua"), Role.ANNOTATOR)
    letters = {str(pk): letter for pk, letter in progress.letters(lived).items()}
    packed = bundle_of(lived)
    forget(lived)
    study = take(tmp_path, packed)
    assert {str(pk): letter for pk, letter in progress.letters(study).items()} == letters


@pytest.mark.parametrize("kind", ["goal", "report", "case", "difficulty"])
def test_studies_of_other_things_come_back_too(team, ada, bruno, tmp_path, kind):
    benchmark = make_cases(team, 2, 1)
    protocol = Protocol.objects.get(key=kind, version=1)
    study = Study(benchmark=benchmark, protocol=protocol, title=kind, annotators_per_item=1)
    items = cases.as_items(cases.chosen(Edition(benchmark, None), kind), kind)
    study = studies.start_study(studies.draft_study(study, items, [bruno], by=ada))
    packed = bundle_of(study)
    forget(study)
    assert bundle_of(take(tmp_path, packed)) == packed
