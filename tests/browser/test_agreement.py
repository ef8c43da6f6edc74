"""Agreement, disagreements and decisions in a browser: keyboard, sizes, what updates itself."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.services.assignments import claim_next
from annotation.services.verdicts import Draft, submit_verdict
from medbench import jobs
from medbench.cases.models import Triplet
from medbench.jobs.attempt import Attempt, run
from medbench.jobs.models import Job
from medbench.review.models import ItemResult
from tests.annotation.build import YES, answer_all, compute_agreement, make_cases, make_study
from tests.chromium import assert_accessible

pytestmark = pytest.mark.browser


@pytest.fixture
def read(live, team, ada, bruno, chen):
    """Twelve items read by both, who differ on “grounded” in every fourth."""
    study = make_study(make_cases(team, 2, 6), [bruno, chen], ada)
    answer_all(study, bruno, YES)
    answer_all(study, chen, lambda position: YES | {"grounded": "yes" if position % 4 else "no"})
    compute_agreement(study, ada)
    return study


def place(study, name="agreement", *more):
    return reverse(f"annotation:{name}", args=[study.pk, *more])


def work_off():
    """Do what is queued, also what waits for a burst to end."""
    Job.objects.update(not_before=None)
    while (job := jobs.services.claim("test")) is not None:
        run(Attempt(job))


def test_by_keyboard_from_a_question_to_a_decision(page, sign_in, read, dara):
    sign_in(page, dara)
    page.goto(place(read))
    page.keyboard.press("j")  # from the first question, which is shown
    assert page.evaluate("document.activeElement.id") == "question-faithful"
    page.keyboard.press("Enter")
    page.wait_for_url("**?question=faithful")
    page.wait_for_selector("#detail:has-text('Faithful to the report')")
    assert page.evaluate("document.activeElement.id") == "question-faithful"  # still there after the swap
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_selector("#detail:has-text('Grounded in the evidence')")
    page.focus(".heat a")  # rater by rater
    page.keyboard.press("Enter")
    page.wait_for_url("**/disagreements/**")
    assert page.locator("tbody tr").count() == 3
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/items/4/**")
    page.keyboard.press("y")  # the question that is disputed
    page.keyboard.press("1")  # what the triplet becomes
    page.keyboard.press("Enter")
    expect(page.get_by_text("A decision needs a reason.").first).to_be_attached()
    page.keyboard.type("It stands in line 3.")
    expect(page.get_by_text("Kept on this computer")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Reason")).to_have_value("It stands in line 3.")
    page.get_by_label("Reason").press("Control+Enter")
    page.wait_for_url("**/items/8/")  # the next that waits
    result = ItemResult.objects.get()
    assert (result.outcome, result.detail["reason"]) == ("verified", "It stands in line 3.")


def test_by_keyboard_from_what_a_reader_marked_to_a_correction(
    page, sign_in, live, team, ada, bruno, chen, dara
):
    study = make_study(make_cases(team, 1, 1), [bruno, chen], ada)
    item = study.items.get().item
    passage = {"start": 0, "end": 5, "quote": item.report.text[:5]}
    proposed = {"insight": "The tumour measures 6 cm."}
    submit_verdict(claim_next(study, bruno), Draft(YES, "", 0, spans=[passage], corrections=proposed))
    answer_all(study, chen, YES | {"faithful": "no"})
    sign_in(page, dara)
    page.goto(place(study, "adjudication"))
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/items/1/")
    page.keyboard.press("e")  # the passage of the claim
    page.keyboard.press("e")  # that of a reader
    expect(page.locator("[data-report] .is-current")).to_have_text(passage["quote"])
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.press("2")  # corrected
    page.get_by_role("button", name="Take the words of").press("Enter")
    expect(page.get_by_label("Insight", exact=True)).to_have_value(proposed["insight"])
    assert_accessible(page)
    page.get_by_label("Reason").fill("As the report has it.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/adjudication/")
    expect(page.get_by_text("Item 1 is decided: corrected.")).to_be_visible()
    assert Triplet.objects.select_related("current").get().current.insight == proposed["insight"]


def test_a_new_result_comes_by_itself_and_is_announced(page, sign_in, read, ada):
    sign_in(page, ada)
    page.goto(place(read) + "?question=aligned")
    before = page.locator(".agreement-status time").get_attribute("datetime")
    page.click("text=Recompute")
    page.wait_for_selector("text=Recomputing")
    work_off()
    page.wait_for_selector("text=Up to date")
    page.wait_for_function(
        "before => document.querySelector('.agreement-status time').dateTime !== before", arg=before
    )
    assert page.locator("#announcer").inner_text() == "Agreement is computed anew"


def test_the_list_of_disagreements_is_filtered_in_place(page, sign_in, read, ada):
    sign_in(page, ada)
    page.goto(place(read, "disagreements"))
    page.select_option("select[name=question]", "faithful")
    page.wait_for_selector("text=No disagreement matches.")
    assert "question=faithful" in page.url
    page.go_back()
    page.wait_for_selector("text=3 disagreements")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_parts_are_accessible_and_no_wider_than_their_window(page, sign_in, read, ada, theme):
    sign_in(page, ada)
    page.emulate_media(color_scheme=theme)
    for where in (
        place(read),
        place(read, "disagreements"),
        place(read, "adjudication"),
        place(read, "study_item", 4),
        place(read, "human_machine"),
    ):
        for width in (1440, 1024, 390):
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(where)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (where, width)
        assert_accessible(page)
        page.set_viewport_size({"width": 1440, "height": 900})
        assert_accessible(page)
