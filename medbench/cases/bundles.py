"""An edition as a bundle: the same content, outside of the database."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.conf import settings

from medbench.cases import queries
from medbench.cases.editions import DRAFT
from medbench.formats import bundle as formats

if TYPE_CHECKING:
    from pathlib import Path

    from medbench.cases.editions import Edition
    from medbench.cases.queries import Row, ShownTriplet


def bundle_of(edition: Edition) -> formats.Bundle:
    """The content of an edition. Of the working copy: what freezing it would take."""
    return bundle_of_rows(edition, list(queries.whole_rows(edition)))


def bundle_of_rows(edition: Edition, rows: list[Any]) -> formats.Bundle:
    """The same of rows that were read already."""
    files = (_slide_file(row) for row in rows)
    return formats.Bundle(_info(edition), tuple(map(_case, rows)), dict(file for file in files if file))


def digest(bundle: formats.Bundle) -> str:
    """SHA-256 of the canonical text files of a bundle: all but its version and the slides' pixels."""
    unversioned = replace(bundle, info=replace(bundle.info, version=""))
    sha256 = hashlib.sha256()
    for name, content in sorted(formats.text_files(unversioned).items()):
        sha256.update(f"{name}\0{len(content)}\0".encode())
        sha256.update(content)
    return sha256.hexdigest()


def _info(edition: Edition) -> formats.BenchmarkInfo:
    benchmark, words = edition.benchmark, edition.release or edition.benchmark
    return formats.BenchmarkInfo(
        name=benchmark.name,
        title=words.title,
        version=edition.release.version if edition.release else DRAFT,
        description=words.description,
        licence=words.licence,
        citation=words.citation,
    )


def _case(row: Row) -> formats.Case:
    report = row.report
    return formats.Case(
        case_id=queries.case_name(row),
        project=row.project,
        site=row.site,
        difficulty=row.difficulty,
        goal=row.goal.text if row.goal else "",
        split=row.split,
        slide=row.slide.file_name if row.slide else None,
        report=formats.ReportText(report.text, report.source_name) if report else formats.ReportText(""),
        triplets=tuple(_triplet(each) for each in queries.shown_triplets(row) if not each.is_rejected),
    )


def _triplet(shown: ShownTriplet) -> formats.Triplet:
    version = shown.version
    texts = {name: getattr(version, name) for name in ("category", "question", "insight", "evidence")}
    return formats.Triplet(id=shown.triplet.key, confidence=version.confidence, **texts)


def _slide_file(row: Any) -> tuple[str, Path] | None:
    """The name in the bundle and the file of a case's slide, if it is here."""
    if row.slide is None or not row.slide.path:
        return None
    return row.slide.file_name, settings.SLIDE_DIR / row.slide.path
