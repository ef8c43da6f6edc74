"""Regions as they are stored, and as QuPath and other tools write them."""

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from medbench.formats.problems import Refused
from medbench.slides.regions import (
    MOST_REGIONS,
    Plane,
    Region,
    area_l0_px,
    as_text,
    crosses_itself,
    from_geojson,
    read_regions,
    to_geojson,
)
from tests.slide_files import CMU
from tests.slides import tiny

WHOLE = Plane(width_l0_px=60_000, height_l0_px=40_000, revision=2)
SCANNED = Plane(60_000, 40_000, 2, origin_l0_px=(1_000, 2_000))
SQUARE = {"kind": "rectangle", "points": [[10, 20], [30, 40]], "revision": 2}
OUTLINE = {"kind": "polygon", "points": [[0, 0], [90, 0], [50, 60]], "revision": 2}
POINT = {"kind": "point", "points": [[5, 6]], "revision": 2}

places = st.tuples(st.integers(0, 60_000), st.integers(0, 40_000))


@st.composite
def regions(draw):
    kind = draw(st.sampled_from(["point", "rectangle", "polygon"]))
    if kind == "point":
        points = (draw(places),)
    elif kind == "rectangle":
        (x1, y1), (x2, y2) = draw(places), draw(places)
        assume(x1 != x2 and y1 != y2)
        points = ((min(x1, x2), min(y1, y2)), (max(x1, x2), max(y1, y2)))
    else:
        points = tuple(draw(st.lists(places, min_size=3, max_size=6, unique=True)))
        assume(area_l0_px(points) and not crosses_itself(points))
        columns, rows = {x for x, _ in points}, {y for _, y in points}
        assume(not (len(points) == 4 and len(columns) == len(rows) == 2))  # that is a rectangle
    zoom = draw(st.none() | st.floats(0.001, 64))
    return Region(
        kind, points, revision=draw(st.integers(1, 2)), zoom=zoom, missing_tiles=draw(st.integers(0, 9))
    )


def codes(refusal):
    return [problem.code for problem in refusal.value.problems]


def feature(kind, coordinates, **properties):
    return {
        "type": "Feature",
        "geometry": {"type": kind, "coordinates": coordinates},
        "properties": properties,
    }


def read(document, plane=WHOLE):
    return from_geojson(json.dumps(document).encode(), plane)


@given(st.lists(regions(), min_size=1, max_size=5), st.sampled_from([WHOLE, SCANNED]))
def test_what_was_written_as_geojson_is_read_as_it_was(found, plane):
    assert list(from_geojson(as_text(to_geojson(found, plane)).encode(), plane)) == found


@given(st.lists(regions(), max_size=5))
def test_what_is_stored_is_read_as_it_was(found):
    stored = json.loads(json.dumps([region.as_dict() for region in found]))
    assert list(read_regions(stored, WHOLE)) == found


def test_a_file_counts_from_the_corner_from_which_qupath_counts():
    """QuPath cuts a slide to the bounds of what was scanned, where the file names them."""
    (box,) = read_regions([SQUARE | {"points": [[1_500, 2_500], [1_600, 2_700]]}], SCANNED)
    (whole,) = to_geojson([box], WHOLE)["features"]
    assert whole["geometry"]["coordinates"] == [
        [[1_500, 2_500], [1_600, 2_500], [1_600, 2_700], [1_500, 2_700], [1_500, 2_500]]
    ]
    (cut,) = to_geojson([box], SCANNED)["features"]
    assert cut["geometry"]["coordinates"] == [[[500, 500], [600, 500], [600, 700], [500, 700], [500, 500]]]
    assert cut["properties"]["objectType"] == "annotation"


def test_a_file_of_qupath_comes_back_from_its_plane():
    drawn = feature(
        "Polygon", [[[500, 500], [600, 500], [600, 700], [500, 700], [500, 500]]], name="rectangle"
    )
    assert read(drawn, SCANNED)[0].points == ((1_500, 2_500), (1_600, 2_700))
    assert read(drawn, WHOLE)[0].points == ((500, 500), (600, 700))


@pytest.mark.parametrize(
    ("name", "kinds", "first"),
    [
        ("qupath-rectangle.json", ["rectangle"], [(26268, 15298), (26478, 15474)]),
        ("qupath-point.json", ["point"], [(26834, 15425)]),
        ("qupath-multipoint.json", ["point"] * 3, [(26834, 15425)]),
        ("qupath-polygon.json", ["polygon"], [(26353, 15345), (26347, 15346)]),
        ("qupath-ellipse.json", ["polygon"], [(26356, 15357), (26356, 15363)]),
        ("qupath-brush.json", ["polygon"], [(26388, 15410), (26388, 15411)]),
        ("large_image-sample.geojson", ["polygon"] * 10, [(8441, 18758), (8441, 18759)]),
    ],
)
def test_real_files_are_read(testdata, name, kinds, first):
    content = (testdata / "data/slides/annotations" / name).read_bytes()
    found = from_geojson(content, WHOLE)
    assert [region.kind for region in found] == kinds
    assert list(found[0].points[:2]) == first
    assert {(region.revision, region.zoom, region.missing_tiles) for region in found} == {(2, None, 0)}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("qupath-polyline.json", "wrong_geometry"),
        ("qupath-polygon.geojson", "has_hole"),
        ("pathologycore-area.json", "wrong_geometry"),
        ("pathologycore-polyline.json", "wrong_geometry"),
    ],
)
def test_real_files_that_hold_no_regions_of_this_slide_say_why(testdata, name, code):
    content = (testdata / "data/slides/annotations" / name).read_bytes()
    with pytest.raises(Refused) as refusal:
        from_geojson(content, Plane(6_000, 6_000, 1))
    assert code in codes(refusal)


def test_one_bad_feature_refuses_the_file_and_is_named_with_its_line():
    document = {
        "type": "FeatureCollection",
        "features": [feature("Point", [1, 1]), feature("LineString", [[1, 1]])],
    }
    with pytest.raises(Refused) as refusal:
        from_geojson(json.dumps(document, indent=1).encode(), WHOLE)
    (problem,) = refusal.value.problems
    assert (problem.code, problem.field, problem.line) == ("wrong_geometry", "features[1]", 15)
    assert problem.message == "LineString: only points, rectangles and polygons are regions."


def test_outlines_lose_doubled_corners_and_get_no_others():
    ring = [[0, 0], [0.2, 0.1], [90, 0], [90, 0], [50, 60], [0, 0]]
    assert read(feature("Polygon", [ring]))[0].points == ((0, 0), (90, 0), (50, 60))


def test_half_a_pixel_beyond_the_edge_is_the_edge_and_more_is_refused():
    assert read(feature("Point", [-0.6, 40_000.9]))[0].points == ((0, 40_000),)
    with pytest.raises(Refused) as refusal:
        read(feature("Point", [60_002, 5]))
    assert codes(refusal) == ["outside_slide"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "bad_json"),
        (b"\xff", "not_utf8"),
        (b'{"type": "Point", "coordinates": [NaN, 1]}', "bad_json"),
        (b'{"features": []}', "no_regions"),
        (b"[]", "no_regions"),
        (b"7", "not_geojson"),
        (b'{"type": "Point", "coordinates": [1e300, 1]}', "wrong_coordinates"),
        (b'{"type": "Point", "coordinates": ["1", 1]}', "wrong_coordinates"),
        (b'{"type": "Point", "coordinates": [true, 1]}', "wrong_coordinates"),
        (b'{"type": "Point", "coordinates": 5}', "wrong_coordinates"),
        (b'{"type": "Point"}', "wrong_coordinates"),
        (b'{"type": "Polygon", "coordinates": []}', "wrong_coordinates"),
        (b'{"type": "GeometryCollection", "geometries": []}', "wrong_geometry"),
        (b'{"type": "Polygon", "coordinates": [[]]}', "wrong_corners"),
        (b'{"type": "Polygon", "coordinates": [[[0,0],[1,1],[0,0]]]}', "wrong_corners"),
        (b'{"type": "Polygon", "coordinates": [[[0,0],[1,1],[2,2],[0,0]]]}', "no_area"),
        (b'{"type": "Polygon", "coordinates": [[[0,0],[9,9],[9,0],[0,5],[0,0]]]}', "crosses_itself"),
        (
            b'{"type": "Polygon", "coordinates": [[[0,0],[9,0],[9,9],[0,0]], [[1,1],[2,1],[2,2],[1,1]]]}',
            "has_hole",
        ),
        (
            b'{"type": "MultiPoint", "coordinates": [' + b",".join([b"[1,1]"] * 300_000) + b"]}",
            "too_many_regions",
        ),
        (b"[" * 100_000, "bad_json"),
    ],
)
def test_hostile_and_empty_files_are_refused_with_a_reason(content, code):
    with pytest.raises(Refused) as refusal:
        from_geojson(content, WHOLE)
    assert codes(refusal) == [code]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"kind": "circle"}, "wrong_type"),
        ({"note": "<b>"}, "wrong_type"),
        ({"points": [[10, 20]]}, "wrong_corners"),
        ({"points": [[10.0, 20], [30, 40]]}, "wrong_corners"),
        ({"points": [[True, 20], [30, 40]]}, "wrong_corners"),
        ({"points": "10,20"}, "wrong_corners"),
        ({"points": [[30, 40], [10, 20]]}, "no_area"),
        ({"points": [[10, 20], [30, 40_001]]}, "outside_slide"),
        ({"points": [[-1, 20], [30, 40]]}, "outside_slide"),
        ({"revision": 3}, "wrong_revision"),
        ({"revision": None}, "wrong_revision"),
        ({"zoom": float("nan")}, "wrong_type"),
        ({"zoom": 0}, "wrong_type"),
        ({"missing_tiles": -1}, "wrong_type"),
    ],
)
def test_a_region_that_cannot_be_is_refused_by_name(change, code):
    with pytest.raises(Refused) as refusal:
        read_regions([POINT, SQUARE | change], WHOLE)
    (problem,) = refusal.value.problems
    assert (problem.code, problem.field) == (code, "regions[1]")


def test_regions_of_an_earlier_revision_stay_though_the_slide_is_smaller_now():
    earlier = SQUARE | {"points": [[10, 20], [70_000, 50_000]], "revision": 1}
    assert read_regions([earlier], WHOLE)[0].revision == 1


def test_an_outline_that_only_touches_itself_does_not_cross():
    assert not crosses_itself(((0, 0), (8, 0), (4, 4), (8, 8), (0, 8), (4, 4)))
    assert crosses_itself(((0, 0), (8, 8), (8, 0), (0, 8)))


def test_only_so_many_regions_belong_to_one_verdict():
    assert len(read_regions([POINT] * MOST_REGIONS, WHOLE)) == MOST_REGIONS
    with pytest.raises(Refused) as refusal:
        read_regions([POINT] * (MOST_REGIONS + 1), WHOLE)
    assert codes(refusal) == ["too_many_regions"]


def test_a_slide_that_was_scanned_in_part_knows_where(registered, tmp_path):
    slide = registered(tiny.write_scn(tmp_path / "x.scn"))
    assert (slide.width_px, slide.bounds_l0_px) == (4096, [1000, 2000, 1024, 1024])


def test_a_slide_that_says_nothing_of_bounds_has_none(registered, real):
    assert registered(real / CMU).bounds_l0_px is None
