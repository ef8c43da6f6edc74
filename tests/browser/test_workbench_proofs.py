"""What an annotator's day may hold: many items by keyboard alone, no network, an ended session, and
what a screen reader is told."""

import pytest

from annotation.models import Assignment, Protocol, Verdict, VerdictRevision
from annotation.services.assignments import claim_next, take
from tests.annotation.build import make_cases, make_study
from tests.browser.bench import answers_of, held, open_item, press, stored, study, wait_for_state
from tests.browser.test_workbench import slide
from tests.browser.test_workbench_saving import NO_NETWORK
from tests.cases.build import make_triplet
from tests.people import PASSWORD

__all__ = ["held", "slide", "study"]  # fixtures
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def more_triplets(study, number):
    for key in range(number):
        make_triplet(study.benchmark.cases.get(), f"more-{key}", evidence="Line 3 of the microscopic")


# --- By keyboard alone ------------------------------------------------------------------


def mark_by_sentence(page):
    press(page, "s", "ArrowDown", "Shift+ArrowDown", "Enter")


def mark_by_words(page):
    press(page, "/")
    page.keyboard.insert_text("Tumour size: 6 cm")
    press(page, "Enter", "Escape", "s", "Enter")


def drop_point(page):
    press(page, "d", "ArrowLeft", "Enter")


def drop_box(page):
    press(page, "r", "ArrowRight", "ArrowDown", "Shift+ArrowRight", "Enter")


MARKS = [mark_by_sentence, mark_by_words, drop_point, drop_box]


@pytest.mark.parametrize("n_items", [5, pytest.param(20, marks=pytest.mark.long)])
def test_items_are_finished_by_keyboard_alone_with_passages_and_regions(
    page, slide, study, bruno, ada, n_items
):
    more_triplets(study, n_items - 3)
    study.benchmark.cases.update(slide=slide)
    protocol = Protocol.objects.get(key="triplet", version=2)
    whole = make_study(study.benchmark, [bruno], ada, per_item=1, title="Whole", protocol=protocol)
    open_item(page, claim_next(whole, bruno))
    page.locator("[data-viewer].is-open").wait_for()
    for number in range(1, n_items + 1):
        page.locator("h1", has_text=f"Item {number} of {n_items}").wait_for()
        if number <= len(MARKS):
            MARKS[number - 1](page)
        seen_on = "1" if number in (3, 4) else "2"  # "Slide" wants a region
        press(page, "e", "Escape", "y", "y", "y", seen_on, "y", "Enter")
    page.get_by_text(f"All {n_items} of your items are done.").wait_for()
    counted = VerdictRevision.objects.filter(submitted=True).order_by("verdict__assignment__number")
    assert len({each.verdict_id for each in counted}) == len(counted) == n_items
    assert [(len(each.spans), len(each.regions)) for each in counted][:4] == [(1, 0), (1, 0), (0, 1), (0, 1)]
    assert {each.answers["visible"] for each in counted} == {"slide", "report"}


HOSTILE = "DIAGNOSIS 🔬🔬\r\nTumour size: 6 cm.\r\nLympho\u00advascular: e\u0301tat.\rורם ממאיר. End <b>&amp;"


def test_passages_of_any_script_are_the_same_slice_in_browser_and_database(page, sign_in, team, ada, bruno):
    benchmark = make_cases(team, 1, 0, report=HOSTILE)
    make_triplet(benchmark.cases.get(), "1")
    held = claim_next(make_study(benchmark, [bruno], ada, per_item=1), bruno)
    sign_in(page, bruno)
    open_item(page, held)
    wanted = ["🔬🔬", "Tumour size: 6 cm", "Lympho\u00advascular", "e\u0301tat", "ממאיר", "<b>&amp;"]
    for words in wanted:
        press(page, "/")
        page.keyboard.insert_text(words)
        press(page, "Escape", "s")
    press(page, "s", "Home", "ArrowRight", "ArrowRight", "Shift+ArrowRight", "Enter")
    wait_for_state(page, "Saved")
    spans = stored(held).spans
    assert [each["quote"] for each in spans] == [*wanted, "🔬🔬\r\nTumour"]
    assert all(HOSTILE[each["start"] : each["end"]] == each["quote"] for each in spans)


# --- No network, no session ---------------------------------------------------------------


def test_five_items_answered_without_a_network_arrive_once_each_when_it_is_back(page, study, bruno, ada):
    more_triplets(study, 2)
    whole = make_study(study.benchmark, [bruno], ada, per_item=1, title="Whole")
    items = [take(each) for each in Assignment.objects.filter(study_item__study=whole)]
    page.add_init_script(NO_NETWORK)
    open_item(page, items[0])
    page.evaluate("sessionStorage.noNetwork = 1")
    for each in items:
        open_item(page, each)
        press(page, "y", "n")
        wait_for_state(page, "Offline: 2 changes kept on this computer")
    page.reload()
    page.locator("[data-work][data-live]").wait_for()
    assert answers_of(page) == {"grounded": "yes", "faithful": "no"}
    page.goto("/annotate/")
    assert page.locator("[data-not-sent] li").count() == len(items) == 5
    assert not Verdict.objects.exists()
    page.evaluate("delete sessionStorage.noNetwork")
    page.get_by_role("button", name="Send now").click()
    page.locator("[data-not-sent]").wait_for(state="hidden")
    said = VerdictRevision.objects.values_list("verdict__assignment", "answers")
    assert dict(said) == {each.pk: {"grounded": "yes", "faithful": "no"} for each in items}
    assert len(said) == 5
    assert page.evaluate("localStorage.length") == 0


def test_an_ended_session_is_begun_again_over_the_page_in_the_middle_of_a_sentence(page, held, bruno):
    address = page.url
    press(page, "m")
    page.keyboard.type("half a ")
    page.context.clear_cookies(name="sessionid")
    page.keyboard.type("sentence")
    wait_for_state(page, "Signed out. Your answers are kept here.")
    page.get_by_role("button", name="Sign in").click()
    dialog = page.get_by_role("dialog", name="Sign in again")
    dialog.get_by_label("Name or e-mail").fill(bruno.username)
    dialog.get_by_label("Password").fill("not this one")
    press(page, "Enter")
    dialog.get_by_text("Name or password is not right.").wait_for()
    dialog.get_by_label("Password").fill(PASSWORD)
    press(page, "Enter")
    wait_for_state(page, "Saved")
    assert (dialog.count(), page.url) == (0, address)
    assert page.locator("[name=comment]").input_value() == stored(held).comment == "half a sentence"


# --- Screen readers ---------------------------------------------------------------------------


def test_a_screen_reader_is_told_names_groups_and_states_in_the_order_of_reading(page, held):
    form = page.locator("[data-work]")
    said = form.aria_snapshot()
    order = [
        'heading "Item 1 of 3, Predictive',
        'link "Show evidence"',
        "group: Correct text",
        'group "Questions"',
        'group "1 Grounded in the evidence',
        'radio "Yes"',
        'group "4 ',
        'checkbox "Flag for the curator"',
        'button "Undo"',
        "group: Comment",
        'button "Submit and next"',
    ]
    places = [said.find(words) for words in order]
    assert -1 not in places, f"{order[places.index(-1)]} is not in\n{said}"
    assert places == sorted(places)
    press(page, "y")
    assert 'radio "Yes" [checked]' in form.aria_snapshot()
