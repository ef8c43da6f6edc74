"""What annotators flag for the curator, and how long they work on an item."""

import pytest

from annotation import progress
from annotation.services.assignments import claim_next
from annotation.services.verdicts import Draft, save_verdict, submit_verdict
from medbench.accounts.permissions import Role
from tests.annotation.build import FORM, YES, post
from tests.people import join, signed_in

MORNING, NOON = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"


@pytest.fixture
def held(study, bruno):
    return claim_next(study, bruno)


def page_of(curator, study):
    return signed_in(curator).get(f"/studies/{study.pk}/").content.decode()


def test_what_is_flagged_is_named_to_the_curator_with_its_comment(held, study, ada, bruno):
    post(
        bruno,
        held,
        do="submit",
        flagged="yes",
        **FORM | {"comment": "The report belongs to another patient."},
    )
    page = page_of(ada, study)
    assert "The report belongs to another patient." in page
    assert f"/studies/{study.pk}/items/{held.study_item.position}/" in page
    assert progress.item_counts(study).flagged == 1


def test_a_flag_is_part_of_the_draft_and_can_be_taken_back(held, study, ada):
    save_verdict(held, Draft({}, "", 0, flagged=True))
    assert progress.item_counts(study).flagged == 1
    verdict = save_verdict(held, Draft({}, "", 1))
    assert [each.flagged for each in verdict.revisions.all()] == [True, False]
    assert "What annotators want you to look at" not in page_of(ada, study)


def test_a_curator_who_annotates_sees_no_flags_of_others_before_the_study_is_closed(held, study, bruno):
    join(study.benchmark.team, bruno, Role.CURATOR)
    save_verdict(held, Draft({}, "A hint at the answer", 0, flagged=True))
    assert "A hint at the answer" not in page_of(bruno, study)


def test_active_time_adds_up_over_visits_and_no_save_counts_twice(held):
    def save(answers, version, visit, seconds):
        return save_verdict(held, Draft(answers, "", version, visit=visit, active_s=seconds))

    save({"grounded": "yes"}, 0, MORNING, 40)
    save({"grounded": "yes"}, 1, MORNING, 55)  # the same content: no version, but time
    save({"grounded": "yes"}, 1, MORNING, 30)  # an older message that was late
    verdict = save({"grounded": "no"}, 1, NOON, 20)
    assert (verdict.active_s, verdict.version) == ({MORNING: 55, NOON: 20}, 2)


def test_the_study_shows_the_median_of_active_time_and_a_dash_where_none_was_measured(
    study, ada, bruno, chen
):
    for seconds in (60, 125, 600):
        submit_verdict(claim_next(study, bruno), Draft(YES, "", 0, visit=MORNING, active_s=seconds))
    submit_verdict(claim_next(study, chen), Draft(YES, "", 0))
    page = page_of(ada, study)
    assert "2\u202fmin 05\u202fs" in page
    assert 'title="not measured"' in page


@pytest.mark.parametrize("sent", [{"visit": "me", "active_s": "5"}, {"visit": MORNING, "active_s": "-5"}])
def test_time_that_no_page_sends_is_refused_and_nothing_is_saved(held, bruno, sent):
    assert post(bruno, held, do="save", **FORM | sent).status_code == 400
    held.refresh_from_db()
    assert not hasattr(held, "verdict")


def test_nobody_works_longer_than_half_a_day_on_an_item(held):
    verdict = save_verdict(held, Draft({}, "", 0, visit=MORNING, active_s=10**9))
    assert verdict.active_s == {MORNING: 12 * 3600}
