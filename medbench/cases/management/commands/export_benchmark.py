"""Write a release out: `manage.py export_benchmark NAME --out DIR [--release N|draft] [--json]`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from medbench.cases.bundles import bundle_of
from medbench.cases.editions import DRAFT, Edition
from medbench.cases.models import Benchmark
from medbench.errors import MedBenchError
from medbench.formats.bundle import write_bundle

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    help = (
        "Write a release as a bundle: texts, and the slides that are here. Importing it gives the same rows."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new or empty folder")
        parser.add_argument(
            "--release", metavar="N", help="number of a release, or draft; default: the newest"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_: Any, name: str, out: Path, release: str | None, json: bool, **__: Any) -> None:
        bundle = bundle_of(_edition(name, release))
        try:
            write_bundle(bundle, out)
        except MedBenchError as error:
            raise CommandError(error.message) from error
        n_triplets = sum(len(case.triplets) for case in bundle.cases)
        if json:
            self.stdout.write(
                _as_json({"path": str(out), "cases": len(bundle.cases), "triplets": n_triplets})
            )
        else:
            self.stdout.write(f"{out}: {len(bundle.cases):,} cases, {n_triplets:,} triplets.")


def _edition(name: str, release: str | None) -> Edition:
    """The edition to write. Raises CommandError."""
    benchmark = Benchmark.objects.filter(name=name).first()
    if benchmark is None:
        raise CommandError(f"There is no benchmark “{name}”.")
    if release == DRAFT:
        return Edition(benchmark, None)
    found = benchmark.releases.order_by("-number")
    if release is not None:
        found = found.filter(number=int(release)) if release.isdecimal() else found.none()
    newest = found.first()
    if newest is None:
        raise CommandError(
            f"{name} has no release{f' {release}' if release else ''}. The working copy: --release draft"
        )
    return Edition(benchmark, newest)


def _as_json(answer: dict[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False)
