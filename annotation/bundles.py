"""A study as a bundle: everything that was set up, said and decided, outside of the database.

A zip archive of `study.json` and JSON lines. People are named by their usernames, items by their case
and wording, so that the bundle can be taken in elsewhere (`services.bundles`). The same study gives
the same bytes.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import json
import uuid
import zipfile
from typing import TYPE_CHECKING, Any

from annotation import queries
from annotation.models import Assignment, OutsideRating, StudyAction, Verdict, VerdictRevision
from medbench.cases.models import TripletVersion
from medbench.review.models import ReviewItem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from annotation.models import Study, StudyItem

SCHEMA = "medbench.study/1"
STUDY_FILE = "study.json"
ITEMS, ASSIGNMENTS, HISTORY = "items.jsonl", "assignments.jsonl", "history.jsonl"
DECISIONS, LOG, OUTSIDE = "decisions.jsonl", "log.jsonl", "outside.jsonl"

# The fields of each row, as they are in the database.
STUDY_FIELDS = (
    *("title", "state", "annotators_per_item", "seed", "guidelines", "due_at", "wash_out_days"),
    *("created_at", "started_at", "paused_at", "closed_at"),
)
PROTOCOL_FIELDS = ("key", "version", "title", "kind", "definition")
ASSIGNMENT_FIELDS = (
    *("id", "position", "number", "state", "seat", "held_until", "skip_reason", "not_before", "created_at"),
)
SAID_FIELDS = ("version", "answers", "notes", "comment", "flagged", "regions", "spans", "corrections")
VERDICT_FIELDS = (*SAID_FIELDS, "active_s", "saved_at", "submitted_at", "submitted_version")
REVISION_FIELDS = (*SAID_FIELDS, "missing_tiles", "submitted", "made_at")
ACTION_FIELDS = ("what", "note", "at")

_WHEN = (1980, 1, 1, 0, 0, 0)  # of every member: the same study gives the same bytes


def bundle_of(study: Study) -> bytes:
    """The bundle of a study."""
    files = {
        STUDY_FILE: json.dumps(_head(study), ensure_ascii=False, indent=1, sort_keys=True) + "\n",
        ITEMS: _lines(_items(study)),
        ASSIGNMENTS: _lines(_assignments(study)),
        HISTORY: _lines(_history(study)),
        DECISIONS: _lines(_decisions(study)),
        LOG: _lines(_log(study)),
        OUTSIDE: _lines(_outside(study)),
    }
    return zipped({name: text.encode() for name, text in files.items()})


def zipped(files: dict[str, bytes]) -> bytes:
    """An archive of these files, the same bytes for the same files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _WHEN), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _head(study: Study) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "id": str(study.pk),
        "benchmark": study.benchmark.name,
        "repeats": str(study.repeats_id) if study.repeats_id else None,
        "created_by": study.created_by.username if study.created_by else None,
        "protocol": _fields(study.protocol, PROTOCOL_FIELDS),
        "study": _fields(study, STUDY_FIELDS),
        # In the order that gives them their letters.
        "annotators": list(study.annotators.order_by("pk").values_list("user__username", flat=True)),
    }


def _items(study: Study) -> Iterator[dict[str, Any]]:
    rows = study.items.select_related("item__case", "item__slide", "item__report").order_by("position")
    keys = _triplet_keys(rows)
    for row in rows:
        item = row.item
        yield {
            "position": row.position,
            "kind": item.kind,
            "case_id": item.case.case_id if item.case else None,
            "triplet": keys.get(item.subject_id),
            "subject_id": item.subject_id,
            "slide_sha256": item.slide.sha256 if item.slide else None,
            "report_sha256": sha256_of(item.report.text) if item.report else None,
            "payload": item.payload,
            "hides": item.hides,
        }


def _triplet_keys(rows: Iterable[StudyItem]) -> dict[str, str]:
    """The id of the triplet in its case, by the version that is judged."""
    versions = [int(row.item.subject_id) for row in rows if row.item.kind == ReviewItem.Kind.TRIPLET]
    found: dict[str, str] = {}
    for start in range(0, len(versions), 500):  # below the parameter limit of every SQLite
        some = TripletVersion.objects.filter(pk__in=versions[start : start + 500])
        found |= {str(pk): key for pk, key in some.values_list("pk", "triplet__key")}
    return found


def _assignments(study: Study) -> Iterator[dict[str, Any]]:
    rows = Assignment.objects.filter(study_item__study=study).select_related("study_item", "annotator")
    verdicts = {each.assignment_id: each for each in Verdict.objects.filter(assignment__in=rows)}
    for row in rows.order_by("study_item__position", "annotator__username"):
        verdict = verdicts.get(row.pk)
        yield {
            "item": row.study_item.position,
            "annotator": row.annotator.username,
            **_fields(row, ASSIGNMENT_FIELDS),
            "verdict": _fields(verdict, VERDICT_FIELDS) if verdict else None,
        }


def _history(study: Study) -> Iterator[dict[str, Any]]:
    rows = VerdictRevision.objects.filter(verdict__assignment__study_item__study=study)
    rows = rows.select_related("verdict__assignment__study_item", "verdict__assignment__annotator")
    for row in rows.order_by(
        "verdict__assignment__study_item__position", "verdict__assignment__annotator__username", "version"
    ):
        where = row.verdict.assignment
        place = {"item": where.study_item.position, "annotator": where.annotator.username}
        yield place | _fields(row, REVISION_FIELDS)


def _decisions(study: Study) -> Iterator[dict[str, Any]]:
    positions = dict(study.items.values_list("item", "position"))
    names = _revisions(study)
    people = dict(_usernames(study))
    for row in sorted(queries.decided(study), key=lambda row: positions[row.item_id]):
        detail = dict(row.detail)
        if "by" in detail:
            detail["by"] = people.get(detail["by"])
        if isinstance(detail.get("verdicts"), list):
            detail["verdicts"] = [names[pk] for pk in detail["verdicts"] if pk in names]
        yield {
            "item": positions[row.item_id],
            "outcome": row.outcome,
            "detail": detail,
            "decided_at": _plain(row.decided_at),
        }


def _revisions(study: Study) -> dict[int, list[Any]]:
    """Revisions as whose they are and which."""
    rows = VerdictRevision.objects.filter(verdict__assignment__study_item__study=study)
    return {
        pk: [username, version]
        for pk, username, version in rows.values_list(
            "pk", "verdict__assignment__annotator__username", "version"
        )
    }


def _usernames(study: Study) -> Iterable[tuple[int, str]]:
    members = study.benchmark.team.memberships.values_list("user", "user__username")
    deciders = StudyAction.objects.filter(study=study, person__isnull=False)
    return [*members, *deciders.values_list("person", "person__username")]


def _log(study: Study) -> Iterator[dict[str, Any]]:
    for row in study.actions.select_related("person").order_by("at", "pk"):
        yield {"person": row.person.username if row.person else None} | _fields(row, ACTION_FIELDS)


def _outside(study: Study) -> Iterator[dict[str, Any]]:
    rows = OutsideRating.objects.filter(rater__study=study).select_related("rater", "study_item")
    for row in rows.order_by("rater__kind", "rater__name", "question", "study_item__position"):
        yield {
            "rater": row.rater.name,
            "kind": row.rater.kind,
            "since": _plain(row.rater.created_at),
            "item": row.study_item.position,
            "question": row.question,
            "value": row.value,
            "imported_at": _plain(row.imported_at),
        }


def _fields(row: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: _plain(getattr(row, name)) for name in names}


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).isoformat()
    return str(value) if isinstance(value, uuid.UUID) else value


def _lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows)
