"""What leaves a study as a file."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from annotation import progress, queries
from annotation.bundles import zipped
from annotation.models import VerdictRevision
from annotation.protocols import Definition
from annotation.services import regions
from medbench.accounts.models import AnnotatorProfile
from medbench.formats.csv_text import safe

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator

    from annotation.models import Study
    from medbench.review.models import ReviewItem

_HEAD = ("study", "protocol", "item", "item_id", "case_id", "triplet", "annotator", "background")
_TAIL = (
    "comment",
    "version",
    "submitted_at",
    "regions",
    "missing_tiles",
    "notes",
    "flagged",
    "active_s",
    "spans",
    "corrections",
)


def verdicts_csv(study: Study, as_of: dt.datetime | None = None) -> str:
    """The verdicts of a study that count, or counted at a moment: one row each, in the order of items
    and annotators.

    Annotators are letters, with their background, so that agreement can be split by it. An empty
    answer was not given. Times are UTC, ISO 8601. `regions`, `notes`, `spans` and `corrections` are JSON,
    `missing_tiles` is how many tiles of the slide did not come, `active_s` the seconds of active work
    on the item in all, where measured. Text that a spreadsheet would run as a formula has an
    apostrophe before it.
    """
    questions = [question.key for question in Definition.read(study.protocol.definition).questions]
    letters = progress.letters(study)
    backgrounds = dict(AnnotatorProfile.objects.filter(user__in=letters).values_list("user_id", "background"))
    rows = queries.counted(study, as_of).select_related("verdict__assignment__study_item__item__case")
    rows = rows.order_by("verdict__assignment__study_item__position", "pk")
    text = io.StringIO()
    writer = csv.writer(text)  # lines end as RFC 4180 says, so a lone carriage return is quoted
    writer.writerow([*_HEAD, *questions, *_TAIL])
    for row in sorted(rows, key=lambda row: _place(row, letters)):
        who = row.verdict.assignment.annotator_id
        writer.writerow(
            safe(str(cell))
            for cell in (*_what(study, row), letters[who], backgrounds.get(who, ""), *_said(row, questions))
        )
    return text.getvalue()


def regions_zip(study: Study, as_of: dt.datetime | None = None) -> bytes:
    """The regions of the verdicts that count, or counted at a moment: a GeoJSON file for each slide, as
    QuPath opens it. A region names its item, its annotator by letter, and its number in the verdict."""
    letters = progress.letters(study)
    rows = queries.counted(study, as_of).exclude(regions=[])
    rows = rows.select_related(
        "verdict__assignment__study_item__item__slide", "verdict__assignment__study_item__item__case"
    ).order_by("verdict__assignment__study_item__position", "pk")
    by_slide: dict[str, list[tuple[str, VerdictRevision]]] = defaultdict(list)
    items: dict[str, ReviewItem] = {}
    for row in rows:
        assignment = row.verdict.assignment
        item = assignment.study_item.item
        if item.slide is not None and item.slide.width_px:
            items[str(item.slide.pk)] = item
            said = f"Item {assignment.study_item.position}, {letters[assignment.annotator_id]}"
            by_slide[str(item.slide.pk)].append((said, row))
    return zipped(
        {
            _file_name(items[slide]): regions.of_verdicts(
                items[slide], [(said, row.regions) for said, row in found]
            ).encode()
            for slide, found in by_slide.items()
        }
    )


def _file_name(item: ReviewItem) -> str:
    """That of the case, as any computer can store it; the slide's id keeps two apart."""
    case_id = re.sub(r"[^\w.-]", "_", item.case.case_id)[:80] if item.case else "slide"
    return f"{case_id}-{str(item.slide_id)[:8]}.geojson"


def _place(row: VerdictRevision, letters: dict[int, str]) -> tuple[int, int, str]:
    letter = letters[row.verdict.assignment.annotator_id]
    return row.verdict.assignment.study_item.position, len(letter), letter


def _what(study: Study, row: VerdictRevision) -> tuple[Any, ...]:
    study_item = row.verdict.assignment.study_item
    item = study_item.item
    return (
        study.pk,
        f"{study.protocol.key} v{study.protocol.version}",
        study_item.position,
        item.pk,
        item.case.case_id if item.case else "",
        item.payload.get("number", ""),
    )


def _said(row: VerdictRevision, questions: list[str]) -> tuple[Any, ...]:
    answers = (row.answers.get(key, "") for key in questions)
    made_at = row.made_at.isoformat(timespec="seconds")
    regions = json.dumps(row.regions, separators=(",", ":")) if row.regions else ""
    notes = json.dumps(row.notes, sort_keys=True, ensure_ascii=False) if row.notes else ""
    flagged = "yes" if row.flagged else ""
    active_s = sum(row.verdict.active_s.values()) or ""
    spans = json.dumps(row.spans, ensure_ascii=False) if row.spans else ""
    corrections = json.dumps(row.corrections, sort_keys=True, ensure_ascii=False) if row.corrections else ""
    marked = (regions, row.missing_tiles, notes, flagged, active_s, spans, corrections)
    return (*answers, row.comment, row.version, made_at, *marked)


def history_jsonl(study: Study, as_of: dt.datetime | None = None) -> Iterator[str]:
    """Every saved change of every verdict of a study, drafts too, one JSON object a line: by item,
    annotator and version. Until `as_of` where it is given."""
    letters = progress.letters(study)
    rows = VerdictRevision.objects.filter(verdict__assignment__study_item__study=study)
    if as_of is not None:
        rows = rows.filter(made_at__lte=as_of)
    rows = rows.select_related("verdict__assignment__study_item__item__case").order_by(
        "verdict__assignment__study_item__position", "verdict", "version"
    )
    for row in rows.iterator(chunk_size=500):
        assignment = row.verdict.assignment
        place = dict(zip(_HEAD, map(str, _what(study, row)), strict=False))
        said = {
            "annotator": letters[assignment.annotator_id],
            "version": row.version,
            "submitted": row.submitted,
            "answers": row.answers,
            "notes": row.notes,
            "comment": row.comment,
            "flagged": row.flagged,
            "regions": row.regions,
            "spans": row.spans,
            "corrections": row.corrections,
            "missing_tiles": row.missing_tiles,
            "made_at": row.made_at.isoformat(timespec="milliseconds"),
        }
        yield json.dumps(place | said, ensure_ascii=False) + "\n"
