"""One tile as the server would send it: `manage.py slide_tile FILE LEVEL COL ROW --out X.jpg`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from medbench.slides import colour, services
from medbench.slides.geometry import OutsideGrid
from medbench.slides.reader import SlideFile, SlideRefused, TileUnreadable

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    help = "Write one tile of a slide file as JPEG. Level 0 is full resolution."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("level", type=int)
        parser.add_argument("column", type=int, metavar="col")
        parser.add_argument("row", type=int)
        parser.add_argument("--out", type=Path, required=True, help="the JPEG file to write")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_: Any, **options: Any) -> None:
        address = options["level"], options["column"], options["row"]
        try:
            with SlideFile(options["file"]) as slide:
                picture = slide.tile(*address)
            content = colour.jpeg(picture)
            options["out"].write_bytes(content)
            etag = services.tile_etag(services.sha256_of(options["file"]), *address)
        except (SlideRefused, TileUnreadable) as error:
            raise CommandError(f"{options['file']}: {error.message} ({error.code})") from error
        except OutsideGrid as error:
            raise CommandError(f"{options['file']}: no such tile. {error}") from error
        except OSError as error:
            raise CommandError(f"{options['out']} cannot be written: {error.strerror}.") from error
        width, height = picture.size
        if options["json"]:
            answer = {"bytes": len(content), "width": width, "height": height, "passthrough": False}
            self.stdout.write(json.dumps(answer | {"etag": etag}))
        else:
            self.stdout.write(f"{options['out']}: {width} x {height} px, {len(content):,} bytes")
