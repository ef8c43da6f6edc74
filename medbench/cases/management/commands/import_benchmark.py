"""Take a bundle in: `manage.py import_benchmark PATH [--slides DIR] [--dry-run] [--as USER] [--json]`."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from medbench.accounts.models import User
from medbench.cases.services import import_benchmark, refusal
from medbench.errors import MedBenchError
from medbench.formats.bundle import read_bundle

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from medbench.formats.problems import Problems


class Command(BaseCommand):
    help = "Import a benchmark bundle (a folder or .zip) and freeze it as a release of its version."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument(
            "--slides", type=Path, metavar="DIR", help="where to look for absent slides by name"
        )
        parser.add_argument("--dry-run", action="store_true", help="check everything, change nothing")
        parser.add_argument(
            "--as", dest="user", metavar="USER", help="who becomes curator of a new benchmark"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_: Any, path: Path, json: bool, **options: Any) -> None:
        if options["slides"] and not options["slides"].is_dir():
            raise CommandError(f"{options['slides']} is not a folder.")
        by = _user(options["user"])
        try:
            outcome = self._import(path, by, options)
        except MedBenchError as error:
            answer = refusal(error)
            if json:
                self.stdout.write(_as_json(answer))
            for problem in getattr(error, "problems", ()):
                self.stderr.write(str(problem))
            raise CommandError(f"Nothing was imported. {error.message}") from error
        if json:
            self.stdout.write(_as_json(outcome.as_dict()))
            return
        self._tell_warnings(outcome.warnings)
        done = (
            "can be imported" if options["dry_run"] else "imported" if outcome.is_new else "is here already"
        )
        self.stdout.write(
            f"{outcome.benchmark} version {outcome.version} {done}: {outcome.cases:,} cases, "
            f"{outcome.triplets:,} triplets, {outcome.slides:,} slides, {outcome.warnings.total:,} warnings."
        )

    def _import(self, path: Path, by: User | None, options: dict[str, Any]) -> Any:
        with (
            tempfile.TemporaryDirectory(dir=settings.VAR_DIR, prefix="unpacked-") as folder,
            tqdm(desc="Slides", unit="slide", disable=None, leave=False) as bar,
        ):
            bundle = read_bundle(path, slides_dir=options["slides"], unpack_to=Path(folder))

            def tick(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            return import_benchmark(bundle, by=by, dry_run=options["dry_run"], tick=tick)

    def _tell_warnings(self, warnings: Problems) -> None:
        for warning in warnings:
            self.stderr.write(f"Warning: {warning}")
        if warnings.total > len(warnings.shown):
            self.stderr.write(f"{len(warnings.shown)} of {warnings.total:,} warnings shown.")


def _user(name: str | None) -> User | None:
    if name is None:
        return None
    found = User.objects.filter(username=name).first()
    if found is None:
        raise CommandError(f"There is no user “{name}”.")
    return found


def _as_json(answer: dict[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False)
