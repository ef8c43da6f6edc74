"""Marking regions in the workbench: by keys, pointer and touch, saved with the verdict."""

import json

import pytest
from playwright.sync_api import expect

from annotation.models import Verdict, VerdictRevision
from annotation.services import studies
from annotation.services.assignments import claim_next
from annotation.services.verdicts import Draft, submit_verdict
from tests.annotation.build import YES, make_cases, make_study
from tests.browser.bench import open_item, press, stored, wait_for_state
from tests.chromium import assert_accessible
from tests.slide_files import CMU

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def slide(registered, settings, real):
    """CMU: 2220 x 2967 pixels of 0.499 µm."""
    access = settings.SLIDE_ACCESS
    slide = registered(real / CMU)
    settings.SLIDE_ACCESS = access
    return slide


@pytest.fixture
def study(team, bruno, chen, ada, slide):
    benchmark = make_cases(team, 1, 2)
    benchmark.cases.update(slide=slide)
    return make_study(benchmark, [bruno, chen], ada)


@pytest.fixture
def held(page, sign_in, study, bruno):
    sign_in(page, bruno)
    held = claim_next(study, bruno)
    open_item(page, held)
    expect(page.locator(".viewer.is-open")).to_be_visible()
    yield held
    page.goto("about:blank")


def regions_of(page):
    return json.loads(page.locator("input[name=regions]").input_value())


def view_of(page):
    return page.evaluate(
        """async () => {
          const { openViewer } = await import("/static/js/viewer/viewer.js");
          return openViewer(document.querySelector("[data-viewer]")).currentView();
        }"""
    )


def look_at(page, x_l0_px, y_l0_px, zoom, rotation_deg=0):
    page.evaluate(
        """async (view) => {
          const { openViewer } = await import("/static/js/viewer/viewer.js");
          openViewer(document.querySelector("[data-viewer]")).goTo(view);
        }""",
        {"x_l0_px": x_l0_px, "y_l0_px": y_l0_px, "zoom": zoom, "rotation_deg": rotation_deg},
    )
    page.wait_for_timeout(400)  # the flight


def on_screen(page, x_l0_px, y_l0_px):
    """Where a place of the slide is on the page, unturned."""
    view, box = view_of(page), page.locator("[data-viewer-surface]").bounding_box()
    bounds = view["bounds_l0"]
    return (
        box["x"] + (x_l0_px - bounds["x"]) * view["zoom"],
        box["y"] + (y_l0_px - bounds["y"]) * view["zoom"],
    )


# By keys


def test_a_box_is_dropped_moved_resized_and_kept_by_keys(page, held):
    look_at(page, 1000, 1200, 0.5)
    press(page, "r")
    expect(page.get_by_role("group", name="Region being placed")).to_be_visible()
    press(page, "ArrowRight", "ArrowRight", "ArrowUp", "Shift+ArrowRight", "Shift+ArrowDown", "Enter")
    bounds = view_of(page)["bounds_l0"]
    (box,) = regions_of(page)
    (left, top), (right, bottom) = box["points"]
    # 8 screen pixels are 16 of the slide: twice to the right, once up, once larger each way.
    assert ((left + right) / 2, (top + bottom) / 2) == pytest.approx((1032, 1184), abs=1)
    assert (right - left, bottom - top) == pytest.approx(
        (bounds["width"] / 4 + 16, bounds["height"] / 4 + 16), abs=2
    )
    assert (box["kind"], box["revision"], box["zoom"], box["missing_tiles"]) == ("rectangle", 1, 0.5, 0)
    wait_for_state(page, "Saved")
    assert stored(held).regions == [box]
    assert page.url.endswith(f"{held.pk}/") or "view=" in page.url  # Enter submitted nothing
    assert stored(held).submitted_at is None


def test_points_and_outlines_too_and_escape_discards(page, held):
    look_at(page, 1000, 1200, 1)
    press(page, "d", "ArrowLeft", "Enter")
    press(page, "f", "ArrowDown", "Enter")
    press(page, "r", "Escape")
    point, outline = regions_of(page)
    assert (point["kind"], point["points"]) == ("point", [[992, 1200]])
    assert (outline["kind"], len(outline["points"])) == ("polygon", 8)
    expect(page.get_by_role("group", name="Region being placed")).to_be_hidden()
    wait_for_state(page, "Saved")
    assert [each["kind"] for each in stored(held).regions] == ["point", "polygon"]


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_arrows_move_along_the_screen_when_the_slide_is_turned(page, held, rotation):
    look_at(page, 1000, 1200, 1, rotation)
    press(page, "d", "ArrowRight", "Enter")
    (point,) = regions_of(page)
    assert point["points"] == [{90: [1000, 1192], 180: [992, 1200], 270: [1000, 1208]}[rotation]]


def test_a_triplet_with_a_region_is_finished_by_keys_alone(page, held):
    press(page, "y", "d", "Enter", "y", "y", "1", "Enter")
    page.locator("h1", has_text="Item 2 of 2").wait_for()
    revision = VerdictRevision.objects.get(submitted=True)
    assert (revision.answers, len(revision.regions), revision.missing_tiles) == (YES, 1, 0)
    assert regions_of(page) == []  # the next item begins without
    expect(page.locator(".viewer-overlay .region")).to_have_count(0)


def test_undo_and_redo_by_keys_and_buttons(page, held):
    press(page, "d", "Enter", "r", "Enter")
    press(page, "Control+z")
    assert [each["kind"] for each in regions_of(page)] == ["point"]
    page.get_by_role("button", name="Undo").click()
    assert regions_of(page) == []
    press(page, "Control+Shift+z", "Control+Shift+z")
    assert [each["kind"] for each in regions_of(page)] == ["point", "rectangle"]
    expect(page.get_by_role("button", name="Redo")).to_be_disabled()
    press(page, "m")
    page.keyboard.type("undo")
    press(page, "Control+z")  # in a text it is the browser's own
    assert len(regions_of(page)) == 2


# By pointer and touch


@pytest.mark.parametrize("turned", [0, 90])
def test_a_box_is_dragged_where_the_pointer_goes(page, held, turned):
    look_at(page, 1000, 1200, 0.5, turned)
    page.get_by_role("button", name="Box").click()
    surface = page.locator("[data-viewer-surface]").bounding_box()
    x, y = surface["x"] + surface["width"] / 2, surface["y"] + surface["height"] / 2
    page.mouse.move(x - 50, y - 20)
    page.mouse.down()
    page.mouse.move(x, y, steps=3)
    page.mouse.move(x + 50, y + 20, steps=3)
    page.mouse.up()
    (box,) = regions_of(page)
    half = (100, 40) if not turned else (40, 100)
    assert box["points"][0] == pytest.approx([1000 - half[0], 1200 - half[1]], abs=2)
    assert box["points"][1] == pytest.approx([1000 + half[0], 1200 + half[1]], abs=2)
    assert view_of(page)["x_l0_px"] == pytest.approx(1000, abs=1)  # the slide stayed


def test_a_box_is_clicked_at_two_corners(page, held):
    look_at(page, 1000, 1200, 1)
    press(page, "r")
    page.mouse.click(*on_screen(page, 1100, 1300))
    page.mouse.click(*on_screen(page, 1000, 1250))
    (box,) = regions_of(page)
    assert box["points"] == [pytest.approx([1000, 1250], abs=1), pytest.approx([1100, 1300], abs=1)]


def test_an_outline_is_clicked_corner_by_corner_and_closed_by_a_double_click(page, held):
    look_at(page, 1000, 1200, 1)
    press(page, "f")
    for corner in ((900, 1100), (1050, 1100), (1150, 1200)):
        page.mouse.click(*on_screen(page, *corner), delay=10)
        page.wait_for_timeout(400)  # slower than a double click
    press(page, "Backspace")
    page.mouse.click(*on_screen(page, 1100, 1250))
    page.wait_for_timeout(400)
    page.mouse.dblclick(*on_screen(page, 900, 1300))
    (outline,) = regions_of(page)
    corners = [(900, 1100), (1050, 1100), (1100, 1250), (900, 1300)]
    assert outline["points"] == [pytest.approx(list(corner), abs=1) for corner in corners]
    assert view_of(page)["zoom"] == pytest.approx(1)


def test_an_outline_that_crosses_itself_is_not_kept_and_says_why(page, held):
    look_at(page, 1000, 1200, 1)
    press(page, "f")
    for corner in ((900, 1100), (1100, 1300), (1100, 1100), (900, 1250)):
        page.mouse.click(*on_screen(page, *corner))
        page.wait_for_timeout(400)
    press(page, "Enter")
    expect(page.locator("[data-placing-words]")).to_contain_text("The outline crosses itself.")
    assert regions_of(page) == []
    press(page, "Backspace", "Enter")
    assert len(regions_of(page)) == 1


def test_a_kept_region_is_taken_up_again_by_its_corner(page, held):
    look_at(page, 1000, 1200, 1)
    press(page, "r", "Enter")
    before = regions_of(page)[0]["points"]
    page.get_by_role("button", name="Edit Region 1").click()
    expect(page.get_by_role("group", name="Region being placed")).to_be_visible()
    page.wait_for_timeout(400)
    x, y = on_screen(page, *before[1])
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y + 10, steps=3)
    page.mouse.up()
    page.get_by_role("button", name="Keep").click()
    expect(page.get_by_role("group", name="Region being placed")).to_be_hidden()
    (after,) = regions_of(page)
    zoom = view_of(page)["zoom"]
    assert after["points"][0] == before[0]
    moved = [before[1][0] + 20 / zoom, before[1][1] + 10 / zoom]
    assert after["points"][1] == pytest.approx(moved, abs=2)


def test_a_finger_places_a_point_that_can_still_be_moved(page, chromium, live, held, bruno, sign_in):
    context = chromium.new_context(
        base_url=live.url, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    context.add_cookies(page.context.cookies())
    phone = context.new_page()
    open_item(phone, held)
    phone.get_by_role("button", name="Point").tap()
    expect(phone.locator(".viewer.is-open")).to_be_visible()
    expect(phone.get_by_role("group", name="Region being placed")).to_be_visible()
    look_at(phone, 1000, 1200, 0.5)
    phone.touchscreen.tap(*on_screen(phone, 1040, 1240))
    expect(phone.locator("[data-placing-words]")).to_contain_text("Move it by its handles")
    assert regions_of(phone) == []
    keep = phone.get_by_role("button", name="Keep")
    assert keep.bounding_box()["height"] >= 44
    assert float(phone.locator(".region-target").get_attribute("r")) >= 22
    keep.tap()
    expect(phone.get_by_role("button", name="Region 1 Point")).to_be_visible()  # back at the claim
    (point,) = regions_of(phone)
    assert point["points"][0] == pytest.approx([1040, 1240], abs=3)
    assert phone.locator("[data-question] input:checked").count() == 0  # no tap fell through
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


# The list, and what is drawn


def test_each_region_is_a_button_that_flies_there(page, held):
    look_at(page, 500, 600, 1)
    press(page, "r", "Enter")
    (box,) = regions_of(page)
    look_at(page, 1800, 2500, 0.5)
    page.get_by_role("button", name="Region 1 Box").click()
    page.wait_for_timeout(500)
    shown, points = view_of(page)["bounds_l0"], box["points"]
    assert shown["x"] + shown["width"] / 2 == pytest.approx((points[0][0] + points[1][0]) / 2, abs=1)
    assert shown["x"] < points[0][0]
    assert points[1][0] < shown["x"] + shown["width"]
    line = page.locator(".viewer-overlay .region-line").get_attribute("points").split(" ")
    surface = page.locator("[data-viewer-surface]").bounding_box()
    x, y = on_screen(page, *points[0])
    drawn = [float(each) for each in line[0].split(",")]
    assert drawn == pytest.approx([x - surface["x"], y - surface["y"]], abs=1)


def test_a_removed_region_comes_back_by_undo_and_the_focus_stays_in_the_list(page, held):
    press(page, "d", "Enter", "d", "Enter")
    page.get_by_role("button", name="Remove Region 1").click()
    assert len(regions_of(page)) == 1
    assert page.evaluate("document.activeElement.className") == "region-fly"
    page.get_by_role("button", name="Undo").click()
    assert len(regions_of(page)) == 2


def test_regions_beyond_the_pixels_of_the_file_are_marked(page, held):
    look_at(page, 1000, 1200, 2)
    press(page, "d", "Enter")
    expect(page.locator(".region-mark")).to_have_text("! digital zoom 2.0×")


def test_regions_are_there_after_a_reload_and_what_was_not_sent_too(page, held, console):
    press(page, "d", "Enter")
    wait_for_state(page, "Saved")
    page.route(
        f"**/annotate/{held.pk}/",
        lambda route: route.abort() if route.request.method == "POST" else route.continue_(),
    )
    press(page, "r", "Enter")
    wait_for_state(page, "Offline: 1 change")
    page.reload()
    expect(page.locator(".region-fly")).to_have_count(2)
    page.unroute(f"**/annotate/{held.pk}/")
    wait_for_state(page, "Saved")
    assert [each["kind"] for each in stored(held).regions] == ["point", "rectangle"]
    console.expect("ERR_FAILED")


# Holes, files, the case page


def test_a_verdict_over_tiles_that_did_not_come_is_marked(page, held, console):
    page.route("**/tiles/**", lambda route: route.fulfill(status=410))
    page.reload()
    expect(page.get_by_text("missing")).to_be_visible(timeout=20_000)
    press(page, "d", "Enter")
    assert regions_of(page)[0]["missing_tiles"] > 0
    press(page, "y", "y", "y", "1", "Enter")
    page.locator("h1", has_text="Item 2 of 2").wait_for()
    assert VerdictRevision.objects.get(submitted=True).missing_tiles > 0
    page.goto("about:blank")
    console.expect("410")
    console.expect("failed to load")


def test_regions_go_out_and_come_in_as_geojson(page, held, tmp_path):
    look_at(page, 1000, 1200, 0.5)
    press(page, "r", "Enter")
    wait_for_state(page, "Saved")
    page.get_by_text("File", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as GeoJSON").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    (feature,) = json.loads(path.read_text())["features"]
    assert feature["geometry"]["coordinates"][0][0] == regions_of(page)[0]["points"][0]
    page.locator("[data-regions-file]").set_input_files(path)
    expect(page.locator(".region-fly")).to_have_count(2)
    assert regions_of(page)[0] == regions_of(page)[1]
    wait_for_state(page, "Saved")
    assert len(stored(held).regions) == 2


def test_a_file_without_regions_says_why_and_changes_nothing(page, held, tmp_path, console):
    path = tmp_path / "lines.geojson"
    path.write_text('{"type": "LineString", "coordinates": [[1, 1], [2, 2]]}')
    page.locator("[data-regions-file]").set_input_files(path)
    expect(page.locator("[data-regions-problem]")).to_contain_text("only points, rectangles and polygons")
    assert regions_of(page) == []
    console.expect("422")


def test_the_case_page_shows_where_experts_saw_it(page, study, bruno, chen, ada, sign_in):
    box = {
        "kind": "rectangle",
        "points": [[900, 1100], [1200, 1400]],
        "revision": 1,
        "zoom": 1,
        "missing_tiles": 0,
    }
    for person in (bruno, chen):
        while held := claim_next(study, person):
            submit_verdict(held, Draft(YES, "", 0, [box]))
    studies.close_study(study)
    assert Verdict.objects.count() == 4
    sign_in(page, ada)
    page.goto(f"/cases/{study.benchmark.cases.get().pk}/?triplet=1")
    expect(page.locator(".viewer.is-open")).to_be_visible()
    expect(page.locator(".viewer-overlay .region")).to_have_count(2)
    page.get_by_role("button", name="Region 1 Box").click()
    page.wait_for_timeout(500)
    assert view_of(page)["x_l0_px"] == pytest.approx(1050, abs=1)
    assert_accessible(page)
    press(page, "j")  # the next triplet
    expect(page.locator("details[open] .region-fly")).to_have_count(2)
    page.goto("about:blank")


def test_nothing_is_wrong_with_the_page_while_a_region_is_placed(page, held):
    press(page, "d", "Enter", "r")
    assert_accessible(page)
    press(page, "?")
    sheet = page.locator("#key-sheet")
    for words in ("Keep the region", "Drop a box", "Undo"):
        expect(sheet).to_contain_text(words)
