"""Write a study out: `manage.py export_study STUDY --out FILE.zip [--json]`."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from annotation.bundles import bundle_of
from annotation.models import Study

if TYPE_CHECKING:
    import argparse


class Command(BaseCommand):
    help = "Write a study as a bundle. Importing it elsewhere gives the same rows."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("study", type=uuid.UUID, help="its id, as in its address")
        parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="a new .zip file")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *_: Any, study: uuid.UUID, out: Path, **options: Any) -> None:
        found = Study.objects.select_related("benchmark__team", "protocol", "created_by").filter(pk=study)
        if (row := found.first()) is None:
            raise CommandError(f"There is no study {study}.")
        packed = bundle_of(row)
        try:
            with out.open("xb") as file:
                file.write(packed)
        except OSError as error:
            raise CommandError(f"{out} cannot be written: {error.strerror}.") from error
        if options["json"]:
            answer = {"path": str(out), "bytes": len(packed), "items": row.items.count()}
            self.stdout.write(json.dumps(answer))
        else:
            self.stdout.write(f"{out}: {row.items.count():,} items.")
