"""What a curator can change in a study that runs, and the log of all that was done."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Assignment, StudyAction
from annotation.services import studies
from medbench.accounts.permissions import Role
from medbench.errors import Conflict
from tests.annotation.build import YES, answer_all, make_draft
from tests.people import join, make_annotator, signed_in


def address(study, part):
    return f"/studies/{study.pk}/{part}/"


def change(curator, study, **changes):
    form = {"title": study.title, "due_at": "", "guidelines": "", "annotators": []}
    return signed_in(curator).post(address(study, "set-up"), form | changes)


def lines(study):
    """The log, oldest first."""
    return [(each.what, each.note, str(each.person)) for each in study.actions.order_by("pk")]


@pytest.fixture
def lia(team):
    return join(team, make_annotator("lia"), Role.ANNOTATOR)


def test_who_is_added_to_a_running_study_gets_all_items_in_an_order_of_their_own(study, ada, bruno, lia):
    answer_all(study, bruno, YES)
    assert change(ada, study, annotators=[lia.pk]).status_code == 302
    theirs = Assignment.objects.filter(study_item__study=study, annotator=lia)
    assert sorted(theirs.values_list("position", flat=True)) == [1, 2, 3, 4]
    assert "lia" in str(lines(study)[-1]).lower()
    answer_all(study, lia, YES)
    assert Assignment.objects.filter(study_item__study=study, state="submitted").count() == 8


def test_nobody_is_added_twice(study, ada, bruno):
    assert change(ada, study, annotators=[bruno.pk]).status_code == 422
    assert studies.add_annotators(study, [bruno]) == 0
    assert Assignment.objects.filter(study_item__study=study, annotator=bruno).count() == 4


def test_only_annotators_of_the_benchmark_are_added(study, ada, eve):
    assert change(ada, study, annotators=[eve.pk]).status_code == 422
    with pytest.raises(studies.NotReady):
        studies.add_annotators(study, [eve])
    assert study.annotators.count() == 2


def test_title_due_date_and_guidelines_change_and_the_log_says_from_what_to_what(study, ada):
    change(ada, study, title="Round one", due_at="2099-12-31T12:00", guidelines="As reported.")
    study.refresh_from_db()
    assert (study.title, study.guidelines) == ("Round one", "As reported.")
    what, note, person = lines(study)[-1]
    assert (what, person) == ("changed", "Ada Novak")
    assert note.splitlines() == [
        "title: Colon verification, round 1 → Round one",
        "due: none → 2099-12-31 12:00 UTC",
        "guidelines: none → As reported.",
    ]


def test_saving_what_stands_there_writes_nothing(study, ada):
    before = lines(study)
    change(ada, study)
    assert lines(study) == before


def test_a_closed_study_changes_no_more(study, ada, lia):
    studies.close_study(study)
    assert change(ada, study, title="Later").status_code == 409
    with pytest.raises(Conflict):
        studies.add_annotators(study, [lia])
    study.refresh_from_db()
    assert study.title == "Colon verification, round 1"
    assert "Nothing in it changes" in signed_in(ada).get(address(study, "set-up")).content.decode()


def test_every_step_stands_in_the_log_with_its_author(benchmark, bruno, chen, ada):
    study = make_draft(benchmark, [bruno, chen], ada)
    client = signed_in(ada)
    for step in ("start", "pause", "resume"):
        client.post(f"/studies/{study.pk}/{step}/")
    client.post(address(study, "close"))
    assert [(what, person) for what, _, person in lines(study)] == [
        (what, "Ada Novak") for what in ("created", "started", "paused", "resumed", "closed")
    ]
    page = client.get(address(study, "log")).content.decode()
    assert "5 lines, newest first" in page
    assert page.index("Closed") < page.index("Paused")


def test_a_line_of_the_log_never_changes(study):
    line = StudyAction.objects.first()
    line.note = "something else"
    with pytest.raises(Conflict):
        line.save()


def test_the_log_costs_the_same_queries_for_one_and_three_lines(study, ada, django_assert_num_queries):
    client = signed_in(ada)
    client.get(address(study, "log"))
    with CaptureQueriesContext(connection) as few:
        client.get(address(study, "log"))
    for _ in range(3):
        studies.pause_study(study, by=ada)
        studies.resume_study(study, by=ada)
    with django_assert_num_queries(len(few)):
        client.get(address(study, "log"))
