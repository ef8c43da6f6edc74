"""Regions that annotators mark on the slide of an item: checked, and as files."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from annotation.queries import counted
from medbench.errors import Conflict
from medbench.slides.regions import (
    MOST_FILE_BYTES,
    Plane,
    Region,
    as_text,
    from_geojson,
    read_regions,
    to_geojson,
)

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterable

    from django.core.files.uploadedfile import UploadedFile

    from annotation.models import Study
    from medbench.review.models import ReviewItem
    from medbench.review.services import Decision


def checked(item: ReviewItem, regions: Any) -> list[dict[str, Any]]:
    """The regions of a draft as they are stored. Raises Refused, or Conflict where there is no slide."""
    return [region.as_dict() for region in read_regions(regions, _plane(item))] if regions else []


def to_file(item: ReviewItem, regions: list[dict[str, Any]]) -> str:
    """Stored regions as GeoJSON, in the plane in which QuPath shows the slide."""
    plane = _plane(item)
    return as_text(to_geojson(read_regions(in_order(regions), plane), plane))


def of_verdicts(item: ReviewItem, said: Iterable[tuple[str, list[dict[str, Any]]]]) -> str:
    """The regions of several verdicts on one slide as one GeoJSON; the words before each name whose it is."""
    plane = _plane(item)
    whole = to_geojson([], plane)
    for words, regions in said:
        for feature in to_geojson(read_regions(in_order(regions), plane), plane)["features"]:
            feature["properties"]["name"] = f"{words}: {feature['properties']['name'].lower()}"
            whole["features"].append(feature)
    return as_text(whole)


def from_file(item: ReviewItem, file: UploadedFile[Any]) -> list[dict[str, Any]]:
    """The regions of a GeoJSON file as they would be stored. Raises Refused, Conflict."""
    content = file.read(MOST_FILE_BYTES + 1)
    return [region.as_dict() for region in from_geojson(content, _plane(item))]


def in_order(regions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Stored regions with their fields in one order, which PostgreSQL does not keep: windows compare."""
    fields = Region.__dataclass_fields__
    return [{name: each[name] for name in fields if name in each} for each in regions]


def with_regions(study: Study, decisions: Iterable[Decision]) -> list[Decision]:
    """The decisions with the regions in which the study's verdicts that count saw what was decided."""
    found: dict[uuid.UUID, list[dict[str, Any]]] = defaultdict(list)
    rows = counted(study).exclude(regions=[]).order_by("verdict__assignment__seat")
    for item_id, regions in rows.values_list("verdict__assignment__study_item__item", "regions"):
        found[item_id] += regions
    return [
        each._replace(detail={**each.detail, "regions": found[each.item.pk]})
        if each.item.pk in found
        else each
        for each in decisions
    ]


def _plane(item: ReviewItem) -> Plane:
    slide = item.slide
    if slide is None or not slide.width_px or not slide.height_px:
        raise Conflict("There is no slide on which a region could lie.", code="no_slide")
    left, top, *_ = slide.bounds_l0_px or (0, 0)
    return Plane(slide.width_px, slide.height_px, slide.revision, origin_l0_px=(left, top))
