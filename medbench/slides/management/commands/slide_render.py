"""A slide as one picture: `manage.py slide_render FILE --out X.png --max 2048`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from medbench.errors import MedBenchError
from medbench.slides import services

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    help = "Write a whole slide as one PNG, in one colour with others if wanted."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--out", type=Path, required=True, help="the PNG file to write")
        parser.add_argument(
            "--max",
            type=int,
            default=2048,
            dest="longest_px",
            metavar="PX",
            help="the longer side is at most so long, and never enlarged (2048)",
        )
        parser.add_argument("--normalise", choices=services.NORMALISATIONS, default="none")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_: Any, **options: Any) -> None:
        started = time.perf_counter()
        if not 1 <= options["longest_px"] <= services.RENDER_MAX_PX:
            raise CommandError(f"--max is a number from 1 to {services.RENDER_MAX_PX:,}.")
        try:
            facts, content = services.render(options["file"], options["longest_px"], options["normalise"])
            options["out"].write_bytes(content)
        except MedBenchError as error:
            raise CommandError(f"{options['file']}: {error.message} ({error.code})") from error
        except OSError as error:
            raise CommandError(f"{options['out']} cannot be written: {error.strerror}.") from error
        facts["seconds"] = round(time.perf_counter() - started, 3)
        if options["json"]:
            self.stdout.write(json.dumps(facts))
        else:
            self.stdout.write(
                f"{options['out']}: {facts['width']:,} x {facts['height']:,} px from level "
                f"{facts['level_used']}, {facts['seconds']} s, {facts['peak_rss_mb']} MB"
            )
