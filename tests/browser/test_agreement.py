"""Agreement, disagreements and decisions in a browser: keyboard, sizes, what updates itself."""

import pytest
from django.urls import reverse

from medbench import jobs
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
    page.focus("input[name=answer-grounded]")
    page.keyboard.press("Space")
    page.focus("input[name=outcome]")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.type("It stands in line 3.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/disagreements/")
    result = ItemResult.objects.get()
    assert (result.outcome, result.detail["reason"]) == ("verified", "It stands in line 3.")
    assert page.locator("tr:has-text('Item 4') .status-ok:has-text('Verified')").count() == 1


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
