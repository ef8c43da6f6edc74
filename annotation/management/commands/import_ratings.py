"""Take ratings made elsewhere into a study: `manage.py import_ratings STUDY FILE --kind model`."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from annotation.models import OutsideRater, Study
from annotation.services.outside import import_ratings
from medbench.errors import MedBenchError
from medbench.formats.csv_text import FILE_BYTES

if TYPE_CHECKING:
    import argparse

    from annotation.services.outside import Imported


class Command(BaseCommand):
    help = "Take a CSV file of ratings into a study, beside its annotators and apart from them: all or none."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("study", type=uuid.UUID, help="its id, as in its address")
        parser.add_argument("file", type=Path, help="ratings, wide or long, or verdicts as they are exported")
        parser.add_argument("--kind", choices=OutsideRater.Kind.values, default="person", help="who rated")
        parser.add_argument("--question", default="", help="which one a table of ratings answers")
        parser.add_argument("--dry-run", action="store_true", help="check everything, change nothing")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *_: Any, study: uuid.UUID, file: Path, **options: Any) -> None:
        found = Study.objects.select_related("protocol").filter(pk=study).first()
        if found is None:
            raise CommandError(f"There is no study {study}.")
        try:
            done = self._import(found, file, options)
        except MedBenchError as error:
            problems = getattr(error, "problems", None)
            if options["json"] and problems:
                answer = {"problems": problems.as_dicts(), "n_problems": problems.total}
                self.stdout.write(json.dumps(answer, ensure_ascii=False))
            for problem in problems or ():
                self.stderr.write(str(problem))
            raise CommandError(f"Nothing was imported. {error.message}") from error
        if options["json"]:
            self.stdout.write(json.dumps(done._asdict()))
        else:
            did = "can be imported" if options["dry_run"] else "imported"
            words = f"{done.ratings:,} ratings of {done.raters} raters {did}, {done.known:,} known."
            self.stdout.write(words)

    def _import(self, study: Study, file: Path, options: dict[str, Any]) -> Imported:
        try:
            with file.open("rb") as opened:
                data = opened.read(FILE_BYTES + 1)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
        with transaction.atomic():
            done = import_ratings(
                study, data, kind=options["kind"], question=options["question"], file=file.name, by=None
            )
            transaction.set_rollback(options["dry_run"])
        return done
