"""What the viewer paints is what OpenSlide reads, and what it asks for is in the grid of the file."""

import base64
import io
import json

import numpy as np
import openslide
import pytest
from PIL import Image, ImageCms
from playwright.sync_api import expect

from tests.browser.test_viewer import eventually, open_slide, view_of, viewer
from tests.slide_files import CMU, TCGA
from tests.slides import level_tables

__all__ = ["open_slide"]  # a fixture
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# How far a painted colour may be from OpenSlide's: not at all where the stored bytes are sent, a little
# on average where tiles are encoded anew.
SENT_AS_STORED, ENCODED = 0, 3


def painted(page):
    """The pixels of the viewer's canvas."""
    address = page.locator(".viewer-surface canvas").first.evaluate("each => each.toDataURL('image/png')")
    picture = Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2])))
    return np.asarray(picture.convert("RGB")).astype(int)


@pytest.mark.parametrize(
    ("name", "place", "most"),
    [
        (CMU, (700, 900), SENT_AS_STORED),
        (CMU, (1800, 2560), SENT_AS_STORED),  # the corner, with edge tiles
        (TCGA, (2222, 1784), ENCODED),
    ],
)
def test_native_pixels_are_those_of_openslide(page, open_slide, real, name, place, most):
    open_slide(real / name)
    view = {"x_l0_px": place[0], "y_l0_px": place[1], "zoom": 1, "rotation_deg": 0}
    viewer(page, "goTo", view)
    page.wait_for_timeout(400)  # the flight
    bounds = view_of(page)["bounds_l0"]
    left, top = round(bounds["x"]), round(bounds["y"])
    assert (left, top) == pytest.approx((bounds["x"], bounds["y"]), abs=1e-6)
    shape = painted(page).shape
    with openslide.OpenSlide(real / name) as slide:
        width, height = min(shape[1], slide.dimensions[0] - left), min(shape[0], slide.dimensions[1] - top)
        region = slide.read_region((left, top), 0, (width, height)).convert("RGB")
        if slide.color_profile:
            region = ImageCms.profileToProfile(region, slide.color_profile, ImageCms.createProfile("sRGB"))
    read = np.asarray(region).astype(int)
    assert read.size > 500_000

    def is_the_same():
        apart = np.abs(painted(page)[:height, :width] - read)
        assert apart.mean() <= most, apart.mean()
        assert most or apart.max() == 0

    eventually(page, is_the_same)  # once all tiles are there


def tables(first, last):
    """Level tables as pyramid.json says them."""
    names = ("width", "height", "tile_width", "tile_height", "columns", "rows", "downsample")
    for line in level_tables.FILE.read_text().splitlines()[first:last]:
        table = json.loads(line)
        levels = [dict(zip(names, row, strict=False)) for row in table["levels"]]
        virtual = [
            {"name": name, "source": source, "factor": factor, **dict(zip(names, row, strict=False))}
            for name, source, factor, *row in table["virtual_levels"]
        ]
        whole = {
            "width": levels[0]["width"],
            "height": levels[0]["height"],
            "tiles": "{level}/{column}_{row}",
        }
        yield whole | {"levels": levels, "virtual_levels": virtual}


ASKED_OF_OPENSEADRAGON = """async (tables) => {
  const { levelsOf, tileSource } = await import("/static/js/viewer/source.js");
  const element = document.createElement("div");
  Object.assign(element.style, { position: "fixed", top: 0, left: 0, width: "700px", height: "500px" });
  document.body.append(element);
  const settings = { drawer: "canvas", showNavigationControl: false, animationTime: 0, blendTime: 0 };
  const viewer = OpenSeadragon({ element, ...settings });
  const size = { width: 1, height: 1 };
  const blank = () => Object.assign(document.createElement("canvas"), size).getContext("2d");
  const answer = { asked: 0, outside: [] };
  const frames = async (n) => { while (n--) await new Promise(requestAnimationFrame); };
  for (const [i, pyramid] of tables.entries()) {
    const levels = levelsOf(pyramid);
    const source = tileSource(pyramid);
    source.downloadTileStart = (job) => {
      const { level, x, y } = job.tile;
      const { columns, rows } = levels[level];
      answer.asked++;
      if (!(x >= 0 && y >= 0 && x < columns && y < rows)) answer.outside.push([i, level, x, y]);
      job.finish(blank(), null, "context2d");
    };
    await new Promise((resolve) => { viewer.addOnceHandler("open", resolve); viewer.open(source); });
    await frames(2);
    const end = pyramid.height / pyramid.width;
    for (const [x, y, zoom] of [[0.5, end / 2, 1.7], [1, end, 4], [1, end, 60], [0, 0, 9]]) {
      viewer.viewport.zoomTo(zoom, null, true);
      viewer.viewport.panTo(new OpenSeadragon.Point(x, y), true);
      await frames(2);
    }
  }
  return answer;
}"""


def asked(page, open_slide, real, first, last):
    open_slide(real / "openslide_fixtures/boxes.tiff")
    page.set_default_timeout(600_000)
    return page.evaluate(ASKED_OF_OPENSEADRAGON, list(tables(first, last)))


def test_openseadragon_asks_for_no_tile_outside_the_grids(page, open_slide, real):
    answer = asked(page, open_slide, real, 0, 40)
    assert answer["outside"] == []
    assert answer["asked"] > 300


@pytest.mark.long
def test_openseadragon_asks_for_no_tile_outside_any_of_1000_grids(page, open_slide, real):
    answer = asked(page, open_slide, real, 40, 1000)
    assert answer["outside"] == []
    assert answer["asked"] > 10_000


def test_virtual_levels_are_asked_for_by_their_name(page, open_slide, real):
    addresses = []
    page.on("request", lambda request: addresses.append(request.url))
    open_slide(real / CMU)  # one level only: the whole slide comes from v2 or v4
    expect(page.locator(".viewer.is-open")).to_be_visible()
    page.wait_for_load_state("networkidle")
    tiles = [address.partition("/tiles/1/")[2] for address in addresses if "/tiles/" in address]
    assert {tile.partition("/")[0] for tile in tiles} <= {"v2", "v4"}
    assert tiles
