"""The workbench in a real browser: one item after another by keyboard, at every size of window."""

import shutil

import pytest

from annotation.models import Assignment, Verdict
from annotation.services import studies
from annotation.services.assignments import claim_next
from annotation.services.verdicts import Draft, save_verdict, submit_verdict
from medbench.slides.models import Slide
from medbench.slides.services import register_slide
from tests.annotation.build import YES, make_study
from tests.browser.bench import (
    EVIDENCE,
    answers_of,
    current_of,
    held,
    open_item,
    press,
    stored,
    study,
    wait_for_state,
)
from tests.chromium import assert_accessible

__all__ = ["held", "study"]  # fixtures
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


# --- By keyboard ------------------------------------------------------------------------


def test_a_triplet_is_finished_with_y_y_y_1_and_enter(page, held, study, bruno):
    press(page, "y", "y", "y", "1", "Enter")
    page.wait_for_url(lambda url: str(held.pk) not in url)
    page.locator("h1", has_text="Item 2 of 3").wait_for()
    verdict = stored(held)
    assert verdict.answers == YES
    assert verdict.submitted_version == verdict.version
    assert page.url.endswith(f"/annotate/{claim_next(study, bruno).pk}/")
    assert page.locator("[data-sent]").inner_text() == "Item 1 submitted."
    assert page.evaluate("document.activeElement.id") == "claim"
    assert answers_of(page) == {}


def test_three_items_are_finished_by_keyboard_and_lead_to_the_end(page, held, study, bruno):
    for number in (1, 2, 3):
        page.locator("h1", has_text=f"Item {number} of 3").wait_for()
        press(page, "y", "n", "u", "3", "Enter")
    page.get_by_text("All 3 of your items are done.").wait_for()
    expected = {"grounded": "yes", "faithful": "no", "aligned": "cannot_judge", "category": "cannot_judge"}
    assert [verdict.answers for verdict in Verdict.objects.all()] == [expected] * 3
    assert Assignment.objects.filter(annotator=bruno, state="submitted").count() == 3


def test_an_answer_makes_the_next_open_question_current_and_only_it_shows_its_keys(page, held):
    assert current_of(page) == "grounded"
    press(page, "y")
    assert current_of(page) == "faithful"
    shown = page.locator(".option kbd").evaluate_all(
        "all => all.filter(each => getComputedStyle(each).visibility === 'visible').length"
    )
    assert shown == 3
    press(page, "y", "y", "y")
    assert current_of(page) is None
    assert "button-primary" in page.locator(".submit").get_attribute("class")


def test_a_click_on_the_chosen_option_takes_it_back_too(page, held):
    yes = page.locator("[data-question=grounded] .option-ok")
    yes.click()
    assert answers_of(page) == {"grounded": "yes"}
    yes.click()
    assert answers_of(page) == {}
    wait_for_state(page, "Saved")
    assert stored(held).answers == {}


def test_arrows_move_through_the_options_as_in_every_radio_group(page, held):
    page.locator("[data-question=grounded] input").first.focus()
    press(page, "ArrowRight", "ArrowRight")
    assert answers_of(page) == {"grounded": "cannot_judge"}
    assert current_of(page) == "grounded"


def test_j_and_k_walk_the_questions_and_the_same_key_again_takes_an_answer_back(page, held):
    press(page, "j", "j")
    assert current_of(page) == "aligned"
    press(page, "k", "n")
    assert answers_of(page) == {"faithful": "no"}
    assert current_of(page) == "grounded"
    press(page, "j", "n")
    assert answers_of(page) == {}
    assert current_of(page) == "faithful"


def test_digits_answer_on_a_french_keyboard_without_shift(page, held):
    for code, key in (("Digit1", "&"), ("Digit2", "é"), ("Digit3", '"')):
        page.evaluate(
            """([code, key]) => document.body.dispatchEvent(
                new KeyboardEvent("keydown", { code, key, bubbles: true, cancelable: true })
            )""",
            [code, key],
        )
    assert answers_of(page) == {"grounded": "yes", "faithful": "no", "aligned": "cannot_judge"}


def test_typing_in_the_comment_changes_no_answer(page, held):
    press(page, "m")
    page.keyboard.type("yes 1 n")
    assert page.evaluate("document.activeElement.name") == "comment"
    assert answers_of(page) == {}
    wait_for_state(page, "Saved")
    verdict = stored(held)
    assert (verdict.answers, verdict.comment) == ({}, "yes 1 n")


def test_with_single_keys_off_no_letter_or_digit_answers(page, bruno, held):
    bruno.single_key_shortcuts = False
    bruno.save()
    open_item(page, held)
    press(page, "y", "1", "n")
    assert answers_of(page) == {}


def test_ctrl_enter_submits_from_the_comment_and_escape_leaves_it(page, held):
    press(page, "y", "y", "y", "y", "m")
    page.keyboard.type("Clear.")
    press(page, "Escape")
    assert page.evaluate("document.activeElement.tagName") != "TEXTAREA"
    press(page, "m", "Control+Enter")
    page.locator("h1", has_text="Item 2 of 3").wait_for()
    assert stored(held).comment == "Clear."
    assert stored(held).submitted_version is not None


def test_enter_on_an_incomplete_item_sends_nothing_and_goes_to_the_first_gap(page, held):
    press(page, "y")
    wait_for_state(page, "Saved")
    sent = []
    page.on("request", lambda request: request.method == "POST" and sent.append(request.url))
    press(page, "Enter")
    focused = page.evaluate("document.activeElement.closest('[data-question]').dataset.question")
    assert focused == "faithful"
    described = page.evaluate(
        """document.activeElement.closest("fieldset").getAttribute("aria-describedby").split(" ")
            .map((id) => document.getElementById(id)).filter((each) => !each.hidden)
            .map((each) => each.textContent).join(" ")"""
    )
    assert "“Faithful to the report” has no answer yet." in described
    assert sent == []
    press(page, "y")
    assert page.locator("[data-question=faithful] [data-error]").is_hidden()


def test_skip_asks_for_a_reason_and_enter_alone_skips_without_one(page, held):
    press(page, "Shift+J", "Enter")
    page.locator("h1", has_text="Item 2 of 3").wait_for()
    held.refresh_from_db()
    assert (held.state, held.skip_reason) == ("skipped", "")
    press(page, "Shift+J")
    page.get_by_role("button", name="Slide unreadable").click()
    page.locator("h1", has_text="Item 3 of 3").wait_for()
    assert Assignment.objects.get(state="skipped", number=2).skip_reason == "Slide unreadable"


def test_going_back_and_changing_an_answer_keeps_the_old_one(page, held):
    press(page, "y", "y", "y", "y", "Enter")
    page.locator("h1", has_text="Item 2 of 3").wait_for()
    press(page, "Shift+K")
    page.locator("h1", has_text="Item 1 of 3").wait_for()
    page.get_by_text("You are changing an answer of").wait_for()
    press(page, "j", "n")
    wait_for_state(page, "Saved")
    verdict = stored(held)
    assert verdict.answers["grounded"] == "no"
    assert verdict.submitted_version < verdict.version
    press(page, "Enter")
    page.locator("h1", has_text="Item 2 of 3").wait_for()
    assert stored(held).submitted_version == stored(held).version


# --- Evidence and guidelines -----------------------------------------------------------------


def test_e_shows_the_passage_and_escape_returns_to_where_one_was(page, held):
    scroller = page.locator("#pane-report .pane-scroll")
    scroller.evaluate("pane => pane.scrollTo(0, 120)")
    press(page, "e")
    mark = page.locator("[data-report] mark.is-current")
    mark.wait_for()
    page.wait_for_function(
        """() => {
          const mark = document.querySelector("[data-report] mark").getBoundingClientRect();
          const pane = document.querySelector("#pane-report .pane-scroll").getBoundingClientRect();
          return mark.top >= pane.top && mark.bottom <= pane.bottom;
        }"""
    )
    assert mark.inner_text() == EVIDENCE
    page.wait_for_timeout(400)  # the scrolling is smooth
    press(page, "Escape")
    assert scroller.evaluate("pane => pane.scrollTop") == 120


def test_on_a_small_screen_e_goes_to_the_report_and_escape_back_to_the_claim(page, held):
    page.set_viewport_size({"width": 390, "height": 844})
    press(page, "e")
    assert page.locator("#pane-report").is_visible()
    assert page.locator("#pane-triplets").is_hidden()
    press(page, "Escape")
    assert page.locator("#pane-triplets").is_visible()


def test_guidelines_open_at_the_current_question_and_hold_ones_own_history(page, held):
    press(page, "y")
    wait_for_state(page, "Saved")
    press(page, "i")
    drawer = page.locator(".drawer")
    drawer.get_by_text("Sites, sides, sizes, counts").wait_for()
    top = page.locator("#guide-faithful").bounding_box()["y"]
    assert abs(top - page.locator(".drawer-body:visible").bounding_box()["y"]) < 60
    drawer.get_by_role("button", name="History of this item").click()
    assert "Grounded in the evidence" in page.locator(".drawer-body:visible").inner_text()
    press(page, "Escape")
    assert drawer.count() == 0
    assert page.evaluate("document.activeElement.dataset.command") == "work.guidelines"


# --- Without script, read-only ----------------------------------------------------------------


def test_without_script_an_item_is_answered_and_submitted_by_a_plain_form(
    chromium, live, study, bruno, sign_in
):
    held = claim_next(study, bruno)
    context = chromium.new_context(base_url=live.url, java_script_enabled=False)
    page = context.new_page()
    sign_in(page, bruno)
    page.goto(f"/annotate/{held.pk}/")
    page.locator("[data-question=grounded] .option-bad").click()
    page.get_by_role("button", name="Submit and next").click()
    assert page.get_by_text("“Faithful to the report” has no answer yet.").first.is_visible()
    for question in ("faithful", "aligned", "category"):
        page.locator(f"[data-question={question}] .option-ok").click()
    page.locator("summary", has_text="Comment").click()
    page.locator("[name=comment]").fill("By hand.")
    page.get_by_role("button", name="Submit and next").click()
    assert page.locator("h1", has_text="Item 2 of 3").is_visible()
    context.close()
    assert (stored(held).answers, stored(held).comment) == (YES | {"grounded": "no"}, "By hand.")


def test_a_paused_study_is_read_only(page, study, held):
    studies.pause_study(study)
    open_item(page, held)
    press(page, "y", "1", "Enter")
    assert answers_of(page) == {}
    assert page.get_by_text("Paused since").is_visible()
    assert not Verdict.objects.exists()


# --- Layout and access, with a real slide ----------------------------------------------------------


@pytest.fixture
def slide(study, testdata, settings):
    """A real slide on the study's case."""
    source = testdata / "data/slides/CMU-1-Small-Region.svs"
    shutil.copy(source, settings.SLIDE_DIR / source.name)
    slide = Slide.objects.create(file_name=source.name, path=source.name)
    register_slide(slide)
    slide.refresh_from_db()
    return slide


@pytest.fixture
def held_with_slide(page, slide, team, bruno, chen, ada, study):
    case = study.benchmark.cases.get()
    case.slide = slide
    case.save()
    seen = claim_next(make_study(study.benchmark, [bruno, chen], ada, title="With slide"), bruno)
    open_item(page, seen)
    page.locator("[data-viewer-surface] canvas").first.wait_for()
    return seen


def box_of(page, selector):
    return page.locator(selector).bounding_box()


def test_every_window_shows_what_must_stay_on_screen(page, held_with_slide):
    surface = box_of(page, "[data-viewer-surface]")
    assert surface["width"] >= 640
    assert surface["height"] >= 780
    for selector in ("[data-question=grounded]", "[data-question=category]", "[data-save-state]", ".submit"):
        box = box_of(page, selector)
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 900
    assert page.evaluate("document.scrollingElement.scrollHeight") == 900
    assert box_of(page, ".claim")["height"] >= 120

    for width, height in ((1440, 900), (1024, 768), (390, 844), (720, 450)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        submit = box_of(page, ".submit")
        assert submit["y"] + submit["height"] <= height

    # 720 x 450 is 200 % zoom: only the last row stays, the questions scroll with the claim.
    foot = box_of(page, ".work-foot")
    assert foot["height"] <= 450 * 0.25
    for question in ("grounded", "faithful", "aligned", "category"):
        page.locator(f"[data-question={question}] input").first.focus()
        box = box_of(page, f"[data-question={question}] .options")
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= foot["y"] + 1


def test_the_slide_stays_when_the_next_item_has_the_same_and_tab_walks_slide_report_form(
    page, held_with_slide
):
    page.evaluate("document.querySelector('[data-viewer]').dataset.same = 'yes'")
    press(page, "y", "y", "y", "y", "Enter")
    page.locator("h1", has_text="Item 2 of 3").wait_for()
    assert page.locator("[data-viewer][data-same=yes] canvas").first.is_visible()

    page.evaluate("document.getElementById('pane-slide').focus()")
    order = ["slide"]
    while order[-1] != "triplets":
        press(page, "Tab")
        pane = page.evaluate("document.activeElement.closest('[data-pane]')?.dataset.pane ?? 'splitter'")
        if pane != order[-1]:
            order.append(pane)
    assert order == ["slide", "splitter", "report", "splitter", "triplets"]


def test_the_workbench_is_accessible_in_light_and_dark(page, held_with_slide):
    press(page, "y", "n")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert_accessible(page)
    press(page, "i")
    page.locator(".drawer").get_by_text("Sites, sides").wait_for()
    assert_accessible(page)


def test_the_other_pages_are_accessible(page, study, bruno, ada, sign_in):
    held = claim_next(study, bruno)
    submit_verdict(held, Draft(YES, "", 0))
    save_verdict(held, Draft(YES, "changed", 2))
    for path in ("/annotate/", f"/annotate/next/{study.pk}/", f"/annotate/{held.pk}/guidelines/"):
        page.goto(path)
        assert_accessible(page)
    sign_in(page, ada)
    for path in ("/studies/", "/studies/new/", f"/studies/{study.pk}/", f"/studies/{study.pk}/close/"):
        page.goto(path)
        assert_accessible(page)


def test_the_next_item_is_there_before_one_asks_for_it(page, study, held):
    with page.expect_response("**/ahead/"):
        page.reload()
    asked = []
    page.wait_for_load_state("networkidle")
    page.on("request", lambda request: request.method == "GET" and asked.append(request.url))
    press(page, "y", "y", "y", "y", "Enter")
    page.locator("h1", has_text="Item 2 of 3").wait_for()
    assert [url for url in asked if "/annotate/" in url and not url.endswith("/ahead/")] == []
    assert page.locator("[data-sent]").inner_text() == "Item 1 submitted."


def test_what_was_fetched_ahead_is_not_shown_once_another_item_comes_next(page, study, held, bruno):
    with page.expect_response("**/ahead/"):
        page.reload()
    _, second, third = study.items.order_by("assignments__position").filter(assignments__annotator=bruno)
    Assignment.objects.filter(annotator=bruno, study_item=second).update(position=99)
    press(page, "y", "y", "y", "y", "Enter")
    page.locator("h1", has_text="Item 2 of 3").wait_for()
    shown = Assignment.objects.get(annotator=bruno, study_item=third)
    assert page.url.endswith(f"/annotate/{shown.pk}/")
    assert page.locator("[data-work]").get_attribute("data-work") == str(shown.pk)
