"""Grids of tiles, units and what counts as a plausible scale."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medbench.slides import geometry
from medbench.slides.geometry import OutsideGrid, TileRectangle
from medbench.slides.reader import SlideFile
from tests.slide_files import CMU, TCGA

sides = st.integers(1, 300_000)
tiles = st.none() | st.tuples(st.integers(1, 5000), st.integers(1, 5000))
downsamples = st.floats(1, 256, allow_nan=False)
levels = st.builds(geometry.make_level, st.tuples(sides, sides), downsamples, tiles)
places = st.floats(0, 300_000)


@given(levels)
def test_tiles_of_a_level_cover_it_exactly_once(level):
    first_row = [geometry.tile_rectangle(level, column, 0) for column in range(level.columns)]
    first_column = [geometry.tile_rectangle(level, 0, row) for row in range(level.rows)]
    assert [each.x_l_px for each in first_row] == [
        sum(other.width_l_px for other in first_row[:number]) for number in range(len(first_row))
    ]
    assert sum(each.width_l_px for each in first_row) == level.width
    assert sum(each.height_l_px for each in first_column) == level.height
    assert all(each.width_l_px > 0 for each in first_row)
    assert all(each.height_l_px > 0 for each in first_column)


@given(levels, st.data())
def test_a_tile_lies_where_its_column_and_row_say(level, data):
    column, row = data.draw(st.integers(0, level.columns - 1)), data.draw(st.integers(0, level.rows - 1))
    place = geometry.tile_rectangle(level, column, row)
    assert (place.x_l_px, place.width_l_px) == (
        geometry.tile_rectangle(level, column, 0).x_l_px,
        geometry.tile_rectangle(level, column, 0).width_l_px,
    )
    assert (place.y_l_px, place.height_l_px) == (
        geometry.tile_rectangle(level, 0, row).y_l_px,
        geometry.tile_rectangle(level, 0, row).height_l_px,
    )


@given(levels)
def test_there_are_no_tiles_outside_the_grid(level):
    for column, row in ((-1, 0), (0, -1), (level.columns, 0), (0, level.rows)):
        with pytest.raises(OutsideGrid, match=f"{level.columns} x {level.rows} tiles"):
            geometry.tile_rectangle(level, column, row)


@given(levels, places, places)
def test_level_and_level_0_places_round_trip(level, x_l0_px, y_l0_px):
    back = geometry.l0_from_level(*geometry.level_from_l0(x_l0_px, y_l0_px, level), level)
    assert back == pytest.approx((x_l0_px, y_l0_px), abs=1e-6)


@given(places, places, st.floats(0.05, 10), st.floats(0.05, 10))
def test_micrometres_and_level_0_places_round_trip(x_l0_px, y_l0_px, mpp_x_um, mpp_y_um):
    mpp_um = (mpp_x_um, mpp_y_um)
    back = geometry.l0_from_um(*geometry.um_from_l0(x_l0_px, y_l0_px, mpp_um), mpp_um)
    assert back == pytest.approx((x_l0_px, y_l0_px), abs=1e-6)


def test_micrometres_are_counted_along_each_axis():
    assert geometry.um_from_l0(100, 100, (0.25, 0.5)) == (25, 50)


@pytest.mark.parametrize(
    ("own", "used"),
    [
        ((240, 240), (240, 240)),
        ((64, 2048), (64, 2048)),
        (None, (512, 512)),
        ((3968, 8), (512, 512)),  # a strip of an NDPI
        ((10, 10), (512, 512)),
        ((4096, 4096), (512, 512)),
    ],
)
def test_tiles_are_the_files_own_unless_they_are_no_use_as_requests(own, used):
    assert geometry.tile_size(own) == used


@pytest.mark.parametrize("mpp", [(0.05, 10), (0.25, 0.5), (0.499, 0.499)])
def test_scales_that_scanners_make_are_plausible(mpp):
    assert geometry.plausible_mpp(*mpp) == mpp


@pytest.mark.parametrize(
    "mpp",
    [(352.78, 352.78), (0, 0), (-0.5, 0.5), (0.5, None), (None, None), (math.nan, 0.5), (math.inf, 0.5)],
)
def test_other_scales_are_unknown(mpp):
    assert geometry.plausible_mpp(*mpp) is None


@pytest.mark.parametrize(
    ("power", "known"), [(20, 20), (None, None), (0, None), (4000, None), (math.nan, None)]
)
def test_only_a_possible_objective_is_known(power, known):
    assert geometry.plausible_objective(power) == known


def shape(level):
    return level.width, level.height, level.tile_width, level.tile_height, level.columns, level.rows


@pytest.mark.parametrize(
    ("name", "shapes", "downsamples"),
    [
        (CMU, [(2220, 2967, 240, 240, 10, 13)], [1]),
        (TCGA, [(4443, 3567, 256, 256, 18, 14), (2221, 1783, 256, 256, 9, 7)], [1, 2.0005055500659967]),
        (
            "openslide_fixtures/boxes.tiff",
            [
                (300, 250, 64, 64, 5, 4),
                (150, 125, 64, 64, 3, 2),
                (75, 62, 64, 64, 2, 1),
                (37, 31, 64, 64, 1, 1),
            ],
            [1, 2, 4.016129032258064, 8.086312118570184],
        ),
        (
            "yb10kx5k.zstd.tiff",
            [
                (10000, 5000, 1024, 1024, 10, 5),
                (5000, 2500, 1024, 1024, 5, 3),
                (2500, 1250, 1024, 1024, 3, 2),
                (1250, 625, 1024, 1024, 2, 1),
                (625, 312, 1024, 1024, 1, 1),
            ],
            [1, 2, 4, 8, 16.01282051282051],
        ),
        ("sm_image.dcm", [(50, 50, 512, 512, 1, 1)], [1]),
        ("openslide_fixtures/small.svs", [(16, 16, 64, 64, 1, 1)], [1]),
        ("small_la.tiff", [(2, 1, 256, 256, 1, 1)], [1]),
        (
            "test_orient6.tif",
            [(120, 180, 64, 64, 2, 3), (60, 90, 64, 64, 1, 2), (30, 45, 64, 64, 1, 1)],
            [1, 2, 4],
        ),
    ],
)
def test_real_slides_have_the_levels_of_their_file(real, name, shapes, downsamples):
    with SlideFile(real / name) as slide:
        assert [shape(level) for level in slide.levels] == shapes
        assert [level.downsample for level in slide.levels] == downsamples
        assert {(level.passthrough, level.reason) for level in slide.levels} == {(False, "decoded")}


def test_the_last_tile_of_a_real_slide_is_what_is_left(real):
    with SlideFile(real / CMU) as slide:
        assert geometry.tile_rectangle(slide.levels[0], 9, 12) == TileRectangle(2160, 2880, 60, 87)
