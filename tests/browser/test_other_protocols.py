"""Protocols that ask for more than a choice, in a browser."""

import pytest

from annotation.models import Protocol, Study
from annotation.services import studies
from annotation.services.assignments import claim_next
from medbench.review.models import ReviewItem
from tests.annotation.build import make_cases, make_study
from tests.browser.bench import open_item, press, stored, wait_for_state
from tests.chromium import assert_accessible

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_an_answer_that_needs_words_opens_a_line_for_them(page, sign_in, console, team, ada, bruno):
    benchmark = make_cases(team, 1, 1)
    protocol = Protocol.objects.get(key="triplet", version=2)
    held = claim_next(make_study(benchmark, [bruno], ada, per_item=1, protocol=protocol), bruno)
    sign_in(page, bruno)
    open_item(page, held)
    note = page.locator("[data-question=visible] [data-note]")
    assert not note.is_visible()
    press(page, "y", "y", "y", "3", "y")
    assert note.is_visible()
    press(page, "Enter")
    page.locator("[data-question=visible] [data-error]", has_text="Why is it not visible").wait_for()
    console.expect("422")
    assert page.evaluate("document.activeElement.name") == "note-visible"
    page.keyboard.type("Outside the scanned area")
    wait_for_state(page, "Saved")
    assert stored(held).notes == {"visible": "Outside the scanned area"}
    assert_accessible(page)
    page.reload()
    page.locator("[data-work][data-live]").wait_for()
    assert page.locator("[name=note-visible]").input_value() == "Outside the scanned area"
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: str(held.pk) not in url)
    assert stored(held).submitted_at is not None


def test_an_output_is_scored_by_digits_with_zero_for_ten(page, sign_in, team, ada, bruno):
    benchmark = make_cases(team, 1, 1)
    case = benchmark.cases.get()
    payload = {"insight": "All nodes are free.", "references": ["24 nodes are negative."]}
    item = ReviewItem(
        benchmark=benchmark, kind="output", subject_id="1", payload=payload, case=case, report=case.report
    )
    study = Study(
        benchmark=benchmark,
        protocol=Protocol.objects.get(key="output"),
        title="Outputs",
        annotators_per_item=1,
    )
    studies.start_study(studies.draft_study(study, [item], [bruno], by=ada))
    held = claim_next(study, bruno)
    sign_in(page, bruno)
    open_item(page, held)
    assert_accessible(page)
    press(page, "7", "0")
    assert page.locator("[data-question=plausibility][aria-current]").count() == 1
    press(page, "u", "Enter")
    page.wait_for_url(lambda url: str(held.pk) not in url)
    assert stored(held).answers == {"similarity": "7", "accuracy": "10", "plausibility": "cannot_judge"}
