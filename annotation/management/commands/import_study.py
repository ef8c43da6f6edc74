"""Take a study in: `manage.py import_study FILE.zip [--json]`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from annotation.services.bundles import import_study
from medbench.errors import MedBenchError

if TYPE_CHECKING:
    import argparse


class Command(BaseCommand):
    help = "Take in a study from its bundle (a .zip or a folder): all of it or nothing."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *_: Any, path: Path, **options: Any) -> None:
        try:
            study = import_study(path, by=None)
        except MedBenchError as error:
            problems = getattr(error, "problems", None)
            if options["json"] and problems:
                answer = {"problems": problems.as_dicts(), "n_problems": problems.total}
                self.stdout.write(json.dumps(answer, ensure_ascii=False))
            for problem in problems or ():
                self.stderr.write(str(problem))
            raise CommandError(f"Nothing was imported. {error.message}") from error
        if options["json"]:
            self.stdout.write(json.dumps({"study": str(study.pk), "items": study.items.count()}))
        else:
            self.stdout.write(f"{study.title} imported: {study.items.count():,} items.")
