"""Agreement as curators and adjudicators see it: page, files, API, disagreements."""

import csv
import io
import re
import xml.etree.ElementTree as ET

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.services import studies
from annotation.services.verdicts import Draft, submit_verdict
from medbench.accounts.permissions import Role
from medbench.jobs.models import Job, WorkerBeat
from tests.annotation.build import YES, answer_all, compute_agreement, make_cases, make_study
from tests.annotation.test_agreement import scored
from tests.people import join, make_annotator, signed_in

PAGES = ("agreement", "disagreements")


def place(study, name="agreement", *more):
    return reverse(f"annotation:{name}", args=[study.pk, *more])


def api(study):
    return f"/api/v1/studies/{study.pk}/agreement/"


def words(answer):
    return " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())


@pytest.fixture
def read(team, ada, bruno, chen):
    """Six items, read by both. They differ on “grounded” in item 2 and on “aligned” in items 2 and 5."""
    study = make_study(make_cases(team, 1, 6), [bruno, chen], ada)
    answer_all(study, bruno, YES, "Bruno's own words")
    answer_all(
        study,
        chen,
        lambda position: (
            YES
            | ({"grounded": "no"} if position == 2 else {})
            | ({"aligned": "no"} if position in (2, 5) else {})
            | ({"category": "cannot_judge"} if position == 6 else {})
        ),
    )
    compute_agreement(study, ada)
    return study


# --- The page --------------------------------------------------------------------------------


def test_every_question_has_n_raw_agreement_coefficient_interval_and_reading(read, ada):
    seen = words(signed_in(ada).get(place(read)))
    assert re.search(r"3 Aligned with the goal 6 2 6 0.% 66\.7.% alpha nominal", seen)
    assert "– all ratings are equal" in seen  # faithful: undefined, not 1
    assert "On verdicts before adjudication · as of" in seen
    assert "B 2,000, seed 1" in seen
    assert "unreliable" in seen


def test_one_question_is_shown_in_detail_and_the_link_says_which(read, ada):
    client = signed_in(ada)
    assert "Does the insight serve the goal" in words(client.get(place(read) + "?question=aligned"))
    seen = words(client.get(place(read) + "?question=category"))
    assert "cannot judge 1 · blank 0" in seen
    assert client.get(place(read) + "?question=nonsense").status_code == 200


def test_curators_see_names_adjudicators_letters_and_no_annotator_by_themselves(read, ada, dara):
    assert "Bruno Costa" in words(signed_in(ada).get(place(read)))
    seen = words(signed_in(dara).get(place(read)))
    assert "Bruno" not in seen
    assert "for curators only" not in seen
    assert "Rater by rater" in seen
    for person, told in ((ada, True), (dara, False)):
        (question, *_) = signed_in(person).get(api(read)).json()["questions"]
        assert ("annotators" in question) is told


def test_before_anything_is_read_the_page_says_what_agreement_needs(study, ada):
    assert "Agreement needs two annotators on one item." in words(signed_in(ada).get(place(study)))
    empty = signed_in(ada).get(api(study)).json()
    assert (empty["as_of"], empty["questions"], empty["job"]) == (None, [], None)
    for name in ("agreement_csv", "agreement_svg", "agreement_methods"):
        assert signed_in(ada).get(place(study, name)).status_code == 404


def test_a_verdict_that_came_since_is_said_and_recomputing_shows(read, bruno, ada):
    assert "Up to date" in words(signed_in(ada).get(place(read)))
    held = read.items.get(position=1).assignments.get(annotator=bruno)
    submit_verdict(held, Draft(YES | {"faithful": "no"}, "", held.verdict.version))
    client = signed_in(ada)
    assert "Verdicts came since" in words(client.get(place(read)))
    assert client.get(api(read)).json()["is_stale"] is True
    assert client.post(place(read, "recompute_agreement")).url == place(read)
    seen = words(client.get(place(read)))
    assert "Recomputing" in seen
    assert "No worker is running" in seen
    WorkerBeat.objects.create(worker="here:1", slots=2, swept_at=timezone.now())
    assert "No worker is running" not in words(client.get(place(read)))


def test_the_region_that_polls_asks_for_the_page_when_a_new_generation_is_there(read, ada):
    def poll(shown):
        headers = {"HX-Request": "true", "HX-Target": "agreement-status"}
        answer = signed_in(ada).get(f"{place(read)}?shown={shown}", headers=headers)
        return answer.content.decode()

    assert 'hx-trigger="load"' not in poll(1)
    assert "agreement-table" not in poll(1)
    compute_agreement(read, ada)
    assert 'hx-trigger="load"' in poll(1)


def test_a_job_that_failed_says_why_and_can_be_asked_for_again(read, ada):
    client = signed_in(ada)
    client.post(place(read, "recompute_agreement"))
    Job.objects.filter(state="queued").update(state="failed", error_code="internal", error_text="It broke.")
    assert "It broke. (internal)" in words(client.get(place(read)))
    client.post(place(read, "recompute_agreement"))
    assert "Recomputing" in words(client.get(place(read)))


# --- Blind -----------------------------------------------------------------------------------


def test_who_curates_and_annotates_sees_no_answers_before_the_study_is_closed(read, ada, bruno):
    curator = join(read.benchmark.team, bruno, Role.CURATOR)
    places = [place(read), place(read, "disagreements"), place(read, "study_item", 2), api(read)]
    places += [place(read, "agreement_csv"), place(read, "agreement_ratings", "grounded")]
    assert {signed_in(curator).get(each).status_code for each in places} == {403}
    assert signed_in(curator).post(place(read, "recompute_agreement")).status_code == 403
    studies.close_study(read)
    assert {signed_in(curator).get(each).status_code for each in places} == {200}


def test_an_annotator_finds_nothing_even_when_the_study_is_closed(read, bruno):
    studies.close_study(read)
    for name in PAGES:
        assert signed_in(bruno).get(place(read, name)).status_code == 404
    assert signed_in(bruno).get(api(read)).status_code == 404


# --- Files -----------------------------------------------------------------------------------


def rows_of(answer):
    return list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))


def test_the_csv_has_a_row_for_each_coefficient_and_a_reason_where_there_is_no_number(read, dara):
    rows = rows_of(signed_in(dara).get(place(read, "agreement_csv")))
    assert [(row["question"], row["coefficient"]) for row in rows[:4]] == [
        ("grounded", "alpha nominal"),
        ("grounded", "AC1"),
        ("faithful", "alpha nominal"),
        ("faithful", "AC1"),
    ]
    faithful = rows[2]
    assert (faithful["value"], faithful["ci_low"], faithful["reason"]) == ("", "", "no_variation")
    assert (faithful["n_items"], faithful["seed"], faithful["b"]) == ("6", "1", "2000")
    assert faithful["as_of"].endswith("+00:00")


def test_the_ratings_of_a_question_are_a_table_of_items_and_letters(read, dara):
    answer = signed_in(dara).get(place(read, "agreement_ratings", "category"))
    rows = rows_of(answer)
    assert [row["item"] for row in rows] == ["1", "2", "3", "4", "5", "6"]
    assert sorted((rows[5]["A"], rows[5]["B"])) == ["", "yes"]  # one could not judge
    assert "Bruno" not in answer.content.decode()
    assert signed_in(dara).get(place(read, "agreement_ratings", "nonsense")).status_code == 404


def test_the_drawing_is_a_whole_file_without_style_or_script(read, ada):
    answer = signed_in(ada).get(place(read, "agreement_svg"))
    assert answer["Content-Type"].startswith("image/svg+xml")
    root = ET.fromstring(answer.content)  # noqa: S314  # our own file
    texts = "".join(root.itertext())
    assert "Aligned with the goal" in texts
    assert "all ratings are equal" in texts
    assert not [
        each for each in root.iter() if "style" in each.attrib or each.tag.endswith(("script", "style"))
    ]


def test_the_methods_paragraph_names_what_was_done_and_the_numbers(read, ada):
    text = signed_in(ada).get(place(read, "agreement_methods")).content.decode()
    assert "2 annotators (1 pathologist, 1 student with a background in pathology) judged 6 items" in text
    assert "before any adjudication" in text
    assert "B = 2,000, seed 1" in text
    assert "Faithful to the report: 6 items" in text
    assert "not defined: all ratings are equal" in text
    assert "Krippendorff K." in text
    assert "Koo" not in text.split("REFERENCES")[1]  # no scores, no ICC
    assert "None" not in text


def test_the_methods_paragraph_of_scores_names_the_form_of_icc(team, ada, bruno, chen):
    study = make_study(make_cases(team, 1, 6), [bruno, chen], ada, protocol=scored("depth"))
    answer_all(study, bruno, lambda position: {"depth": str(position)})
    answer_all(study, chen, lambda position: {"depth": str(position + position % 2)})
    compute_agreement(study, ada)
    text = signed_in(ada).get(place(study, "agreement_methods")).content.decode()
    assert "ICC(A,1)" in text
    assert "McGraw" in text
    page = words(signed_in(ada).get(place(study)))
    assert "ICC(A,k), k = 2" in page
    assert "Pearson r, mean of 1 pair" in page


def test_hostile_titles_are_shown_as_text(team, ada, bruno, chen):
    protocol = scored("depth")
    protocol.definition["questions"][0]["title"] = "=<script>alert(1)</script>"
    protocol.save()
    study = make_study(make_cases(team, 1, 2), [bruno, chen], ada, protocol=protocol, title="<img src=x>")
    for person in (bruno, chen):
        answer_all(study, person, lambda position: {"depth": str(position)})
    compute_agreement(study, ada)
    for name in ("agreement", "disagreements", "agreement_svg"):
        seen = signed_in(ada).get(place(study, name)).content.decode()
        assert "<script>alert" not in seen
        assert "<img src=x" not in seen
    (row, *_) = rows_of(signed_in(ada).get(place(study, "agreement_csv")))
    assert row["title"].startswith("'=")


# --- Disagreements -----------------------------------------------------------------------------


def listed(answer):
    return re.findall(r"Item (\d+) [^✓✕]*?(Grounded|Faithful|Aligned|Category)", words(answer))


def test_disagreements_lead_to_their_items_and_can_be_narrowed(read, dara):
    client = signed_in(dara)
    here = place(read, "disagreements")
    assert listed(client.get(here)) == [("2", "Grounded"), ("2", "Aligned"), ("5", "Aligned")]
    assert listed(client.get(here + "?question=grounded")) == [("2", "Grounded")]
    assert listed(client.get(here + "?annotator=A&annotator=B")) == listed(client.get(here))
    assert listed(client.get(here + "?annotator=A&annotator=C")) == []
    assert listed(client.get(here + "?answer=yes&answer=no&question=aligned")) == [
        ("2", "Aligned"),
        ("5", "Aligned"),
    ]
    assert "No disagreement matches." in words(client.get(here + "?question=faithful"))
    assert place(read, "study_item", 2) in client.get(here).content.decode()
    assert "Bruno" not in words(client.get(here))


def test_scores_go_to_adjudication_from_a_gap_of_three(team, ada, bruno, chen):
    study = make_study(make_cases(team, 1, 3), [bruno, chen], ada, protocol=scored("depth"))
    answer_all(study, bruno, {"depth": "5"})
    answer_all(study, chen, lambda position: {"depth": str(5 + position)})
    client = signed_in(ada)
    seen = words(client.get(place(study, "disagreements")))
    assert seen.count("None needed") == 2
    assert "gap of 3 or more" in seen
    only = words(client.get(place(study, "disagreements") + "?rule=1"))
    assert "1 disagreement." in only


def test_where_all_agree_the_list_says_so(study, bruno, chen, ada):
    for person in (bruno, chen):
        answer_all(study, person, YES)
    assert "they agree so far" in words(signed_in(ada).get(place(study, "disagreements")))


# --- Numbers of queries ---------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 3])
def test_the_pages_take_the_same_queries_for_any_number_of_people_and_items(
    team, ada, django_assert_num_queries, n
):
    people = [join(team, make_annotator(f"reader{number}"), Role.ANNOTATOR) for number in range(n + 1)]
    study = make_study(make_cases(team, 1, n), people, ada, per_item=n + 1)
    for number, person in enumerate(people):
        answer_all(study, person, YES | {"grounded": "no" if number else "yes"})
    compute_agreement(study, ada)
    client = signed_in(ada)
    for where, queries in (
        (place(study), 14),
        (place(study, "disagreements"), 13),
        (place(study, "adjudication"), 14),
        (place(study, "study_item", 1), 19),
        (place(study, "human_machine"), 12),
        (api(study), 8),
    ):
        with django_assert_num_queries(queries):
            assert client.get(where).status_code == 200
