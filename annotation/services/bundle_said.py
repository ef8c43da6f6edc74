"""What an annotator said, as a bundle has it: held to the same rules as what the workbench sends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotation.services import corrections, regions
from annotation.services.spans import CHANGED
from medbench.errors import InvalidInput
from medbench.formats.text import is_storable

if TYPE_CHECKING:
    from annotation.protocols import Definition
    from medbench.review.models import ReviewItem


def check_said(item: ReviewItem, definition: Definition, values: dict[str, Any]) -> None:
    """Raise a MedBenchError where a verdict could not have been given here."""
    for name in ("answers", "notes", "corrections"):
        if not _is_words(values[name]):
            raise InvalidInput(f"“{name}” are words by name.")
    definition.check_answers(values["answers"])
    definition.check_notes(values["notes"])
    corrections.checked(item, values["corrections"])
    if not is_storable(values["comment"]):
        raise InvalidInput("The comment has a character that cannot be stored.")
    regions.checked(item, values["regions"])
    _check_spans(item, values["spans"])
    times = values.get("active_s", {})
    if not isinstance(times, dict) or not all(type(each) is int and each >= 0 for each in times.values()):
        raise InvalidInput("Active time is seconds by visit.")


def check_detail(definition: Definition, detail: dict[str, Any]) -> None:
    """Raise InvalidInput where a decision could not have been recorded so. Those that nobody made, when
    the study was closed, have no more than counts."""
    for name in ("answers", "correction"):
        if not _is_words(detail.get(name, {})):
            raise InvalidInput(f"“{name}” are words by name.")
    definition.check_answers(detail.get("answers", {}))
    by = "" if detail.get("by") is None else detail["by"]
    texts = [detail.get("reason", ""), by, *detail.get("correction", {}).values()]
    if not all(isinstance(each, str) and is_storable(each) for each in texts):
        raise InvalidInput("Reason, person and corrected text are words.")
    verdicts = detail.get("verdicts", 0)
    if isinstance(verdicts, list) and not all(_is_revision(each) for each in verdicts):
        raise InvalidInput("Verdicts are named by annotator and version.")
    if not isinstance(detail.get("regions", []), list):
        raise InvalidInput("Regions are a list.")


def _is_revision(value: Any) -> bool:
    match value:
        case [str(), int()]:
            return True
    return False


def _is_words(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _check_spans(item: ReviewItem, spans: Any) -> None:
    text = item.report.text if item.report else ""
    if not isinstance(spans, list):
        raise InvalidInput(CHANGED)
    for each in spans:
        match each:
            case {"start": int(start), "end": int(end), "quote": str(quote)} if (
                0 <= start < end and text[start:end] == quote
            ):
                continue
        raise InvalidInput(CHANGED)
