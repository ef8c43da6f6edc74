"""One tile as the server would send it: `manage.py slide_tile FILE LEVEL COL ROW --out X.jpg`."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError
from PIL import Image

from medbench.slides import serving
from medbench.slides.geometry import OutsideGrid
from medbench.slides.reader import SlideRefused, TileUnreadable

if TYPE_CHECKING:
    from argparse import ArgumentParser


LEVEL_NAME = re.compile(r"v[0-9]+(\.[0-9]+)?")


class Command(BaseCommand):
    help = "Write one tile of a slide file as JPEG. Level 0 is full resolution."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("level", type=level, help="0, 1, 2, or a virtual level such as v2")
        parser.add_argument("column", type=int, metavar="col")
        parser.add_argument("row", type=int)
        parser.add_argument("--out", type=Path, required=True, help="the JPEG file to write")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_: Any, **options: Any) -> None:
        file, place = options["file"], (options["level"], options["column"], options["row"])
        try:
            content, passthrough, etag = serving.tile_of_file(file, *place)
            options["out"].write_bytes(content)
        except (SlideRefused, TileUnreadable) as error:
            raise CommandError(f"{file}: {error.message} ({error.code})") from error
        except OutsideGrid as error:
            raise CommandError(f"{file}: no such tile. {error}") from error
        except OSError as error:
            raise CommandError(f"{options['out']} cannot be written: {error.strerror}.") from error
        with Image.open(io.BytesIO(content)) as picture:
            width, height = picture.size
        if options["json"]:
            answer = {"bytes": len(content), "width": width, "height": height, "passthrough": passthrough}
            self.stdout.write(json.dumps(answer | {"etag": etag}))
        else:
            how = "as stored" if passthrough else "decoded"
            self.stdout.write(f"{options['out']}: {width} x {height} px, {len(content):,} bytes, {how}")


def level(text: str) -> int | str:
    """A level's number, or the name of a virtual one. Raises ValueError, which argparse words."""
    return text if LEVEL_NAME.fullmatch(text) else int(text)
