"""Ratings made elsewhere stand beside those of the annotators and count in none of their numbers."""

import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation import exports, progress
from annotation.models import OutsideRater, OutsideRating, Protocol, Study
from annotation.services import studies
from annotation.services.outside import import_ratings
from medbench.cases.editions import Edition
from medbench.formats.problems import Refused
from medbench.review import cases
from tests.annotation.build import YES, answer_all, compute_agreement, make_cases, make_study
from tests.people import signed_in


@pytest.fixture
def read(study, bruno, chen):
    """Four items; Bruno says yes to all, Chen doubts the last."""
    answer_all(study, bruno, YES)
    answer_all(study, chen, lambda position: YES | {"grounded": "yes" if position < 4 else "no"})
    return study


def take(study, text, question="grounded", kind="person"):
    return import_ratings(study, text.encode(), kind=kind, question=question, file="r.csv", by=None)


def codes(study, text, **options):
    with pytest.raises(Refused) as refused:
        take(study, text, **options)
    assert not OutsideRater.objects.exists()
    return [(each.code, each.line) for each in refused.value.problems]


@pytest.mark.parametrize(
    "text",
    [
        "item,Efua,Model\n1,yes,no\n2,Yes,\n3,,no\n",
        "item,annotator,rating\n1,Efua,yes\n2,Efua,yes\n1,Model,no\n3,Model,no\n",
    ],
    ids=["wide", "long"],
)
def test_a_table_of_ratings_of_one_question(read, text):
    assert take(read, text)[:2] == (2, 4)
    rows = OutsideRating.objects.values_list("rater__name", "study_item__position", "value")
    assert sorted(rows) == [("Efua", 1, "yes"), ("Efua", 2, "yes"), ("Model", 1, "no"), ("Model", 3, "no")]


def test_the_same_file_again_changes_nothing_and_another_question_adds(read):
    take(read, "item,Efua\n1,yes\n")
    assert take(read, "item,Efua\n1,yes\n") == (0, 0, 1)
    take(read, "item,Efua\n1,no\n", question="faithful")
    assert OutsideRating.objects.count() == 2


def test_nothing_is_taken_where_anything_is_wrong_and_all_of_it_is_told(read):
    text = "item,annotator,rating\n1,Efua,perhaps\n99,Efua,yes\nTCGA-1,Efua,yes\n2,Efua,yes\n"
    assert codes(read, text) == [("not_an_option", 2), ("unknown_item", 3), ("ambiguous_item", 4)]
    assert codes(read, "item,Efua\n1,yes\n", question="colour") == [("no_question", None)]
    assert codes(read, "item,Efua\n1,\n") == [("empty_file", None)]
    assert codes(read, "item;Efua\n1;yes\n") == [("wrong_separator", 1)]


def test_a_rating_never_changes_and_a_rater_stays_what_they_are(read):
    take(read, "item,Efua\n1,yes\n")
    with pytest.raises(Refused, match="A rating never changes"):
        take(read, "item,Efua\n1,no\n")
    with pytest.raises(Refused, match="as a person"):
        take(read, "item,Efua\n2,no\n", kind="model")
    assert OutsideRating.objects.count() == 1


def test_verdicts_as_they_are_exported_can_be_taken_by_another_study(read, team, ada, bruno, chen):
    other = make_study(read.benchmark, [bruno, chen], ada)
    done = take(other, exports.verdicts_csv(read), question="")
    assert done == (2, 32, 0)  # four questions of four items, twice
    assert set(other.outside_raters.values_list("name", flat=True)) == {"A", "B"}
    assert OutsideRating.objects.filter(question="grounded", value="no").get().study_item.position == 4


def test_outside_raters_are_compared_and_counted_nowhere_else(read, ada, dara):
    before = compute_agreement(read, ada).result["questions"]
    take(read, "item,Zq model\n1,yes\n2,yes\n3,no\n4,yes\n", kind="model")
    found = compute_agreement(read, ada).result
    assert found["questions"] == before
    (row,) = found["outside"]
    assert (row["rater"], row["kind"], row["n_items"]) == ("Zq model", "model", 3)  # on item 4 nobody leads
    assert row["percent_agreement"] == pytest.approx(2 / 3)
    assert [each.letter for each in progress.of_study(read).annotators] == ["A", "B"]
    address = reverse("annotation:agreement", args=[read.pk])
    assert "Zq model" in signed_in(ada).get(address).content.decode()
    page = signed_in(dara).get(address).content.decode()
    assert "Outside model 1" in page
    assert "Zq model" not in page
    answer = signed_in(dara).get(f"/api/v1/studies/{read.pk}/agreement/").json()
    assert answer["outside"][0]["rater"] == "Outside model 1"


def test_a_rater_with_nothing_to_compare_breaks_nothing(study, ada):
    take(study, "item,Efua\n1,yes\n2,cannot_judge\n")
    (row,) = compute_agreement(study, ada).result["outside"]
    assert (row["n_items"], row["n_cannot_judge"], row["alpha"]["value"]) == (0, 1, None)
    assert signed_in(ada).get(reverse("annotation:agreement", args=[study.pk])).status_code == 200


def test_the_page_takes_a_file_or_lists_what_is_wrong(read, ada):
    client, address = signed_in(ada), reverse("annotation:import_ratings", args=[read.pk])
    assert "None yet." in client.get(address).content.decode()

    def send(text):
        file = SimpleUploadedFile("r.csv", text.encode())
        return client.post(address, {"file": file, "kind": "model", "question": "grounded"})

    refused = send("item,<b>\n7,yes\n")
    assert refused.status_code == 422
    assert "unknown_item" in refused.content.decode()
    assert send("item,<b>GPT</b>\n1,yes\n").status_code == 302
    page = client.get(address).content.decode()
    assert "&lt;b&gt;GPT" in page
    log = client.get(reverse("annotation:log", args=[read.pk])).content.decode()
    assert "1 ratings of 1 outside rater (model)" in log


def test_the_command_does_the_same(read, tmp_path):
    file = tmp_path / "r.csv"
    file.write_text("item,Efua\n1,yes\n", encoding="utf-8")
    out = io.StringIO()
    usual = {"question": "grounded", "json": True, "stdout": out}
    call_command("import_ratings", str(read.pk), str(file), dry_run=True, **usual)
    assert not OutsideRating.objects.exists()
    call_command("import_ratings", str(read.pk), str(file), **usual)
    assert json.loads(out.getvalue().splitlines()[-1]) == {"raters": 1, "ratings": 1, "known": 0}
    file.write_text("item,Efua\n8,yes\n", encoding="utf-8")
    with pytest.raises(CommandError, match="Nothing was imported"):
        call_command("import_ratings", str(read.pk), str(file), question="grounded", stderr=io.StringIO())


def test_scores_of_a_model_stand_beside_those_of_people(team, ada, bruno, chen):
    benchmark = make_cases(team, 3, 1)
    items = cases.as_items(cases.chosen(Edition(benchmark, None), "case"), "case")
    study = Study(benchmark=benchmark, protocol=Protocol.objects.get(key="case", version=1), title="Quality")
    study = studies.start_study(studies.draft_study(study, items, [bruno, chen], by=ada))
    for person in (bruno, chen):
        answer_all(study, person, {"correctness": "4", "rationality": "4", "coherence": "4"})
    text = "item,Judge\nTCGA-1,2\nTCGA-2,4\nTCGA-3,3\n"
    take(study, text, question="correctness", kind="model")
    (row,) = compute_agreement(study, ada).result["outside"]
    assert row["n_items"] == 3
    assert row["difference"]["value"] == pytest.approx(-1)
    page = signed_in(ada).get(reverse("annotation:human_machine", args=[study.pk])).content.decode()
    assert "Judge" in page
