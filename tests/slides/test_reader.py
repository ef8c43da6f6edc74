"""Pixels: the same as OpenSlide's, in the right colours, and one bad tile harms no other."""

import io
import shutil
from pathlib import Path

import openslide
import pytest
import tifffile
from PIL import Image, ImageChops, ImageStat

from medbench.slides import colour, geometry, overview, proof
from medbench.slides.reader import RecentSlides, SlideFile, SlideRefused, TileUnreadable
from tests.slide_files import CMU, TCGA
from tests.slides import damage


def largest_difference(one, other):
    assert one.size == other.size
    return max(high for _, high in ImageChops.difference(one, other).getextrema())


@pytest.mark.parametrize(
    ("name", "level", "column", "row"),
    [
        (CMU, 0, 4, 5),
        (CMU, 0, 9, 12),
        (TCGA, 0, 7, 7),
        (TCGA, 0, 17, 13),
        (TCGA, 1, 0, 0),
        ("openslide_fixtures/boxes.tiff", 3, 0, 0),
        ("sm_image.dcm", 0, 0, 0),
        ("test3-DAPI-2-(387).ndpi", 2, 1, 1),
        ("yb10kx5k.zstd.tiff", 4, 0, 0),
    ],
)
def test_a_tile_is_what_openslide_reads_there(real, name, level, column, row):
    with SlideFile(real / name) as slide:
        tile, grid = slide.tile(level, column, row), slide.levels[level]
    with openslide.OpenSlide(real / name) as reference:
        x_l_px, y_l_px = column * grid.tile_width, row * grid.tile_height
        width, height = reference.level_dimensions[level]
        size = min(grid.tile_width, width - x_l_px), min(grid.tile_height, height - y_l_px)
        factor = reference.level_downsamples[level]
        region = reference.read_region((round(x_l_px * factor), round(y_l_px * factor)), level, size)
    # Where a level's size is no whole fraction of level 0, its last pixels are partly beyond the edge.
    expected = Image.new("RGB", size, "white")
    expected.paste(region, mask=region.getchannel("A"))
    assert largest_difference(tile, expected) == 0


def test_tiles_between_the_pixels_of_level_0_are_the_files_own(real):
    """Level 1 of this slide is smaller by 2.0005: its tiles begin at no whole pixel of level 0."""
    with tifffile.TiffFile(real / TCGA) as tiff:
        whole = Image.fromarray(tiff.pages[2].asarray())
    with SlideFile(real / TCGA) as slide:
        level = slide.levels[1]
        for column, row in ((1, 1), (5, 3), (8, 6)):
            place = geometry.tile_rectangle(level, column, row)
            box = (
                place.x_l_px,
                place.y_l_px,
                place.x_l_px + place.width_l_px,
                place.y_l_px + place.height_l_px,
            )
            assert largest_difference(slide.tile(1, column, row), whole.crop(box)) <= 1


def test_damage_to_the_first_tile_of_such_a_level_leaves_the_others(real, tmp_path):
    path = damage.overwrite_tile(real / TCGA, tmp_path / "x.svs", 0, 0, page=2)
    with RecentSlides(2, 1_000_000) as slides:
        with pytest.raises(TileUnreadable):
            slides.tile(path, 1, (1, 0, 0))
        assert slides.tile(path, 1, (1, 1, 1)).size == (256, 256)
        assert slides.tile(path, 1, (1, 5, 3)).size == (256, 256)


def test_no_file_stays_open_behind_a_thumbnail(real):
    for name in (CMU, TCGA):
        overview.thumbnail(real / name)
        before = {each.name for each in Path("/proc/self/fd").iterdir()}
        overview.thumbnail(real / name)
        assert {each.name for each in Path("/proc/self/fd").iterdir()} == before


def test_a_virtual_level_shows_its_source_made_smaller(real):
    with SlideFile(real / CMU) as slide, openslide.OpenSlide(real / CMU) as reference:
        whole = reference.read_region((0, 0), 0, reference.dimensions).convert("RGB")
        stored = geometry.directories(proof.proven(real / CMU, slide.levels))
        assert set(stored) == {0}
        for directories in ({}, stored):  # through OpenSlide, and from the stored JPEGs
            slide.use_stored(directories)
            for name, factor in (("v2", 2), ("v4", 4)):
                level = slide.level(name)
                made = Image.new("RGB", (level.width, level.height))
                for row in range(level.rows):
                    for column in range(level.columns):
                        tile = slide.tile(name, column, row)
                        place = geometry.tile_rectangle(level, column, row)
                        assert tile.size == (place.width_l_px, place.height_l_px)
                        made.paste(tile, (place.x_l_px, place.y_l_px))
                difference = ImageChops.difference(made, whole.reduce(factor))
                assert max(ImageStat.Stat(difference).rms) < 1.0  # no seams, no shift, no other colours


def test_damage_shows_in_the_virtual_tile_above_it_alone(real, tmp_path):
    path = damage.overwrite_tile(real / CMU, tmp_path / "x.svs", 3, 4)
    stored = overview.stored_of(path)
    with RecentSlides(2, 1_000_000) as slides, SlideFile(real / CMU) as sound:
        with pytest.raises(TileUnreadable):
            slides.tile(path, 1, ("v2", 1, 2), stored)
        assert slides.tile(path, 1, ("v2", 2, 2), stored).size == sound.tile("v2", 2, 2).size


def test_tiles_of_a_level_make_up_the_level(real):
    with SlideFile(real / CMU) as slide, openslide.OpenSlide(real / CMU) as reference:
        level = slide.levels[0]
        whole = Image.new("RGB", (level.width, level.height))
        for row in range(level.rows):
            for column in range(level.columns):
                place = geometry.tile_rectangle(level, column, row)
                whole.paste(slide.tile(0, column, row), (place.x_l_px, place.y_l_px))
        expected = reference.read_region((0, 0), 0, (level.width, level.height)).convert("RGB")
    assert largest_difference(whole, expected) == 0


def test_a_jpeg_keeps_colour_at_full_resolution(real):
    with SlideFile(real / CMU) as slide:
        tile = slide.tile(0, 4, 5)
    content = colour.jpeg(tile)
    with Image.open(io.BytesIO(content)) as sent:
        assert (sent.format, sent.size, sent.info.get("exif"), sent.info.get("icc_profile")) == (
            "JPEG",
            (240, 240),
            None,
            None,
        )
        assert {component[1:3] for component in sent.layer} == {(1, 1)}
        assert largest_difference(tile, sent.convert("RGB")) < 48


@pytest.mark.parametrize("padding", [0, 100_000])
def test_colours_are_what_the_profile_says(tmp_path, padding):
    path = damage.write_tiff(
        tmp_path / "x.tiff", damage.plain(512, 512), iccprofile=damage.swapped_profile(padding=padding)
    )
    with SlideFile(path) as slide:
        red, green, blue = slide.tile(0, 0, 0).getpixel((5, 5))
    assert abs(red - 50) < 4
    assert abs(green - 50) < 4
    assert abs(blue - 200) < 4


def test_a_broken_profile_refuses_nothing(tmp_path):
    path = damage.write_tiff(tmp_path / "x.tiff", damage.plain(512, 512), iccprofile=b"no profile" * 20)
    with SlideFile(path) as slide:
        assert slide.tile(0, 0, 0).getpixel((5, 5)) == (200, 50, 50)


def test_srgb_pixels_stay_as_they_are(real):
    with openslide.OpenSlide(real / TCGA) as slide:
        profile = slide.read_region((0, 0), 0, (1, 1)).info["icc_profile"]
    assert len(profile) == 3144
    assert colour.srgb_transform(profile) is None


def test_nothing_scanned_shows_the_slides_background():
    region = Image.new("RGBA", (2, 1))
    region.putpixel((1, 0), (10, 20, 30, 255))
    assert list(colour.on_background(region, (250, 240, 230)).get_flattened_data()) == [
        (250, 240, 230),
        (10, 20, 30),
    ]


@pytest.mark.parametrize("column_row", [(0, 0), (3, 4)])
def test_a_damaged_tile_leaves_its_neighbours(real, tmp_path, column_row):
    path = damage.overwrite_tile(real / CMU, tmp_path / "x.svs", *column_row)
    slides = RecentSlides(2, 1_000_000)
    with SlideFile(real / CMU) as sound:
        for _ in range(2):
            with pytest.raises(TileUnreadable):
                slides.tile(path, 1, (0, *column_row))
            neighbour = column_row[0] + 1, column_row[1]
            assert largest_difference(slides.tile(path, 1, (0, *neighbour)), sound.tile(0, *neighbour)) == 0


def test_a_slide_that_opens_but_cannot_be_read_says_so(real):
    with pytest.raises(TileUnreadable):
        RecentSlides(2, 1_000_000).tile(real / "openslide_fixtures/unreadable.svs", 1, (0, 0, 0))


def test_no_more_files_stay_open_than_may(real, tmp_path):
    slides = RecentSlides(2, 1_000_000)
    paths = [shutil.copyfile(real / "openslide_fixtures/small.svs", tmp_path / f"{n}.svs") for n in range(4)]
    for path in paths:
        slides.tile(path, 1, (0, 0, 0))
    assert len(slides) == 2


@pytest.mark.parametrize(
    ("level", "column", "row"), [(1, 0, 0), (-1, 0, 0), (0, 10, 0), (0, 0, 13), (0, -1, 0)]
)
def test_a_tile_outside_the_slide_does_not_exist(real, level, column, row):
    with SlideFile(real / CMU) as slide, pytest.raises(geometry.OutsideGrid):
        slide.tile(level, column, row)


@pytest.mark.parametrize(
    ("width", "height", "code"), [(12_000, 9_000, "no_overview"), (4_000_001, 1, "too_large")]
)
def test_what_no_browser_could_show_is_refused(real, tmp_path, width, height, code):
    boxes = real / "openslide_fixtures/boxes.tiff"
    path = damage.claim(boxes, tmp_path / "x.tiff", ImageWidth=width, ImageLength=height)
    with pytest.raises(SlideRefused) as refused:
        SlideFile(path)
    assert refused.value.code == code
