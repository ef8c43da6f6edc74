"""The slide viewer in a browser: what it shows, by which keys, and what its address brings back."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.viewer_page import PATH
from tests.chromium import assert_accessible
from tests.slide_files import CMU, TCGA
from tests.slides import damage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def open_slide(page, sign_in, bruno, registered, settings):
    """open_slide(file, search=""): its registered slide, shown to Bruno."""
    settings.ROOT_URLCONF = "tests.browser.viewer_page"
    sign_in(page, bruno)

    def open_slide(source, search=""):
        slide = registered(source)
        page.goto(PATH.format(slide.pk) + search)
        if slide.is_ready:
            expect(page.locator(".viewer.is-open")).to_be_visible()
        return slide

    yield open_slide
    page.goto("about:blank")  # asks for no more tiles while the settings of the test are taken back


def viewer(page, method, *values):
    """Call a method of the viewer as another module of the site would."""
    return page.evaluate(
        """async ([method, values]) => {
          const { openViewer } = await import("/static/js/viewer/viewer.js");
          return openViewer(document.querySelector("[data-viewer]"))[method](...values);
        }""",
        [method, values],
    )


def view_of(page):
    return viewer(page, "currentView")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def eventually(page, check):
    """`check()` holds within five seconds."""
    for _ in range(50):
        try:
            return check()
        except AssertionError:
            page.wait_for_timeout(100)
    return check()


def pattern(words):
    """`words` as the viewer writes them: with narrow spaces before units."""
    return re.compile(words.replace(" ", "[ \u202f]"))


def test_a_slide_with_a_scale_opens_whole_with_bar_presets_and_status(page, open_slide, real):
    open_slide(real / CMU)
    view = view_of(page)
    assert (view["x_l0_px"], view["y_l0_px"], view["rotation_deg"]) == pytest.approx((1110, 1483.5, 0))
    expect(page.locator("#viewer-status")).to_have_text(
        pattern(r"^[\d.]+× · [\d.]+ µm/px · 0\.55, 0\.74 mm$")
    )
    length, unit = page.locator(".viewer-scale:visible").inner_text().strip().split("\u202f")
    assert unit == "µm"
    bar = page.locator(".viewer-scale-line:visible").bounding_box()["width"]
    assert bar == pytest.approx(int(length) / 0.499 * view["zoom"], abs=1)
    expect(page.get_by_role("group", name="Magnification").get_by_role("button")).to_have_count(5)
    expect(page).to_have_url(re.compile(r"/$"))
    assert_accessible(page)


def test_a_slide_without_a_scale_says_so_and_shows_no_bar(page, open_slide, real):
    open_slide(real / TCGA)
    expect(page.get_by_text("Scale unknown: the file gives no plausible pixel size")).to_be_visible()
    expect(page.locator("[data-viewer-scale]")).to_be_hidden()
    expect(page.get_by_role("group", name="Magnification")).to_be_hidden()
    expect(page.locator("#viewer-status")).to_have_text(
        pattern(r"^\d+ % of native pixels · x 2,222, y 1,784 px$")
    )
    assert_accessible(page)


def test_presets_and_keys_set_the_magnification(page, open_slide, real):
    open_slide(real / CMU)
    ten = page.get_by_role("button", name="10×")
    ten.click()
    expect(ten).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#viewer-status")).to_have_text(pattern("^10× · 1.00 µm/px"))
    assert view_of(page)["zoom"] == pytest.approx(0.499)  # 1 µm on a screen pixel
    press(page, "+")
    assert view_of(page)["zoom"] == pytest.approx(1)  # so near to 20× that it is the file's own pixels
    expect(page.locator("[data-viewer-digital]")).to_be_empty()
    press(page, "+")
    assert view_of(page)["magnification"] == pytest.approx(40)
    expect(page.locator("[data-viewer-digital]")).to_have_text("digital zoom 2.0×")
    press(page, "-", "-")
    assert view_of(page)["magnification"] == pytest.approx(10)
    press(page, "o")
    assert view_of(page)["zoom"] == pytest.approx(1)
    press(page, "h")
    expect(page).to_have_url(re.compile(r"/$"))


def test_arrows_move_the_view_by_a_tenth_and_with_shift_by_half(page, open_slide, real):
    open_slide(real / TCGA, "?view=2200,1800,0.5,0")
    before = view_of(page)
    page.get_by_role("application", name="Slide").focus()
    press(page, "ArrowRight", "ArrowDown")
    after = view_of(page)
    assert after["x_l0_px"] - before["x_l0_px"] == pytest.approx(0.1 * before["bounds_l0"]["width"], rel=0.01)
    assert after["y_l0_px"] - before["y_l0_px"] == pytest.approx(
        0.1 * before["bounds_l0"]["height"], rel=0.01
    )
    press(page, "Shift+ArrowLeft")
    assert view_of(page)["x_l0_px"] - after["x_l0_px"] == pytest.approx(
        -0.5 * before["bounds_l0"]["width"], rel=0.01
    )


def test_arrows_follow_the_screen_when_the_slide_is_turned(page, open_slide, real):
    open_slide(real / TCGA, "?view=2200,1800,0.5,0")
    press(page, ".")
    before = view_of(page)
    assert before["rotation_deg"] == 90
    page.get_by_role("application", name="Slide").focus()
    press(page, "ArrowRight")
    after = view_of(page)
    assert after["x_l0_px"] == pytest.approx(before["x_l0_px"], abs=1)
    assert abs(after["y_l0_px"] - before["y_l0_px"]) == pytest.approx(
        0.1 * before["bounds_l0"]["height"], rel=0.01
    )


@pytest.mark.parametrize("rotation", [0, 270])
def test_a_pasted_link_reopens_the_view(page, open_slide, real, rotation):
    open_slide(real / TCGA, f"?triplet=4&view=1234.5,987.6,0.37,{rotation}")
    page.get_by_role("application", name="Slide").focus()
    press(page, "ArrowRight", "+")
    before = view_of(page)
    center = f"{before['x_l0_px']:.1f},{before['y_l0_px']:.1f}"
    view = f"triplet=4&view={center},{before['zoom']:.6g},{rotation}"
    expect(page).to_have_url(re.compile(re.escape(view) + "$"))
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(page.locator(".viewer.is-open")).to_be_visible()
    after = view_of(page)
    assert after["rotation_deg"] == before["rotation_deg"] == rotation
    for edge in ("x", "y", "width", "height"):
        assert after["bounds_l0"][edge] == pytest.approx(before["bounds_l0"][edge], abs=1)


def test_a_link_far_outside_stays_on_the_slide(page, open_slide, real):
    open_slide(real / CMU, "?view=-90000,999999999,0.5,0")
    view = view_of(page)
    assert (view["x_l0_px"], view["y_l0_px"]) == pytest.approx((0, 2967), abs=1)


def test_nothing_mirrors_the_slide(page, open_slide, real):
    open_slide(real / CMU, "?view=1110,1483,1,0")
    page.get_by_role("application", name="Slide").click(position={"x": 300, "y": 300})
    before = view_of(page)
    press(page, "f", "r", "j", "w", "a", "0")
    assert view_of(page) == before


def test_every_tile_asked_for_is_in_the_files_grid(page, open_slide, real):
    asked = []
    page.on("response", lambda answer: asked.append(answer) if "/tiles/" in answer.url else None)
    open_slide(real / "openslide_fixtures/boxes.tiff")
    for x_l0_px, y_l0_px, zoom, rotation_deg in ((150, 125, 4, 0), (300, 250, 2, 0), (150, 125, 0.3, 90)):
        view = {"x_l0_px": x_l0_px, "y_l0_px": y_l0_px, "zoom": zoom, "rotation_deg": rotation_deg}
        viewer(page, "goTo", view)
        page.wait_for_timeout(500)
    assert len(asked) > 10
    assert {answer.status for answer in asked} == {200}


def test_a_damaged_tile_is_hatched_counted_and_can_be_tried_again(page, open_slide, real, tmp_path, console):
    path = damage.overwrite_tile(real / CMU, tmp_path / "x.svs", 4, 5)
    open_slide(path, "?view=1080,1320,0.5,0")
    expect(page.get_by_text("1 tile missing")).to_be_visible(timeout=15_000)
    corners = page.locator(".viewer-overlay polygon[fill]").get_attribute("points")
    box = page.locator("[data-viewer-stage]").bounding_box()
    points = [float(each) for each in re.split(r"[ ,]", corners)]
    # Tile (4, 5) of 240 x 240 at half size around the middle of the stage: 960..1200, 1200..1440.
    assert points[0:2] == pytest.approx([box["width"] / 2 - 60, box["height"] / 2 - 60], abs=1)
    assert points[4:6] == pytest.approx([box["width"] / 2 + 60, box["height"] / 2 + 60], abs=1)
    assert view_of(page)["missing_tiles"] == 1
    assert_accessible(page)
    with page.expect_response("**/4_5.jpg") as answer:
        page.get_by_role("button", name="Retry").click()
    assert answer.value.status == 410
    viewer(page, "goTo", {"x_l0_px": 300, "y_l0_px": 300, "zoom": 1, "rotation_deg": 0})
    expect(page.get_by_text("1 tile missing")).to_be_hidden()
    page.goto("about:blank")  # asks for no tile again
    console.expect("410")
    console.expect("failed to load")


def test_tiles_that_fail_once_heal_without_a_hand(page, open_slide, real, console):
    failed = set()

    def once(route):
        if route.request.url in failed:
            return route.continue_()
        failed.add(route.request.url)
        return route.fulfill(status=503)

    page.route("**/tiles/**", once)
    open_slide(real / "openslide_fixtures/boxes.tiff")
    expect(page.get_by_text(re.compile("missing"))).to_be_visible()
    expect(page.get_by_text(re.compile("missing"))).to_be_hidden(timeout=15_000)
    assert view_of(page)["missing_tiles"] == 0
    page.goto("about:blank")  # asks for no tile again
    console.expect("503")
    console.expect("failed to load")


def test_a_flight_shows_the_region_with_a_margin(page, open_slide, real):
    open_slide(real / TCGA)
    region = {"x": 1000, "y": 800, "width": 1500, "height": 600}
    viewer(page, "flyTo", region)
    view = view_of(page)
    assert (view["x_l0_px"], view["y_l0_px"]) == pytest.approx((1750, 1100), abs=1)
    shares = (1500 / view["bounds_l0"]["width"], 600 / view["bounds_l0"]["height"])
    assert max(shares) == pytest.approx(1 / 1.4, rel=0.01)
    viewer(page, "flyTo", {"x": 1000, "y": 800, "width": 1, "height": 1})
    assert view_of(page)["zoom"] == pytest.approx(1)


def test_brightness_and_contrast_are_of_the_slide_alone_and_said_in_words(page, open_slide, real):
    open_slide(real / CMU)
    page.get_by_text("Light", exact=True).click()
    slider = page.get_by_label("Brightness")
    slider.focus()
    press(page, "ArrowRight", "ArrowRight")
    expect(page.locator("[data-viewer-light-words]")).to_have_text(pattern("^brightness 110 %$"))
    assert (
        page.locator("[data-viewer-surface]").evaluate("each => getComputedStyle(each).filter")
        == "brightness(1.1)"
    )
    assert page.locator("[data-viewer-tools]").evaluate("each => getComputedStyle(each).filter") == "none"
    assert_accessible(page)
    page.get_by_role("button", name="As scanned").click()
    expect(page.locator("[data-viewer-light-words]")).to_be_empty()
    assert page.locator("[data-viewer-surface]").evaluate("each => getComputedStyle(each).filter") == "none"


def test_the_viewer_takes_the_whole_screen_and_gives_it_back(page, open_slide, real):
    open_slide(real / CMU)
    page.get_by_role("button", name="Full screen").click()
    leave = page.get_by_role("button", name="Leave full screen")
    expect(leave).to_be_visible()
    box = page.locator(".viewer").bounding_box()
    assert (box["x"], box["y"], box["width"]) == (0, 0, 1440)
    press(page, "+")  # keys go on
    leave.click()
    expect(page.get_by_role("button", name="Full screen", exact=True)).to_be_visible()


def test_a_whole_slide_stays_whole_when_the_pane_changes(page, open_slide, real):
    open_slide(real / CMU)

    def whole():
        shown = view_of(page)["bounds_l0"]
        assert min(shown["width"] / 2220, shown["height"] / 2967) == pytest.approx(1, rel=0.01)

    whole()
    page.set_viewport_size({"width": 1200, "height": 700})
    eventually(page, whole)
    page.get_by_role("button", name="10×").click()
    page.set_viewport_size({"width": 1440, "height": 900})
    page.wait_for_timeout(300)
    assert view_of(page)["magnification"] == pytest.approx(10)  # a larger pane shows more, not larger


def test_the_overview_moves_the_view(page, open_slide, real):
    open_slide(real / CMU, "?view=300,300,1,0")
    box = page.locator("[data-viewer-overview]").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + box["height"] * 0.5)
    view = view_of(page)
    assert (view["x_l0_px"], view["y_l0_px"]) == pytest.approx((0.75 * 2220, 0.5 * 2967), abs=40)


def test_nothing_flies_where_motion_is_not_wanted(page, open_slide, real):
    page.emulate_media(reduced_motion="reduce")
    open_slide(real / CMU, "?view=1110,1483,1,0")
    status = page.evaluate(
        """async () => {
          document.querySelector('[value="20"]').click();
          for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
          return document.querySelector("#viewer-status").textContent;
        }"""
    )
    assert status.startswith("20×")


def test_everything_is_reached_by_tab_in_the_order_it_is_read(page, open_slide, real):
    open_slide(real / CMU, "?view=1110,1483,1,0")
    page.get_by_role("application", name="Slide").focus()
    names = []
    for _ in range(13):
        page.keyboard.press("Tab")
        names.append(
            page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.textContent.trim()")
        )
    assert names == [
        "Zoom in",
        "Zoom out",
        "Whole slide H",
        "Native O",
        "Turn left ,",
        "Turn right .",
        "Light",
        "Full screen",
        "2.5×",
        "5×",
        "10×",
        "20×",
        "40×",
    ]


def test_a_slide_that_cannot_be_loaded_says_so_over_its_picture(page, open_slide, registered, real, console):
    page.route("**/pyramid.json", lambda route: route.fulfill(status=500))
    page.goto(PATH.format(registered(real / CMU).pk))
    expect(page.get_by_text("Could not load the slide.")).to_be_visible()
    expect(page.get_by_role("img", name="Overview of the slide")).to_be_visible()
    page.unroute("**/pyramid.json")
    page.get_by_role("button", name="Retry").click()
    expect(page.locator(".viewer.is-open")).to_be_visible()
    console.expect("500")


def test_a_refused_slide_shows_its_reason_in_place_of_the_viewer(page, open_slide, real):
    open_slide(real / "smalltif.tif")
    expect(page.get_by_text("Slide refused")).to_be_visible()
    expect(page.get_by_text("The pixels have 16 bits")).to_be_visible()
    expect(page.locator("[data-viewer]")).to_have_count(0)


def test_without_script_the_whole_slide_is_a_picture(chromium, live, sign_in, open_slide, real, bruno, page):
    slide = open_slide(real / CMU)
    context = chromium.new_context(java_script_enabled=False, base_url=live.url)
    context.add_cookies(page.context.cookies())
    still = context.new_page()
    still.goto(PATH.format(slide.pk))
    picture = still.get_by_role("img", name="Overview of the slide")
    expect(picture).to_be_visible()
    assert picture.bounding_box()["height"] > 300
    expect(still.get_by_role("button", name="Zoom in")).to_be_hidden()
    context.close()
