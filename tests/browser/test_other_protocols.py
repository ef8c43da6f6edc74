"""Protocols that ask for more than a choice, in a browser."""

import pytest

from annotation.models import Protocol, Study
from annotation.services import studies
from annotation.services.assignments import claim_next
from medbench.review.models import ReviewItem
from tests.annotation.build import make_cases, make_study
from tests.browser.bench import open_item, press, stored, wait_for_state
from tests.cases.build import make_triplet
from tests.chromium import assert_accessible

REPORT = "DIAGNOSIS 🔬\r\nTumour size: 6 cm. Margins are negative.\r\nAll 30 nodes are free."
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


def test_passages_are_marked_by_selection_and_sentence_by_sentence(page, sign_in, team, ada, bruno):
    benchmark = make_cases(team, 1, 0, report=REPORT)
    make_triplet(benchmark.cases.get(), "1")
    held = claim_next(make_study(benchmark, [bruno], ada, per_item=1), bruno)
    sign_in(page, bruno)
    open_item(page, held)
    page.evaluate(
        """() => {
            const node = document.querySelector("[data-report]").firstChild;
            const at = node.data.indexOf("gins are");
            getSelection().setBaseAndExtent(node, at, node, at + "gins are".length);
        }"""
    )
    press(page, "s")
    page.get_by_role("button", name="“Margins are”").wait_for()
    press(page, "s", "ArrowDown", "Shift+ArrowDown", "Enter")
    page.get_by_role("button", name="“Tumour size: 6 cm. Margins are negative.”").wait_for()
    wait_for_state(page, "Saved")
    spans = stored(held).spans
    assert [each["quote"] for each in spans] == ["Margins are", "Tumour size: 6 cm. Margins are negative."]
    assert all(REPORT[each["start"] : each["end"]] == each["quote"] for each in spans)
    assert_accessible(page)
    press(page, "s", "Escape")
    page.get_by_role("button", name="Remove passage 1").click()
    page.locator("[data-span-list] li").nth(1).wait_for(state="detached")
    page.reload()
    page.get_by_role("button", name="“Tumour size: 6 cm. Margins are negative.”").wait_for()


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
