"""What a curator can change in a study that runs, and the log of all that was done."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Assignment, StudyAction, VerdictRevision
from annotation.services import studies
from annotation.services.adjudication import Ruling, decide
from annotation.services.assignments import claim_next, skip, take
from annotation.services.verdicts import Draft, submit_verdict
from medbench.accounts.permissions import Role
from medbench.errors import Conflict
from tests.annotation.build import YES, answer_all, make_draft
from tests.people import join, make_annotator, make_person, signed_in


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


def test_verdicts_changes_skips_and_decisions_stand_in_the_log_with_author_and_reason(
    study, bruno, chen, dara
):
    held = claim_next(study, bruno)
    skip(held, "Too hard")
    skip(held, "Too hard")  # twice is once
    taken = take(held)
    verdict = submit_verdict(taken, Draft(YES, "", 0))
    submit_verdict(taken, Draft(YES | {"faithful": "no"}, "", verdict.version))
    submit_verdict(taken, Draft(YES | {"faithful": "no"}, "", verdict.version))
    other = Assignment.objects.get(study_item=held.study_item, annotator=chen)
    submit_verdict(take(other), Draft(YES, "", 0))
    decide(held.study_item, Ruling({"faithful": "yes"}, "verified", "It is reported."), by=dara)
    item = f"Item {held.study_item.position}"
    assert lines(study)[2:] == [
        ("skipped", f"{item}: Too hard", "Bruno Costa"),
        ("answered", f"{item}, version 2", "Bruno Costa"),
        ("answered", f"{item}, changed, version 4", "Bruno Costa"),
        ("answered", f"{item}, version 2", "Chen Wei"),
        ("decided", f"{item}: verified. It is reported.", "Dara Okafor"),
    ]


def test_the_log_is_filtered_by_kind_and_person(study, bruno, chen, ada):
    answer_all(study, bruno, YES)
    client = signed_in(ada)
    page = client.get(address(study, "log") + f"?what=answered&person={bruno.pk}").content.decode()
    assert "4 lines, newest first" in page
    page = client.get(address(study, "log") + f"?what=started&person={bruno.pk}").content.decode()
    assert "No line matches" in page
    page = client.get(address(study, "log") + "?what=nonsense&person=x&page=y").content.decode()
    assert "6 lines, newest first" in page


def test_a_curator_who_annotates_sees_no_line_about_a_single_item(study, bruno, chen, team):
    join(team, bruno, Role.CURATOR)
    answer_all(study, chen, YES)
    page = signed_in(bruno).get(address(study, "log")).content.decode()
    assert "Verdict submitted" not in page
    assert "2 lines, newest first" in page
    studies.close_study(study)
    assert "7 lines, newest first" in signed_in(bruno).get(address(study, "log")).content.decode()


def test_a_line_of_the_log_never_changes(study):
    line = StudyAction.objects.first()
    line.note = "something else"
    for change in (
        line.save,
        line.delete,
        lambda: StudyAction.objects.update(note="x"),
        StudyAction.objects.all().delete,
        lambda: study.actions.filter(what="started").update(note="x"),
        lambda: StudyAction.objects.bulk_update([line], ["note"]),
    ):
        with pytest.raises(Conflict), transaction.atomic():
            change()
    assert not StudyAction.objects.filter(note__in=("x", "something else")).exists()


@pytest.mark.parametrize("kind", ["studyaction", "protocolaction", "verdictrevision"])
def test_operators_read_a_log_and_cannot_write_it(study, bruno, kind):
    answer_all(study, bruno, YES)
    client = signed_in(make_person("root", is_superuser=True, is_staff=True))
    base = reverse(f"admin:annotation_{kind}_changelist")
    assert client.get(base).status_code == 200
    assert client.get(base + "add/").status_code == 403
    line = {"studyaction": StudyAction, "verdictrevision": VerdictRevision}.get(kind)
    if line is not None:
        number = line.objects.first().pk
        assert client.post(f"{base}{number}/change/", {"note": "x"}).status_code == 403
        assert client.post(f"{base}{number}/delete/", {"post": "yes"}).status_code == 403


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
