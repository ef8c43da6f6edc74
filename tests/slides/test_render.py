"""A slide as one picture: the right size, the right pixels, from the right level."""

import io
import json

import numpy as np
import openslide
import pytest
from django.core.management import CommandError, call_command
from PIL import Image, ImageChops, ImageStat

from medbench.slides import services
from tests.slide_files import CMU, TCGA
from tests.slides import damage


def rendered(path, longest_px, normalise="none"):
    facts, content = services.render(path, longest_px, normalise)
    with Image.open(io.BytesIO(content)) as picture:
        assert picture.format == "PNG"
        return facts, picture.convert("RGB")


@pytest.mark.parametrize(
    ("name", "longest_px", "size", "level"),
    [
        (CMU, 700, (524, 700), "v4"),
        (CMU, 1000, (748, 1000), "v2"),
        (CMU, 9000, (2220, 2967), 0),  # never enlarged
        (TCGA, 512, (512, 411), "v8.00202"),
        ("small_dicom.dcm", 400, (400, 326), 3),
        ("ihc.png", 300, (300, 300), 0),
        ("test3-DAPI-2-(387).ndpi", 300, (245, 300), 4),
    ],
)
def test_a_picture_is_made_from_the_level_just_above_its_size(real, name, longest_px, size, level):
    facts, picture = rendered(real / name, longest_px)
    assert picture.size == size
    assert {key: facts[key] for key in ("width", "height", "level_used")} == {
        "width": size[0],
        "height": size[1],
        "level_used": level,
    }
    assert facts["peak_rss_mb"] > 0


def test_a_picture_is_the_slide_made_smaller(real):
    _, picture = rendered(real / CMU, 700)
    with openslide.OpenSlide(real / CMU) as slide:
        expected = slide.get_thumbnail((700, 700)).resize(picture.size)
    assert (
        max(ImageStat.Stat(ImageChops.difference(picture, expected)).rms) < 8
    )  # of 255, at edges: another filter
    # No shift: a pixel to either side is worse.
    for shift in (-1, 1):
        moved = ImageChops.difference(picture, ImageChops.offset(expected, shift, 0))
        assert ImageStat.Stat(moved).rms[0] > ImageStat.Stat(ImageChops.difference(picture, expected)).rms[0]


def test_the_command_writes_a_png_and_tells_its_cost(real, tmp_path, capsys):
    out = tmp_path / "x.png"
    call_command("slide_render", real / CMU, out=out, longest_px=300, normalise="macenko", json=True)
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"width", "height", "level_used", "seconds", "peak_rss_mb"}
    with Image.open(out) as picture:
        assert (picture.format, picture.size) == ("PNG", (told["width"], told["height"]))


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("smalltif.tif", {}, "(bit_depth)"),
        ("nowhere.svs", {}, "(file_missing)"),
        (CMU, {"longest_px": 0}, "from 1 to"),
        (CMU, {"longest_px": 10**9}, "from 1 to"),
    ],
)
def test_what_cannot_be_rendered_is_told_and_nothing_is_written(real, tmp_path, name, options, words):
    out = tmp_path / "x.png"
    options = {"longest_px": 300, "normalise": "none"} | options
    with pytest.raises(CommandError) as refused:
        call_command("slide_render", real / name, out=out, **options)
    assert words in str(refused.value)
    assert not out.exists()


def test_empty_glass_cannot_be_normalised_and_says_so(tmp_path):
    path = damage.write_tiff(tmp_path / "x.tiff", damage.plain(512, 512, (250, 250, 250)))
    with pytest.raises(CommandError, match="no_tissue"):
        call_command("slide_render", path, out=tmp_path / "x.png", normalise="reinhard")


def test_a_hole_stays_a_hole(real, tmp_path):
    path = damage.overwrite_tile(real / CMU, tmp_path / "x.svs", 3, 4)
    _, picture = rendered(path, 2967)
    assert (np.asarray(picture)[4 * 240 + 5, 3 * 240 + 5] == 128).all()
