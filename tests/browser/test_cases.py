"""Cases in a browser: keyboard, marks, panes, swaps, and the same without script."""

import time
from contextlib import suppress

import pytest
from django.conf import settings as site  # the name is taken by the fixture
from playwright.sync_api import Error

from tests.cases.build import make_benchmark, make_case, make_release, make_triplet
from tests.cases.work import work
from tests.chromium import assert_accessible
from tests.people import signed_in

pytestmark = pytest.mark.browser

REPORT = "\n".join(
    ["DIAGNOSIS 🔬", "Tumour size: 6 cm.", "All 30 lymph", "nodes are free of tumour."]
    + [f"Line {n} of the gross description." for n in range(80)]
    + ["Margins: negative."]
)


@pytest.fixture
def case(live, team):
    benchmark = make_benchmark(team, licence="CC0")
    case = make_case(benchmark, report=REPORT)
    make_triplet(case, "1", evidence="Tumour size: 6 cm.", question="How large is it?")
    make_triplet(case, "2", evidence="6 cm.\nAll 30 lymph", state="verified", category="predictive")
    make_triplet(case, "3", evidence="Margins: negative.", category="evaluative")
    for n, word in enumerate(("alpha", "beta", "gamma"), 2):
        make_case(benchmark, f"C-{n}", site="Lung", goal=f"Weigh the {word} finding")
    make_release(benchmark)
    return case


@pytest.fixture
def case_page(page, sign_in, case, rosa):
    sign_in(page, rosa)
    page.goto(f"/cases/{case.pk}/")
    return page


def until(page, expression):
    """Wait for a script to be true; page.wait_for_function needs eval, which the policy forbids."""
    deadline = time.monotonic() + 10
    while True:
        with suppress(Error):  # the page was left meanwhile
            if page.evaluate(expression):
                return
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(50)


def current_marks(page):
    return page.locator("[data-report] .is-current").all_inner_texts()


def is_in_view(page, text):
    """Whether the text is inside its scrolling pane, not only on the page."""
    return page.evaluate(
        """(text) => {
            const pane = document.querySelector(".pane-report .pane-scroll").getBoundingClientRect();
            const marks = [...document.querySelectorAll("[data-report] mark")];
            const box = marks.find((mark) => mark.textContent === text).getBoundingClientRect();
            return box.top >= pane.top && box.bottom <= pane.bottom;
        }""",
        text,
    )


def test_choosing_a_triplet_by_keyboard_shows_its_evidence(case_page):
    page = case_page
    for _ in range(3):
        page.keyboard.press("j")
    page.wait_for_url("**?triplet=3")
    assert current_marks(page) == ["Margins: negative."]
    until(page, "document.querySelector('.pane-report .pane-scroll').scrollTop > 100")
    page.wait_for_timeout(600)  # a smooth scroll
    assert is_in_view(page, "Margins: negative.")
    page.keyboard.press("k")
    page.wait_for_url("**?triplet=2")
    assert current_marks(page) == ["6 cm.", "\nAll 30 lymph"]
    assert page.locator("details[open]").count() == 1


def test_e_brings_the_evidence_back(case_page):
    page = case_page
    page.keyboard.press("j")
    page.locator(".pane-report .pane-scroll").evaluate("(pane) => pane.scrollTo(0, 99999)")
    page.keyboard.press("e")
    until(page, "document.querySelector('.pane-report .pane-scroll').scrollTop < 50")
    assert page.locator("#announcer").inner_text() == "Evidence of triplet 1 shown in the report."


def test_clicking_a_passage_chooses_its_triplets_in_turn(case_page):
    page = case_page
    shared = page.locator('mark[data-triplets="1 2"]')
    shared.click()
    page.wait_for_url("**?triplet=1")
    shared.click()
    page.wait_for_url("**?triplet=2")
    assert page.locator("details[open] summary").inner_text().startswith("2")


def test_find_in_the_report_folds_white_space_and_case(case_page):
    page = case_page
    page.keyboard.press("/")
    page.keyboard.type("LYMPH nodes")
    assert page.locator("[data-find] output").inner_text() == "1 of 1"
    page.locator("[data-find] input").fill("gross description")
    assert page.locator("[data-find] output").inner_text() == "1 of 80"
    page.keyboard.press("Enter")
    assert page.locator("[data-find] output").inner_text() == "2 of 80"
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")
    assert page.locator("[data-find] output").inner_text() == "80 of 80"
    page.locator("[data-find] input").fill("not there")
    assert page.locator("[data-find] output").inner_text() == "Not found"


def test_panes_are_resized_by_keyboard_and_stay_so(case_page, rosa):
    page = case_page
    splitter = page.locator('[data-splitter="triplets"]')
    before = int(splitter.get_attribute("aria-valuenow"))
    splitter.focus()
    with page.expect_response("**/panes/case/") as stored:
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
    assert stored.value.status == 204
    assert int(splitter.get_attribute("aria-valuenow")) == before + 32
    page.reload()
    assert page.locator("#pane-triplets").evaluate("(pane) => pane.offsetWidth") == before + 32
    page.locator('[data-splitter="triplets"]').focus()
    page.keyboard.press("Enter")
    assert page.locator("#pane-triplets").evaluate("(pane) => pane.offsetWidth") == 384


def test_on_a_narrow_window_panes_are_tabs_and_esc_returns(case_page):
    page = case_page
    page.set_viewport_size({"width": 390, "height": 844})
    assert not page.locator("#pane-report").is_visible()
    page.locator("details[data-triplet='3'] summary").click()
    page.locator("details[open] [data-show]").click()
    assert page.locator("#pane-report").is_visible()
    assert current_marks(page) == ["Margins: negative."]
    page.keyboard.press("Escape")
    assert page.locator("#pane-triplets").is_visible()
    assert page.evaluate("document.activeElement.dataset.show") == "3"


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_no_pane_is_wider_than_the_window(case_page, width):
    page = case_page
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.querySelector('main').scrollWidth") <= width


def test_filters_swap_the_table_push_the_address_and_keep_the_focus(page, sign_in, case, rosa):
    sign_in(page, rosa)
    page.goto("/cases/")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "filter-q"
    page.locator("#filter-q").fill("weigh beta")
    page.wait_for_url("**&q=weigh+beta")
    assert page.locator("table.case-list tbody tr").count() == 1
    assert page.locator("table.case-list mark").all_inner_texts() == ["Weigh", "beta"]
    assert page.evaluate("document.activeElement.id") == "filter-q"
    assert page.locator("#announcer").inner_text() == "1 case"
    page.go_back()
    until(page, "document.querySelectorAll('table.case-list tbody tr').length === 4")


def test_rows_are_walked_and_opened_by_keyboard(page, sign_in, case, rosa):
    sign_in(page, rosa)
    page.goto("/cases/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.locator("tr[aria-current=true] th a").inner_text() == "C-1"
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/cases/{case.pk}/?release=1")
    page.keyboard.press("Shift+J")
    until(page, "document.querySelector('h1').textContent === 'C-2'")


def test_a_sort_link_keeps_the_focus(page, sign_in, case, rosa):
    sign_in(page, rosa)
    page.goto("/cases/")
    page.locator("#sort-case").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**sort=case")
    until(page, "document.querySelector('[aria-sort=ascending] a') === document.activeElement")
    until(page, "document.querySelector('.htmx-request, .htmx-settling') === null")  # nobody is as quick
    page.keyboard.press("Enter")
    page.wait_for_url("**sort=-case")
    until(page, "document.querySelector('[aria-sort=descending] a') === document.activeElement")
    assert page.locator("table.case-list tbody th a").first.inner_text() == "C-4"


def test_a_triplet_is_edited_in_its_place(page, sign_in, case, ada):
    sign_in(page, ada)
    page.goto(f"/cases/{case.pk}/?release=draft&triplet=1")
    page.locator("details[open]").get_by_role("link", name="Edit").click()
    until(page, "document.activeElement.matches('h3[data-focus]')")
    page.get_by_label("Evidence").fill("Line 7 of the gross description.")
    page.get_by_role("button", name="Save").click()
    until(page, "document.querySelector('.triplet-state').textContent.includes('v2')")
    assert current_marks(page) == ["Line 7 of the gross description."]


def test_an_upload_is_watched_until_its_result_is_read_out(page, sign_in, case, ada, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    sign_in(page, ada)
    page.goto("/benchmarks/import/")
    file = {"name": "bundle.zip", "mimeType": "application/zip", "buffer": b"not a zip"}
    page.get_by_label("Bundle").set_input_files(file)
    page.get_by_role("button", name="Upload and check").click()
    page.get_by_text("Queued").wait_for()
    work()
    until(page, "document.activeElement.matches('#outcome h2')")
    assert "1 problem. Nothing was imported." in page.locator("#announcer").inner_text()
    assert page.locator("#outcome tbody th").all_inner_texts() == ["bad_zip"]
    assert_accessible(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_are_accessible(page, sign_in, case, ada, theme):
    sign_in(page, ada)
    page.emulate_media(color_scheme=theme)
    release = case.benchmark.releases.get()
    for path in (
        "/cases/?q=weigh",
        f"/cases/{case.pk}/?triplet=2",
        f"/cases/{case.pk}/triplets/{case.triplets.first().pk}/",
        f"/benchmarks/{case.benchmark.pk}/",
        f"/benchmarks/{case.benchmark.pk}/freeze/",
        "/benchmarks/import/",
        f"/releases/{release.pk}/kit/",
    ):
        page.goto(path)
        assert_accessible(page)


def test_cases_are_read_without_script(chromium, live, case, rosa):
    context = chromium.new_context(base_url=live.url, java_script_enabled=False)
    session = signed_in(rosa).cookies[site.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": site.SESSION_COOKIE_NAME, "value": session, "url": live.url}])
    page = context.new_page()
    page.goto("/cases/")
    page.get_by_label("Search goal").fill("alpha")
    page.get_by_role("button", name="Filter").click()
    assert page.locator("table.case-list tbody th a").all_inner_texts() == ["C-2"]
    page.goto(f"/cases/{case.pk}/")
    page.locator("details[data-triplet='3'] summary").click()
    page.locator("details[data-triplet='3'] [data-show]").click()
    assert page.url.endswith("?release=1&triplet=3#span-3")
    assert current_marks(page) == ["Margins: negative."]
    context.close()
