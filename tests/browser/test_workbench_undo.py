"""Undo over the whole item, corrections as tracked text, and evidence from claim to proof, by keyboard."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from annotation.models import VerdictRevision
from tests.browser.bench import EVIDENCE, answers_of, held, press, stored, study, wait_for_state
from tests.browser.test_workbench import held_with_slide, slide
from tests.chromium import assert_accessible

__all__ = ["held", "held_with_slide", "slide", "study"]  # fixtures
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def undo_of(page):
    return page.get_by_role("button", name="Undo")


def test_undo_steps_back_through_answers_passages_flag_and_what_was_typed(page, held):
    assert undo_of(page).is_disabled()
    press(page, "y", "n", "s", "Enter", "q", "m")
    page.keyboard.type("in one go")
    press(page, "Escape")
    assert page.locator("[name=comment]").input_value() == "in one go"
    press(page, "Control+z")
    assert page.locator("[name=comment]").input_value() == ""
    press(page, "Control+z")
    assert not page.locator("[name=flagged]").is_checked()
    press(page, "Control+z")
    assert page.locator("[data-span-list] li").count() == 0
    press(page, "Control+z")
    assert answers_of(page) == {"grounded": "yes"}
    assert page.locator("#announcer").inner_text() == "Undone: Faithful to the report."
    press(page, "Control+z")
    assert undo_of(page).is_disabled()
    press(page, "Control+Shift+z", "Control+Shift+z")
    wait_for_state(page, "Saved")
    assert stored(held).answers == {"grounded": "yes", "faithful": "no"}
    assert answers_of(page) == {"grounded": "yes", "faithful": "no"}


def test_the_browsers_own_undo_stays_in_a_text_field(page, held):
    press(page, "y", "m")
    page.keyboard.type("word")
    press(page, "Control+z")
    assert answers_of(page) == {"grounded": "yes"}


def test_a_correction_is_typed_shown_as_tracked_text_kept_and_undone(page, held):
    press(page, "t")
    assert page.evaluate("document.activeElement.name") == "correct-question"
    insight = page.get_by_label("Insight", exact=True)
    standing = insight.input_value()
    insight.fill(standing.replace("30", "31", 1))
    tracked = page.locator('[data-tracked="correct-insight"]')
    assert tracked.locator("del").text_content() == "removed: 30"
    assert tracked.locator("ins").text_content() == "added: 31"
    assert_accessible(page)
    press(page, "Escape")
    assert insight.is_hidden()
    assert tracked.is_visible()
    assert page.evaluate("document.activeElement.closest('[data-question]').dataset.question") == "grounded"
    wait_for_state(page, "Saved")
    assert stored(held).corrections == {"insight": standing.replace("30", "31", 1)}
    page.reload()
    page.locator("[data-work][data-live]").wait_for()
    assert tracked.locator("ins").text_content() == "added: 31"
    press(page, "i")
    page.get_by_role("button", name="History of this item").click()
    page.locator(".drawer ins").wait_for()
    press(page, "Escape", "t")
    page.get_by_label("Insight", exact=True).fill(standing)
    assert tracked.is_hidden()
    press(page, "Escape", "Control+z")
    assert tracked.is_visible()
    press(page, "Control+Shift+z")
    wait_for_state(page, "Saved")
    assert stored(held).corrections == {}
    assert VerdictRevision.objects.filter(corrections={}).exists()


def view_of(page):
    """Centre and zoom as the address has them, once the slide is still."""
    x, y, zoom, _ = parse_qs(urlsplit(page.url).query)["view"][0].split(",")
    return [float(x), float(y), float(zoom)]


def wait_for_view(page, wanted, *, within_px=1):
    def is_there():
        found = view_of(page)
        return all(abs(one - other) <= within_px for one, other in zip(found, wanted, strict=False))

    for _ in range(100):
        if is_there():
            return
        page.wait_for_timeout(50)
    assert view_of(page) == wanted


def test_e_goes_through_every_passage_and_region_and_escape_returns_to_the_view_before(page, held_with_slide):
    press(
        page, "o", "d", "Enter", "h", "r", "Shift+ArrowRight", "ArrowDown", "Enter", "s", "ArrowDown", "Enter"
    )
    page.locator("[data-region-list] li").nth(1).wait_for()
    press(page, "o")
    page.wait_for_url("**view=*,*,1,0")
    scroller = page.locator("#pane-report .pane-scroll")
    scroller.evaluate("pane => pane.scrollTo(0, 100)")
    page.locator("#claim").focus()
    before = view_of(page)
    said = page.locator("#announcer")
    press(page, "e")
    assert said.inner_text() == "Evidence 1 of 2: the passage of the claim, region 1 on the slide."
    assert page.locator("[data-report] mark.is-current").inner_text() == EVIDENCE
    press(page, "e")
    assert said.inner_text() == "Evidence 2 of 2: passage 1 that you marked, region 2 on the slide."
    corners = json.loads(page.locator("[name=regions]").input_value())[1]["points"]
    wait_for_view(page, [sum(sides) / 2 for sides in zip(*corners, strict=True)])
    press(page, "e", "e")
    assert "Evidence 2 of 2" in said.inner_text()
    press(page, "Escape")
    wait_for_view(page, before)
    assert scroller.evaluate("pane => pane.scrollTop") == 100
    assert page.evaluate("document.activeElement.id") == "claim"
