"""What a slide file is: `manage.py slide_info FILE [--json]`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from medbench.slides import services

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
    mpp, objective = found["mpp"], found["objective"]
    lines = [
        f"{found['vendor']}, {found['width']:,} x {found['height']:,} px",
        f"scale: {mpp[0]:.4g} x {mpp[1]:.4g} µm/px" if mpp else "scale: unknown",
        f"objective: {objective:g}×" if objective else "objective: unknown",
    ]
    for number, level in enumerate(found["levels"]):
        lines.append(
            f"level {number}: {level['width']:,} x {level['height']:,} px, 1/{level['downsample']:.4g}, "
            f"{level['columns']} x {level['rows']} tiles of {level['tile_width']} x {level['tile_height']}"
        )
    return "\n".join(lines)
