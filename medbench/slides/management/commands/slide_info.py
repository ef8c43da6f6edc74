"""What a slide file is: `manage.py slide_info FILE [--json]`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from medbench.slides import services
from medbench.slides.findings import MPP_SOURCES

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    help = "Size, levels, tiles and scale of a slide file, or why it is refused (exit status 1)."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_: Any, file: Path, json: bool, **__: Any) -> None:
        found = services.slide_info(file)
        refused = found["refused"]
        if json:
            self.stdout.write(as_json(found))
        elif not refused:
            self.stdout.write(as_text(found))
        if refused:
            raise CommandError(f"{file}: {refused['message']} ({refused['code']})")


def as_json(found: dict[str, Any]) -> str:
    return json.dumps(found, ensure_ascii=False, allow_nan=False)


def as_text(found: dict[str, Any]) -> str:
    """A few lines for people."""
    mpp, objective, vendor = found["mpp"], found["objective"], found["vendor"]
    source = MPP_SOURCES.get(found["mpp_source"])
    lines = [
        f"{vendor}, {found['width']:,} x {found['height']:,} px"
        + (" (made into a pyramid to serve it)" if found["converted"] else ""),
        f"scale: {mpp[0]:.4g} x {mpp[1]:.4g} µm/px ({source})" if mpp else "scale: unknown",
        f"objective: {objective:g}×" if objective else "objective: unknown",
    ]
    for number, level in enumerate(found["levels"]):
        how = "sent as stored" if level["passthrough"] else f"decoded ({level['reason']})"
        lines.append(f"level {number}: {_grid(level)}, {how}")
    lines += [f"level {level['name']}: {_grid(level)}, composed" for level in found["virtual_levels"]]
    lines.append("quality: " + " ".join(check["words"] for check in found["quality"]))
    return "\n".join(lines)


def _grid(level: dict[str, Any]) -> str:
    return (
        f"{level['width']:,} x {level['height']:,} px, 1/{level['downsample']:.4g}, "
        f"{level['columns']} x {level['rows']} tiles of {level['tile_width']} x {level['tile_height']}"
    )
