"""The words in which registration answers. No Django and no decoder, so that anyone may import it."""

from __future__ import annotations

from typing import Any

# Where micrometres per pixel come from.
MPP_SOURCES = {
    "scanner": "the scanner's own entry",
    "resolution": "the TIFF's resolution tags",
    "ome": "the OME description",
    "dicom": "the DICOM pixel spacing",
    "picture": "the picture's resolution",
}

NOTHING: dict[str, Any] = {
    "vendor": None,
    "width": None,
    "height": None,
    "bounds": None,
    "mpp": None,
    "mpp_source": None,
    "objective": None,
    "profile": None,
    "levels": [],
    "virtual_levels": [],
    "converted": False,
    "tissue_fraction": None,
    "quality": [],
    "refused": None,
}


def refusal(code: str, message: str) -> dict[str, Any]:
    """The same keys for a file that is not served."""
    return (
        NOTHING
        | {"levels": [], "virtual_levels": [], "quality": []}
        | {"refused": {"code": code, "message": message}}
    )
