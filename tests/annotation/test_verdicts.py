"""Saving, submitting and changing verdicts."""

import datetime as dt

import pytest
import time_machine
from django.utils import timezone

from annotation.models import Assignment, Verdict, VerdictRevision
from annotation.services import assignments, studies
from annotation.services.verdicts import Draft, Incomplete, Stale, save_verdict, submit_verdict
from medbench.errors import Conflict, InvalidInput
from tests.annotation.build import YES, make_study

State = Assignment.State


@pytest.fixture
def held(study, bruno):
    return assignments.claim_next(study, bruno)


def history(assignment):
    rows = VerdictRevision.objects.filter(verdict__assignment=assignment)
    return [(row.version, row.answers, row.comment, row.submitted) for row in rows]


def test_every_save_is_a_version_and_the_history_keeps_all(held):
    save_verdict(held, Draft({"grounded": "yes"}, "", 0))
    save_verdict(held, Draft({"grounded": "no"}, "", 1))
    verdict = save_verdict(held, Draft({"grounded": "no"}, "Wrong side.", 2))
    assert verdict.version == 3
    assert history(held) == [
        (1, {"grounded": "yes"}, "", False),
        (2, {"grounded": "no"}, "", False),
        (3, {"grounded": "no"}, "Wrong side.", False),
    ]


def test_the_history_cannot_be_changed(held):
    save_verdict(held, Draft(YES, "", 0))
    with pytest.raises(Conflict):
        VerdictRevision.objects.update(comment="never said")
    with pytest.raises(Conflict):
        VerdictRevision.objects.get().delete()


def test_a_stale_save_is_refused_with_what_is_stored(held):
    save_verdict(held, Draft({"grounded": "yes"}, "from the first window", 0))
    with pytest.raises(Stale) as raised:
        save_verdict(held, Draft({"grounded": "no"}, "from the second", 0))
    assert raised.value.verdict.answers == {"grounded": "yes"}
    assert raised.value.verdict.comment == "from the first window"
    assert raised.value.verdict.version == 1
    assert len(history(held)) == 1


def test_a_repeated_save_whose_answer_got_lost_is_no_conflict_and_no_version(held):
    draft = Draft({"grounded": "yes"}, "", 0)
    assert save_verdict(held, draft).version == 1
    assert save_verdict(held, draft).version == 1
    assert len(history(held)) == 1


def test_an_answer_that_was_taken_back_is_open_again(held):
    save_verdict(held, Draft({"grounded": "yes"}, "", 0))
    assert save_verdict(held, Draft({}, "", 1)).answers == {}


@pytest.mark.parametrize("answers", [{"grounded": "perhaps"}, {"nonsense": "yes"}])
def test_an_answer_that_nobody_asked_for_is_refused(held, answers):
    with pytest.raises(InvalidInput):
        save_verdict(held, Draft(answers, "", 0))
    assert not Verdict.objects.exists()


def test_an_incomplete_verdict_is_kept_and_its_first_gap_named(held):
    with pytest.raises(Incomplete) as raised:
        submit_verdict(held, Draft({"grounded": "yes", "aligned": "no"}, "", 0))
    assert [gap.field for gap in raised.value.gaps] == ["faithful", "category"]
    assert raised.value.message == "“Faithful to the report” has no answer yet."
    assert held.verdict.answers == {"grounded": "yes", "aligned": "no"}
    held.refresh_from_db()
    assert held.state == State.HELD


def test_a_submitted_verdict_is_done(held):
    verdict = submit_verdict(held, Draft(YES, "Clear.", 0))
    held.refresh_from_db()
    assert (held.state, held.held_until) == (State.SUBMITTED, None)
    assert (verdict.answers, verdict.comment) == (YES, "Clear.")
    assert (verdict.version, verdict.submitted_version) == (2, 2)
    assert [(version, submitted) for version, _, _, submitted in history(held)] == [(1, False), (2, True)]


def test_submitting_twice_is_the_same_as_once(held):
    submit_verdict(held, Draft(YES, "", 0))
    before = history(held)
    submit_verdict(held, Draft(YES, "", 0))
    assert history(held) == before


def test_a_change_after_submitting_counts_once_it_is_submitted_again(held):
    submit_verdict(held, Draft(YES, "", 0))
    changed = YES | {"aligned": "no"}
    verdict = save_verdict(held, Draft(changed, "", 2))
    assert (verdict.version, verdict.submitted_version) == (3, 2)
    verdict = submit_verdict(held, Draft(changed, "", 3))
    assert (verdict.version, verdict.submitted_version) == (4, 4)
    assert [(version, submitted) for version, _, _, submitted in history(held)] == [
        (1, False),
        (2, True),
        (3, False),
        (4, True),
    ]


def test_submitting_under_an_old_version_is_stale_and_nothing_is_submitted(held):
    save_verdict(held, Draft({"grounded": "no"}, "", 0))
    with pytest.raises(Stale):
        submit_verdict(held, Draft(YES, "", 0))
    held.refresh_from_db()
    assert held.state == State.HELD


def test_a_closed_study_takes_neither_draft_nor_verdict(study, held):
    studies.close_study(study)
    for step in (save_verdict, submit_verdict):
        with pytest.raises(Conflict, match="closed"):
            step(held, Draft(YES, "", 0))


def test_saving_renews_the_hold(held):
    with time_machine.travel(timezone.now() + dt.timedelta(hours=1), tick=False):
        save_verdict(held, Draft({"grounded": "yes"}, "", 0))
        held.refresh_from_db()
        assert held.held_until == timezone.now() + assignments.HOLD


def test_a_hold_that_ran_out_but_that_nobody_needed_goes_on(held):
    with time_machine.travel(timezone.now() + dt.timedelta(days=3)):
        submit_verdict(held, Draft(YES, "", 0))
    held.refresh_from_db()
    assert held.state == State.SUBMITTED


def test_after_the_item_went_to_another_the_draft_is_kept_but_cannot_count(benchmark, bruno, chen, ada):
    study = make_study(benchmark, [bruno, chen], ada, per_item=1)
    held = assignments.claim_next(study, bruno)
    save_verdict(held, Draft({"grounded": "yes"}, "", 0))
    with time_machine.travel(timezone.now() + dt.timedelta(hours=5)):
        other = Assignment.objects.get(study_item=held.study_item, annotator=chen)
        assert assignments.take(other)
        with pytest.raises(Conflict, match="kept in your history and not counted"):
            submit_verdict(held, Draft(YES, "late", 1))
    held.refresh_from_db()
    assert (held.state, held.seat) == (State.RELEASED, None)
    assert held.verdict.comment == "late"
    assert held.verdict.submitted_version is None
