"""Studies as curators and adjudicators see them: pages, API and export."""

import csv
import io
import re

import pytest
from django.urls import reverse

from annotation import progress
from annotation.models import Protocol, Study
from annotation.services import studies
from annotation.services.assignments import claim_next, skip
from annotation.services.verdicts import Draft, save_verdict, submit_verdict
from medbench.accounts.models import Team
from medbench.accounts.permissions import Role
from tests.annotation.build import YES, make_cases, make_draft, make_study
from tests.cases.build import make_benchmark, make_case, make_release, make_triplet
from tests.people import join, make_annotator, signed_in

NEW = "/studies/new/"


def page_of(study):
    return reverse("annotation:study", args=[study.pk])


def step_of(study, step):
    return reverse("annotation:study_step", args=[study.pk, step])


def text_of(answer):
    """The words of a page in one line."""
    return " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())


def answer_all(study, person, answers, comment=""):
    while (held := claim_next(study, person)) is not None:
        submit_verdict(held, Draft(answers, comment, 0))


# --- Who may see what --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("who", "list_", "page", "new", "close"),
    [
        ("ada", 200, 200, 200, 200),
        ("dara", 200, 200, 404, 403),
        ("bruno", 404, 404, 404, 404),
        ("rosa", 404, 404, 404, 404),
        ("eve", 404, 404, 404, 404),
    ],
)
def test_curators_manage_adjudicators_read_and_others_know_of_nothing(
    study, request, who, list_, page, new, close
):
    client = signed_in(request.getfixturevalue(who))
    assert client.get("/studies/").status_code == list_
    assert client.get(page_of(study)).status_code == page
    assert client.get(NEW).status_code == new
    assert client.get(reverse("annotation:close_study", args=[study.pk])).status_code == close
    for step in ("pause", "resume", "start", "discard"):
        if close != 200:
            assert client.post(step_of(study, step)).status_code == close
    if close != 200:
        assert client.post(reverse("annotation:add_items", args=[study.pk])).status_code == close
    study.refresh_from_db()
    assert study.state == Study.State.RUNNING


def test_adjudicators_see_letters_in_place_of_names(study, dara, ada):
    assert "Bruno Costa" in text_of(signed_in(ada).get(page_of(study)))
    seen = text_of(signed_in(dara).get(page_of(study)))
    assert "Bruno" not in seen
    assert "Chen" not in seen
    assert "by the letters of this study" in seen


def test_a_study_of_another_team_is_not_there(study, ada):
    other = make_benchmark(Team.objects.create(name="Lung"), "lung")
    stranger = join(other.team, make_annotator("lia"), Role.CURATOR)
    assert signed_in(stranger).get(page_of(study)).status_code == 404
    assert signed_in(stranger).post(step_of(study, "pause")).status_code == 404


def test_a_step_that_does_not_exist_is_not_there(study, ada):
    assert signed_in(ada).post(step_of(study, "explode")).status_code == 404
    assert signed_in(ada).get(step_of(study, "pause")).status_code == 405


# --- Setting up ---------------------------------------------------------------------------


def fill(people, **changes):
    protocol = Protocol.objects.get(key="triplet", version=1)
    return {
        "title": "Round 1",
        "protocol": protocol.pk,
        "edition": "draft",
        "site": "",
        "category": "",
        "state": "proposed",
        "annotators": [person.pk for person in people],
        "annotators_per_item": 2,
        "due_at": "",
        "guidelines": "",
        "do": "start",
    } | changes


def test_a_curator_starts_a_study_over_a_filtered_benchmark(benchmark, ada, bruno, chen):
    make_triplet(benchmark.cases.first(), "verified", state="verified")
    answer = signed_in(ada).post(
        NEW, fill([bruno, chen], due_at="2099-12-31T12:00", guidelines="As reported.")
    )
    study = Study.objects.get()
    assert answer.url == page_of(study)
    assert (study.state, study.items.count(), study.guidelines) == ("running", 4, "As reported.")
    assert study.due_at.isoformat() == "2099-12-31T12:00:00+00:00"
    assert {each.user for each in study.annotators.all()} == {bruno, chen}


def test_a_study_over_a_release_keeps_its_wording(benchmark, ada, bruno, chen):
    make_release(benchmark)
    signed_in(ada).post(NEW, fill([bruno, chen], edition="1", category="descriptive"))
    assert Study.objects.get().items.count() == 4


def test_a_draft_is_saved_without_annotators_and_can_be_discarded(benchmark, ada):
    client = signed_in(ada)
    client.post(NEW, fill([], do="draft"))
    study = Study.objects.get()
    assert study.state == "draft"
    assert "Nobody is chosen to annotate." in text_of(client.post(step_of(study, "start"), follow=True))
    assert "is discarded" in text_of(client.post(step_of(study, "discard"), follow=True))
    assert not Study.objects.exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"annotators": []}, "Nobody is chosen to annotate."),
        ({"annotators_per_item": 3}, "3 per item are wanted, and 2 are chosen."),
        ({"state": "rejected"}, "Nothing matches. Choose another filter."),
        ({"due_at": "2020-01-01T00:00"}, "The due date is in the past."),
        ({"title": ""}, "This field is required."),
        ({"annotators_per_item": 0}, "greater than or equal to 1"),
        ({"edition": "99"}, "Select a valid choice."),
        ({"site": "Elsewhere"}, "Select a valid choice."),
        ({"annotators": [0]}, "is not one of the available choices"),
    ],
)
def test_what_keeps_a_study_from_starting_is_named_and_nothing_is_made(
    benchmark, ada, bruno, chen, changes, words
):
    answer = signed_in(ada).post(NEW, fill([bruno, chen], **changes))
    assert answer.status_code == 422
    assert words in text_of(answer)
    assert not Study.objects.exists()


def test_only_annotators_of_the_benchmark_can_be_chosen(benchmark, ada, bruno, chen, dara):
    answer = signed_in(ada).post(NEW, fill([bruno, dara]))
    assert answer.status_code == 422
    assert not Study.objects.exists()


def test_the_summary_follows_the_form(benchmark, ada, bruno, chen):
    query = {name: value for name, value in fill([bruno, chen]).items() if name not in ("do", "title")}
    answer = signed_in(ada).get(NEW, query, HTTP_HX_REQUEST="true")
    assert text_of(answer) == (
        "4 items × 2 annotators = 8 verdicts About 4 for each of 2 annotators ✓ Ready to start"
    )
    answer = signed_in(ada).get(NEW, query | {"state": "rejected"}, HTTP_HX_REQUEST="true")
    assert "0 items" in text_of(answer)
    assert "Nothing matches." in text_of(answer)


def test_the_summary_counts_triplets_without_an_anchored_span(benchmark, ada):
    make_triplet(benchmark.cases.first(), "loose")
    assert "1 item without an anchored span" in text_of(signed_in(ada).get(NEW))


def test_who_curates_two_benchmarks_chooses_one_first(benchmark, ada):
    other = make_benchmark(Team.objects.create(name="Lung"), "lung")
    join(other.team, ada, Role.CURATOR)
    client = signed_in(ada)
    assert "Which benchmark are the triplets from?" in text_of(client.get(NEW))
    assert "Lung insight" in text_of(client.get(f"{NEW}?benchmark={other.pk}"))


# --- Running it ---------------------------------------------------------------------------


def test_pause_resume_and_close_go_by_buttons(study, ada):
    client = signed_in(ada)
    for step, state in (("pause", "paused"), ("resume", "running")):
        client.post(step_of(study, step))
        study.refresh_from_db()
        assert study.state == state
    question = client.get(reverse("annotation:close_study", args=[study.pk]))
    assert "0 of 4 items have all their verdicts." in text_of(question)
    closed = client.post(reverse("annotation:close_study", args=[study.pk]), follow=True)
    assert "The study is closed." in text_of(closed)
    assert client.post(step_of(study, "resume")).status_code == 409


def test_added_items_are_counted_and_those_already_there_are_not(study, benchmark, ada):
    make_triplet(make_case(benchmark, "TCGA-9"), "1")
    data = {"items-edition": "draft", "items-state": "proposed", "items-site": "", "items-category": ""}
    answer = signed_in(ada).post(reverse("annotation:add_items", args=[study.pk]), data, follow=True)
    assert "1 item added, behind all others." in text_of(answer)
    assert study.items.count() == 5


# --- Progress ------------------------------------------------------------------------------


def test_progress_counts_items_people_and_answers(study, bruno, chen, ada):
    answer_all(study, bruno, YES)
    first = claim_next(study, chen)
    submit_verdict(first, Draft(YES | {"aligned": "cannot_judge", "category": "no"}, "", 0))
    skip(claim_next(study, chen), "Too hard")
    claim_next(study, chen)
    found = progress.of_study(study)
    counts = found.counts
    assert (counts.items, counts.done, counts.in_hand, counts.short, counts.skipped_by_all) == (4, 1, 1, 1, 0)
    assert (counts.verdicts, counts.verdicts_wanted) == (5, 8)
    by_name = {row.user.username: row for row in found.annotators}
    assert {row.letter for row in found.annotators} == {"A", "B"}
    assert (by_name["bruno"].done, by_name["bruno"].cannot_judge, by_name["bruno"].answers) == (4, 0, 16)
    row = by_name["chen"]
    assert (row.done, row.in_hand, row.skipped, row.cannot_judge, row.answers) == (1, 1, 1, 1, 4)
    answered = {row.question.key: [n for _, n in row.options] for row in found.questions}
    assert answered == {
        "grounded": [5, 0, 0],
        "faithful": [5, 0, 0],
        "aligned": [4, 0, 1],
        "category": [4, 1, 0],
    }


def test_an_item_skipped_by_all_is_short_and_said(team, bruno, chen, ada):
    study = make_study(make_cases(team, 1, 1), [bruno, chen], ada)
    for person in (bruno, chen):
        skip(claim_next(study, person))
    counts = progress.item_counts(study)
    assert (counts.short, counts.skipped_by_all) == (1, 1)


def test_an_answer_that_was_not_submitted_is_not_counted(study, bruno):
    save_verdict(claim_next(study, bruno), Draft(YES, "", 0))
    assert progress.of_study(study).counts.verdicts == 0
    assert [row.options[0][1] for row in progress.of_study(study).questions] == [0, 0, 0, 0]


def test_letters_go_on_after_z():
    assert [progress.letter(index) for index in (0, 25, 26, 51, 52, 701, 702)] == [
        "A",
        "Z",
        "AA",
        "AZ",
        "BA",
        "ZZ",
        "AAA",
    ]


# --- Numbers of queries -----------------------------------------------------------------------


@pytest.mark.parametrize("n_studies", [1, 3])
def test_the_list_takes_the_same_queries_for_any_number_of_studies(
    benchmark, bruno, chen, ada, django_assert_num_queries, n_studies
):
    for number in range(n_studies):
        make_study(benchmark, [bruno, chen], ada, title=f"Round {number}")
    client = signed_in(ada)
    for path, queries in (("/studies/", 10), ("/api/v1/studies/", 5)):
        with django_assert_num_queries(queries):
            assert client.get(path).status_code == 200


@pytest.mark.parametrize("n", [1, 3])
def test_a_study_takes_the_same_queries_for_any_number_of_people_items_and_verdicts(
    team, ada, django_assert_num_queries, n
):
    people = [join(team, make_annotator(f"reader{number}"), Role.ANNOTATOR) for number in range(n)]
    study = make_study(make_cases(team, 1, n), people, ada, per_item=1)
    for person in people:
        answer_all(study, person, YES)
    client = signed_in(ada)
    for path, queries in (
        (page_of(study), 18),
        (f"/api/v1/studies/{study.pk}/", 12),
        (f"/api/v1/studies/{study.pk}/verdicts.csv", 8),
    ):
        with django_assert_num_queries(queries):
            assert client.get(path).status_code == 200


# --- API and export ------------------------------------------------------------------------


def rows_of(answer):
    return list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))


def test_the_api_tells_what_the_page_tells(study, bruno, dara):
    answer_all(study, bruno, YES)
    client = signed_in(dara)
    (listed,) = client.get("/api/v1/studies/").json()["results"]
    assert (listed["title"], listed["n_items"], listed["n_done"]) == (study.title, 4, 0)
    detail = client.get(f"/api/v1/studies/{study.pk}/").json()
    assert detail["items"]["verdicts"] == 4
    assert detail["questions"][0] == {
        "question": "grounded",
        "answers": {"yes": 4, "no": 0, "cannot_judge": 0},
        "blank": 0,
    }
    assert "bruno" not in str(detail).lower()


def test_the_api_hides_studies_from_annotators_and_strangers(study, bruno, eve, client):
    for person in (bruno, eve):
        assert signed_in(person).get("/api/v1/studies/").json()["results"] == []
        assert signed_in(person).get(f"/api/v1/studies/{study.pk}/").status_code == 404
    assert client.get("/api/v1/studies/").status_code == 401


def test_the_export_has_a_row_for_each_verdict_that_counts(study, bruno, chen, ada):
    answer_all(study, bruno, YES)
    held = claim_next(study, chen)
    submit_verdict(held, Draft(YES | {"grounded": "no"}, "Wrong side,\n“left”.", 0))
    save_verdict(claim_next(study, chen), Draft(YES, "a draft", 0))
    answer = signed_in(ada).get(f"/api/v1/studies/{study.pk}/verdicts.csv")
    rows = rows_of(answer)
    assert len(rows) == 5
    assert [int(row["item"]) for row in rows] == sorted(int(row["item"]) for row in rows)
    (row,) = [row for row in rows if row["background"] == "student"]
    assert (row["grounded"], row["faithful"], row["comment"]) == ("no", "yes", "Wrong side,\n“left”.")
    assert (row["protocol"], row["version"], row["study"]) == ("triplet v1", "2", str(study.pk))
    assert row["item_id"] == str(held.study_item.item_id)
    assert row["case_id"].startswith("TCGA-")
    assert row["submitted_at"].endswith("+00:00")
    assert "Chen" not in answer.content.decode()


def test_of_a_changed_verdict_the_one_submitted_last_is_exported(study, bruno, ada):
    held = claim_next(study, bruno)
    submit_verdict(held, Draft(YES, "first", 0))
    submit_verdict(held, Draft(YES, "second", 2))
    save_verdict(held, Draft(YES, "not sent", 4))
    (row,) = rows_of(signed_in(ada).get(f"/api/v1/studies/{study.pk}/verdicts.csv"))
    assert (row["comment"], row["version"]) == ("second", "4")


@pytest.mark.parametrize("comment", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_no_comment_becomes_a_formula(study, bruno, ada, comment):
    submit_verdict(claim_next(study, bruno), Draft(YES, comment, 0))
    text = signed_in(ada).get(f"/api/v1/studies/{study.pk}/verdicts.csv").content.decode()
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert row["comment"] == f"'{comment}"


def test_only_curators_export(study, dara, bruno, eve):
    path = f"/api/v1/studies/{study.pk}/verdicts.csv"
    assert [signed_in(person).get(path).status_code for person in (dara, bruno, eve)] == [403, 404, 404]


def test_an_export_without_verdicts_is_its_head(benchmark, bruno, chen, ada):
    study = make_draft(benchmark, [bruno, chen], ada)
    text = signed_in(ada).get(f"/api/v1/studies/{study.pk}/verdicts.csv").content.decode()
    assert text == (
        "study,protocol,item,item_id,case_id,triplet,annotator,background,"
        "grounded,faithful,aligned,category,comment,version,submitted_at,regions,missing_tiles,notes,flagged,active_s,spans,corrections\r\n"
    )


def test_hostile_names_are_shown_as_text(team, ada, bruno, chen):
    benchmark = make_cases(team, 1, 1)
    study = make_study(
        benchmark, [bruno, chen], ada, title="<script>alert(1)</script>", guidelines="<img src=x>"
    )
    studies.pause_study(study)
    for path in ("/studies/", page_of(study), reverse("annotation:close_study", args=[study.pk])):
        page = signed_in(ada).get(path).content.decode()
        assert "<script>alert" not in page
        assert "<img src=x" not in page
