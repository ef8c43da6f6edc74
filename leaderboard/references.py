"""What commands check and score against: a bundle on disk, or a benchmark of this site."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from zipfile import is_zipfile

from django.db import DatabaseError

from medbench.cases import queries
from medbench.cases.models import Release, Split
from medbench.errors import NotFound, Unavailable
from medbench.formats.bundle import read_bundle
from medbench.formats.sources import BENCHMARK_FILE


@dataclass(frozen=True)
class References:
    """A benchmark in one version, with the reference insights of every case by case id."""

    benchmark: str
    version: str
    insights: dict[str, list[str]]


def find_references(name_or_path: str) -> References:
    """All cases of a bundle, or of the newest release of the benchmark with this name.

    A bundle needs no database. Raises Refused for a bad bundle, NotFound for an unknown name,
    Unavailable where the database is.
    """
    path = Path(name_or_path)
    if "/" in name_or_path or is_zipfile(path) or (path / BENCHMARK_FILE).is_file():
        bundle = read_bundle(path)
        return References(bundle.info.name, bundle.info.version, bundle.references())
    try:
        return _of_release(name_or_path)
    except DatabaseError as error:
        raise Unavailable("The database cannot be reached. Give the path of a bundle instead.") from error


def _of_release(name: str) -> References:
    release = Release.objects.filter(benchmark__name=name).order_by("-number").first()
    if release is None:
        raise NotFound(f"“{name}” is neither a bundle here nor a benchmark of this site with a release.")
    rows = [row for split in Split.values for row in queries.references(release, split)]
    rows.sort(key=lambda row: row.position)
    insights = {row.case.case_id: [each.version.insight for each in row.triplets.all()] for row in rows}
    return References(name, release.version, insights)
