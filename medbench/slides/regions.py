"""Regions: points, rectangles and polygons on the level-0 plane of a slide, and as GeoJSON. No Django.

Coordinates are whole level-0 pixels, counted from the top left corner of the slide as corners of
pixels: a rectangle (0, 0), (2, 1) covers two pixels. GeoJSON is written in the plane in which QuPath
shows the slide: where the file names the bounds of what was scanned, QuPath cuts the slide to them
and counts from their corner.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from medbench.errors import InvalidInput
from medbench.formats import json_text
from medbench.formats.problems import Findings, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from medbench.formats.problems import Place

Point = tuple[int, int]
Points = tuple[Point, ...]

CORNERS = {"point": (1, 1), "rectangle": (2, 2), "polygon": (3, 200)}  # fewest and most
MOST_REGIONS = 100  # of one verdict
MOST_FILE_BYTES = 2_000_000
LARGEST_L0_PX = 2**31 - 1
SCHEMA = "medbench.regions/1"
NO_COORDINATES = "Coordinates are pairs of numbers."
SEEN = ("revision", "zoom", "missing_tiles")  # of a region, beside its geometry


@dataclass(frozen=True)
class Plane:
    """Where the regions of a slide lie: the size of level 0, in one revision of the file.

    `origin_l0_px` is the place from which QuPath counts: the corner of what was scanned, where the file
    names it.
    """

    width_l0_px: int
    height_l0_px: int
    revision: int
    origin_l0_px: Point = (0, 0)


@dataclass(frozen=True)
class Region:
    """One region. A rectangle is given by its top left and bottom right corner.

    `zoom` = screen pixels for one level-0 pixel while it was drawn (more than 1: digital zoom), None
    for one that came from a file. `missing_tiles` = tiles that could not be shown in that view.
    """

    kind: str
    points: Points
    revision: int  # of the slide
    zoom: float | None = None
    missing_tiles: int = 0

    def as_dict(self) -> dict[str, Any]:
        """As it is stored and sent."""
        return asdict(self) | {"points": [list(point) for point in self.points]}


def read_regions(data: Any, plane: Plane) -> tuple[Region, ...]:
    """The regions of a draft, as `Region.as_dict` writes them. Raises Refused, which names each fault."""
    findings = Findings()
    found = []
    if not isinstance(data, list):
        findings.problem("wrong_type", "Regions are a list.")
    elif len(data) > MOST_REGIONS:
        _too_many(findings)
    else:
        found = [_region(each, plane, ("regions", i), findings) for i, each in enumerate(data)]
    return _accepted("The regions", found, findings)


def to_geojson(regions: Iterable[Region], plane: Plane) -> dict[str, Any]:
    """A FeatureCollection that QuPath opens in the right place, and `from_geojson` as it was."""
    left, top = plane.origin_l0_px
    features = [
        {
            "type": "Feature",
            "geometry": _geometry(region, -left, -top),
            "properties": {
                "objectType": "annotation",
                "name": f"Region {number}",
                "medbench": {name: getattr(region, name) for name in SEEN},
            },
        }
        for number, region in enumerate(regions, 1)
    ]
    return {
        "type": "FeatureCollection",
        "medbench": {"schema": SCHEMA, "origin_l0_px": [left, top]},
        "features": features,
    }


def from_geojson(content: bytes, plane: Plane) -> tuple[Region, ...]:
    """The regions of a GeoJSON file: all of them, or Refused with the reasons.

    Reads a FeatureCollection, a Feature, a list of features or a bare geometry, as QuPath, Sectra's
    converters and shapely write them. Coordinates are rounded to whole pixels. They count from the
    corner that the file names (ours do), else from where QuPath counts.
    """
    if len(content) > MOST_FILE_BYTES:
        raise InvalidInput(f"The file is larger than {MOST_FILE_BYTES // 1_000_000} MB.", code="too_large")
    findings = Findings()
    found: list[Region | None] = []
    try:
        text = json_text.decode(content, findings).removeprefix(json_text.BOM)
        data = json_text.load(text, findings)
        origin = _origin(data, plane)
        # One more than is allowed: a hostile file has millions.
        parts = islice(_parts(data, plane.revision, findings), MOST_REGIONS + 1)
        found = [_from_part(part, origin, plane, findings) for part in parts]
        if len(found) > MOST_REGIONS:
            _too_many(findings)
        elif not found and not findings.problems:
            findings.problem("no_regions", "There is no region in the file.")
        json_text.set_lines(findings, text)
    except json_text.Unreadable:
        pass
    return _accepted("The file", found, findings)


def as_text(geojson: dict[str, Any]) -> str:
    """GeoJSON as a file has it."""
    return json.dumps(geojson, indent=1, allow_nan=False) + "\n"


def _too_many(findings: Findings) -> None:
    findings.problem("too_many_regions", f"There are more than {MOST_REGIONS} regions.")


def _accepted(what: str, found: list[Region | None], findings: Findings) -> tuple[Region, ...]:
    if findings.problems:
        raise Refused(what, findings)
    return tuple(region for region in found if region is not None)


# What a region must be


def _region(data: Any, plane: Plane, place: Place, findings: Findings) -> Region | None:
    """The region, or None where a problem was noted."""
    kind = data.get("kind") if isinstance(data, dict) else None
    if kind not in CORNERS or set(data) - set(Region.__dataclass_fields__):
        findings.problem("wrong_type", "A region is a point, a rectangle or a polygon.", place)
        return None
    region = Region(
        kind=kind,
        points=_points(data.get("points")),
        revision=data.get("revision"),
        zoom=data.get("zoom"),
        missing_tiles=data.get("missing_tiles", 0),
    )
    if fault := _fault(region, plane):
        findings.problem(*fault, place)
        return None
    return region


def _points(data: Any) -> Points:
    """The points, or none where they are not pairs of whole numbers."""
    if not isinstance(data, list) or not all(isinstance(each, list) and len(each) == 2 for each in data):
        return ()
    if not all(type(value) is int for point in data for value in point):
        return ()
    return tuple((x, y) for x, y in data)


def _fault(region: Region, plane: Plane) -> tuple[str, str] | None:
    """Code and words of what is wrong with a region."""
    fewest, most = CORNERS[region.kind]
    if not fewest <= len(region.points) <= most:
        wanted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        words = f"A {region.kind} has {wanted} corner{'s' * (most > 1)}, each two whole numbers"
        return "wrong_corners", f"{words}: this one has {len(region.points)}."
    if type(region.revision) is not int or not 1 <= region.revision <= plane.revision:
        return "wrong_revision", "It belongs to a revision of the slide that does not exist."
    if (
        not _is_zoom(region.zoom)
        or type(region.missing_tiles) is not int
        or not 0 <= region.missing_tiles < 10**6
    ):
        return "wrong_type", "How it was seen (zoom, missing tiles) is not told in numbers."
    return _outside(region, plane) or _empty(region)


def _is_zoom(zoom: Any) -> bool:
    return zoom is None or (type(zoom) in (int, float) and 0 < zoom < 10**6)


def _outside(region: Region, plane: Plane) -> tuple[str, str] | None:
    width, height = plane.width_l0_px, plane.height_l0_px
    if region.revision != plane.revision:  # the size of an earlier file is not known any more
        width = height = LARGEST_L0_PX
    if all(0 <= x <= width and 0 <= y <= height for x, y in region.points):
        return None
    return (
        "outside_slide",
        f"It reaches beyond the slide, which has {plane.width_l0_px:,} x {plane.height_l0_px:,} pixels.",
    )


def _empty(region: Region) -> tuple[str, str] | None:
    if region.kind == "point":
        return None
    if region.kind == "rectangle":
        (left, top), (right, bottom) = region.points
        if left < right and top < bottom:
            return None
        return (
            "no_area",
            "The first corner of a rectangle is its top left one, the second its bottom right one.",
        )
    if not area_l0_px(region.points):
        return "no_area", "The outline encloses nothing."
    if crosses_itself(region.points):
        return "crosses_itself", "The outline crosses itself. Draw it again, or simplify it."
    return None


def area_l0_px(polygon: Points) -> float:
    """The area that a polygon encloses, by the shoelace formula."""
    return abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in _edges(polygon))) / 2


def crosses_itself(polygon: Points) -> bool:
    """Whether two edges cross each other. Edges that only touch do not."""
    edges = list(_edges(polygon))
    return any(_cross(*one, *other) for i, one in enumerate(edges) for other in edges[i + 2 :])


def _edges(polygon: Points) -> Iterator[tuple[Point, Point]]:
    return pairwise((*polygon, polygon[0]))


def _cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Whether the lines from a to b and from c to d cross between their ends."""
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0


def _side(a: Point, b: Point, point: Point) -> int:
    turn = (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0])
    return (turn > 0) - (turn < 0)


# GeoJSON


def _geometry(region: Region, right: int, down: int) -> dict[str, Any]:
    points = [[x + right, y + down] for x, y in region.points]
    if region.kind == "point":
        return {"type": "Point", "coordinates": points[0]}
    if region.kind == "rectangle":
        (x1, y1), (x2, y2) = points
        points = [[x1, y1], [x2, y1], [x2, y2], [x1, y2]]
    return {"type": "Polygon", "coordinates": [[*points, points[0]]]}


def _origin(data: Any, plane: Plane) -> Point:
    own = data.get("medbench") if isinstance(data, dict) else None
    match own:
        case {"origin_l0_px": [int(left), int(top)]}:
            return left, top
    return plane.origin_l0_px


def _features(data: Any) -> Iterator[tuple[Any, Place]]:
    """Each feature (or bare geometry) of a document, and where it stands."""
    if isinstance(data, list):
        yield from ((each, (i,)) for i, each in enumerate(data))
    elif isinstance(data, dict) and isinstance(data.get("features"), list):
        yield from ((each, ("features", i)) for i, each in enumerate(data["features"]))
    else:
        yield data, ()


class _Part(NamedTuple):
    """A point or outline of a document, and how it was seen where the file says so."""

    place: Place
    kind: str
    coordinates: Any
    seen: dict[str, Any]


def _parts(data: Any, revision: int, findings: Findings) -> Iterator[_Part]:
    for feature, place in _features(data):
        geometry = feature.get("geometry", feature) if isinstance(feature, dict) else None
        seen = {"revision": revision}
        match feature:
            case {"properties": {"medbench": dict(own)}}:
                seen |= {name: own[name] for name in SEEN if name in own}
        for kind, coordinates in _shapes(geometry, place, findings):
            yield _Part(place, kind, coordinates, seen)


def _from_part(part: _Part, origin: Point, plane: Plane, findings: Findings) -> Region | None:
    points = _whole_pixels(part.coordinates, origin, plane)
    if points is None:
        findings.problem("wrong_coordinates", NO_COORDINATES, part.place)
        return None
    return _region(part.seen | _simplest(part.kind, points), plane, part.place, findings)


def _shapes(geometry: Any, place: Place, findings: Findings) -> list[tuple[str, Any]]:
    """Each point ("point", [coordinates]) and outline ("polygon", coordinates) of a geometry."""
    match geometry:
        case {"type": "Point", "coordinates": point}:
            return [("point", [point])]
        case {"type": "MultiPoint", "coordinates": list(points)}:
            return [("point", [point]) for point in points]
        case {"type": "Polygon", "coordinates": [outline]}:
            return [("polygon", outline)]
        case {"type": "MultiPolygon", "coordinates": list(polygons)} if all(
            isinstance(each, list) and len(each) == 1 for each in polygons
        ):
            return [("polygon", outline) for (outline,) in polygons]
        case {"type": "Polygon" | "MultiPolygon", "coordinates": [_, *_]}:
            findings.problem("has_hole", "Outlines with holes cannot be stored. Fill the hole.", place)
        case {"type": "Point" | "MultiPoint" | "Polygon" | "MultiPolygon"}:
            findings.problem("wrong_coordinates", NO_COORDINATES, place)
        case {"type": str(name)}:
            findings.problem(
                "wrong_geometry", f"{name}: only points, rectangles and polygons are regions.", place
            )
        case _:
            findings.problem("not_geojson", "This is no GeoJSON feature with a geometry.", place)
    return []


def _whole_pixels(coordinates: Any, origin: Point, plane: Plane) -> list[Point] | None:
    """Coordinates in level-0 pixels; up to one pixel beyond the slide is taken to its edge."""
    if not isinstance(coordinates, list):
        return None
    points = []
    for each in coordinates:
        if (
            not isinstance(each, list)
            or len(each) < 2
            or not all(_is_coordinate(value) for value in each[:2])
        ):
            return None
        x, y = (math.floor(value + start + 0.5) for value, start in zip(each, origin, strict=False))
        points.append((_to_edge(x, plane.width_l0_px), _to_edge(y, plane.height_l0_px)))
    return points


def _is_coordinate(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= LARGEST_L0_PX


def _to_edge(value: int, most: int) -> int:
    return min(max(value, 0), most) if -1 <= value <= most + 1 else value


def _simplest(kind: str, points: list[Point]) -> dict[str, Any]:
    """Kind and points of a region: an outline along the axes is a rectangle."""
    if kind == "polygon":
        ring = [*points[1:], *points[:1]]  # the last point is the first one again, and rounding doubles some
        points = [point for point, following in zip(points, ring, strict=True) if point != following]
        if _is_rectangle(points):
            kind, points = "rectangle", [min(points), max(points)]
    return {"kind": kind, "points": [list(point) for point in points]}


def _is_rectangle(points: list[Point]) -> bool:
    columns, rows = ({point[axis] for point in points} for axis in (0, 1))
    all_corners = {(x, y) for x in columns for y in rows}
    return (
        len(points) == len(all_corners) == 4
        and set(points) == all_corners
        and not crosses_itself(tuple(points))
    )
