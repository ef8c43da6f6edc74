"""Boards, submitting and the pairs of a case in a browser: keyboard, sizes, and without script."""

import pytest

from leaderboard.models import Submission
from leaderboard.services.submissions import submit
from tests.chromium import assert_accessible
from tests.leaderboard.build import make_board, make_entry, make_evaluation, make_submission
from tests.leaderboard.results import as_bytes, work_off
from tests.people import signed_in

pytestmark = pytest.mark.browser

OUTPUTS = ["All 30 lymph nodes are free of tumour.", "The tumour measures 6 cm in all.", "Nothing else."]
HOSTILE = [
    "<script>document.title='taken'</script> margins",
    "\u202eevil <img src=x onerror=alert(1)>",
    "tumour " * 100,
    "",
]


@pytest.fixture
def scored(live, team, rosa):
    """A scored submission on a board of twelve cases: the same three outputs in each."""
    board = make_board(team, n_cases=12, sites=("Colon", "Liver"))
    data = as_bytes(**{f"C-{number}": OUTPUTS for number in range(1, 13)})
    submission = submit(board, data, "results.json", rosa)
    work_off()
    return submission


@pytest.fixture
def outputs_page(page, sign_in, scored, rosa):
    sign_in(page, rosa)
    page.goto(f"/submissions/{scored.pk}/cases/{case_key(scored)}/")
    return page


def case_key(submission, case_id="C-1"):
    return submission.board.release.cases.get(case__case_id=case_id).case_id


def focused(page):
    return page.evaluate("document.activeElement.dataset.cell ?? document.activeElement.id")


def pinned(page):
    return page.locator("[data-cell][aria-current=true]").evaluate_all(
        "all => all.map((a) => a.dataset.cell)"
    )


def test_from_the_board_to_the_marked_sentence_in_three_clicks(page, sign_in, scored, rosa):
    sign_in(page, rosa)
    page.goto(f"/boards/{scored.board_id}/")
    page.click("text=ReAct")
    page.click("table.case-scores >> text='C-1'")
    page.click("[data-cell='2-2']")
    page.wait_for_url("**?pair=2-2")
    assert page.locator("[data-report] mark.is-current").inner_text() == "Tumour size: 6 cm"
    assert page.locator("[data-pair] .shared").all_inner_texts()[:3] == ["The", "tumour", "measures"]
    page.goto(page.url)  # the pasted link
    assert pinned(page) == ["2-2"]
    assert "Reference 2, output 2" in page.locator("#pair-heading").inner_text()
    assert page.locator("[data-report] mark.is-current").count() == 1


def test_the_pair_map_is_one_tab_stop_in_which_keys_move(outputs_page):
    page = outputs_page
    assert page.locator("[data-cell][tabindex='0']").count() == 1
    page.focus("[data-cell='1-1']")
    for key, cell in (
        ("ArrowRight", "1-2"),
        ("ArrowDown", "2-2"),
        ("End", "2-3"),
        ("ArrowRight", "2-3"),
        ("Home", "2-1"),
        ("Control+End", "3-3"),
        ("PageUp", "1-3"),
        ("PageDown", "3-3"),
        ("Control+Home", "1-1"),
        ("ArrowLeft", "1-1"),
        ("ArrowUp", "1-1"),
    ):
        page.keyboard.press(key)
        assert focused(page) == cell, key
    page.keyboard.press("ArrowRight")
    assert page.locator("[data-grid-caption]").inner_text().startswith("Reference 1, output 2: 0.")
    assert page.locator("[data-cell][tabindex='0']").count() == 1


def test_enter_pins_a_pair_and_escape_unpins_it_while_the_focus_stays(outputs_page):
    page = outputs_page
    page.focus("[data-cell='3-1']")
    page.keyboard.press("Enter")
    page.wait_for_url("**?pair=3-1")
    page.wait_for_selector("[data-pinned='3-1']")
    assert (pinned(page), focused(page)) == (["3-1"], "3-1")
    page.keyboard.press("Escape")
    page.wait_for_selector("[data-pinned='']")
    assert "pair=" not in page.url
    assert (pinned(page), focused(page)) == ([], "3-1")


def test_e_shows_the_evidence_of_the_pinned_reference(outputs_page):
    page = outputs_page
    page.click("[data-cell='2-2']")
    page.wait_for_selector("[data-pinned='2-2']")
    page.evaluate("document.querySelector('[data-report]').innerHTML += '<p>x</p>'.repeat(200)")
    page.evaluate("document.querySelector('[data-report]').scrollTop = 5000")
    page.keyboard.press("e")
    box, mark = (page.locator(each).bounding_box() for each in ("[data-report]", "mark.is-current"))
    assert box["y"] <= mark["y"] <= box["y"] + box["height"]


def test_one_escape_closes_a_menu_and_the_next_unpins(outputs_page):
    page = outputs_page
    page.click("[data-cell='2-2']")
    page.wait_for_selector("[data-pinned='2-2']")
    page.click("text=Rosa Lind")
    page.keyboard.press("Escape")
    assert page.locator("details.menu[open]").count() == 0
    assert pinned(page) == ["2-2"]
    page.keyboard.press("Escape")
    page.wait_for_selector("[data-pinned='']")


def test_every_cell_is_named_as_the_table_has_it(outputs_page):
    page = outputs_page
    names = page.locator("[data-cell]").evaluate_all("all => all.map((a) => a.getAttribute('aria-label'))")
    page.click("text='Table'")
    rows = page.locator(".pair-table tbody tr").evaluate_all(
        "all => all.slice(0, -1).map((row) => [...row.cells].slice(1, -1).map((cell) => cell.innerText))"
    )
    values = [value for row in rows for value in row]
    assert len(values) == len(names) == 9
    for name, value in zip(names, values, strict=True):
        assert f": {value}" in name


def test_next_and_previous_case_have_keys(outputs_page, scored):
    page = outputs_page
    page.keyboard.press("Shift+J")
    page.wait_for_url(f"**/cases/{case_key(scored, 'C-2')}/")
    page.keyboard.press("Shift+K")
    page.wait_for_url(f"**/cases/{case_key(scored)}/")


def test_a_chosen_file_is_checked_at_once_and_then_submitted(page, sign_in, live, team, rosa, tmp_path):
    board = make_board(team)
    (tmp_path / "bad.json").write_bytes(as_bytes(**{"C-1": ["x" * 1_001], "TCGA-X1": ["6 cm"]}))
    (tmp_path / "good.json").write_bytes(as_bytes(**{"C-1": ["Margins are negative."]}))
    sign_in(page, rosa)
    page.goto(f"/submit/?board={board.pk}")
    page.set_input_files("input[type=file]", tmp_path / "bad.json")
    page.wait_for_selector("text=Nothing was recorded")
    assert focused(page) == "answer-heading"
    assert "2 problems" in page.locator("#announcer").inner_text()
    assert page.locator(".problem-table >> nth=0").locator("tbody tr").count() == 2
    page.screenshot()
    assert_accessible(page)
    assert not Submission.objects.exists()

    page.set_input_files("input[type=file]", tmp_path / "good.json")
    page.wait_for_selector("text=Can be scored")
    assert page.locator("text=2 missing cases score 0.").is_visible()
    assert_accessible(page)
    page.fill("input[name=method]", "Careful Reader")
    page.click("button >> text='Submit'")
    page.wait_for_url("**/submissions/*/")
    assert page.locator("text=Submission 1 received.").is_visible()
    assert page.locator(".progress-region >> text=1st in the queue").is_visible()
    work_off()
    page.wait_for_selector("text=Mean case F1")
    page.wait_for_selector("table.case-scores")
    assert page.locator(".progress-region[hx-get]").count() == 0


def test_a_dropped_file_is_checked_at_once(page, sign_in, live, team, rosa):
    make_board(team)
    sign_in(page, rosa)
    page.goto("/submit/")
    page.evaluate(
        """(text) => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([text], "dropped.json", { type: "application/json" }));
            const drop = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
            document.querySelector("[data-drop]").dispatchEvent(drop);
        }""",
        as_bytes(**{"C-1": ["6 cm"]}).decode(),
    )
    page.wait_for_selector("text=Can be scored")


def test_submitting_and_the_board_work_without_script(chromium, live, team, rosa, tmp_path, sign_in):
    board = make_board(team)
    (tmp_path / "good.json").write_bytes(as_bytes(**{"C-1": ["Margins are negative."]}))
    context = chromium.new_context(base_url=live.url, java_script_enabled=False)
    page = context.new_page()
    sign_in(page, rosa)
    page.goto(f"/submit/?board={board.pk}")
    page.set_input_files("input[type=file]", tmp_path / "good.json")
    page.click("text='Check file'")
    page.click("button >> text='Submit'")
    page.wait_for_url("**/submissions/*/")
    work_off()
    page.goto(f"/boards/{board.pk}/?sort=recall")
    assert page.locator("text=Sorted by Recall").is_visible()
    page.click("text='ReAct'")
    page.click("text='C-1'")
    page.click("[data-cell='3-1']")
    assert "Reference 3, output 1" in page.locator("#pair-heading").inner_text()
    context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_fit_every_width_and_are_accessible(page, sign_in, scored, team, ada, rosa, theme):
    long_name = "Averyveryverylongnamewithoutanyspace" * 5
    make_entry(scored.board, rosa, long_name, 0.4, ci=[0.3, 0.5])
    make_evaluation(make_submission(scored.board, rosa, "Fails", visibility="private"), state="failed")
    rosa.theme = theme
    rosa.save()
    sign_in(page, rosa)
    case = f"/submissions/{scored.pk}/cases/{case_key(scored)}/"
    for path in (
        "/boards/",
        f"/boards/{scored.board_id}/",
        "/submissions/",
        f"/submissions/{scored.pk}/",
        f"/submissions/{scored.pk}/withdraw/",
        case,
        f"{case}?view=table&pair=2-2",
        "/submit/",
        "/help/results/",
        "/",
    ):
        page.goto(path)
        assert page.locator("h1").count() == 1
        assert_accessible(page)
        for width in (390, 1024, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)


def test_hostile_texts_are_shown_as_text(page, sign_in, live, team, rosa):
    board = make_board(team)
    name = "<b>\u202eReader</b><script>document.title='taken'</script>"
    submission = submit(board, as_bytes(name, **{"C-1": HOSTILE}), "<img src=x>.json", rosa)
    work_off()
    sign_in(page, rosa)
    for path in (
        f"/boards/{board.pk}/",
        f"/submissions/{submission.pk}/",
        f"/submissions/{submission.pk}/cases/{case_key(submission)}/?pair=2-3",
        "/submissions/",
        "/",
    ):
        page.goto(path)
        assert "taken" not in page.title()
        assert page.locator("main img, main b").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 1440
    page.goto(f"/submissions/{submission.pk}/cases/{case_key(submission)}/")
    assert "<script>document.title='taken'</script> margins" in page.locator(".output-list").inner_text()
    assert signed_in(rosa).get(f"/api/v1/boards/{board.pk}/standings.csv").status_code == 200
